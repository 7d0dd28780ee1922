#include "oracles/mxfp8_cast/scale_rule.hpp"

#include <algorithm>
#include <cassert>

#include "oracles/formats/codec.hpp"

namespace assay::oracles::mxfp8_cast {
namespace {

using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Overflow;
using formats::Rounding;

Exact rounded_to_fp32(const Exact& x) {
  return formats::decode(Format::fp32,
                         formats::encode(Format::fp32, x, Rounding::nearest_even, Overflow::propagate));
}

Exact largest(Format element) { return formats::decode(element, formats::max_finite(element)); }

/// ceil(log2 x); `doubled` is frexp's answer, whose fraction is in [0.5, 1) and so lifts an exact power of
/// two as well.
int ceil_log2(const Exact& x, bool doubled) {
  return formats::floor_log2(x) + (formats::is_power_of_two(x) && !doubled ? 0 : 1);
}

int rceil(const Exact& amax, Format element, bool doubled) {
  const Exact reciprocal = fp32_reciprocal_of_largest(element);
  // 24 by 24 bits: the product is exact in 48, and then rounded once.
  const Exact product =
      Exact::finite(false, amax.significand * reciprocal.significand, amax.exponent + reciprocal.exponent);
  const Exact s = rounded_to_fp32(product);
  return s.kind == Kind::zero ? -scale_bias : ceil_log2(s, doubled);
}

/// floor(log2 amax') where amax' is amax rounded to as many mantissa bits as an element has.
int floor_log2_rounded(const Exact& amax, Format element) {
  const int log = formats::floor_log2(amax);
  // Moved into [1, 2), amax is a normal number of the element format, which therefore does the rounding.
  const Exact rounded = formats::decode(element, formats::encode(element, formats::scaled(amax, -log)));
  return log + formats::floor_log2(rounded);
}

/// floor(log2(amax / M)): the mantissa of M has moved the boundary between two scales.
int floor_log2_divided(const Exact& amax, Format element) {
  const Exact m = largest(element);
  const int exponent = formats::floor_log2(amax) - formats::floor_log2(m);
  return formats::compare_magnitude(amax, formats::scaled(m, exponent)) < 0 ? exponent - 1 : exponent;
}

int unclamped(const Exact& amax, Format element, ScaleRule rule, Fault fault) {
  if (fault == Fault::scale_from_divided_amax) return floor_log2_divided(amax, element);
  const bool doubled = fault == Fault::scale_exact_power_doubled;
  const int emax = formats::floor_log2(largest(element));
  switch (rule) {
    case ScaleRule::rceil:
      return rceil(amax, element, doubled);
    case ScaleRule::floor:
      return formats::floor_log2(amax) - emax;
    case ScaleRule::ceil:
      return ceil_log2(amax, doubled) - emax;
    case ScaleRule::even:
      return floor_log2_rounded(amax, element) - emax;
  }
  assert(false && "unknown scale rule");
  return 0;
}

}  // namespace

Exact fp32_reciprocal_of_largest(Format element) {
  const Exact m = largest(element);
  constexpr int bits = 60;  // far more than fp32 keeps; the remainder of the division is the sticky bit
  const std::uint64_t one = std::uint64_t{1} << bits;
  return rounded_to_fp32(
      Exact::finite(false, one / m.significand, -bits - m.exponent, one % m.significand != 0));
}

int scale_exponent(const Exact& amax, Format element, ScaleRule rule, Fault fault) {
  assert(amax.kind == Kind::zero || amax.kind == Kind::finite);
  if (amax.kind == Kind::zero) return -scale_bias;
  return std::clamp(unclamped(amax, element, rule, fault), -scale_bias, scale_bias);
}

}  // namespace assay::oracles::mxfp8_cast
