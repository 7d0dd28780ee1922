// The launches behind the routes, once for each device this program was built for.
#pragma once

#include <cstdint>

#include "kernels/matmul_nbits/matmul.hpp"

namespace assay::kernels {
namespace matmul_nbits {

/// What a GEMV leaves in memory: fp16 as the schedule ends, or that narrowed once more to bf16.
enum class Store : std::uint8_t { fp16, bf16 };

/// The launches of one device. `out` is where the result goes: fp16, or fp32 in an fp32 model; for
/// gemv_split_k what `store` says. `weights` is the part of the workspace that holds prepared weights.
struct Launches {
  void (*gemv_split_k)(LaunchContext&, const Problem& row, void* out, Store);  ///< m == 1
  void (*gemv_multicol)(LaunchContext&, const Problem&, void* out);
  void (*interleave_weights)(LaunchContext&, const Problem&, void* weights);
  void (*gemv_natural)(LaunchContext&, const Problem&, const void* weights, void* out);
  void (*tile_16x16)(LaunchContext&, const Problem&, void* out);
  void (*dequantize_fp16)(LaunchContext&, const Problem&, void* weights);
  void (*gemm_mma)(LaunchContext&, const Problem&, const void* weights, void* out);
  /// fp16 to bf16.
  void (*narrow_staging)(LaunchContext&, const void* staging, void* y, std::int64_t elements);
};
const Launches& launches(DeviceKind);

/// How the workspace is cut up: byte offsets, all multiples of 256.
struct Workspace {
  std::size_t staging = 0, weights = 0, bytes = 0;
};
Workspace workspace_of(const Problem&);

/// Elements of a row of the dequantised weights: k rounded up to whole tensor-core steps, the rest zeros.
constexpr std::int64_t padded_k(std::int64_t k) { return (k + 15) / 16 * 16; }

}  // namespace matmul_nbits

#define ASSAY_MATMUL_NBITS_LAUNCHES                                                                    \
  void launch_gemv_split_k(LaunchContext&, const kernels::matmul_nbits::Problem&, void*,               \
                           kernels::matmul_nbits::Store);                                              \
  void launch_gemv_multicol(LaunchContext&, const kernels::matmul_nbits::Problem&, void*);             \
  void launch_interleave_weights(LaunchContext&, const kernels::matmul_nbits::Problem&, void*);        \
  void launch_gemv_natural(LaunchContext&, const kernels::matmul_nbits::Problem&, const void*, void*); \
  void launch_tile_16x16(LaunchContext&, const kernels::matmul_nbits::Problem&, void*);                \
  void launch_dequantize_fp16(LaunchContext&, const kernels::matmul_nbits::Problem&, void*);           \
  void launch_gemm_mma(LaunchContext&, const kernels::matmul_nbits::Problem&, const void*, void*);     \
  void launch_narrow_staging(LaunchContext&, const void*, void*, std::int64_t);

namespace cpu::matmul_nbits {
ASSAY_MATMUL_NBITS_LAUNCHES
}
namespace cuda::matmul_nbits {
ASSAY_MATMUL_NBITS_LAUNCHES
}

#undef ASSAY_MATMUL_NBITS_LAUNCHES

}  // namespace assay::kernels
