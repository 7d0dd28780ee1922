// Naming the damage of a wrong Y.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"
#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

/// The known faults whose Y this is, element for element; where none is, what its rows and columns have in
/// common. `before` is what Y held before the launch.
std::vector<Diagnosis> diagnose(const Point&, const oracle::Operands&, const arithmetic::Acceptance& right,
                                std::span<const std::byte> actual, std::span<const std::byte> before);

}  // namespace assay::properties::matmul_nbits
