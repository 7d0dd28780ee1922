// Conversions from the 8-bit formats to fp16, two elements an instruction. All of them are exact.
#pragma once

#include "kernels/device/cvt.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// Normal codes move to fp16's place and bias; the subnormal ones are whole steps of 2^-9, normal in fp16.
__host__ __device__ __forceinline__ constexpr Code16 cvt_f16_e4m3(std::uint32_t code) {
  const std::uint32_t magnitude = code & 0x7Fu;
  const std::uint32_t normal = (magnitude << 7) + ((15u - 7u) << 10);
  const std::uint32_t steps = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-9f);
  const std::uint32_t subnormal = magnitude == 0 ? 0 : (steps >> 13) - ((127u - 15u) << 10);
  const std::uint32_t bits = magnitude < 0x08u ? subnormal : normal;
  return magnitude == 0x7Fu ? canonical_nan_16 : bits | (code & 0x80u) << 8;
}

/// e5m2 is the high byte of fp16.
__host__ __device__ __forceinline__ constexpr Code16 cvt_f16_e5m2(std::uint32_t code) {
  return (code & 0x7Fu) > 0x7Cu ? canonical_nan_16 : (code & 0xFFu) << 8;
}

__host__ __device__ __forceinline__ constexpr std::uint32_t cvt_f16x2_e4m3x2(std::uint32_t codes) {
  return cvt_f16_e4m3(codes >> 8 & 0xFFu) << 16 | cvt_f16_e4m3(codes & 0xFFu);
}

__host__ __device__ __forceinline__ constexpr std::uint32_t cvt_f16x2_e5m2x2(std::uint32_t codes) {
  return cvt_f16_e5m2(codes >> 8 & 0xFFu) << 16 | cvt_f16_e5m2(codes & 0xFFu);
}

}  // namespace twin

/// The two e4m3 codes in the low 16 bits to two fp16 codes, the low byte to the low half. Every NaN becomes
/// 0x7FFF.
__device__ __forceinline__ std::uint32_t cvt_rn_f16x2_e4m3x2(std::uint32_t codes) {
#if ASSAY_SM >= 89
  std::uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(codes)));
  return halves;
#else
  return twin::cvt_f16x2_e4m3x2(codes);
#endif
}

/// The two e5m2 codes in the low 16 bits, likewise.
__device__ __forceinline__ std::uint32_t cvt_rn_f16x2_e5m2x2(std::uint32_t codes) {
#if ASSAY_SM >= 89
  std::uint32_t halves;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(codes)));
  return halves;
#else
  return twin::cvt_f16x2_e5m2x2(codes);
#endif
}

struct PairF32 {
  float low, high;
};

/// The two fp16 codes of a word as fp32 values. Exact; every NaN becomes the canonical one.
__device__ __forceinline__ PairF32 cvt_f32x2_f16x2(std::uint32_t halves) {
  return {cvt_f32_f16(halves & 0xFFFFu), cvt_f32_f16(halves >> 16)};
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
