// The quick way of correctly_rounded(): decides almost every code with a proven error, so that all 2^32 of
// them can be had.
#include <mpfr.h>

#include <array>
#include <bit>
#include <cmath>

#include "oracles/arithmetic/functions.hpp"

namespace assay::arithmetic {
namespace {

/// The bounds derived below are 2^-49 or less; this one leaves room.
constexpr double error = 0x1p-47;
constexpr int steps = 64, steps_below = 16;

/// Powers and logarithms as MPFR rounds them to double.
struct Tables {
  std::array<double, steps> powers;                  ///< 2^(j/64)
  std::array<double, steps_below + steps + 1> logs;  ///< log(1 + (j - 16)/64)
  double step_high, step_low;                        ///< log(2)/64 to multiples of 2^-38, and the rest
  double log2;

  Tables() {
    mpfr_t x;
    mpfr_init2(x, 200);
    for (std::size_t j = 0; j < logs.size(); ++j) {
      mpfr_set_d(x, (static_cast<double>(j) - steps_below) / steps, MPFR_RNDN);
      mpfr_log1p(x, x, MPFR_RNDN);
      logs[j] = mpfr_get_d(x, MPFR_RNDN);
    }
    for (std::size_t j = 0; j < powers.size(); ++j) {
      mpfr_set_d(x, static_cast<double>(j) / steps, MPFR_RNDN);
      mpfr_exp2(x, x, MPFR_RNDN);
      powers[j] = mpfr_get_d(x, MPFR_RNDN);
    }
    mpfr_const_log2(x, MPFR_RNDN);
    log2 = mpfr_get_d(x, MPFR_RNDN);
    mpfr_div_ui(x, x, steps, MPFR_RNDN);
    step_high = std::floor(mpfr_get_d(x, MPFR_RNDN) * 0x1p38) * 0x1p-38;
    mpfr_sub_d(x, x, step_high, MPFR_RNDN);
    step_low = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
  }
};

const Tables& tables() {
  static const Tables once;
  return once;
}

/// e^x of an fp32 in [-104, 89], relative error at most 2^-51: x = n log(2)/64 + r with |r| < 0.0055, and
/// x - n step_high is exact: n has 14 bits, step_high 32, and the difference is a multiple of 2^-38 (of x's
/// last place where n = 0) below 2^-7. The table's entry errs by 2^-53, the last sum by as much, r by 2^-61,
/// the series' sum by 2^-60, and what follows it is r^7 / 5040, 2^-64.
double exp_within(double x) {
  const Tables& t = tables();
  const double n = std::floor(x / (t.step_high + t.step_low) + 0.5);
  const double r = (x - n * t.step_high) - n * t.step_low;
  const double series = r * (1 + r / 2 * (1 + r / 3 * (1 + r / 4 * (1 + r / 5 * (1 + r / 6)))));
  const int whole = static_cast<int>(n);
  const double power = t.powers[static_cast<std::size_t>(whole & (steps - 1))];
  // Exact: a shift is rounded down, so whole - (whole & 63) is a multiple of 64 for either sign.
  return (power + power * series) * std::bit_cast<double>(std::uint64_t(1023 + (whole >> 6)) << 52);
}

/// log(1 + y) of y in [-1/4, 1], relative error at most 2^-50.4: log(c) + log(1 + u), c = 1 + j/64, u = (y -
/// j/64) / c, |u| < 0.0105; the difference is exact. log(1 + u) errs by 2^-51.8: two roundings, and what
/// follows the series is u^9 / 9, 2^-55 of u. Where j is not 0, log(c) errs by 2^-53 of itself, and the sum,
/// of |y| > 1/128, is at least 0.49 of log(c) and 0.99 of log(1 + u).
double log1p_within(double y) {
  const double j = std::floor(y * steps + 0.5), at = j / steps, u = (y - at) / (1 + at);
  const double tail =
      1. / 2 - u * (1. / 3 - u * (1. / 4 - u * (1. / 5 - u * (1. / 6 - u * (1. / 7 - u / 8)))));
  return tables().logs[static_cast<std::size_t>(j + steps_below)] + (u - u * u * tail);
}

/// log(v) of a positive, normal double, relative error at most 2^-49: k log(2) + log(m), v = 2^k m, m in
/// [3/4, 3/2), whose distance from 1 is exact. Where k is not 0 the sum is at least 0.41 of k log(2), which
/// errs by 2^-52, and 0.71 of log(m).
double log_within(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v);
  int k = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFu) | std::uint64_t{1023} << 52);
  if (m >= 1.5) {
    m /= 2;
    ++k;
  }
  return k * tables().log2 + log1p_within(m - 1);
}

