// From wrong outputs of a cast to the known fault that gives them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

/// What one direction had to write, wrote, and held before.
struct DirectionOutput {
  const arithmetic::Acceptance &expected_data, &expected_scales;
  std::span<const std::byte> data, scales;
  std::span<const std::byte> data_before, scales_before;
};

/// Names the damage of one direction; empty when it is right, or when no known fault explains it.
std::vector<Diagnosis> diagnose(const Point&, std::span<const std::byte> x, oracle::Direction,
                                const DirectionOutput&);

}  // namespace assay::properties::mxfp8_cast
