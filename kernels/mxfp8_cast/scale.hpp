// Block scales of the MXFP8 cast on integer bits: never through a floating log2 (which rounds 2^k(1 + 2^-23)
// to k) or frexp (which doubles exact powers of two).
#pragma once

#include "kernels/device/arithmetic.hpp"
#include "kernels/mxfp8_cast/cast.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Element;
using kernels::mxfp8_cast::ScaleRule;

inline constexpr std::uint32_t e8m0_nan = 0xFF;  ///< the scale of a poisoned block
inline constexpr std::uint32_t e8m0_infinite =
    0xFE;  ///< 2^127, the scale of a block with Inf outside the poison contract

/// 1 / 2^(byte - 127) as fp32 bits: what an element is multiplied by.
__host__ __device__ __forceinline__ constexpr std::uint32_t e8m0_reciprocal_bits(std::uint32_t byte) {
  constexpr std::uint32_t two_to_minus_127 = 0x00400000u;  // subnormal: the shift alone would give zero
  if (byte == e8m0_nan) return canonical_nan_f32;
  if (byte == 254) return two_to_minus_127;
  return (254 - byte) << 23;  // byte 0: 2^127
}

/// log2 of the power of two at or below the element's largest finite value, 448 or 57344.
__host__ __device__ __forceinline__ constexpr std::uint32_t largest_exponent(Element element) {
  return element == Element::e4m3 ? 8 : 15;
}

/// fl32(1/448) or fl32(1/57344).
__host__ __device__ __forceinline__ constexpr std::uint32_t reciprocal_of_max_bits(Element element) {
  return element == Element::e4m3 ? 0x3B124925u : 0x37924925u;
}

/// The scale byte, 0 to 247, of a block whose largest magnitude is the finite, non-negative `amax`.
__device__ __forceinline__ std::uint32_t scale_byte(float amax, ScaleRule rule, Element element) {
  constexpr std::uint32_t mantissa = 0x007FFFFFu;
  if (rule == ScaleRule::rceil) {
    const std::uint32_t s =
        std::bit_cast<std::uint32_t>(mul_rn_f32(amax, std::bit_cast<float>(reciprocal_of_max_bits(element))));
    // Round the exponent up unless s is a power of two. Below 2^-126 that is: up to 2^-127, the least scale,
    // stay at 0; between the two go to 1.
    const std::uint32_t up = s < 0x00800000u ? s > 0x00400000u : (s & mantissa) != 0;
    return (s >> 23) + up;
  }
  // The others are an exponent of amax less that of the element's largest value. The fp32 exponent field is
  // the e8m0 code of a power of two; where it is 0, so is the result.
  std::uint32_t bits = std::bit_cast<std::uint32_t>(amax);
  if (rule == ScaleRule::even) {
    const std::uint32_t dropped = element == Element::e4m3 ? 20 : 21;
    bits += ((1u << (dropped - 1)) - 1) + ((bits >> dropped) & 1u);  // the carry moves the exponent
  }
  const std::uint32_t exponent = (bits >> 23) + (rule == ScaleRule::ceil && (bits & mantissa) != 0);
  const std::uint32_t largest = largest_exponent(element);
  return exponent > largest ? exponent - largest : 0;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
