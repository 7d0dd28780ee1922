// Elementary functions from fp32 to fp32, correctly rounded (to nearest even) for every input: subnormal
// results are rounded once, every NaN is canonical. One source for both devices, and the same bits: only
// + - * / and sqrt of doubles, which are IEEE 754 everywhere, and conversions.
//
// Each function is evaluated in double, with an error far below the spacing of fp32. Where every number
// within that error rounds to the same fp32, that is the result; else, for about one input in four million,
// the function is evaluated again in double-double and rounded once. That this decides every input is known
// by running all 2^32 of them (the battery `wrappers` at level exhaustive).
//
// Coefficients are those of Taylor series, each the correctly rounded quotient that stands in the source;
// ln 2 is cut into parts, the first of few bits, so that small multiples of it are exact.
#pragma once

#include <cmath>

#include "kernels/device/arch.hpp"
#include "kernels/device/arithmetic.hpp"
#include "kernels/device/double_double.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace math_detail {

/// What the evaluations in double are away from the function, relatively, at most: the bounds derived at each
/// of them are 2^-49 or less.
inline constexpr double quick_error = 0x1p-47;

inline constexpr double ln2_high = 0x1.62e42fefa2p-1;           ///< the leading 40 bits of ln 2
inline constexpr double ln2_middle = 0x1.9ef35793c7673p-41;     ///< the next 53
inline constexpr double ln2_low = 0x1.f97b57a079a19p-103;       ///< and the next
inline constexpr double ln2_nearest = 0x1.62e42fefa39efp-1;     ///< ln 2 as a double
inline constexpr double reciprocal_ln2 = 0x1.71547652b82fep+0;  ///< 1 / ln 2 as a double

/// Above this exp is over the largest fp32 by more than half a step: the last fp32 of finite exp.
inline constexpr float exp_last_finite = 0x1.62e42ep+6f;
/// e^-104 = 2^-150.04 is less than half the smallest subnormal.
inline constexpr float exp_zero = -104.0f;
/// e^-40 = 2^-57.7 moves neither x nor 1 when it is added to them in fp32.
inline constexpr float large = 40.0f;
/// log(1 + x) = x - x^2/2 + ...: of a smaller |x|, with 2^-24 in its place, the difference from x is less
/// than half the distance to x's neighbour (of a power of two to the nearer one).
inline constexpr float log1p_linear = 0x1p-24f;
inline constexpr float largest = 0x1.fffffep+127f;

__host__ __device__ __forceinline__ float canonical_nan() { return std::bit_cast<float>(canonical_nan_f32); }
__host__ __device__ __forceinline__ float infinity() { return std::bit_cast<float>(infinity_f32); }

/// Whether every number within quick_error of y rounds to the same fp32.
__host__ __device__ __forceinline__ bool decides(double y) {
  return static_cast<float>(y * (1 - quick_error)) == static_cast<float>(y * (1 + quick_error));
}

/// The double-double, of a magnitude of at least 2^-1000, as fp32, rounded once.
__host__ __device__ __forceinline__ float rounded_once(DoubleDouble y) {
  return static_cast<float>(twin::sum_to_odd(y.high, y.low));
}

/// The integer nearest to x / ln 2, or next to nearest in a tie, for |x| <= 2^30: the sum has no place for a
/// fraction.
__host__ __device__ __forceinline__ double multiples_of_ln2(double x) {
  constexpr double no_fraction = 0x1.8p52;
  return (x * reciprocal_ln2 + no_fraction) - no_fraction;
}

/// 2^k of an integer k in [-1022, 1023].
__host__ __device__ __forceinline__ double power_of_two(double k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(k) + 1023) << 52);
}

/// e^x of an fp32 in [-104, 89], relative error at most 2^-51.
/// x = k ln2 + r, |r| < 0.347. x - k ln2_high is exact (multiples of 2^-40 below 1/2), so r errs by 2^-55.5;
/// r^2 times the series' tail, 0.07 at most, by 4 roundings, 2^-54.8; the series beyond r^13 / 13! is
/// 2^-57.8; the two sums err by 2^-55 and half a unit of the result.
__host__ __device__ inline double exp_quick(double x) {
  const double k = multiples_of_ln2(x);
  const double r = (x - k * ln2_high) - k * ln2_middle;
  double tail = 1.0 / 6227020800;
  tail = tail * r + 1.0 / 479001600;
  tail = tail * r + 1.0 / 39916800;
  tail = tail * r + 1.0 / 3628800;
  tail = tail * r + 1.0 / 362880;
  tail = tail * r + 1.0 / 40320;
  tail = tail * r + 1.0 / 5040;
  tail = tail * r + 1.0 / 720;
  tail = tail * r + 1.0 / 120;
  tail = tail * r + 1.0 / 24;
  tail = tail * r + 1.0 / 6;
  tail = tail * r + 1.0 / 2;
  return (1 + (r + r * r * tail)) * power_of_two(k);
}

