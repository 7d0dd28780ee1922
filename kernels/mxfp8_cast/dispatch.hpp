// Which kernel a cast is given to, as published for the register-only casts: they take bf16 input, linear and
// packed scales and the shapes below; everything else falls through to the staged kernels.
#pragma once

#include <string>
#include <string_view>

#include "kernels/mxfp8_cast/cast.hpp"

namespace assay::kernels::mxfp8_cast {

struct Decision {
  bool use_register = false;
  std::string_view reason;  ///< why not, e.g. "input is not bf16"; empty when use_register
};

/// The first gate that a problem does not pass decides.
Decision decide(const Problem&);

/// The witness counter that shows a decision: "dispatch.register" or "dispatch.staged: REASON".
std::string counter_of(const Decision&);

}  // namespace assay::kernels::mxfp8_cast
