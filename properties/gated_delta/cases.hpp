// The fixed cases of each level.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

/// Every combination of contracts, and every pattern against formats, layout and gates, on small shapes; all
/// sizes of heads, numbers of heads and sequences, strides, slots and alignments, and some of these at once;
/// what routes refuse; one step to 256, held to the bits and to the error bound; then (full, exhaustive)
/// 4,096 steps, every pattern against every contract, and shapes of real layers.
std::vector<Point> cases(Level, std::uint64_t seed);

/// What a tensor of a file is judged as at a level, but for its shape.
std::vector<Point> contracts_for_files(Level);

/// The cases kept as goldens. Fixed for good: they do not depend on a seed or a level.
std::vector<Point> golden_cases();

/// The record a golden is kept in: by formats and layout of the state, "fp32_kv".
std::string record_name(const Point&);

}  // namespace assay::properties::gated_delta
