#include "oracles/arithmetic/functions.hpp"

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

#include "oracles/arithmetic/modelled.hpp"

namespace assay::arithmetic {
namespace {

using formats::Exact;
using formats::Format;
using Float = Modelled<Format::fp32>;

constexpr std::uint32_t one = 0x3F800000u, infinity = 0x7F800000u, sign = 0x80000000u;

/// An MPFR number of that precision in bits.
class Real {
 public:
  explicit Real(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

/// e^x for e^-|x| or e^x itself; exact x, result rounded as told.
void exp_of(mpfr_ptr y, float x, mpfr_rnd_t rounding) {
  mpfr_set_flt(y, x, MPFR_RNDN);  // exact: precisions are 64 bits or more
  mpfr_exp(y, y, rounding);
}

/// A bound of f(x), below it for MPFR_RNDD and above it for MPFR_RNDU, that nears f(x) as the precision of y
/// grows. Every step is monotonic in what it takes from the step before.
void bound(mpfr_ptr y, Function function, float x, mpfr_rnd_t rounding) {
  switch (function) {
    case Function::rsqrt:
      mpfr_set_flt(y, x, MPFR_RNDN);
      mpfr_rec_sqrt(y, y, rounding);
      return;
    case Function::exp:
      exp_of(y, x, rounding);
      return;
    case Function::sigmoid: {
      const mpfr_rnd_t opposite = rounding == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD;
      exp_of(y, -x, opposite);
      mpfr_add_ui(y, y, 1, opposite);
      mpfr_ui_div(y, 1, y, rounding);
      return;
    }
    case Function::softplus:
      exp_of(y, x > 0 ? -x : x, rounding);
      mpfr_log1p(y, y, rounding);
      if (x > 0) {
        Real linear(mpfr_get_prec(y));
        mpfr_set_flt(linear, x, MPFR_RNDN);
        mpfr_add(y, y, linear, rounding);
      }
      return;
    case Function::log:
      mpfr_set_flt(y, x, MPFR_RNDN);
      mpfr_log(y, y, rounding);
      return;
    case Function::log1p:
      mpfr_set_flt(y, x, MPFR_RNDN);
      mpfr_log1p(y, y, rounding);
      return;
  }
}

/// A number to 63 bits and sticky; zero is positive.
Exact exact(mpfr_ptr x) {
  if (mpfr_zero_p(x)) return Exact::zero();
  const bool negative = mpfr_signbit(x) != 0;
  if (mpfr_inf_p(x)) return Exact::infinity(negative);
  const mpfr_exp_t exponent = mpfr_get_exp(x);  // |x| in [2^(exponent-1), 2^exponent)
  // Far outside of fp32 on either side, where Exact's exponent may have no room.
  if (exponent > 1000) return Exact::infinity(negative);
  if (exponent < -1000) return Exact::finite(negative, 2, -1001, true);
  Real scaled(mpfr_get_prec(x));
  mpfr_mul_2si(scaled, x, 63 - exponent, MPFR_RNDN);
  mpfr_abs(scaled, scaled, MPFR_RNDN);
  const std::uint64_t significand = mpfr_get_ui(scaled, MPFR_RNDZ);
  return Exact::finite(negative, significand, static_cast<int>(exponent) - 63, mpfr_integer_p(scaled) == 0);
}

/// Of log for `pole` = 0, of log1p for -1: -Inf at the pole, NaN below it. Zeros of log1p keep their sign.
std::optional<std::uint32_t> special_logarithm(float x, float pole) {
  if (x < pole) return formats::canonical_nan(Format::fp32);
  if (x == pole) return infinity | sign;
  if (x == 0 || std::isinf(x)) return std::bit_cast<std::uint32_t>(x);
  return std::nullopt;
}

std::optional<std::uint32_t> special_value(Function function, std::uint32_t x) {
  const std::uint32_t magnitude = x & ~sign;
  const bool negative = (x & sign) != 0;
  if (magnitude > infinity) return formats::canonical_nan(Format::fp32);
  if (function == Function::log) return special_logarithm(std::bit_cast<float>(x), 0);
  if (function == Function::log1p) return special_logarithm(std::bit_cast<float>(x), -1);
  if (function == Function::rsqrt) {
    if (magnitude == 0) return infinity | (x & sign);
    if (negative) return formats::canonical_nan(Format::fp32);
    if (magnitude == infinity) return 0;
    return std::nullopt;
  }
  if (magnitude != infinity) return std::nullopt;
  if (negative) return 0;
  return function == Function::sigmoid ? one : infinity;
}

}  // namespace

std::string_view to_string(Function function) {
  switch (function) {
    case Function::rsqrt:
      return "rsqrt";
    case Function::exp:
      return "exp";
    case Function::sigmoid:
      return "sigmoid";
    case Function::softplus:
      return "softplus";
    case Function::log:
      return "log";
    case Function::log1p:
      return "log1p";
  }
  assert(false);
  return "";
}

std::span<const Function> functions() {
  static constexpr std::array all{Function::rsqrt,    Function::exp, Function::sigmoid,
                                  Function::softplus, Function::log, Function::log1p};
  return all;
}

std::uint32_t rounded_by_intervals(Function function, std::uint32_t x) {
  if (const auto special = special_value(function, x)) return *special;
  // No value is a midpoint: e^x, 1 / (1 + e^x) and log(1 + e^x) of a rational x other than 0 are
  // transcendental (Lindemann), at 0 they are 1, 1/2 and log 2; log(x) of a rational x other than 1 is
  // transcendental, at 1 it is 0; and 1 / sqrt(x) of fp32 has 24 bits or is irrational. So the precision
  // grows only so far.
  for (mpfr_prec_t precision = 64;; precision *= 2) {
    Real lower(precision), upper(precision);
    bound(lower, function, std::bit_cast<float>(x), MPFR_RNDD);
    bound(upper, function, std::bit_cast<float>(x), MPFR_RNDU);
    const std::uint32_t below = Float::rounded(exact(lower)).code();
    if (below == Float::rounded(exact(upper)).code()) return below;
  }
}

std::uint32_t correctly_rounded(Function function, std::uint32_t x) {
  const auto quickly = rounded_quickly(function, x);
  return quickly ? *quickly : rounded_by_intervals(function, x);
}

double midpoint_distance(Function function, std::uint32_t x) {
  Real value(256);
  bound(value, function, std::bit_cast<float>(x), MPFR_RNDD);
  mpfr_abs(value, value, MPFR_RNDN);
  // fp32 around a value below 2^e (and at least half of that) lie 2^(e-24) apart, but not closer than 2^-149.
  const mpfr_exp_t spacing = std::max<mpfr_exp_t>(mpfr_get_exp(value) - 24, -149);
  mpfr_mul_2si(value, value, -spacing, MPFR_RNDN);
  mpfr_frac(value, value, MPFR_RNDN);
  mpfr_sub_d(value, value, 0.5, MPFR_RNDN);
  return std::fabs(mpfr_get_d(value, MPFR_RNDN));
}

}  // namespace assay::arithmetic