/// The fp32 that all numbers within `error` of y round to.
std::optional<std::uint32_t> only_fp32_near(double y) {
  const auto below = std::bit_cast<std::uint32_t>(static_cast<float>(y * (1 - error)));
  const auto above = std::bit_cast<std::uint32_t>(static_cast<float>(y * (1 + error)));
  return below == above ? std::optional(below) : std::nullopt;
}

/// A positive finite fp32 as significand * 2^(exponent - 23), the significand in [2^23, 2^24): as a double
/// there are no subnormals.
struct Parts {
  explicit Parts(float x) {
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
    significand = (bits >> 29 & 0x7FFFFFu) | 0x800000u;
    exponent = static_cast<int>(bits >> 52) - 1023;
  }
  std::uint64_t significand;
  int exponent;
};

/// 1 / sqrt(x) lies between midpoints l and h of fp32 iff l^2 x < 1 < h^2 x: integers of 74 bits, whose
/// candidate may come from anywhere.
std::optional<std::uint32_t> rsqrt_between_midpoints(float x) {
  __extension__ using Wide = unsigned __int128;
  const auto candidate = static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
  const Parts of_x(x), of_y(candidate);
  if (of_y.significand == 0x800000u) return std::nullopt;  // a power of two: the midpoint below is nearer
  // Midpoints (2 significand -+ 1) 2^(exponent - 24).
  const int shift = (23 - of_x.exponent) + 2 * (24 - of_y.exponent);
  if (shift < 0 || shift > 126) return std::nullopt;
  const Wide unity = Wide{1} << shift;
  const std::uint64_t low = 2 * of_y.significand - 1, high = 2 * of_y.significand + 1;
  const bool between =
      Wide{low * low} * of_x.significand < unity && Wide{high * high} * of_x.significand > unity;
  return between ? std::optional(std::bit_cast<std::uint32_t>(candidate)) : std::nullopt;
}

/// log(x) or log(1 + x) away from poles and zeros of log1p.
std::optional<std::uint32_t> logarithm_quickly(Function function, float x) {
  if (function == Function::log) return x > 0 ? only_fp32_near(log_within(x)) : std::nullopt;
  if (!(x > -1) || x == 0) return std::nullopt;
  // x - x^2/2 + ... with |x| = m 2^e, m in [1, 2), e <= -25: what follows x is below 2^(2e+1), half a step of
  // x's binade, 2^(e-24), at most; where m = 1 and x > 0 a step below is half of that, and so is x^2/2.
  if (std::fabs(x) < 0x1p-24f) return std::bit_cast<std::uint32_t>(x);
  // 1 + x is exact below 2^53, and above it moves the logarithm, of 36 at least, by 2^-53.
  return only_fp32_near(log_within(1 + static_cast<double>(x)));
}

}  // namespace

std::optional<std::uint32_t> rounded_quickly(Function function, std::uint32_t code) {
  const float x = std::bit_cast<float>(code);
  if (function == Function::rsqrt) {
    if (!(x > 0) || std::isinf(x)) return std::nullopt;
    return rsqrt_between_midpoints(x);
  }
  if (std::isnan(x) || std::isinf(x)) return std::nullopt;
  if (function == Function::log || function == Function::log1p) return logarithm_quickly(function, x);
  // e^-104 < 2^-150, half of the smallest fp32; e^89 > 2^128.
  if (x < -104) return 0;
  const bool finite_exp = x <= 89;
  if (function == Function::exp) return finite_exp ? only_fp32_near(exp_within(x)) : 0x7F800000u;
  // From 40 on, e^-x < 2^-57 changes neither 1 nor x by half a step.
  if (x > 40) return function == Function::sigmoid ? 0x3F800000u : code;
  // The error of e^-|x| is passed on at most whole, and the operations after it add 2^-51 or log1p's 2^-50.
  const double y = exp_within(x > 0 ? -x : x);
  if (function == Function::sigmoid) return only_fp32_near(x > 0 ? 1 / (1 + y) : y / (1 + y));
  return only_fp32_near(x > 0 ? x + log1p_within(y) : log1p_within(y));
}

}  // namespace assay::arithmetic
