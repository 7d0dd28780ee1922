#include <array>

#include "kernels/mxfp8_cast/cast.hpp"
#include "kernels/mxfp8_cast/dispatch.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/support.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

/// The launches of one device.
struct Launches {
  void (*rowwise_register)(LaunchContext&, const Problem&, const Tuning&);
  void (*bidimensional_register)(LaunchContext&, const Problem&, const Tuning&);
  void (*rowwise_staged)(LaunchContext&, const Problem&);
  void (*bidimensional_tma)(LaunchContext&, const Problem&);
};

constexpr Launches cpu_launches{
    cpu::mxfp8_cast::launch_rowwise_register, cpu::mxfp8_cast::launch_bidimensional_register,
    cpu::mxfp8_cast::launch_rowwise_staged, cpu::mxfp8_cast::launch_bidimensional_tma};
#if defined(ASSAY_WITH_CUDA)
constexpr Launches cuda_launches{
    cuda::mxfp8_cast::launch_rowwise_register, cuda::mxfp8_cast::launch_bidimensional_register,
    cuda::mxfp8_cast::launch_rowwise_staged, cuda::mxfp8_cast::launch_bidimensional_tma};
#endif

template <const Launches& kLaunches>
void run_tuned_for(const Capability& device, LaunchContext& context, const Problem& problem) {
  const std::int64_t elements = problem.rows * problem.cols;
  if (problem.direction == Direction::rowwise) {
    return kLaunches.rowwise_register(context, problem, rowwise_tuning(device, elements));
  }
  kLaunches.bidimensional_register(context, problem,
                                   problem.direction == Direction::colwise
                                       ? colwise_tuning(device, elements)
                                       : bidimensional_tuning(device, elements));
}

template <const Launches& kLaunches>
void run_register(LaunchContext& context, const Problem& problem) {
  run_tuned_for<kLaunches>(context.device.capability(), context, problem);
}

template <const Launches& kLaunches>
void run_register_sm100(LaunchContext& context, const Problem& problem) {
  run_tuned_for<kLaunches>({100, context.device.capability().multiprocessors}, context, problem);
}

template <const Launches& kLaunches>
void run_staged(LaunchContext& context, const Problem& problem) {
  if (problem.direction == Direction::rowwise) return kLaunches.rowwise_staged(context, problem);
  kLaunches.bidimensional_tma(context, problem);
}

template <const Launches& kLaunches>
void run_dispatch(LaunchContext& context, const Problem& problem) {
  const Decision decision = decide(problem);
  ++context.witness.counters[counter_of(decision)];
  decision.use_register ? run_register<kLaunches>(context, problem) : run_staged<kLaunches>(context, problem);
}

/// What the register kernel takes the gates have let through, so only the staged one may refuse.
Support dispatch_supports(const Problem& problem) {
  return decide(problem).use_register ? register_supports(problem) : staged_supports(problem);
}

template <const Launches& kLaunches>
std::array<Route, 4> make_routes() {
  return {
      Route{{"mxfp8_cast",
             "register",
             RouteKind::production,
             {"rowwise_register", "colwise_register", "bidimensional_register"},
             "held in registers; shared memory only for scale bytes and the fold of column maxima"},
            register_supports,
            run_register<kLaunches>},
      Route{{"mxfp8_cast",
             "staged",
             RouteKind::legacy,
             {"rowwise_staged", "bidimensional_tma"},
             "tiles through shared memory, by plain copies rowwise and by bulk tensor copies otherwise"},
            staged_supports,
            run_staged<kLaunches>},
      Route{
          {"mxfp8_cast",
           "dispatch",
           RouteKind::production,
           {"rowwise_register", "colwise_register", "bidimensional_register", "rowwise_staged",
            "bidimensional_tma"},
           "what a library calls: register where its gates let the cast through, staged for everything else"},
          dispatch_supports,
          run_dispatch<kLaunches>},
      Route{{"mxfp8_cast",
             "register-sm100",
             RouteKind::experiment,
             {"rowwise_register", "colwise_register", "bidimensional_register"},
             "register as tuned for sm_100: x first out of L2, next wave prefetched "
             "(decisions/l2_policies.md)"},
            register_supports,
            run_register_sm100<kLaunches>},
  };
}

}  // namespace

std::span<const Route> routes(DeviceKind kind) {
  static const auto cpu_routes = make_routes<cpu_launches>();
  if (kind == DeviceKind::cpu) return cpu_routes;
#if defined(ASSAY_WITH_CUDA)
  static const auto cuda_routes = make_routes<cuda_launches>();
  return cuda_routes;
#else
  return {};
#endif
}

}  // namespace assay::kernels::mxfp8_cast
