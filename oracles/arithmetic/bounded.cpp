#include "oracles/arithmetic/bounded.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace assay::arithmetic {
namespace {

using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Spec;

constexpr double infinity = std::numeric_limits<double>::infinity();

double next_up(double x) { return std::nextafter(x, infinity); }

}  // namespace

double sum_upward(double a, double b) {
  assert(a >= 0 && b >= 0);
  const double s = a + b;
  if (std::isinf(s)) return infinity;
  // TwoSum (Knuth): s + rest is a + b, exactly.
  const double b_in_s = s - a;
  const double rest = (a - (s - b_in_s)) + (b - b_in_s);
  return rest > 0 ? next_up(s) : s;
}

double product_upward(double a, double b) {
  assert(a >= 0 && b >= 0);
  if (a == 0 || b == 0) return 0;  // also for Inf: a factor that is exactly 0 has no error to grow
  const double p = a * b;
  if (std::isinf(p)) return infinity;
  // Where the rounding error of the product may itself be too small for a double, do not ask for it.
  constexpr double safe = 0x1p-900;
  if (p < safe) return next_up(p);
  return std::fma(a, b, -p) > 0 ? next_up(p) : p;
}

double magnitude(const Exact& x) {
  assert(x.kind == Kind::zero || x.kind == Kind::finite);
  assert(x.significand >> 53 == 0 && !x.sticky);
  return std::ldexp(static_cast<double>(x.significand), x.exponent);
}

double rounding_error(Format format, const Exact& x, std::uint32_t rounded_code) {
  if (x.kind == Kind::zero) return 0;
  const Exact rounded = formats::decode(format, rounded_code);
  if (x.kind != Kind::finite || rounded.kind > Kind::finite) return infinity;
  if (!x.sticky && formats::compare_magnitude(x, rounded) == 0) return 0;
  const Spec& s = formats::spec(format);
  const int binade = std::max(formats::floor_log2(x), formats::definition::min_exponent(s));
  return std::ldexp(1.0, binade - s.mantissa_bits - 1);
}

}  // namespace assay::arithmetic
