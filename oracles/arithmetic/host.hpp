// The fast twins of Modelled and Bounded: the machine's own IEEE 754 arithmetic, used only where it gives the
// same bits, each use with its reason. For schedules of many millions of operations.
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "oracles/arithmetic/bounded.hpp"

namespace assay::arithmetic {

// Every operation of a float or double rounds once, to nearest even (no wider registers, and the build turns
// contraction off); std::fma is fused by definition.
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559 &&
              FLT_EVAL_METHOD == 0);

namespace host {

inline constexpr int double_bias = 1023, double_mantissa_bits = 52;

/// 2^exponent of a normal double.
inline double power(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + double_bias) << double_mantissa_bits);
}
/// The exponent of the binade of a normal |x|; below and above every other one for zero and Inf or NaN.
inline int binade(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> double_mantissa_bits & 0x7FF) - double_bias;
}

/// a + b = sum + rest exactly (TwoSum, Knuth), where nothing overflows.
struct Pair {
  double sum, rest;
};
inline Pair two_sum(double a, double b) {
  const double s = a + b, b_in_s = s - a;
  return {s, (a - (s - b_in_s)) + (b - b_in_s)};
}

/// x rounded once to F (fp16 or bf16), to nearest even. Adding 1.5 * 2^52 quanta of x's binade leaves a
/// double that counts whole quanta, so that addition rounds as F does, ties included (1.5 * 2^52 is even),
/// and taking them off again is exact.
template <formats::Format F>
double round_to(double x) {
  static_assert(F == formats::Format::fp16 || F == formats::Format::bf16);
  constexpr formats::Spec s = formats::definition::spec_of(F);
  constexpr int least = formats::definition::min_exponent(s), most = s.bias;
  constexpr double largest = F == formats::Format::fp16 ? 0x1.ffcp15 : 0x1.fep127;
  const int b = binade(x), clamped = b < least ? least : b > most + 1 ? most + 1 : b;
  const double shift = 1.5 * power(clamped - s.mantissa_bits + double_mantissa_bits);
  const double magnitude = std::fabs((x + shift) - shift);
  const double bounded = magnitude > largest ? std::numeric_limits<double>::infinity() : magnitude;
  return std::copysign(bounded, x);
}

/// As rounding_error() of bounded.hpp: for the exact result sum + rest that was rounded to `rounded`.
template <formats::Format F>
double rounding_error(Pair exact, double rounded) {
  constexpr formats::Spec s = formats::definition::spec_of(F);
  constexpr int least = formats::definition::min_exponent(s);
  if (!std::isfinite(rounded)) return std::numeric_limits<double>::infinity();
  if (exact.rest == 0 && exact.sum == rounded) return 0;
  constexpr std::uint64_t mantissa = (std::uint64_t{1} << double_mantissa_bits) - 1;
  int b = binade(exact.sum);
  // A sum that was rounded up to a power of two came from the binade below it.
  if ((std::bit_cast<std::uint64_t>(exact.sum) & mantissa) == 0 && exact.rest != 0 &&
      std::signbit(exact.rest) != std::signbit(exact.sum))
    --b;
  return power((b < least ? least : b) - s.mantissa_bits - 1);
}

}  // namespace host

/// A number of format F with the interface of Modelled and its bits, except that bf16 is for conversions
/// alone. Why every operation rounds once:
///   fp32  float operations of the machine. Only fp32 is divided, and only of it are roots taken.
///   fp16  held as double. A product has 22 bits and is exact. a + b has at most 41 bits and is exact.
///         In a * b + c the product p is exact, and the double sum s = fl(p + c), rounded again to fp16, is
///         the exact sum t rounded once:
///         - |p| >= 2^20: |t| > 2^20 - 2^16, so both round to Inf.
///         - |p| < 2^20 and a quantum of p (at least its leading bit's / 2^21) >= 2^-24, or |t| < 2^4: t is a
///           whole number of 2^-24 below 2^21, or of 2^-48 below 2^4, at most 53 bits: s = t.
///         - else p is a whole number of some 2^-u < 2^-24, so |p| < 2^22 * 2^-25 = 2^-3, and |t| >= 2^4. s
///         and t
///           could round apart only if a point m half-way between neighbours of fp16 were s, or lay between s
///           and t, and were not t: 0 < |t - m| <= |s - t| <= 2^-37, half a place of a double below 2^17.
///           Here m and c are whole numbers of 2^-7, and differ, because c is a number of fp16. Then |p| >=
///           |m - c| - |t - m| > 2^-8, so p is a whole number of 2^-29, and so is t - m = p - (m - c): it
///           cannot be that small and not 0.
template <formats::Format F>
class Host {
  static_assert(F == formats::Format::fp32 || F == formats::Format::fp16 || F == formats::Format::bf16);
  static constexpr bool single = F == formats::Format::fp32;
  static constexpr formats::Spec spec = formats::definition::spec_of(F);

 public:
  using Word = std::conditional_t<single, float, double>;

  Host() = default;  ///< +0
  static Host of_code(std::uint32_t code) {
    if constexpr (single) return of_word(std::bit_cast<float>(code));
    if constexpr (F == formats::Format::bf16)
      return of_word(static_cast<double>(std::bit_cast<float>(code << 16)));
    if constexpr (F == formats::Format::fp16) return of_word(fp16_value(code));
  }
  /// A value of F.
  static Host of_word(Word word) {
    Host result;
    result.word_ = word;
    return result;
  }
  static Host rounded(double x) {
    if constexpr (single) return of_word(static_cast<float>(x));
    if constexpr (!single) return of_word(host::round_to<F>(x));
  }