/// e^x of a double in [-104, 104], relative error below 2^-96: that of r is 2^-98 at most, the series beyond
/// r^22 / 22! is 2^-103, and the sums and products of Horner's rule end with 1 + r p, |r| < 0.347.
__host__ __device__ __noinline__ inline DoubleDouble exp_accurate(double x) {
  const double k = multiples_of_ln2(x);
  const DoubleDouble middle = exact_product(-k, ln2_middle);
  const DoubleDouble r = exact_sum(x, -k * ln2_high) + DoubleDouble{middle.high, middle.low - k * ln2_low};
  DoubleDouble series{1, 0};
  for (int n = 22; n >= 1; --n)
    series = DoubleDouble{1, 0} + r * series / DoubleDouble{static_cast<double>(n), 0};
  const double scale = power_of_two(k);
  return {series.high * scale, series.low * scale};
}

/// 2 artanh(s) of |s| < 0.172, relative error at most 2^-52 besides that of s: the sum's 2^-53, the roundings
/// of a second term of at most 0.01, and the series beyond s^21, 2^-60.
__host__ __device__ inline double twice_artanh(double s) {
  const double z = s * s;
  double tail = 1.0 / 21;
  tail = tail * z + 1.0 / 19;
  tail = tail * z + 1.0 / 17;
  tail = tail * z + 1.0 / 15;
  tail = tail * z + 1.0 / 13;
  tail = tail * z + 1.0 / 11;
  tail = tail * z + 1.0 / 9;
  tail = tail * z + 1.0 / 7;
  tail = tail * z + 1.0 / 5;
  tail = tail * z + 1.0 / 3;
  return 2 * (s + s * z * tail);
}

/// log(1 + t) of a double in [0, 1], relative error at most 2^-50.
/// 2 artanh(s) with s = t / (2 + t) up to sqrt(2) - 1; above, ln 2 + 2 artanh(s) with s = (t - 1) / (3 + t):
/// a term of at most 0.347 in a sum of at least as much. s takes two roundings.
__host__ __device__ inline double log1p_quick(double t) {
  const bool upper = t > 0x1.a827999fcef32p-2;
  const double log = twice_artanh(upper ? (t - 1) / (t + 3) : t / (t + 2));
  return upper ? ln2_nearest + log : log;
}

/// log(v) of a positive, normal double, relative error at most 2^-49.
/// v = 2^k m with m in [sqrt(1/2), sqrt(2)), so that log(v) has at least the magnitude of log(m) and, where k
/// is not 0, half of that of k ln 2. s = (m - 1) / (m + 1) takes two roundings (m - 1 is exact), so log(m)
/// errs by 2^-51 of itself; k ln 2 by two roundings, 2^-52 of itself; the sum by 2^-53.
__host__ __device__ inline double log_quick(double v) {
  constexpr std::uint64_t root_of_half = 0x3FE6A09E667F3BCDu;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(v);
  const std::int64_t k = static_cast<std::int64_t>(bits - root_of_half) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<std::uint64_t>(k) << 52));
  return static_cast<double>(k) * ln2_nearest + twice_artanh((m - 1) / (m + 1));
}

/// log(v) from its value in double, which is not below 2^-25 in magnitude; relative error below 2^-70.
/// A step of Newton's method: log(v) = quick + log(1 + d), d = v e^-quick - 1. d errs by 2^-95, as e^-quick
/// and the product do; its square, which is left out, is 2^-93 of the result, d being 2^-50 of it.
__host__ __device__ inline DoubleDouble log_accurate(DoubleDouble v, double quick) {
  const DoubleDouble d = v * exp_accurate(-quick) + DoubleDouble{-1, 0};
  return exact_sum(quick, d.high + d.low);
}

/// log(1 + e^x) of an fp32 in [-104, 40] from its value in double; relative error below 2^-65.
__host__ __device__ inline DoubleDouble softplus_accurate(double x, double quick) {
  const DoubleDouble t = exp_accurate(x);
  // t - t^2 / 2 + t^3 / 3: the next term is 2^-86 of the first.
  if (x <= -20) return t + DoubleDouble{-t.high * t.high * (0.5 - t.high / 3), 0};
  // A step of Newton's method: log(1 + t) = quick + log(1 + d), d = (1 + t) e^-quick - 1, and d is so small
  // that its square is 2^-68 of the result.
  const DoubleDouble d = (DoubleDouble{1, 0} + t) * exp_accurate(-quick) + DoubleDouble{-1, 0};
  return exact_sum(quick, d.high + d.low);
}

