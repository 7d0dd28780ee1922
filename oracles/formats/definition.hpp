// The formats' definitions and the two algorithms over them, usable at compile time. codec.hpp is the
// interface; call these directly where a format known at compile time lets the compiler specialise a hot
// loop. Decode and encode are inlined by force: compilers think them too large, and the specialised loop is
// then 2.5 times slower.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "oracles/formats/codec.hpp"

namespace assay::formats::definition {

// In the order of the enumeration. Sources: OCP OFP8 1.0 (e4m3, e5m2), OCP MX 1.0 (e8m0), IEEE 754 (fp16,
// fp32); bf16 is fp32 with 16 mantissa bits fewer.
inline constexpr Spec specs[] = {
    // format, name, bits, exponent bits, mantissa bits, bias, sign, specials
    {Format::e4m3, "e4m3", 8, 4, 3, 7, true, Specials::fn},
    {Format::e5m2, "e5m2", 8, 5, 2, 15, true, Specials::ieee},
    {Format::e8m0, "e8m0", 8, 8, 0, 127, false, Specials::nan_only},
    {Format::fp16, "fp16", 16, 5, 10, 15, true, Specials::ieee},
    {Format::bf16, "bf16", 16, 8, 7, 127, true, Specials::ieee},
    {Format::fp32, "fp32", 32, 8, 23, 127, true, Specials::ieee},
    {Format::int4, "int4", 4, 0, 3, 0, true, Specials::none},
    {Format::uint4, "uint4", 4, 0, 4, 0, false, Specials::none},
};

constexpr const Spec& spec_of(Format format) {
  const auto index = static_cast<std::size_t>(format);
  assert(index < std::size(specs));
  return specs[index];
}

constexpr std::uint32_t low_bits(int count) { return count >= 32 ? ~0u : (1u << count) - 1; }

constexpr bool is_integer(const Spec& s) { return s.specials == Specials::none; }
constexpr std::uint32_t code_mask(const Spec& s) { return low_bits(s.bits); }
constexpr std::uint32_t sign_bit(const Spec& s) { return s.has_sign ? 1u << (s.bits - 1) : 0; }
constexpr std::uint32_t magnitude_mask(const Spec& s) { return code_mask(s) & ~sign_bit(s); }

/// The first code of the largest exponent field: Inf where the format has one.
constexpr std::uint32_t top_exponent(const Spec& s) { return low_bits(s.exponent_bits) << s.mantissa_bits; }

/// e8m0 spends no code on zero or subnormals: its exponent field 0 is one like the others.
constexpr bool has_subnormals(const Spec& s) { return s.specials != Specials::nan_only; }

/// The exponent of the smallest normal number.
constexpr int min_exponent(const Spec& s) { return (has_subnormals(s) ? 1 : 0) - s.bias; }

/// The magnitude code of the largest finite value.
constexpr std::uint32_t max_magnitude(const Spec& s) {
  switch (s.specials) {
    case Specials::none:
      return magnitude_mask(s);
    case Specials::ieee:
      return top_exponent(s) - 1;
    case Specials::fn:
    case Specials::nan_only:
      return magnitude_mask(s) - 1;
  }
  assert(false && "unknown specials");
  return 0;
}

/// Every magnitude bit set: in each float format a quiet NaN, and the one NVIDIA hardware returns.
constexpr std::uint32_t canonical_nan(const Spec& s) {
  assert(!is_integer(s) && "integers have no NaN");
  return magnitude_mask(s);
}

constexpr bool is_nan(const Spec& s, std::uint32_t code) {
  assert((code & ~code_mask(s)) == 0);
  const std::uint32_t magnitude = code & magnitude_mask(s);
  switch (s.specials) {
    case Specials::none:
      return false;
    case Specials::ieee:
      return magnitude > top_exponent(s);
    case Specials::fn:
    case Specials::nan_only:
      return magnitude == magnitude_mask(s);
  }
  assert(false && "unknown specials");
  return false;
}

constexpr bool is_infinity(const Spec& s, std::uint32_t code) {
  assert((code & ~code_mask(s)) == 0);
  return s.specials == Specials::ieee && (code & magnitude_mask(s)) == top_exponent(s);
}

[[gnu::always_inline]] constexpr Exact decode(const Spec& s, std::uint32_t code) {
  assert((code & ~code_mask(s)) == 0);
  const bool negative = (code & sign_bit(s)) != 0;
  if (is_integer(s))  // two's complement
    return Exact::finite(negative, negative ? (1u << s.bits) - code : code, 0);
  if (is_nan(s, code)) return Exact::nan(negative);
  if (is_infinity(s, code)) return Exact::infinity(negative);
  const std::uint32_t field = (code & magnitude_mask(s)) >> s.mantissa_bits;
  const std::uint32_t mantissa = code & low_bits(s.mantissa_bits);
  if (!has_subnormals(s)) return Exact::finite(false, 1, static_cast<int>(field) - s.bias);
  const std::uint32_t hidden = field > 0 ? 1u << s.mantissa_bits : 0;
  return Exact::finite(negative, hidden | mantissa,
                       static_cast<int>(std::max(field, 1u)) - s.bias - s.mantissa_bits);
}

/// Whether a magnitude that lies above a whole number of units goes to the next one. `half` and `below_half`
/// are the bits cut off: the first, and whether any later one is set.
constexpr bool rounds_away(Rounding rounding, bool negative, bool odd, bool half, bool below_half) {
  switch (rounding) {
    case Rounding::nearest_even:
      return half && (below_half || odd);
    case Rounding::toward_zero:
      return false;
    case Rounding::up:
      return !negative && (half || below_half);
    case Rounding::down:
      return negative && (half || below_half);
  }
  assert(false && "unknown rounding");
  return false;
}

/// |x| as a whole number of units 2^quantum, rounded once. The caller has made sure that |x| < 2^(quantum +
/// 32).
[[gnu::always_inline]] constexpr std::uint64_t round_to_units(const Exact& x, int quantum,
                                                              Rounding rounding) {
  const int dropped = quantum - x.exponent;  // bits of the significand below one unit
  if (dropped <= 0) {
    assert(!x.sticky && "a sticky value needs significand bits below the last place of the target");
    return x.significand << -dropped;
  }
  if (dropped > 64) return rounds_away(rounding, x.negative, false, false, true) ? 1 : 0;
  const std::uint64_t units = dropped == 64 ? 0 : x.significand >> dropped;
  const std::uint64_t half_bit = std::uint64_t{1} << (dropped - 1);
  const bool half = (x.significand & half_bit) != 0;
  const bool below_half = (x.significand & (half_bit - 1)) != 0 || x.sticky;
  return units + (rounds_away(rounding, x.negative, (units & 1) != 0, half, below_half) ? 1 : 0);
}

constexpr std::uint32_t overflow_magnitude(const Spec& s, Overflow overflow) {
  if (overflow == Overflow::saturate) return max_magnitude(s);
  return s.specials == Specials::ieee ? top_exponent(s) : canonical_nan(s);
}

/// The magnitude code of a finite |x| > 0; above max_magnitude(s) it is Inf or NaN.
[[gnu::always_inline]] constexpr std::uint32_t encode_magnitude(const Spec& s, const Exact& x,
                                                                Rounding rounding, Overflow overflow) {
  const int log = floor_log2(x);
  const int least = min_exponent(s);
  if (log < least && !has_subnormals(s)) return 0;
  const bool inward =
      rounding == Rounding::toward_zero || rounding == (x.negative ? Rounding::up : Rounding::down);
  const std::uint32_t beyond = inward ? max_magnitude(s) : overflow_magnitude(s, overflow);
  const int subnormal_fields = has_subnormals(s) ? 1 : 0;
  const int largest = static_cast<int>(max_magnitude(s) >> s.mantissa_bits) - subnormal_fields + least;
  if (log > largest) return beyond;

  // One unit is the spacing of the binade; the subnormals share the spacing of the smallest. Binades and
  // units count up from zero together, so their sum is the code and a carry out of the mantissa is one into
  // the exponent field.
  const int binade = std::max(log, least);
  const std::uint64_t units = round_to_units(x, binade - s.mantissa_bits, rounding);
  const std::uint64_t below = static_cast<std::uint64_t>(binade - least) << s.mantissa_bits;
  const std::uint64_t code = below + units - (has_subnormals(s) ? 0 : 1);
  return code <= max_magnitude(s) ? static_cast<std::uint32_t>(code) : beyond;
}

constexpr std::uint32_t encode_integer(const Spec& s, const Exact& x, Rounding rounding) {
  if (x.kind == Kind::zero) return 0;
  assert(x.kind == Kind::finite && "integers hold neither NaN nor Inf");
  const std::uint32_t limit = x.negative ? sign_bit(s) : max_magnitude(s);  // int4: -8, 7; uint4: 0, 15
  const std::uint64_t units = floor_log2(x) > s.bits ? limit : round_to_units(x, 0, rounding);
  const auto magnitude = static_cast<std::uint32_t>(std::min<std::uint64_t>(units, limit));
  return (x.negative ? 0u - magnitude : magnitude) & code_mask(s);
}

[[gnu::always_inline]] constexpr std::uint32_t encode(const Spec& s, const Exact& x, Rounding rounding,
                                                      Overflow overflow) {
  if (is_integer(s)) return encode_integer(s, x, rounding);
  if (x.kind == Kind::nan) return canonical_nan(s);
  assert((s.has_sign || !x.negative || x.kind == Kind::zero) && "the format has no negative values");
  const std::uint32_t sign = x.negative ? sign_bit(s) : 0;
  if (x.kind == Kind::zero) return sign;
  const std::uint32_t magnitude =
      x.kind == Kind::infinity ? overflow_magnitude(s, overflow) : encode_magnitude(s, x, rounding, overflow);
  return is_nan(s, magnitude) ? magnitude : sign | magnitude;
}

constexpr std::uint32_t ordered_key(const Spec& s, std::uint32_t code) {
  assert((code & ~code_mask(s)) == 0 && !is_nan(s, code));
  if (is_integer(s)) return code ^ sign_bit(s);  // two's complement to offset binary
  if ((code & sign_bit(s)) != 0) return ~code & code_mask(s);
  return code | sign_bit(s);
}

}  // namespace assay::formats::definition
