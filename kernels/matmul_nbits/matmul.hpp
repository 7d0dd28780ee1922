// Matrix multiplication with n-bit weights (ONNX MatMulNBits): the problem a route takes, and the routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/runtime/route.hpp"

namespace assay::kernels::matmul_nbits {

/// Format of A, scales, bias and Y.
enum class Model : std::uint8_t { fp16, bf16, fp32 };

/// Which operations in which order; each is written out in schedules.md, and nothing is compared across two.
enum class Schedule : std::uint8_t {
  split_k,   ///< fp16 GEMV: four fp16 pair accumulators a lane, K cut into k_split interleaved slices
  multicol,  ///< fp16 GEMV: unscaled fp16 sums of 32 codes, pairs (e0,e4) (e1,e5) (e2,e6) (e3,e7)
  natural,   ///< as multicol with pairs (e0,e1) (e2,e3) (e4,e5) (e6,e7)
  tile,      ///< one fp32 chain of fused multiply-adds in ascending k
  mma,       ///< weights narrowed to fp16, tensor-core steps of 16 in ascending k, fp32 accumulation
};

/// Tensor cores differ in how they sum: Hopper takes 16 products a step and keeps 25 fractional bits, Ampere
/// 8 and 24. Only for Schedule::mma.
enum class TensorCores : std::uint8_t { hopper, ampere };

/// Where a bias is added: fp16(acc + bias), or fp16(fp16(acc) + bias).
enum class BiasRound : std::uint8_t { once, twice };

/// Y[m, n] = sum over k of A[m, k] * (q[n, k] - zero[n, k / block]) * scale[n, k / block] (+ bias[n]),
/// rounded as schedules.md says.
///
/// Pointers are device pointers. A is [m, k] and Y [m, n], both row-major and contiguous. With blocks =
/// ceil(k / block): b is [n, blocks, block * bits / 8] bytes, the code of element e of a block being `bits`
/// bits from bit e * bits on, least significant first; scales [n, blocks]; zero_points [n, ceil(blocks * bits
/// / 8)] bytes packed likewise, or null, which means 2^(bits - 1); bias [n] or null. Codes of elements from k
/// on and unused bits of a row of zero points are padding and may hold anything.
struct Problem {
  const void* a = nullptr;
  const std::uint8_t* b = nullptr;
  const void* scales = nullptr;
  const std::uint8_t* zero_points = nullptr;
  const void* bias = nullptr;
  void* y = nullptr;
  void* workspace = nullptr;  ///< workspace_bytes(), 256-byte aligned; holds nothing between runs
  std::int64_t m = 0, n = 0, k = 0;
  unsigned bits = 4, block = 32;
  Model model{};
  Schedule schedule{};
  BiasRound bias_round{};
  TensorCores tensor_cores{};
  bool interleaved = false;  ///< of Schedule::natural: the nibbles of every 32-bit word of b already are
                             ///< those of e0, e2, e4, e6, e1, e3, e5, e7
  unsigned k_split = 2;      ///< of Schedule::split_k: 2 or 8
  unsigned prefetch = 4;     ///< of Schedule::split_k, 0, 2 or 4; changes no bit. Chunks of a slice whose
                             ///< weights are under way while as many before them are worked on
};

/// What a route may ask of the memory behind Problem::workspace. Depends on shape and contracts alone.
std::size_t workspace_bytes(const Problem&);

/// The k_split that the split-K kernel is meant to be run with on a device.
unsigned k_split_for(std::int64_t n, unsigned multiprocessors);

struct Route {
  RouteInfo info;
  /// Decides from everything but the pointed-to contents (alignment of the pointers included).
  Support (*supports)(const Problem&, DeviceKind);
  /// Launches on context.device; returns before completion on cuda. Throws DeviceError or ExecutorError.
  void (*run)(LaunchContext& context, const Problem&);
};

/// The routes built for that device, in this order; empty for cuda in a build without the toolkit.
///   direct     production: gemv_split_k stores bf16 itself where the node's offer can be accepted
///   staged     legacy: fp16 into the staging buffer, then the launch narrow_staging; bf16 models alone
///   dispatch   what a node of a model does, lever of the environment included
///   tile       general: any bits and block; 16 x 16 tiles
///   mma        prefill: dequantize_fp16, then gemm_mma on tensor cores
///   multicol   legacy: four columns a warp, activations permuted
///   natural    experiment: the same without the permutation, from weights interleaved beforehand
std::span<const Route> routes(DeviceKind);

}  // namespace assay::kernels::matmul_nbits
