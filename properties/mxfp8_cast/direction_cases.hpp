// The fixed cases of the colwise and bidimensional directions.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

/// Every contract against every pattern, with blocks of the pattern in columns or in rows; unaligned buffers;
/// one NaN or Inf in a tile; shapes around the boundaries of bands, tiles and vectors; sweeps of block
/// maxima; a grid past 16-bit indices; then (full, exhaustive) large shapes and exhaustive sweeps. At quick,
/// a pair of contract and pattern meets one of the two directions, at the next seed the other.
void add_direction_cases(std::vector<Point>&, Level, std::uint64_t seed);

}  // namespace assay::properties::mxfp8_cast
