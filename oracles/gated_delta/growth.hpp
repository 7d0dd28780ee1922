// How errors of operands grow through an operation: rigorous bounds in doubles, for the two arithmetics that
// carry them (bounded.hpp, truth.hpp).
//
// x' is a true value, x what stands for it, |x' - x| <= ex. Where a bound does not exist (Inf, NaN, a
// denominator that may be zero) it is Inf or NaN: both mean "no bound", and every operation hands that on,
// since sums, products and quotients of non-negative numbers with an Inf or NaN among them are never finite
// but for x / Inf, which no formula here forms of a bound.
//
// Rounding outward: a formula of non-negative doubles has at most six operations on any path, each with a
// relative error of 2^-53 downward, and upward() multiplies the result by 1 + 2^-50, itself rounded: at least
// the exact result. That needs normal numbers: a bound that is not zero is at least `least`, magnitudes of
// fp32 are 2^-149 or more, so that no product of the two, and none of two bounds, is below 2^-1022.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "oracles/gated_delta/columns.hpp"

namespace assay::oracles::gated_delta::growth {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double least = 0x1p-500;

/// `most`, or 0 of an x of 0, for any x >= 0 that is not far below it. Made without a branch, so that loops
/// become vectors.
ASSAY_INLINED double unless_zero(double x, double most) {
  const double scaled = x * 0x1p1000;
  return scaled < most ? scaled : most;
}

/// Not below the exact value of the formula whose result in doubles is x; 0 of 0.
ASSAY_INLINED double upward(double x) { return x * (1 + 0x1p-50) + unless_zero(x, least); }

/// 0 of a number, NaN of Inf and NaN: added to a bound, it takes it away.
ASSAY_INLINED double unless_finite(float x) { return double{x - x}; }

/// The larger of two bounds, NaN of any NaN.
inline double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// 2^binade of |x|, of a double that is 0 or normal.
ASSAY_INLINED double power_below(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000u);
}

/// Half of the spacing of fp32 or bf16, with `mantissa_bits`, around x: what rounding an exact value may move
/// it, where x is that value rounded to double or to the format. A value that was rounded up to a power of
/// two comes from the binade below, whose spacing is smaller.
template <int mantissa_bits>
ASSAY_INLINED double half_spacing(double x) {
  constexpr double half = 1.0 / (std::uint64_t{2} << mantissa_bits), of_subnormals = 0x1p-126 * half;
  const double here = power_below(x) * half;
  return here < of_subnormals ? of_subnormals : here;
}

/// a' b' - a b = a (b' - b) + b (a' - a) + (a' - a)(b' - b). Not yet upward.
ASSAY_INLINED double of_product(double a, double ea, double b, double eb) {
  return (std::fabs(a) * eb + std::fabs(b) * ea) + ea * eb;
}

/// a' / b' - a / b = (b (a' - a) - a (b' - b)) / (b b'), so at most (ea + |a / b| eb) / (|b| - eb) where
/// eb < |b|. `quotient`: a / b in double.
inline double of_quotient(double quotient, double ea, double b, double eb) {
  if (ea == 0 && eb == 0) return 0;
  const double divisor = (std::fabs(b) - eb) * (1 - 0x1p-50);
  if (!(divisor > 0)) return infinity;
  return upward((ea + upward(std::fabs(quotient)) * eb) / divisor);
}

/// sqrt(x') - sqrt(x) = (x' - x) / (sqrt(x') + sqrt(x)), and x' >= x - ex.
inline double of_root(double x, double ex) {
  if (ex == 0) return 0;
  const double lowest = (x - ex) * (1 - 0x1p-50);
  if (!(lowest >= 0)) return infinity;
  return upward(ex / ((std::sqrt(x) + std::sqrt(lowest)) * (1 - 0x1p-50)));
}

}  // namespace assay::oracles::gated_delta::growth
