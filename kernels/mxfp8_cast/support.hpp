// What a cast must be for each route to take it. Reasons are the rules in words, as a user meets them.
#pragma once

#include <string_view>

#include "kernels/mxfp8_cast/cast.hpp"

namespace assay::kernels::mxfp8_cast {

/// What no route takes: a problem outside the terms of cast.hpp, or one without an element.
Support well_formed(const Problem&);

/// Which pointer of those in use is not 16-byte aligned, in words; empty when all are.
std::string_view misaligned_for_vectors(const Problem&);

Support register_supports(const Problem&);
Support staged_supports(const Problem&);

}  // namespace assay::kernels::mxfp8_cast
