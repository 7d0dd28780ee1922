// What must hold of the MXFP8 dequantisation on every route: each property is one sentence and then code.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::mxfp8_dequant {

std::vector<Property> dequant_properties();

}  // namespace assay::properties::mxfp8_dequant
