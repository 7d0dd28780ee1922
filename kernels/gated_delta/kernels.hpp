// The launches behind the routes, once for each device this program was built for.
#pragma once

#include "kernels/gated_delta/delta.hpp"

namespace assay::kernels {
namespace gated_delta {

struct Launches {
  void (*recurrent_register_kv)(LaunchContext&, const Problem&);
  void (*recurrent_register_vk)(LaunchContext&, const Problem&);
  void (*recurrent_two_pass)(LaunchContext&, const Problem&);
};
const Launches& launches(DeviceKind);

}  // namespace gated_delta

#define ASSAY_GATED_DELTA_LAUNCHES                                                         \
  void launch_recurrent_register_kv(LaunchContext&, const kernels::gated_delta::Problem&); \
  void launch_recurrent_register_vk(LaunchContext&, const kernels::gated_delta::Problem&); \
  void launch_recurrent_two_pass(LaunchContext&, const kernels::gated_delta::Problem&);

namespace cpu::gated_delta {
ASSAY_GATED_DELTA_LAUNCHES
}
namespace cuda::gated_delta {
ASSAY_GATED_DELTA_LAUNCHES
}

#undef ASSAY_GATED_DELTA_LAUNCHES

}  // namespace assay::kernels
