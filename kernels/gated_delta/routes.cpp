#include <array>

#include "kernels/gated_delta/kernels.hpp"
#include "kernels/gated_delta/support.hpp"

namespace assay::kernels::gated_delta {
namespace {

void run_register(LaunchContext& context, const Problem& problem) {
  const Launches& run = launches(context.device.kind());
  if (problem.contracts.layout == Layout::kv) return run.recurrent_register_kv(context, problem);
  run.recurrent_register_vk(context, problem);
}

void run_two_pass(LaunchContext& context, const Problem& problem) {
  launches(context.device.kind()).recurrent_two_pass(context, problem);
}

std::array<Route, 2> make_routes() {
  return {
      Route{{"gated_delta",
             "register",
             RouteKind::production,
             {"recurrent_register_kv", "recurrent_register_vk"},
             "the state stays in registers over all steps: one read and one write of each element"},
            register_supports,
            run_register},
      Route{{"gated_delta",
             "two_pass",
             RouteKind::legacy,
             {"recurrent_two_pass"},
             "the decayed state goes through memory between two passes; [K,V] alone"},
            two_pass_supports,
            run_two_pass},
  };
}

}  // namespace

std::size_t workspace_bytes(const Problem& problem) {
  if (problem.contracts.state == State::fp32) return 0;
  return static_cast<std::size_t>(problem.batch * problem.value_heads * problem.key_dim * problem.value_dim) *
         sizeof(float);
}

#define ASSAY_LAUNCHES_OF(device)                                                                         \
  {                                                                                                       \
    device::gated_delta::launch_recurrent_register_kv, device::gated_delta::launch_recurrent_register_vk, \
        device::gated_delta::launch_recurrent_two_pass                                                    \
  }

const Launches& launches(DeviceKind kind) {
  static constexpr Launches on_cpu = ASSAY_LAUNCHES_OF(cpu);
#if defined(ASSAY_WITH_CUDA)
  static constexpr Launches on_cuda = ASSAY_LAUNCHES_OF(cuda);
  if (kind == DeviceKind::cuda) return on_cuda;
#endif
  (void)kind;
  return on_cpu;
}

std::span<const Route> routes(DeviceKind kind) {
  static const auto all = make_routes();
#if defined(ASSAY_WITH_CUDA)
  (void)kind;
  return all;
#else
  if (kind == DeviceKind::cuda) return {};
  return all;
#endif
}

}  // namespace assay::kernels::gated_delta
