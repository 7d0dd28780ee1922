// What must hold of the MXFP8 cast on every route: each property is one sentence and then code.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::mxfp8_cast {

std::vector<Property> cast_properties();

}  // namespace assay::properties::mxfp8_cast
