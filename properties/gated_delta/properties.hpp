// What must hold of the gated delta rule on every route: each property is one sentence and then code.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::gated_delta {

std::vector<Property> delta_properties();

}  // namespace assay::properties::gated_delta
