// Maximum and minimum with the meaning PTX gives them: +0 is greater than -0, and of a NaN and a number the
// plain forms return the number and the .NaN forms the NaN. A NaN result is always the canonical one. Host
// libraries differ from this (and from each other) in signed zeros and signalling NaN, so a kernel never
// calls fmaxf or fminf.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

enum class Extreme : std::uint8_t { maximum, minimum };
enum class Nan : std::uint8_t { loses, wins };

/// Sign-magnitude codes as integers in the order of the reals, -0 just below +0. NaN codes lie beyond the
/// infinities.
__host__ __device__ __forceinline__ constexpr std::int32_t ordered(std::uint32_t sign_magnitude) {
  return static_cast<std::int32_t>(sign_magnitude ^ ((0u - (sign_magnitude >> 31)) & 0x7FFFFFFFu));
}

/// Extreme of two codes of a format left-aligned in 32 bits, so that one function serves 16- and 32-bit
/// formats.
template <Extreme kWhich, Nan kNan>
__host__ __device__ __forceinline__ constexpr std::uint32_t extreme(std::uint32_t a, std::uint32_t b,
                                                                    std::uint32_t infinity,
                                                                    std::uint32_t nan) {
  const bool a_nan = (a & 0x7FFFFFFFu) > infinity;
  const bool b_nan = (b & 0x7FFFFFFFu) > infinity;
  const bool a_greater = ordered(a) > ordered(b);
  std::uint32_t result = a_greater == (kWhich == Extreme::maximum) ? a : b;
  if constexpr (kNan == Nan::wins) return a_nan || b_nan ? nan : result;
  result = a_nan ? b : result;
  result = b_nan ? a : result;
  return a_nan && b_nan ? nan : result;
}

template <Extreme kWhich, Nan kNan>
__host__ __device__ __forceinline__ constexpr float extreme_f32(float a, float b) {
  return std::bit_cast<float>(extreme<kWhich, kNan>(
      std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b), infinity_f32, canonical_nan_f32));
}

__host__ __device__ __forceinline__ constexpr float max_f32(float a, float b) {
  return extreme_f32<Extreme::maximum, Nan::loses>(a, b);
}
__host__ __device__ __forceinline__ constexpr float max_nan_f32(float a, float b) {
  return extreme_f32<Extreme::maximum, Nan::wins>(a, b);
}
__host__ __device__ __forceinline__ constexpr float min_f32(float a, float b) {
  return extreme_f32<Extreme::minimum, Nan::loses>(a, b);
}
__host__ __device__ __forceinline__ constexpr float min_nan_f32(float a, float b) {
  return extreme_f32<Extreme::minimum, Nan::wins>(a, b);
}

/// Both lanes of a packed 16-bit maximum; `infinity` is the format's 16-bit code.
template <Nan kNan>
__host__ __device__ __forceinline__ constexpr std::uint32_t max_x2(std::uint32_t a, std::uint32_t b,
                                                                   std::uint32_t infinity) {
  // Where no lane is negative or NaN (all a reduction of magnitudes meets, rare blocks aside), codes compare
  // as unsigned integers, both lanes in one word: the top bit of a lane is free to hold a carry or to stop a
  // borrow.
  constexpr std::uint32_t tops = 0x80008000u;
  const std::uint32_t over_infinity = (0x7FFFu - infinity) * 0x00010001u;
  const std::uint32_t a_unusual = a | ((a & ~tops) + over_infinity);
  const std::uint32_t b_unusual = b | ((b & ~tops) + over_infinity);
  if (((a_unusual | b_unusual) & tops) == 0) {
    const std::uint32_t a_not_less = (((a | tops) - b) >> 15) & 0x00010001u;
    const std::uint32_t take_a = a_not_less * 0xFFFFu;
    return (a & take_a) | (b & ~take_a);
  }
  const std::uint32_t low =
      extreme<Extreme::maximum, kNan>(a << 16, b << 16, infinity << 16, canonical_nan_16 << 16);
  const std::uint32_t high = extreme<Extreme::maximum, kNan>(a & 0xFFFF0000u, b & 0xFFFF0000u, infinity << 16,
                                                             canonical_nan_16 << 16);
  return high | (low >> 16);
}

__host__ __device__ __forceinline__ constexpr std::uint32_t max_bf16x2(std::uint32_t a, std::uint32_t b) {
  return max_x2<Nan::loses>(a, b, infinity_bf16);
}
__host__ __device__ __forceinline__ constexpr std::uint32_t max_nan_bf16x2(std::uint32_t a, std::uint32_t b) {
  return max_x2<Nan::wins>(a, b, infinity_bf16);
}
__host__ __device__ __forceinline__ constexpr std::uint32_t max_f16x2(std::uint32_t a, std::uint32_t b) {
  return max_x2<Nan::loses>(a, b, infinity_f16);
}
__host__ __device__ __forceinline__ constexpr std::uint32_t max_nan_f16x2(std::uint32_t a, std::uint32_t b) {
  return max_x2<Nan::wins>(a, b, infinity_f16);
}

}  // namespace twin

__device__ __forceinline__ float max_f32(float a, float b) {
#if ASSAY_SM >= 20
  float result;
  asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return twin::max_f32(a, b);
#endif
}

__device__ __forceinline__ float min_f32(float a, float b) {
#if ASSAY_SM >= 20
  float result;
  asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return twin::min_f32(a, b);
#endif
}

__device__ __forceinline__ float max_nan_f32(float a, float b) {
#if ASSAY_SM >= 80
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return twin::max_nan_f32(a, b);
#endif
}

__device__ __forceinline__ float min_nan_f32(float a, float b) {
#if ASSAY_SM >= 80
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return twin::min_nan_f32(a, b);
#endif
}

__device__ __forceinline__ std::uint32_t max_bf16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 80
  std::uint32_t result;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::max_bf16x2(a, b);
#endif
}

__device__ __forceinline__ std::uint32_t max_nan_bf16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 80
  std::uint32_t result;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::max_nan_bf16x2(a, b);
#endif
}

__device__ __forceinline__ std::uint32_t max_f16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 80
  std::uint32_t result;
  asm("max.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::max_f16x2(a, b);
#endif
}

__device__ __forceinline__ std::uint32_t max_nan_f16x2(std::uint32_t a, std::uint32_t b) {
#if ASSAY_SM >= 80
  std::uint32_t result;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return twin::max_nan_f16x2(a, b);
#endif
}

/// Clears the sign of a value or of both packed ones. No instruction: PTX leaves the NaN that abs returns
/// open, and a bitwise "and" is the definition on every device.
__device__ __forceinline__ float abs_f32(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
}
__device__ __forceinline__ std::uint32_t abs_x2(std::uint32_t pair) { return pair & 0x7FFF7FFFu; }

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
