#include <array>

#include "kernels/matmul_nbits/kernels.hpp"
#include "kernels/matmul_nbits/matmul.hpp"
#include "kernels/matmul_nbits/node.hpp"
#include "kernels/matmul_nbits/support.hpp"

namespace assay::kernels::matmul_nbits {
namespace {

constexpr std::size_t alignment = 256;

constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

void run_direct(LaunchContext& context, const Problem& problem) { run_node(context, problem, {}); }
void run_staged(LaunchContext& context, const Problem& problem) {
  run_node(context, problem, {.restore_staging = true});
}
void run_dispatch(LaunchContext& context, const Problem& problem) {
  run_node(context, problem, levers_from_environment());
}

void run_multicol(LaunchContext& context, const Problem& problem) {
  launches(context.device.kind()).gemv_multicol(context, problem, problem.y);
}

void run_natural(LaunchContext& context, const Problem& problem) {
  const Launches& run = launches(context.device.kind());
  if (problem.interleaved) return run.gemv_natural(context, problem, problem.b, problem.y);
  void* const weights = static_cast<std::byte*>(problem.workspace) + workspace_of(problem).weights;
  run.interleave_weights(context, problem, weights);
  run.gemv_natural(context, problem, weights, problem.y);
}

std::array<Route, 7> make_routes() {
  return {
      Route{{"matmul_nbits",
             "direct",
             RouteKind::production,
             {"gemv_split_k", "narrow_staging"},
             "int4 GEMV that stores bf16 itself when it writes the whole result; row by row up to 8 rows"},
            direct_supports,
            run_direct},
      Route{{"matmul_nbits",
             "staged",
             RouteKind::legacy,
             {"gemv_split_k", "narrow_staging"},
             "the same GEMV into an fp16 staging buffer, and a launch that narrows it to bf16"},
            staged_supports,
            run_staged},
      Route{{"matmul_nbits",
             "dispatch",
             RouteKind::production,
             {"gemv_split_k", "narrow_staging", "dequantize_fp16", "gemm_mma"},
             "what a node runs: direct up to 8 rows, else mma; ASSAY_RESTORE_STAGING=1 restores staging"},
            dispatch_supports,
            run_dispatch},
      Route{{"matmul_nbits",
             "tile",
             RouteKind::production,
             {"tile_16x16", "narrow_staging"},
             "2-, 4- and 8-bit weights, blocks of 16 to 256, any model, any shape; fp32 accumulation"},
            tile_supports,
            run_direct},
      Route{{"matmul_nbits",
             "mma",
             RouteKind::production,
             {"dequantize_fp16", "gemm_mma", "narrow_staging"},
             "prefill: weights dequantised to fp16, then tensor cores with fp32 accumulation"},
            mma_supports,
            run_direct},
      Route{{"matmul_nbits",
             "multicol",
             RouteKind::legacy,
             {"gemv_multicol"},
             "fp16 GEMV, four columns a warp, activations permuted to the order of decoding"},
            multicol_supports,
            run_multicol},
      Route{{"matmul_nbits",
             "natural",
             RouteKind::experiment,
             {"interleave_weights", "gemv_natural"},
             "the same without the permutation, from interleaved weights (decisions/natural.md)"},
            natural_supports,
            run_natural},
  };
}

}  // namespace

Workspace workspace_of(const Problem& problem) {
  Workspace workspace;
  std::size_t used = 0;
  const auto n = static_cast<std::size_t>(problem.n);
  if (problem.model == Model::bf16) used = rounded_up(static_cast<std::size_t>(problem.m) * n * 2);
  workspace.weights = used;
  if (problem.schedule == Schedule::mma)
    used += rounded_up(n * static_cast<std::size_t>(padded_k(problem.k)) * 2);
  if (problem.schedule == Schedule::natural && !problem.interleaved)
    used += rounded_up(n * static_cast<std::size_t>((problem.k + 31) / 32) * 16);
  workspace.bytes = used;
  return workspace;
}

std::size_t workspace_bytes(const Problem& problem) { return workspace_of(problem).bytes; }

unsigned k_split_for(std::int64_t n, unsigned multiprocessors) {
  // With two slices a thread block of the reference has four columns; where those do not go round, slices
  // have to.
  return (n + 3) / 4 < static_cast<std::int64_t>(multiprocessors) ? 8 : 2;
}

#define ASSAY_LAUNCHES_OF(device)                                                                   \
  {                                                                                                 \
    device::matmul_nbits::launch_gemv_split_k, device::matmul_nbits::launch_gemv_multicol,          \
        device::matmul_nbits::launch_interleave_weights, device::matmul_nbits::launch_gemv_natural, \
        device::matmul_nbits::launch_tile_16x16, device::matmul_nbits::launch_dequantize_fp16,      \
        device::matmul_nbits::launch_gemm_mma, device::matmul_nbits::launch_narrow_staging          \
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

}  // namespace assay::kernels::matmul_nbits
