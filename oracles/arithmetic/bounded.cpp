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

}  // namespace

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