/// 1 / (1 + e^-x) of an fp32 in [-104, 40], relative error below 2^-94.
__host__ __device__ inline DoubleDouble sigmoid_accurate(double x) {
  const DoubleDouble one{1, 0};
  const DoubleDouble t = exp_accurate(x < 0 ? x : -x);
  return (x < 0 ? t : one) / (one + t);
}

}  // namespace math_detail

/// 1 / sqrt(x). +-0 gives +-Inf, anything below NaN, +Inf +0. Two roundings in double come before the
/// one to fp32; that none of them crosses a midpoint is known from the 2^24 inputs of two binades, of which
/// the others are the same with exponents shifted.
__host__ __device__ inline float rsqrt_f32(float x) {
  if (x == 0) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) | infinity_f32);
  if (!(x > 0)) return math_detail::canonical_nan();
  return static_cast<float>(1.0 / std::sqrt(double{x}));
}

/// e^x. Inf gives Inf, -Inf +0.
__host__ __device__ inline float exp_f32(float x) {
  if (x != x) return math_detail::canonical_nan();
  if (x > math_detail::exp_last_finite) return math_detail::infinity();
  if (x < math_detail::exp_zero) return 0.0f;
  const double y = math_detail::exp_quick(double{x});
  return math_detail::decides(y) ? static_cast<float>(y)
                                 : math_detail::rounded_once(math_detail::exp_accurate(double{x}));
}

/// log(1 + e^x), one function: not rounded in between. Inf gives Inf, -Inf +0.
__host__ __device__ inline float softplus_f32(float x) {
  if (x != x) return math_detail::canonical_nan();
  if (x > math_detail::large) return x;
  if (x < math_detail::exp_zero) return 0.0f;
  // For x > 0 it is x + log(1 + e^-x). Together with the error of e^-|x| the relative error is at most 2^-49.
  const double log = math_detail::log1p_quick(math_detail::exp_quick(x < 0 ? double{x} : -double{x}));
  const double y = x < 0 ? log : double{x} + log;
  return math_detail::decides(y) ? static_cast<float>(y)
                                 : math_detail::rounded_once(math_detail::softplus_accurate(double{x}, y));
}

/// log(x). +-0 gives -Inf, anything below NaN, Inf Inf.
__host__ __device__ inline float log_f32(float x) {
  if (!(x >= 0)) return math_detail::canonical_nan();
  if (x == 0) return -math_detail::infinity();
  if (x > math_detail::largest) return x;
  const double y = math_detail::log_quick(double{x});
  return math_detail::decides(y) ? static_cast<float>(y)
                                 : math_detail::rounded_once(math_detail::log_accurate({double{x}, 0}, y));
}

/// log(1 + x), not rounded in between. -1 gives -Inf, anything below NaN, Inf Inf; +-0 stays what it is.
__host__ __device__ inline float log1p_f32(float x) {
  if (!(x >= -1)) return math_detail::canonical_nan();
  if (x == -1) return -math_detail::infinity();
  if (x > math_detail::largest) return x;
  if (x < math_detail::log1p_linear && x > -math_detail::log1p_linear) return x;
  // 1 + x is exact below 2^53, and above it moves the logarithm, of 36 at least, by 2^-53.
  const double y = math_detail::log_quick(1 + double{x});
  return math_detail::decides(y)
             ? static_cast<float>(y)
             : math_detail::rounded_once(math_detail::log_accurate(exact_sum(double{x}, 1), y));
}

/// 1 / (1 + e^-x). Inf gives 1, -Inf +0.
__host__ __device__ inline float sigmoid_f32(float x) {
  if (x != x) return math_detail::canonical_nan();
  if (x > math_detail::large) return 1.0f;
  if (x < math_detail::exp_zero) return 0.0f;
  // With e^-|x| for either sign nothing overflows. That error of 2^-51 and two roundings: 2^-50.
  const double t = math_detail::exp_quick(x < 0 ? double{x} : -double{x});
  const double y = (x < 0 ? t : 1.0) / (1 + t);
  return math_detail::decides(y) ? static_cast<float>(y)
                                 : math_detail::rounded_once(math_detail::sigmoid_accurate(double{x}));
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
