// Single-precision arithmetic whose NaN is the same on both devices.
#pragma once

#include <cmath>

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// A CPU hands on the payload of a NaN operand and makes 0xFFC00000 of Inf * 0; NVIDIA hardware returns one
/// NaN.
__host__ __device__ __forceinline__ constexpr float mul_rn_f32(float a, float b) {
  const float product = a * b;
  return product != product ? std::bit_cast<float>(canonical_nan_f32) : product;
}

__host__ __device__ __forceinline__ constexpr float add_rn_f32(float a, float b) {
  const float sum = a + b;
  return sum != sum ? std::bit_cast<float>(canonical_nan_f32) : sum;
}

/// The sum that product + c was rounded from, as the double next to it that ends in an odd bit where it is
/// not a double itself. Such a sum rounds to fp32 as the exact one does.
__host__ __device__ constexpr double sum_to_odd(double product, double c) {
  const double sum = product + c;
  // What the addition lost, exactly (Knuth's two-sum; nothing overflows, the operands being products of
  // fp32).
  const double of_c = sum - product;
  const double lost = (product - (sum - of_c)) + (c - of_c);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  if (lost == 0 || bits & 1u) return sum;
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// In double the product is exact: 48 bits, and an exponent that double has room for. So only the addition
/// rounds before the conversion to fp32 does, and twice is wrong only where the first time ends on a midpoint
/// between two fp32 values. Not fmaf(): without the instruction that is a library call.
__host__ __device__ __forceinline__ constexpr float fma_rn_f32(float a, float b, float c) {
  const double product = double{a} * double{b};
  const double sum = product + double{c};
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  constexpr std::uint64_t half_step = std::uint64_t{1} << 28, min_normal = std::uint64_t{1023 - 126} << 52;
  const bool midpoint = (bits & (2 * half_step - 1)) == half_step;
  // Steps of subnormal results are wider; all of them take the long way.
  if (midpoint || (bits & 0x7FFFFFFFFFFFFFFFu) < min_normal) [[unlikely]]
    return static_cast<float>(sum_to_odd(product, double{c}));
  return sum != sum ? std::bit_cast<float>(canonical_nan_f32) : static_cast<float>(sum);
}

__host__ __device__ __forceinline__ constexpr float div_rn_f32(float a, float b) {
  const float quotient = a / b;
  return quotient != quotient ? std::bit_cast<float>(canonical_nan_f32) : quotient;
}

/// The square root of IEEE 754 is correctly rounded, as + - * / are. A CPU makes 0xFFC00000 of what has none.
__host__ __device__ __forceinline__ float sqrt_rn_f32(float x) {
  return x >= 0 ? std::sqrt(x) : std::bit_cast<float>(canonical_nan_f32);
}

}  // namespace twin

/// a * b rounded to nearest even, subnormals kept; never contracted into a fused multiply-add.
__device__ __forceinline__ float mul_rn_f32(float a, float b) {
#if ASSAY_SM >= 20
  float product;
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
  return product;
#else
  return twin::mul_rn_f32(a, b);
#endif
}

/// a + b rounded to nearest even, likewise.
__device__ __forceinline__ float add_rn_f32(float a, float b) {
#if ASSAY_SM >= 20
  float sum;
  asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
  return sum;
#else
  return twin::add_rn_f32(a, b);
#endif
}

/// a * b + c rounded once, to nearest even, subnormals kept.
__device__ __forceinline__ float fma_rn_f32(float a, float b, float c) {
#if ASSAY_SM >= 20
  float result;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(b), "f"(c));
  return result;
#else
  return twin::fma_rn_f32(a, b, c);
#endif
}

/// a / b rounded to nearest even, subnormals kept.
__device__ __forceinline__ float div_rn_f32(float a, float b) {
#if ASSAY_SM >= 20
  float quotient;
  asm("div.rn.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
  return quotient;
#else
  return twin::div_rn_f32(a, b);
#endif
}

/// The square root rounded to nearest even, subnormals kept. -0 gives -0, anything below it NaN.
__device__ __forceinline__ float sqrt_rn_f32(float x) {
#if ASSAY_SM >= 20
  float root;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#else
  return twin::sqrt_rn_f32(x);
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
