// Packed fp16 arithmetic: every element rounded once to nearest even, subnormals kept, overflow to Inf, every
// NaN 0x7FFF. Element 0 is the low half of a word.
#pragma once

#include "kernels/device/cvt.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// A finite fp16 value. Subnormal codes are counted in their steps of 2^-24, so that no CPU meets a subnormal
/// operand, which costs some of them a hundred cycles.
__host__ __device__ __forceinline__ constexpr double finite_f16(Code16 code) {
  const std::uint64_t magnitude = code & 0x7FFFu;
  const std::uint64_t normal = (magnitude << 42) + (std::uint64_t{1023 - 15} << 52);
  const auto subnormal =
      std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int32_t>(magnitude)) * 0x1p-24);
  const std::uint64_t bits = magnitude < 0x0400u ? subnormal : normal;
  return std::bit_cast<double>(bits | std::uint64_t{code & 0x8000u} << 48);
}

/// A double to fp16. Magnitudes of 65520 and more become Inf; a NaN becomes anything.
__host__ __device__ __forceinline__ constexpr Code16 number_to_f16(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFu;
  constexpr unsigned dropped = 52 - 10;
  constexpr std::uint64_t rebias = std::uint64_t{1023 - 15} << 52,
                          min_normal = rebias + (std::uint64_t{1} << 52);
  const std::uint64_t rounded =
      magnitude + ((std::uint64_t{1} << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1u);
  const std::uint64_t normal = (rounded - rebias) >> dropped;
  // One fp16 subnormal step is 2^-24, so adding 2^(52-24) rounds to whole steps.
  constexpr double magic = 0x1p28;
  const std::uint64_t subnormal = std::bit_cast<std::uint64_t>(std::bit_cast<double>(magnitude) + magic) -
                                  std::bit_cast<std::uint64_t>(magic);
  std::uint64_t code = magnitude < min_normal ? subnormal : normal;
  code = code > infinity_f16 ? infinity_f16 : code;
  return static_cast<std::uint32_t>(code) | (static_cast<std::uint32_t>(bits >> 48) & 0x8000u);
}

/// Whether an element of the pair is Inf or NaN.
__host__ __device__ __forceinline__ constexpr bool any_special_f16(std::uint32_t pair) {
  return (((pair & 0x7C007C00u) + 0x04000400u) & 0x80008000u) != 0;
}

/// a * b + c of finite codes. The product is exact in double: 22 bits, a multiple of 2^-48 below 2^32. The
/// double nearest to the sum has the sum's fp16, because where the addition rounds at all
/// - the product decides the sum: then it has 2^53 steps of 2^-24 and is an overflow either way; or
/// - c decides it: the product has 22 bits of which some lie 53 places below the leading bit of c, so it is
///   smaller than 2^-30 |c|, too small to move the sum, rounded or not, to the next midpoint of fp16, which
///   is at least 2^-13 |c| away from c. (A subnormal c is not rounded: the sum has 2^35 steps of 2^-48.)
__host__ __device__ __forceinline__ constexpr Code16 fma_rn_finite_f16(Code16 a, Code16 b, Code16 c) {
  return number_to_f16(finite_f16(a) * finite_f16(b) + finite_f16(c));
}

/// One element, whatever its operands.
__host__ __device__ constexpr Code16 fma_rn_f16(Code16 a, Code16 b, Code16 c) {
  const double sum = double{cvt_f32_f16(a)} * double{cvt_f32_f16(b)} + double{cvt_f32_f16(c)};
  return sum != sum ? canonical_nan_16 : number_to_f16(sum);
}

__host__ __device__ __forceinline__ constexpr std::uint32_t fma_rn_f16x2(std::uint32_t a, std::uint32_t b,
                                                                         std::uint32_t c) {
  if (any_special_f16(a) || any_special_f16(b) || any_special_f16(c)) [[unlikely]]
    return fma_rn_f16(a >> 16, b >> 16, c >> 16) << 16 | fma_rn_f16(a & 0xFFFFu, b & 0xFFFFu, c & 0xFFFFu);
  return fma_rn_finite_f16(a >> 16, b >> 16, c >> 16) << 16 |
         fma_rn_finite_f16(a & 0xFFFFu, b & 0xFFFFu, c & 0xFFFFu);
}

/// Exact in fp32 (22 bits, from 2^-48 to below 2^32), then rounded.
__host__ __device__ __forceinline__ constexpr std::uint32_t mul_rn_f16x2(std::uint32_t a, std::uint32_t b) {
  return cvt_rn_f16_f32(cvt_f32_f16(a >> 16) * cvt_f32_f16(b >> 16)) << 16 |
         cvt_rn_f16_f32(cvt_f32_f16(a & 0xFFFFu) * cvt_f32_f16(b & 0xFFFFu));
}

/// Rounded to fp32 and then to fp16, which is once: an inexact fp32 sum has an operand that is less than the
/// 2^-12th part of the other's power of two, by at least one fp32 step, and so stays off fp16's midpoints.
__host__ __device__ __forceinline__ constexpr std::uint32_t add_rn_f16x2(std::uint32_t a, std::uint32_t b) {
  return cvt_rn_f16_f32(cvt_f32_f16(a >> 16) + cvt_f32_f16(b >> 16)) << 16 |
         cvt_rn_f16_f32(cvt_f32_f16(a & 0xFFFFu) + cvt_f32_f16(b & 0xFFFFu));
}

__host__ __device__ __forceinline__ constexpr std::uint32_t sub_rn_f16x2(std::uint32_t a, std::uint32_t b) {
  return add_rn_f16x2(a, b ^ 0x80008000u);
}

}  // namespace twin

/// a * b + c, rounded once.
__device__ __forceinline__ std::uint32_t fma_rn_f16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#if ASSAY_SM >= 53
  std::uint32_t result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
#else
  return twin::fma_rn_f16x2(a, b, c);
#endif
}

/// a * b; never contracted into a fused multiply-add, nor are the sum and the difference.
__device__ __forceinline__ std::uint32_t mul_rn_f16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 53
  std::uint32_t result;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::mul_rn_f16x2(a, b);
#endif
}

/// a + b
__device__ __forceinline__ std::uint32_t add_rn_f16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 53
  std::uint32_t result;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::add_rn_f16x2(a, b);
#endif
}

/// a - b
__device__ __forceinline__ std::uint32_t sub_rn_f16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 53
  std::uint32_t result;
  asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::sub_rn_f16x2(a, b);
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
