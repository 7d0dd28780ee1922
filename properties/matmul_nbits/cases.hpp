// The fixed cases of each level.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

/// Reported faults; every contract against every pattern on small shapes; K, N and m around the boundaries of
/// groups, blocks, slices, tiles and indices; buffers of any alignment; what routes refuse; results within
/// their bound; then (full, exhaustive) every code of A and shapes of real layers.
std::vector<Point> cases(Level, std::uint64_t seed);

/// What a tensor of a file is judged as at a level.
std::vector<Point> contracts_for_files(Level);

/// The cases kept as goldens. Fixed for good: they do not depend on a seed or a level.
std::vector<Point> golden_cases();

/// "split_k", "multicol", "natural", "tile" or "mma".
std::string_view schedule_name(oracle::Schedule);

}  // namespace assay::properties::matmul_nbits
