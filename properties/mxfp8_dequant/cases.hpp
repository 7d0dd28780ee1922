// The fixed cases of each level.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_dequant/point.hpp"

namespace assay::properties::mxfp8_dequant {

/// Every contract against every pair of patterns on a small shape, every contract on all pairs of codes,
/// shapes around the boundaries of blocks, tiles, warps and thread blocks, unaligned buffers, casts that are
/// undone, a grid past 16-bit indices, then (full, exhaustive) large shapes. Smallest first within each.
std::vector<Point> cases(Level, std::uint64_t seed);

/// What a tensor of a file is judged as at a level: `own` is the format of its elements.
std::vector<Point> contracts_for_files(Level, formats::Format own);

/// The cases kept as goldens. Fixed for good: they do not depend on a seed or a level.
std::vector<Point> golden_cases();

}  // namespace assay::properties::mxfp8_dequant
