// Operand tables of the probes: from one number to the operands of an instruction that has too many to
// enumerate.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands {

/// 256 codes of a 16-bit format that sit on its boundaries: both signs, 32 exponents from both ends of the
/// range (zero and subnormals, Inf and NaN included), mantissas of all zeros, the last bit, the first bit and
/// all ones.
inline constexpr std::uint32_t special_codes = 256;

template <std::uint32_t kMantissaBits>
__host__ __device__ constexpr std::uint32_t special_16(std::uint32_t i) {
  constexpr std::uint32_t exponents = 1u << (15 - kMantissaBits);
  const std::uint32_t step = i >> 3 & 31u;
  const std::uint32_t exponent = step < 16 ? step : exponents - 32 + step;
  const std::uint32_t ones = (1u << kMantissaBits) - 1;
  const std::uint32_t mantissas[4] = {0, 1, 1u << (kMantissaBits - 1), ones};
  return (i & 1u) << 15 | exponent << kMantissaBits | mantissas[i >> 1 & 3u];
}

struct Pair {
  std::uint32_t a, b;
};

/// Every 16-bit code against every special one: in the low lane as the first operand, in the high lane as the
/// second.
inline constexpr std::uint64_t pairs_16x2 = std::uint64_t{1} << 24;

template <std::uint32_t kMantissaBits>
__host__ __device__ constexpr Pair pair_16x2(std::uint32_t input) {
  const std::uint32_t code = input & 0xFFFFu;
  const std::uint32_t special = special_16<kMantissaBits>(input >> 16);
  return {special << 16 | code, code << 16 | special};
}

/// Every upper half of an fp32 value, with four lower halves, against 64 boundary values with theirs. The
/// second operand takes the first place for odd specials.
inline constexpr std::uint64_t pairs_f32 = std::uint64_t{1} << 24;

__host__ __device__ constexpr Pair pair_f32(std::uint32_t input) {
  const std::uint32_t lower[4] = {0, 1, 0x8000u, 0xFFFFu};
  const std::uint32_t pick = input >> 16 & 255u;
  const std::uint32_t a = (input & 0xFFFFu) << 16 | lower[pick & 3u];
  const std::uint32_t b = special_16<7>(pick) << 16 | lower[pick >> 3 & 3u];
  return pick & 4u ? Pair{b, a} : Pair{a, b};
}

/// A number whose bits look unrelated to its neighbours': a bijection of 32-bit integers.
__host__ __device__ constexpr std::uint32_t scrambled(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands
