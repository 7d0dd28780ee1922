// Single-precision arithmetic whose NaN is the same on both devices.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// A CPU hands on the payload of a NaN operand and makes 0xFFC00000 of Inf * 0; NVIDIA hardware returns one
/// NaN.
__host__ __device__ __forceinline__ constexpr float mul_rn_f32(float a, float b) {
  const float product = a * b;
  return product != product ? std::bit_cast<float>(canonical_nan_f32) : product;
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

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
