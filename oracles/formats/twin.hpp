// A slow second opinion for tests: the same formats, by another road. Values are big integers, codes are
// found by search among the enumerated values, and a rounding is a choice between two neighbours. Shares no
// code with codec.hpp but the names of things; nothing outside tests may include it.
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracles/formats/codec.hpp"

namespace assay::formats::twin {

/// A magnitude as a whole number of 2^-resolution: fine enough for the product of two fp32 subnormals, with
/// room below. Of fixed size, because a heap allocation for each would be most of the cost; two numbers of
/// the range fit their product.
using Number = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    1536, 1536, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;
inline constexpr int resolution = 512;

/// significand * 2^exponent.
inline Number number(std::uint64_t significand, int exponent) {
  assert(exponent + resolution >= 0);
  return Number(significand) << static_cast<unsigned>(exponent + resolution);
}

/// The magnitude of a finite or zero Exact; a sticky one lies one unit of resolution higher.
inline Number magnitude_of(const Exact& x) {
  if (x.kind == Kind::zero) return 0;
  assert(x.kind == Kind::finite);
  return number(x.significand, x.exponent) + (x.sticky ? 1 : 0);
}

/// The Exact of a number: its first 63 bits, and sticky where more are set.
inline Exact exact_of(bool negative, const Number& magnitude) {
  if (magnitude == 0) return Exact::zero(negative);
  const unsigned top = boost::multiprecision::msb(magnitude);
  const unsigned drop = top >= 63 ? top - 62 : 0;
  const Number head = magnitude >> drop;
  return Exact::finite(negative, static_cast<std::uint64_t>(head), static_cast<int>(drop) - resolution,
                       (head << drop) != magnitude);
}

/// What this side knows of a float format, written down a second time.
struct Layout {
  int mantissa_bits;
  int smallest_spacing;      ///< exponent of the smallest positive value
  std::uint32_t max_finite;  ///< positive code
  std::uint32_t overflow;    ///< positive code of what lies beyond: Inf, or the NaN of a format without one
  std::uint32_t nan;
  std::uint32_t sign;
};

inline Layout layout(Format format) {
  switch (format) {
    case Format::e4m3:
      return {3, -9, 0x7E, 0x7F, 0x7F, 0x80};
    case Format::e5m2:
      return {2, -16, 0x7B, 0x7C, 0x7F, 0x80};
    case Format::e8m0:
      return {0, -127, 0xFE, 0xFF, 0xFF, 0};
    case Format::fp16:
      return {10, -24, 0x7BFF, 0x7C00, 0x7FFF, 0x8000};
    case Format::bf16:
      return {7, -133, 0x7F7F, 0x7F80, 0x7FFF, 0x8000};
    case Format::fp32:
      return {23, -149, 0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF, 0x80000000};
    case Format::int4:
    case Format::uint4:
      break;
  }
  assert(false && "not a float format");
  return {};
}

/// The magnitudes of all finite codes of a format of up to 16 bits, by counting up: 2^mantissa_bits steps of
/// the smallest spacing twice, and then as many of twice the spacing, again and again.
inline std::vector<Number> enumerate(Format format) {
  const Layout l = layout(format);
  std::vector<Number> values;
  Number spacing = number(1, l.smallest_spacing);
  if (format == Format::e8m0) {
    for (std::uint32_t code = 0; code <= l.max_finite; ++code, spacing *= 2) values.push_back(spacing);
    return values;
  }
  Number value = 0;
  const std::uint32_t binade = 1u << l.mantissa_bits;
  for (std::uint32_t code = 0; code <= l.max_finite; ++code) {
    values.push_back(value);
    if (code >= 2 * binade && code % binade == 0) spacing *= 2;
    value = values.back() + spacing;
  }
  return values;
}

/// The magnitude of positive finite code `code`. fp32 has too many to enumerate; there the machine's float is
/// the second opinion.
inline Number value(Format format, std::uint32_t code) {
  if (format == Format::fp32) {
    int exponent = 0;
    const float fraction = std::frexp(std::bit_cast<float>(code), &exponent);
    return number(static_cast<std::uint64_t>(std::ldexp(fraction, 24)), exponent - 24);
  }
  static const std::vector<Number> tables[] = {enumerate(Format::e4m3), enumerate(Format::e5m2),
                                               enumerate(Format::e8m0), enumerate(Format::fp16),
                                               enumerate(Format::bf16)};
  return tables[static_cast<std::size_t>(format)].at(code);
}

/// What would follow the largest finite value if the format went on.
inline Number beyond_max(Format format) {
  const std::uint32_t max = layout(format).max_finite;
  if (format == Format::e8m0) return 2 * value(format, max);
  return 2 * value(format, max) - value(format, max - 1);
}

/// Where a magnitude lies among the format's values.
struct Place {
  enum Side : std::uint8_t { exact, under_midpoint, midpoint, over_midpoint };
  std::uint32_t lower = 0;  ///< the largest code with a value not above it
  Side side = exact;        ///< of it between lower and lower + 1
  bool under_all = false;   ///< e8m0 only: below the smallest value
};

inline Place place(Format format, const Number& magnitude) {
  const std::uint32_t max = layout(format).max_finite;
  if (magnitude < value(format, 0)) return {0, Place::exact, true};
  std::uint32_t low = 0, high = max;
  while (low < high) {
    const std::uint32_t middle = high - (high - low) / 2;
    if (value(format, middle) <= magnitude) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const Number lower = value(format, low);
  if (lower == magnitude) return {low, Place::exact, false};
  const Number upper = low == max ? beyond_max(format) : value(format, low + 1);
  const Number twice = 2 * magnitude, sum = lower + upper;
  return {low,
          twice < sum    ? Place::under_midpoint
          : twice == sum ? Place::midpoint
                         : Place::over_midpoint,
          false};
}

/// The code for a magnitude at `at`.
inline std::uint32_t pick(Format format, const Place& at, bool negative, Rounding rounding,
                          Overflow overflow) {
  const Layout l = layout(format);
  const std::uint32_t sign = negative ? l.sign : 0;
  if (at.side == Place::exact || at.under_all) return sign | at.lower;
  bool away = false;
  switch (rounding) {
    case Rounding::nearest_even:
      // e8m0 has one significant bit, always 1: no neighbour is even and the larger one is taken.
      away = at.side == Place::over_midpoint ||
             (at.side == Place::midpoint && (at.lower % 2 == 1 || format == Format::e8m0));
      break;
    case Rounding::toward_zero:
      away = false;
      break;
    case Rounding::up:
      away = !negative;
      break;
    case Rounding::down:
      away = negative;
      break;
  }
  if (!away) return sign | at.lower;
  if (at.lower < l.max_finite) return sign | (at.lower + 1);
  if (overflow == Overflow::saturate) return sign | l.max_finite;
  return l.overflow == l.nan ? l.nan : sign | l.overflow;
}

inline std::uint32_t encode(Format format, bool negative, const Number& magnitude, Rounding rounding,
                            Overflow overflow) {
  return pick(format, place(format, magnitude), negative, rounding, overflow);
}

/// 64 bits for draw `index` of stream `stream` (SplitMix64's finaliser): the same on every machine and in any
/// order.
inline std::uint64_t draw(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t z = (stream + 1) * 0x9E3779B97F4A7C15u + index * 0xD1342543DE82EF95u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace assay::formats::twin
