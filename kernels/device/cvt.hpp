// Conversions between floating-point formats, rounding to nearest even.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// The parameters of an 8-bit format with the fp32 constants that its conversion needs.
struct Fp8 {
  std::uint32_t mantissa_bits;
  std::uint32_t bias;
  std::uint32_t max_code;    ///< largest finite magnitude: what satfinite saturates to
  std::uint32_t min_normal;  ///< fp32 bits of the smallest normal value
  float subnormal_magic;     ///< 2^23 subnormal steps: adding it rounds a smaller magnitude to whole steps
};
inline constexpr Fp8 e4m3{3, 7, 0x7E, 0x3C800000u, 0x1p14f};  // 2^-6; steps of 2^-9
inline constexpr Fp8 e5m2{2, 15, 0x7B, 0x38800000u, 0x1p7f};  // 2^-14; steps of 2^-16
inline constexpr std::uint32_t canonical_nan_fp8 = 0x7F;      // either sign of NaN becomes this code

/// fp32 to one fp8 code: nearest even, out-of-range magnitudes and Inf to the largest finite value, sign of
/// zero kept.
__host__ __device__ __forceinline__ constexpr std::uint32_t f32_to_fp8_satfinite(float value, Fp8 format) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint32_t dropped = 23 - format.mantissa_bits;
  // Normal range: add half a step less one, plus the lowest kept bit (ties to even), and drop the rest. The
  // carry may run into the exponent, which is right. Meaningless below min_normal, where it is not selected.
  const std::uint32_t rounded = magnitude + ((1u << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1u);
  const std::uint32_t normal = (rounded >> dropped) - ((127 - format.bias) << format.mantissa_bits);
  // Below: the sum's last mantissa bit is one subnormal step, so fp32 addition is the rounding to nearest
  // even.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + format.subnormal_magic) -
      std::bit_cast<std::uint32_t>(format.subnormal_magic);
  std::uint32_t code = magnitude < format.min_normal ? subnormal : normal;
  code = code > format.max_code ? format.max_code : code;
  code |= (bits >> 24) & 0x80u;
  return magnitude > infinity_f32 ? canonical_nan_fp8 : code;
}

__host__ __device__ __forceinline__ constexpr std::uint32_t cvt_e4m3x2_f32(float high, float low) {
  return f32_to_fp8_satfinite(high, e4m3) << 8 | f32_to_fp8_satfinite(low, e4m3);
}

__host__ __device__ __forceinline__ constexpr std::uint32_t cvt_e5m2x2_f32(float high, float low) {
  return f32_to_fp8_satfinite(high, e5m2) << 8 | f32_to_fp8_satfinite(low, e5m2);
}

/// Exact: bf16 is the high half of fp32. A NaN keeps its sign and payload.
__host__ __device__ __forceinline__ constexpr float cvt_f32_bf16(Code16 code) {
  return std::bit_cast<float>(code << 16);
}

/// Exact. Every NaN becomes the canonical one.
__host__ __device__ __forceinline__ constexpr float cvt_f32_f16(Code16 code) {
  const std::uint32_t magnitude = code & 0x7FFFu;
  const std::uint32_t sign = (code & 0x8000u) << 16;
  const std::uint32_t normal = (magnitude << 13) + ((127u - 15u) << 23);
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  std::uint32_t bits = magnitude < 0x0400u ? subnormal : normal;
  bits = magnitude >= infinity_f16 ? infinity_f32 : bits;
  return std::bit_cast<float>(magnitude > infinity_f16 ? canonical_nan_f32 : (bits | sign));
}

/// Magnitudes of 65520 and more become Inf; every NaN becomes 0x7FFF.
__host__ __device__ __forceinline__ constexpr Code16 cvt_rn_f16_f32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
  const std::uint32_t normal = (rounded >> 13) - ((127u - 15u) << 10);
  // As in f32_to_fp8_satfinite: 2^23 steps of 2^-24.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0x1p-1f) -
                                  std::bit_cast<std::uint32_t>(0x1p-1f);
  std::uint32_t code = magnitude < 0x38800000u ? subnormal : normal;
  code = code > infinity_f16 ? infinity_f16 : code;
  code |= (bits >> 16) & 0x8000u;
  return magnitude > infinity_f32 ? canonical_nan_16 : code;
}

/// Every NaN becomes 0x7FFF; without that guard the rounding bias would turn some NaN into Inf or zero.
__host__ __device__ __forceinline__ constexpr Code16 cvt_rn_bf16_f32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t code = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return (bits & 0x7FFFFFFFu) > infinity_f32 ? canonical_nan_16 : code;
}

__host__ __device__ __forceinline__ constexpr std::uint32_t cvt_rn_f16x2_f32(float high, float low) {
  return cvt_rn_f16_f32(high) << 16 | cvt_rn_f16_f32(low);
}

__host__ __device__ __forceinline__ constexpr std::uint32_t cvt_rn_bf16x2_f32(float high, float low) {
  return cvt_rn_bf16_f32(high) << 16 | cvt_rn_bf16_f32(low);
}

}  // namespace twin

/// Two fp32 values to two e4m3 codes in the low 16 bits; the FIRST argument goes to the high byte, as in PTX.
__device__ __forceinline__ std::uint32_t cvt_rn_satfinite_e4m3x2_f32(float high, float low) {
#if ASSAY_SM >= 89
  std::uint16_t codes;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  return codes;
#else
  return twin::cvt_e4m3x2_f32(high, low);
#endif
}

/// Two fp32 values to two e5m2 codes in the low 16 bits; the FIRST argument goes to the high byte, as in PTX.
__device__ __forceinline__ std::uint32_t cvt_rn_satfinite_e5m2x2_f32(float high, float low) {
#if ASSAY_SM >= 89
  std::uint16_t codes;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(codes) : "f"(high), "f"(low));
  return codes;
#else
  return twin::cvt_e5m2x2_f32(high, low);
#endif
}

/// No instruction: a shift is the definition, on every device.
__device__ __forceinline__ float cvt_f32_bf16(Code16 code) { return twin::cvt_f32_bf16(code); }

__device__ __forceinline__ float cvt_f32_f16(Code16 code) {
#if ASSAY_SM >= 53
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<std::uint16_t>(code)));
  return value;
#else
  return twin::cvt_f32_f16(code);
#endif
}

__device__ __forceinline__ Code16 cvt_rn_f16_f32(float value) {
#if ASSAY_SM >= 53
  std::uint16_t code;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(value));
  return code;
#else
  return twin::cvt_rn_f16_f32(value);
#endif
}

__device__ __forceinline__ Code16 cvt_rn_bf16_f32(float value) {
#if ASSAY_SM >= 80
  std::uint16_t code;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(code) : "f"(value));
  return code;
#else
  return twin::cvt_rn_bf16_f32(value);
#endif
}

/// Two fp32 values to two packed fp16 codes; the FIRST argument goes to the high half, as in PTX.
__device__ __forceinline__ std::uint32_t cvt_rn_f16x2_f32(float high, float low) {
#if ASSAY_SM >= 80
  std::uint32_t codes;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(high), "f"(low));
  return codes;
#else
  return cvt_rn_f16_f32(high) << 16 | cvt_rn_f16_f32(low);
#endif
}

/// Two fp32 values to two packed bf16 codes, likewise.
__device__ __forceinline__ std::uint32_t cvt_rn_bf16x2_f32(float high, float low) {
#if ASSAY_SM >= 80
  std::uint32_t codes;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(codes) : "f"(high), "f"(low));
  return codes;
#else
  return cvt_rn_bf16_f32(high) << 16 | cvt_rn_bf16_f32(low);
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
