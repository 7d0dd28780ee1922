// The fixed cases of each level.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

/// Reported faults first. Then, rowwise, every contract against every input pattern on a small shape and
/// against unaligned buffers, shapes around the boundaries of tiles, warps and thread blocks with rotating
/// contracts, the sweep of block maxima, and a grid past 16-bit indices; the same of
/// the other directions (direction_cases.hpp); then (full, exhaustive) large shapes and exhaustive sweeps.
/// Smallest first within each.
std::vector<Point> cases(Level, std::uint64_t seed);

/// The contracts a real tensor is judged under at a level.
std::vector<Point> contracts_for_files(Level, formats::Format own);

/// The cases kept as goldens, by record: every rowwise reported fault of up to 4,096 elements, and every
/// contract on the inputs that tell contracts apart, in all directions. Fixed for good: they do not depend on
/// a seed or a level.
std::map<std::string, std::vector<Point>> golden_cases();

}  // namespace assay::properties::mxfp8_cast
