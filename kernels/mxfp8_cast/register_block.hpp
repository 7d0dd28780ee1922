// What the register kernels share: bf16 elements as loaded, their maxima, and their conversion.
#pragma once

#include "kernels/device/bf16x2.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/mxfp8_cast/scale.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::SpecialBlocks;

/// kWords words, eight at a time by one 256-bit load where that is an instruction and `from` is 32-byte
/// aligned, else four at a time.
template <unsigned kWords>
__device__ __forceinline__ void load_words(std::uint32_t (&word)[kWords], const std::byte* from,
                                           bool aligned_32, CachePolicy policy) {
  if (has_256_bit_loads && aligned_32) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < kWords; i += 8) {
      const Bits256 part = load_nc_256(from + 4 * i, policy);
      ASSAY_UNROLL
      for (unsigned j = 0; j < 8; ++j) word[i + j] = part.word[j];
    }
    return;
  }
  ASSAY_UNROLL
  for (unsigned i = 0; i < kWords; i += 4) {
    const Bits128 part = load_nc_128(from + 4 * i, policy);
    ASSAY_UNROLL
    for (unsigned j = 0; j < 4; ++j) word[i + j] = part.word[j];
  }
}

/// The scale byte under each contract for blocks with NaN or Inf. `amax` is the largest magnitude; NaN where
/// any element is under `poison`, and only where all are under the others.
__device__ __forceinline__ std::uint32_t block_scale(float amax, ScaleRule rule, SpecialBlocks specials,
                                                     Element element) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(amax);
  if (bits < infinity_f32) return scale_byte(amax, rule, element);
  if (specials == SpecialBlocks::poison) return e8m0_nan;
  if (bits == infinity_f32) return e8m0_infinite;
  return specials == SpecialBlocks::te_register ? e8m0_nan : 0;  // NaN throughout
}

/// The larger of two magnitudes. With kNanWins a NaN wins, otherwise it loses.
template <bool kNanWins>
__device__ __forceinline__ float max_of(float a, float b) {
  return kNanWins ? max_nan_f32(a, b) : max_f32(a, b);
}

/// The larger magnitudes of two pairs of bf16.
template <bool kNanWins>
__device__ __forceinline__ std::uint32_t max_magnitudes(std::uint32_t a, std::uint32_t b) {
  return kNanWins ? max_nan_bf16x2(a, b) : max_bf16x2(a, b);
}

/// The larger of the two magnitudes of a pair, as fp32.
template <bool kNanWins>
__device__ __forceinline__ float larger_of(std::uint32_t pair) {
  return max_of<kNanWins>(cvt_f32_bf16(pair & 0xFFFFu), cvt_f32_bf16(pair >> 16));
}

/// Two fp32 values to codes in the low 16 bits, the second argument in the low byte.
template <Element kElement>
__device__ __forceinline__ std::uint32_t cvt_pair(float high, float low) {
  return kElement == Element::e4m3 ? cvt_rn_satfinite_e4m3x2_f32(high, low)
                                   : cvt_rn_satfinite_e5m2x2_f32(high, low);
}

/// Four bf16 elements in two pairs, each pair times its own pair of scales, to four codes; element 0 in the
/// low byte. The product of a bf16 and a power of two, rounded to bf16, gives the same code as the exact one:
/// it is exact unless it is far below the smallest code or far above the largest.
template <Element kElement>
__device__ __forceinline__ std::uint32_t cvt_scaled_pairs(std::uint32_t first, std::uint32_t first_scales,
                                                          std::uint32_t second, std::uint32_t second_scales) {
  const std::uint32_t a = mul_rn_bf16x2(first, first_scales), b = mul_rn_bf16x2(second, second_scales);
  const std::uint32_t low = cvt_pair<kElement>(cvt_f32_bf16(a >> 16), cvt_f32_bf16(a & 0xFFFFu));
  const std::uint32_t high = cvt_pair<kElement>(cvt_f32_bf16(b >> 16), cvt_f32_bf16(b & 0xFFFFu));
  return high << 16 | low;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
