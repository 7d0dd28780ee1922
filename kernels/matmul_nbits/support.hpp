// Which problem a route takes.
#pragma once

#include "kernels/matmul_nbits/matmul.hpp"

namespace assay::kernels::matmul_nbits {

Support direct_supports(const Problem&, DeviceKind);
Support staged_supports(const Problem&, DeviceKind);
Support dispatch_supports(const Problem&, DeviceKind);
Support tile_supports(const Problem&, DeviceKind);
Support mma_supports(const Problem&, DeviceKind);
Support multicol_supports(const Problem&, DeviceKind);
Support natural_supports(const Problem&, DeviceKind);

}  // namespace assay::kernels::matmul_nbits