  Word word() const { return word_; }
  std::uint32_t code() const {
    if (std::isnan(word_)) return formats::definition::canonical_nan(spec);
    if constexpr (single) return std::bit_cast<std::uint32_t>(word_);
    if constexpr (F == formats::Format::bf16)
      return std::bit_cast<std::uint32_t>(static_cast<float>(word_)) >> 16;
    if constexpr (F == formats::Format::fp16) return fp16_code(word_);
  }

  Host operator-() const { return of_word(-word_); }
  friend Host operator+(Host a, Host b) {
    static_assert(F != formats::Format::bf16);
    if constexpr (single) return of_word(a.word_ + b.word_);
    if constexpr (!single) return rounded(a.word_ + b.word_);
  }
  friend Host operator-(Host a, Host b) { return a + -b; }
  friend Host operator*(Host a, Host b) {
    static_assert(F != formats::Format::bf16);
    if constexpr (single) return of_word(a.word_ * b.word_);
    if constexpr (!single) return rounded(a.word_ * b.word_);
  }
  friend Host operator/(Host a, Host b) {
    static_assert(single);
    return of_word(a.word_ / b.word_);
  }
  friend Host sqrt(Host x) {
    static_assert(single);
    return of_word(std::sqrt(x.word_));
  }
  friend Host fma(Host a, Host b, Host c) {
    static_assert(F != formats::Format::bf16);
    if constexpr (single) return of_word(std::fma(a.word_, b.word_, c.word_));
    if constexpr (!single) return rounded(a.word_ * b.word_ + c.word_);
  }

 private:
  // An fp16 magnitude put where a double has its exponent and mantissa is that value * 2^(15 - 1023);
  // subnormals too.
  static constexpr int places = host::double_mantissa_bits - 10;
  static double fp16_value(std::uint32_t code) {
    const std::uint32_t magnitude = code & 0x7FFF;
    double x = std::bit_cast<double>(std::uint64_t{magnitude} << places) * 0x1p1008;
    if (magnitude == 0x7C00) x = std::numeric_limits<double>::infinity();
    if (magnitude > 0x7C00) x = std::numeric_limits<double>::quiet_NaN();
    return (code & 0x8000) != 0 ? -x : x;
  }
  static std::uint32_t fp16_code(double x) {
    const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    if (std::isinf(x)) return sign | 0x7C00;
    return sign |
           static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(std::fabs(x) * 0x1p-1008) >> places);
  }

  Word word_ = 0;
};

template <formats::Format To, formats::Format From>
Host<To> convert(Host<From> x) {
  if constexpr (To == From) return x;
  return Host<To>::rounded(static_cast<double>(x.word()));
}

/// As Bounded, number for number and bound for bound, on Host.
template <formats::Format F>
class HostBounded {
 public:
  HostBounded() = default;  ///< +0, exactly
  static HostBounded of_code(std::uint32_t code, double bound = 0) { return {Host<F>::of_code(code), bound}; }

  Host<F> value() const { return value_; }
  std::uint32_t code() const { return value_.code(); }
  double bound() const { return bound_; }

  friend HostBounded operator+(HostBounded a, HostBounded b) {
    return {a.value_ + b.value_, host::two_sum(wide(a), wide(b)), sum_upward(a.bound_, b.bound_)};
  }
  friend HostBounded operator*(HostBounded a, HostBounded b) {
    return {a.value_ * b.value_, host::Pair{wide(a) * wide(b), 0}, product_error(a, b)};
  }
  friend HostBounded fma(HostBounded a, HostBounded b, HostBounded c) {
    // The product of two numbers of 24 bits is exact in double, and so is what TwoSum says of the sum.
    return {fma(a.value_, b.value_, c.value_), host::two_sum(wide(a) * wide(b), wide(c)),
            sum_upward(product_error(a, b), c.bound_)};
  }
  /// What the errors of a and b make of the error of a * b.
  friend double product_error(HostBounded a, HostBounded b) {
    if (a.bound_ == 0 && b.bound_ == 0) return 0;
    const double x = std::fabs(wide(a)), y = std::fabs(wide(b));
    if (!std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
    const double first = product_upward(x, b.bound_), second = product_upward(y, a.bound_);
    return sum_upward(sum_upward(first, second), product_upward(a.bound_, b.bound_));
  }
  /// x known up to `inherited`, rounded to F.
  static HostBounded rounded(double x, double inherited) {
    return {Host<F>::rounded(x), host::Pair{x, 0}, inherited};
  }

 private:
  HostBounded(Host<F> value, double bound) : value_(value), bound_(bound) {}
  HostBounded(Host<F> value, host::Pair exact, double inherited)
      : value_(value),
        bound_(sum_upward(inherited, host::rounding_error<F>(exact, static_cast<double>(value.word())))) {}
  static double wide(HostBounded x) { return static_cast<double>(x.value_.word()); }

  Host<F> value_;
  double bound_ = 0;
};

template <formats::Format To, formats::Format From>
HostBounded<To> convert(HostBounded<From> x) {
  return HostBounded<To>::rounded(static_cast<double>(x.value().word()), x.bound());
}

// Like the three of bounded.hpp, to be the argument of a schedule.
struct HostArithmetic {
  template <formats::Format F>
  using number = Host<F>;
  template <formats::Format F>
  static Host<F> input(std::uint32_t code) {
    return Host<F>::of_code(code);
  }
};
struct HostBoundedArithmetic {
  template <formats::Format F>
  using number = HostBounded<F>;
  template <formats::Format F>
  static HostBounded<F> input(std::uint32_t code) {
    return HostBounded<F>::of_code(code);
  }
};

}  // namespace assay::arithmetic
