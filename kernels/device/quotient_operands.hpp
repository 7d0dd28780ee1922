// Operand table of the probe of quotients: those on and next to rounding midpoints, and at the ends of the
// range, where random operands hardly ever lead.
#pragma once

#include "kernels/device/sum_operands.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands {

inline constexpr std::uint64_t quotients = std::uint64_t{1} << 24;

/// The significand of the dividend whose quotient by the odd `divisor`, of 24 bits, is as near as one can be
/// to a midpoint between neighbours: a * 2^25 = q * divisor + r with an odd q of 25 bits and |r| =
/// |remainder|, odd and less than 2^24. Above 2^22.
__host__ __device__ constexpr std::uint32_t dividend_beside_midpoint(std::uint32_t divisor,
                                                                     std::uint32_t remainder) {
  // Newton's iteration modulo 2^32: a number is its own inverse to 3 bits, and each step doubles them.
  std::uint32_t inverse = divisor;
  for (int i = 0; i < 4; ++i) inverse *= 2 - divisor * inverse;
  // q and 2^25 - q have remainders of either sign, and one of them has 25 bits.
  constexpr std::uint32_t modulus = 1u << 25;
  const std::uint32_t q = remainder * inverse & (modulus - 1);
  const std::uint64_t product = std::uint64_t{q < modulus / 2 ? modulus - q : q} * divisor;
  return static_cast<std::uint32_t>((product + modulus / 2) >> 25);
}

/// Operands of a / b.
__host__ __device__ constexpr Pair dividend_and_divisor(std::uint32_t input) {
  using F = SumsF32;
  const std::uint32_t r = scrambled(input), s = scrambled(~input), t = scrambled(r ^ input << 8);
  const std::uint32_t exponent = 64 + (r >> 23 & 127u);
  switch (input & 7u) {
    case 0:  // anything
      return {r, s};
    case 1:  // special values
      return {F::special(r), F::special(s)};
    case 2:
      return t >> 31 ? Pair{F::special(r), s} : Pair{r, F::special(s)};
    case 3: {  // the nearest that a quotient comes to a midpoint
      const std::uint32_t divisor = s | 0x800001u;
      const std::uint32_t a = dividend_beside_midpoint(divisor & 0xFFFFFFu, 2 * (t & 15u) + 1);
      const std::uint32_t normalised = a >> 23 & 1u ? a : a << 1;
      return {F::code(r, exponent, normalised), F::code(t >> 8, 64 + (t >> 16 & 127u), divisor)};
    }
    case 4: {  // a number of the format, or the neighbour of its dividend
      const std::uint32_t q = F::code(r, exponent, t >> 9 & 1u ? r : r & ~(F::ones >> (t & 15u)));
      const std::uint32_t b = F::code(s, F::bias - 8 + (s >> 24 & 15u), t >> 8 & 1u ? s : F::edge(s));
      return {F::cut_product(q, b) + (t >> 10 & 3u) - 1, b};
    }
    case 5: {  // subnormal quotients, on midpoints where b is a power of two or a is a multiple of b
      const std::uint32_t of_b = 150 + (s >> 20 & 63u), odd = t >> 1 & 3u;
      const std::uint32_t of_a = of_b - F::bias - (t >> 8 & 31u) % 26 + 1;
      const std::uint32_t places = 3 + (t >> 13 & 15u);
      const std::uint32_t q = (r & ~0u << places) | 1u << places;
      return {F::cut_product(F::code(r, of_a, q), F::code(0, F::bias, odd << 21)) + (t >> 20 & 3u) % 3 - 1,
              F::code(s, of_b, t & 1u ? s : odd << 21)};
    }
    case 6: {  // the largest quotients, and overflow by less than a unit
      const std::uint32_t of_b = 2 + (s >> 20 & 126u);
      return {F::code(r, F::exponents - 2 - (F::bias - of_b) + (r >> 24 & 1u), F::edge(r)),
              F::code(s, of_b, t & 1u ? F::edge(s) : s)};
    }
    default:  // both next to a power of two
      return {F::code(r, exponent, F::edge(r)), F::code(s, 64 + (s >> 23 & 127u), F::edge(s))};
  }
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands
