// The comparison as anyone would write it down: values as doubles with their signs, one element at a time. It
// shares nothing with the comparator or the codec; the tests hold both to it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/format.hpp"

namespace assay::properties::naive {

struct Value {
  bool nan = false;
  bool negative = false;  // the sign bit: tells -0 from +0
  double real = 0;        // every code of every format up to fp32 is a double
};

inline Value value(formats::Format format, std::uint32_t code) {
  const formats::Spec& s = formats::spec(format);
  if (s.specials == formats::Specials::none) {
    const bool negative = s.has_sign && code >= 8;
    return {false, negative, negative ? static_cast<double>(code) - 16 : static_cast<double>(code)};
  }
  if (s.specials == formats::Specials::nan_only)
    return {code == 0xFF, false, std::ldexp(1.0, static_cast<int>(code) - 127)};
  const std::uint32_t fraction = code & ((1u << s.mantissa_bits) - 1);
  const std::uint32_t top = (1u << s.exponent_bits) - 1, field = code >> s.mantissa_bits & top;
  const bool negative = (code >> (s.bits - 1) & 1) != 0;
  const double sign = negative ? -1 : 1;
  if (s.specials == formats::Specials::ieee && field == top) {
    return fraction != 0 ? Value{true, negative, 0} : Value{false, negative, sign * INFINITY};
  }
  if (s.specials == formats::Specials::fn && field == top && fraction == (1u << s.mantissa_bits) - 1) {
    return {true, negative, 0};
  }
  const double whole = static_cast<double>(fraction) + (field > 0 ? std::ldexp(1.0, s.mantissa_bits) : 0);
  const int exponent = static_cast<int>(field > 0 ? field : 1) - s.bias - s.mantissa_bits;
  return {false, negative, sign * std::ldexp(whole, exponent)};
}

/// The NaN that hardware returns: all ones under the sign, in every format that has one.
inline std::uint32_t canonical(formats::Format format) {
  const formats::Spec& s = formats::spec(format);
  const std::uint32_t ones = s.bits == 32 ? ~0u : (1u << s.bits) - 1;
  return s.has_sign ? ones >> 1 : ones;
}

/// Order of numbers, with -0 under +0.
inline bool at_most(const Value& a, const Value& b) {
  return a.real < b.real || (a.real == b.real && (a.negative || !b.negative));
}

inline bool right(formats::Format format, std::uint32_t out, std::uint32_t lo, std::uint32_t hi,
                  arithmetic::NanRule rule) {
  const Value low = value(format, lo), actual = value(format, out);
  if (low.nan) return actual.nan && (rule == arithmetic::NanRule::any || out == canonical(format));
  return !actual.nan && at_most(low, actual) && at_most(actual, value(format, hi));
}

}  // namespace assay::properties::naive
