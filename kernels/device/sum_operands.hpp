// Operand tables of the probes of sums and fused multiply-adds: operands that meet, cancel, and fall on and
// next to rounding midpoints, as random ones hardly ever do.
#pragma once

#include "kernels/device/twin_operands.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands {

struct Triple {
  std::uint32_t a, b, c;
};

inline constexpr std::uint64_t sums = std::uint64_t{1} << 24;

/// A format with its sign in the top of 1 + kExponentBits + kMantissaBits bits.
template <std::uint32_t kExponentBits, std::uint32_t kMantissaBits>
struct SumTable {
  static constexpr std::uint32_t ones = (1u << kMantissaBits) - 1, exponents = 1u << kExponentBits;
  static constexpr std::uint32_t sign = exponents << kMantissaBits, bias = exponents / 2 - 1;

  static __host__ __device__ constexpr std::uint32_t bounded(std::uint32_t exponent) {
    return exponent >> 31 ? 0 : exponent < exponents ? exponent : exponents - 1;
  }
  static __host__ __device__ constexpr std::uint32_t code(std::uint32_t sign_bit, std::uint32_t exponent,
                                                          std::uint32_t mantissa) {
    return (sign_bit & 1u ? sign : 0u) | bounded(exponent) << kMantissaBits | (mantissa & ones);
  }
  /// Zeros, subnormals, Inf, NaN, the codes next to them, and one.
  static __host__ __device__ constexpr std::uint32_t special(std::uint32_t i) {
    const std::uint32_t at[8] = {0, 1, 2, bias, exponents - 2, exponents - 1, bias - 1, 0};
    const std::uint32_t mantissas[4] = {0, 1, 1u << (kMantissaBits - 1), ones};
    return code(i >> 5, at[i >> 2 & 7u], mantissas[i & 3u]);
  }
  /// A mantissa that is zero, all ones, or one of the codes next to them.
  static __host__ __device__ constexpr std::uint32_t edge(std::uint32_t i) {
    const std::uint32_t mantissas[4] = {0, 1, ones - 1, ones};
    return mantissas[i & 3u];
  }
  /// The product of two normal codes cut to a code of the format, or something else where that is none.
  static __host__ __device__ constexpr std::uint32_t cut_product(std::uint32_t a, std::uint32_t b) {
    const std::uint64_t product = std::uint64_t{(a & ones) | (ones + 1)} * ((b & ones) | (ones + 1));
    const auto carry = static_cast<std::uint32_t>(product >> (2 * kMantissaBits + 1));
    const std::uint32_t exponent = ((a & ~sign) >> kMantissaBits) + ((b & ~sign) >> kMantissaBits) - bias;
    return ((a ^ b) & sign) | bounded(exponent + carry) << kMantissaBits |
           (static_cast<std::uint32_t>(product >> (kMantissaBits + carry)) & ones);
  }

  /// Operands of a * b + c.
  static __host__ __device__ constexpr Triple triple(std::uint32_t input) {
    const std::uint32_t r = scrambled(input), s = scrambled(~input), t = scrambled(r ^ input << 8);
    constexpr std::uint32_t every = 2 * sign - 1;
    const std::uint32_t a = r & every, b = s & every;
    const std::uint32_t near_one = code(s >> 31, bias - 4 + (s >> 26 & 7u), s);
    const std::uint32_t exponent = t >> 8 & (exponents - 1);
    switch (input & 7u) {
      case 0:  // anything
        return {a, b, t & every};
      case 1:  // special values
        return {special(r), special(s), special(t)};
      case 2:
        return t >> 31 ? Triple{special(r), b, special(t)} : Triple{a, special(s), t & every};
      case 3:  // cancellation: -c is the product but for some units, or a small shift
        return {a, near_one, ((cut_product(a, near_one) ^ sign) + (t & 3u) - 1) & every};
      case 4:  // cancellation of most bits
        return {a, near_one, cut_product(a, near_one) ^ sign ^ (t >> (t & 31u) & ones)};
      case 5: {  // the product is half a unit of c, or next to it
        const std::uint32_t of_b = bias - 2 + (s >> 20 & 3u);
        const std::uint32_t of_a = exponent + bias - of_b - kMantissaBits - 1 + (s >> 18 & 1u);
        return {code(r, of_a, edge(r >> 4)), code(s, of_b, r >> 8 & 1u ? edge(s >> 1) : 0),
                code(t, exponent, t >> 24 & 1u ? edge(t >> 25) : t >> 1)};
      }
      case 6: {  // subnormal sums
        const std::uint32_t of_a = s >> 20 & (exponents - 1);
        return {code(r, of_a, r >> 1),
                code(s, bias - of_a - (s >> 10 & 31u) % (kMantissaBits + 3) + 1, s >> 1),
                code(t, t >> 30 & 1u, t >> 1 >> (t >> 25 & 15u))};
      }
      default: {  // the largest numbers, and overflow by less than a unit
        const std::uint32_t of_a = bias / 2 + (r >> 20 & (exponents / 2 - 1));
        return {code(r, of_a, r >> 9 & 1u ? r >> 1 : edge(r)),
                code(s, exponents - 2 + bias - of_a - (s >> 20 & 1u) * (kMantissaBits + 1), edge(s)),
                code(t, exponents - 2, ones - (t >> 8 & 1u))};
      }
    }
  }

  /// Operands of a + c: those of triple() with b brought to one, which leaves midpoints where they are.
  static __host__ __device__ constexpr Pair addends(std::uint32_t input) {
    const Triple x = triple(input);
    switch (input & 7u) {
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
        return input >> 3 & 1u ? Pair{cut_product(x.a, x.b), x.c} : Pair{x.c, cut_product(x.a, x.b)};
      default:
        return {x.a, x.c};
    }
  }
};

using SumsF32 = SumTable<8, 23>;
using SumsF16 = SumTable<5, 10>;

/// The low half has the operands of `input`, the high half those of a number far from it.
__host__ __device__ constexpr std::uint32_t far_from(std::uint32_t input) {
  return scrambled(input) & static_cast<std::uint32_t>(sums - 1);
}
__host__ __device__ constexpr Triple triple_f16x2(std::uint32_t input) {
  const Triple low = SumsF16::triple(input), high = SumsF16::triple(far_from(input));
  return {high.a << 16 | low.a, high.b << 16 | low.b, high.c << 16 | low.c};
}
__host__ __device__ constexpr Pair addends_f16x2(std::uint32_t input) {
  const Pair low = SumsF16::addends(input), high = SumsF16::addends(far_from(input));
  return {high.a << 16 | low.a, high.b << 16 | low.b};
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands
