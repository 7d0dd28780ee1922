// Which problem a route takes.
#pragma once

#include "kernels/gated_delta/delta.hpp"

namespace assay::kernels::gated_delta {

Support register_supports(const Problem&, DeviceKind);
Support two_pass_supports(const Problem&, DeviceKind);

}  // namespace assay::kernels::gated_delta
