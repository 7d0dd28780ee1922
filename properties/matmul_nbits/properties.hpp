// What must hold of the matrix multiplication with n-bit weights on every route: each property is one
// sentence and then code.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::matmul_nbits {

std::vector<Property> matmul_properties();

}  // namespace assay::properties::matmul_nbits
