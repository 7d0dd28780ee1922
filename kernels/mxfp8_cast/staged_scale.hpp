// What the staged kernels share: block scales by comparison and division in fp32, and the cast of pairs.
// Deliberately independent of scale.hpp, by which the register kernels work on bits.
#pragma once

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/mxfp8_cast/cast.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Element;
using kernels::mxfp8_cast::Input;
using kernels::mxfp8_cast::ScaleRule;
using kernels::mxfp8_cast::SpecialBlocks;

inline constexpr unsigned block_elements = 32;

template <Input kInput>
inline constexpr unsigned input_bytes = kInput == Input::fp32 ? 4 : 2;

template <Input kInput>
__device__ __forceinline__ float widen(std::uint32_t code) {
  if constexpr (kInput == Input::fp32) return std::bit_cast<float>(code);
  return kInput == Input::bf16 ? cvt_f32_bf16(code) : cvt_f32_f16(code);
}

/// Two codes, that of `high` in the high byte.
__device__ __forceinline__ std::uint32_t cast_pair(float high, float low, Element element) {
  return element == Element::e4m3 ? cvt_rn_satfinite_e4m3x2_f32(high, low)
                                  : cvt_rn_satfinite_e5m2x2_f32(high, low);
}

/// What the reduction learns of a block.
struct BlockSummary {
  float largest = 0;     ///< magnitude, NaN left out
  bool any_nan = false;  ///< looked at under the contract poison
  bool all_nan = false;
};

/// The scale byte of a block with a finite largest magnitude: the exponent of `value`, one more if value
/// exceeds `bound` times the power of two at or below it (reaches it, where `inclusive`), less `bias`, but at
/// least 0.
__device__ __forceinline__ unsigned exponent_code(float value, float bound, bool inclusive, unsigned bias) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const unsigned exponent = bits >> 23;
  const float power = exponent == 0 ? 0x1p-127f : std::bit_cast<float>(bits & 0x7F800000u);
  const float limit = mul_rn_f32(power, bound);
  const unsigned code = exponent + (value > limit || (inclusive && value == limit));
  return code > bias ? code - bias : 0;
}

__device__ __forceinline__ unsigned finite_scale(float largest, ScaleRule rule, Element element) {
  const bool e4m3 = element == Element::e4m3;
  const unsigned bias = e4m3 ? 8 : 15;
  switch (rule) {
    case ScaleRule::rceil:
      return exponent_code(mul_rn_f32(largest, e4m3 ? 1.0f / 448 : 1.0f / 57344), 1, false, 0);
    case ScaleRule::ceil:
      return exponent_code(largest, 1, false, bias);
    // Rounding to 3 or 2 mantissa bits reaches the next power of two from half a step below it on: that tie
    // is even.
    case ScaleRule::even:
      return exponent_code(largest, e4m3 ? 1.9375f : 1.875f, true, bias);
    case ScaleRule::floor:
      break;
  }
  return exponent_code(largest, 2, false, bias);
}

__device__ __forceinline__ unsigned scale_of(const BlockSummary& block, ScaleRule rule,
                                             SpecialBlocks specials, Element element) {
  const bool infinite = block.largest > 0x1.fffffep127f;
  if (specials == SpecialBlocks::poison && (infinite || block.any_nan)) return 0xFF;
  if (infinite) return 0xFE;
  if (specials == SpecialBlocks::te_register && block.all_nan) return 0xFF;
  return finite_scale(block.largest, rule, element);
}

/// The reciprocal of the scale by an IEEE division of powers of two, which is exact at both ends of the
/// range.
__device__ __forceinline__ float inverse_scale(unsigned code) {
  if (code == 0xFF) return std::bit_cast<float>(canonical_nan_f32);
  return __fdiv_rn(1.0f, code == 0 ? 0x1p-127f : std::bit_cast<float>(code << 23));
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
