// Random points of the gated delta rule, small ones: what properties search over.
#pragma once

#include <vector>

#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

/// Any contracts; up to three sequences, three steps and four heads, mostly of 64 x 64. Raw gates where the
/// pattern needs them.
Point any_point(const std::vector<fixture::Pattern>& patterns);

}  // namespace assay::properties::gated_delta
