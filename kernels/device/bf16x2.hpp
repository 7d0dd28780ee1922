// Packed bf16 arithmetic, and the scaling conversion of bf16 to fp8 that is built on it.
#pragma once

#include "kernels/device/cvt.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// One bf16 product, rounded to nearest even. A significand has 8 bits, so the product is exact in double,
/// and one integer rounding gives the bf16; through fp32 it would be rounded twice where it is subnormal.
__host__ __device__ __forceinline__ constexpr Code16 mul_rn_bf16(Code16 a, Code16 b) {
  const double product = double{cvt_f32_bf16(a)} * double{cvt_f32_bf16(b)};
  if (product != product) return canonical_nan_16;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(product);
  const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFu;
  const auto sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000u;
  constexpr std::uint64_t rebias = std::uint64_t{1023 - 127} << 52;
  constexpr std::uint64_t min_normal = std::uint64_t{1023 - 126} << 52;
  if (magnitude < min_normal) {
    // One bf16 subnormal step is 2^-133, so adding 2^(52-133) rounds to whole steps.
    constexpr double magic = 0x1p-81;
    const double sum = std::bit_cast<double>(magnitude) + magic;
    return sign | static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(sum) -
                                             std::bit_cast<std::uint64_t>(magic));
  }
  constexpr unsigned dropped = 52 - 7;
  const std::uint64_t rounded =
      magnitude + ((std::uint64_t{1} << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1u);
  const std::uint64_t code = (rounded - rebias) >> dropped;
  return sign | (code > infinity_bf16 ? infinity_bf16 : static_cast<std::uint32_t>(code));
}

__host__ __device__ __forceinline__ constexpr std::uint32_t mul_rn_bf16x2(std::uint32_t a, std::uint32_t b) {
  return mul_rn_bf16(a >> 16, b >> 16) << 16 | mul_rn_bf16(a & 0xFFFFu, b & 0xFFFFu);
}

}  // namespace twin

/// Both products of two packed pairs, each rounded to nearest even, subnormals kept; every NaN is 0x7FFF.
__device__ __forceinline__ std::uint32_t mul_rn_bf16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 90
  std::uint32_t product;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
  return product;
#elif ASSAY_SM >= 80
  // Adding -0 changes no product, not even the sign of a zero one.
  std::uint32_t product;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(product) : "r"(a), "r"(b), "r"(0x80008000u));
  return product;
#else
  return twin::mul_rn_bf16x2(a, b);
#endif
}

/// 1 / 2^(byte - 127), the reciprocal of an e8m0 scale, as a bf16; in both halves with `packed`. Exact for
/// every byte: 254 gives the subnormal 2^-127, 0 gives 2^127, and 255 is NaN.
__host__ __device__ __forceinline__ constexpr Code16 e8m0_reciprocal_bf16(std::uint32_t byte) {
  constexpr Code16 two_to_minus_127 = 0x0040u;
  if (byte == 255) return canonical_nan_16;
  return byte == 254 ? two_to_minus_127 : (254 - byte) << 7;
}
__host__ __device__ __forceinline__ constexpr std::uint32_t e8m0_reciprocal_bf16x2(std::uint32_t byte) {
  return e8m0_reciprocal_bf16(byte) * 0x00010001u;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
