#include "oracles/formats/codec.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace assay::formats {
namespace {

constexpr std::uint32_t low_bits(int count) { return count >= 32 ? ~0u : (1u << count) - 1; }

bool is_integer(const Spec& s) { return s.specials == Specials::none; }
std::uint32_t code_mask(const Spec& s) { return low_bits(s.bits); }
std::uint32_t sign_bit(const Spec& s) { return s.has_sign ? 1u << (s.bits - 1) : 0; }
std::uint32_t magnitude_mask(const Spec& s) { return code_mask(s) & ~sign_bit(s); }

// The code under all others of the largest exponent field: Inf where the format has one.
std::uint32_t top_exponent(const Spec& s) { return low_bits(s.exponent_bits) << s.mantissa_bits; }

std::uint32_t max_magnitude(const Spec& s) {
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

// The exponent of the smallest normal number. e8m0 spends no code on zero or subnormals, so its field 0 is
// one too.
int min_exponent(const Spec& s) { return (s.specials == Specials::nan_only ? 0 : 1) - s.bias; }

Exact decode_integer(const Spec& s, std::uint32_t code) {
  const bool negative = (code & sign_bit(s)) != 0;  // two's complement
  return Exact::finite(negative, negative ? (1u << s.bits) - code : code, 0);
}

// Whether a magnitude that lies above `units` by a non-zero part of a unit goes to units + 1.
bool rounds_away(Rounding rounding, bool negative, bool odd, bool half, bool below_half) {
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

// |x| as a whole number of units of 2^quantum, rounded once. `x` is below 2^(quantum + 32), so nothing is
// lost above.
std::uint64_t round_to_units(const Exact& x, int quantum, Rounding rounding) {
  const int dropped = quantum - x.exponent;  // bits of the significand under one unit
  if (dropped <= 0) {
    // A sticky significand must reach under the half unit, or the side of the midpoint would be unknown.
    assert(!x.sticky && "a sticky value needs significand bits below half a unit of the target");
    return x.significand << -dropped;
  }
  if (dropped > 64) return rounds_away(rounding, x.negative, false, false, true) ? 1 : 0;
  const std::uint64_t units = dropped == 64 ? 0 : x.significand >> dropped;
  const std::uint64_t half_bit = std::uint64_t{1} << (dropped - 1);
  const bool half = (x.significand & half_bit) != 0;
  const bool below_half = (x.significand & (half_bit - 1)) != 0 || x.sticky;
  return units + (rounds_away(rounding, x.negative, (units & 1) != 0, half, below_half) ? 1 : 0);
}

std::uint32_t encode_integer(const Spec& s, const Exact& x, Rounding rounding) {
  if (x.kind == Kind::zero) return 0;
  assert(x.kind == Kind::finite && "integers hold neither NaN nor Inf");
  const std::uint32_t limit =
      x.negative ? (s.has_sign ? sign_bit(s) : 0) : max_magnitude(s);  // -8, 0, 7 or 15
  const std::uint64_t units = floor_log2(x) > s.bits ? limit : round_to_units(x, 0, rounding);
  const auto magnitude = static_cast<std::uint32_t>(std::min<std::uint64_t>(units, limit));
  return (x.negative ? 0u - magnitude : magnitude) & code_mask(s);
}

std::uint32_t overflow_magnitude(const Spec& s, Overflow overflow) {
  if (overflow == Overflow::saturate) return max_magnitude(s);
  return s.specials == Specials::ieee ? top_exponent(s) : canonical_nan(s.format);
}

// The magnitude code of a finite, non-zero |x|.
std::uint32_t encode_magnitude(const Spec& s, const Exact& x, Rounding rounding, Overflow overflow) {
  const int log = floor_log2(x);
  const int least = min_exponent(s);
  const bool has_subnormals = s.specials != Specials::nan_only;
  if (log < least && !has_subnormals) return 0;
  const bool inward =
      rounding == Rounding::toward_zero || rounding == (x.negative ? Rounding::up : Rounding::down);
  const int largest =
      static_cast<int>(max_magnitude(s) >> s.mantissa_bits) - 1 + least + (has_subnormals ? 0 : 1);
  if (log > largest) return inward ? max_magnitude(s) : overflow_magnitude(s, overflow);

  // One unit is the spacing of the binade; subnormals share the spacing of the smallest. Counting units from
  // the bottom of the binade makes the code, and a carry out of the mantissa is a carry into the exponent
  // field.
  const int binade = std::max(log, least);
  const std::uint64_t units = round_to_units(x, binade - s.mantissa_bits, rounding);
  const std::uint64_t base = static_cast<std::uint64_t>(binade - least) << s.mantissa_bits;
  const std::uint64_t code = base + units - (has_subnormals ? 0 : 1);
  if (code <= max_magnitude(s)) return static_cast<std::uint32_t>(code);
  return inward ? max_magnitude(s) : overflow_magnitude(s, overflow);
}

}  // namespace

Exact decode(Format format, std::uint32_t code) {
  const Spec& s = spec(format);
  assert((code & ~code_mask(s)) == 0);
  if (is_integer(s)) return decode_integer(s, code);
  const bool negative = (code & sign_bit(s)) != 0;
  if (is_nan(format, code)) return Exact::nan(negative);
  if (is_infinity(format, code)) return Exact::infinity(negative);
  const std::uint32_t field = (code & magnitude_mask(s)) >> s.mantissa_bits;
  const std::uint32_t mantissa = code & low_bits(s.mantissa_bits);
  if (s.specials == Specials::nan_only) return Exact::finite(false, 1, static_cast<int>(field) - s.bias);
  const std::uint32_t hidden = field > 0 ? 1u << s.mantissa_bits : 0;
  return Exact::finite(negative, hidden | mantissa,
                       static_cast<int>(std::max(field, 1u)) - s.bias - s.mantissa_bits);
}

std::uint32_t encode(Format format, const Exact& x, Rounding rounding, Overflow overflow) {
  const Spec& s = spec(format);
  if (is_integer(s)) return encode_integer(s, x, rounding);
  if (x.kind == Kind::nan) return canonical_nan(format);
  assert((s.has_sign || !x.negative || x.kind == Kind::zero) && "the format has no negative values");
  const std::uint32_t sign = x.negative ? sign_bit(s) : 0;
  if (x.kind == Kind::zero) return sign;
  const std::uint32_t magnitude =
      x.kind == Kind::infinity ? overflow_magnitude(s, overflow) : encode_magnitude(s, x, rounding, overflow);
  return magnitude > max_magnitude(s) && s.specials != Specials::ieee ? magnitude : sign | magnitude;
}

bool is_nan(Format format, std::uint32_t code) {
  const Spec& s = spec(format);
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

bool is_infinity(Format format, std::uint32_t code) {
  const Spec& s = spec(format);
  assert((code & ~code_mask(s)) == 0);
  return s.specials == Specials::ieee && (code & magnitude_mask(s)) == top_exponent(s);
}

std::uint32_t canonical_nan(Format format) {
  const Spec& s = spec(format);
  assert(!is_integer(s) && "integers have no NaN");
  return magnitude_mask(s);  // every bit but the sign: the quiet NaN with all mantissa bits set
}

std::uint32_t max_finite(Format format) { return max_magnitude(spec(format)); }

std::uint32_t ordered_key(Format format, std::uint32_t code) {
  const Spec& s = spec(format);
  assert((code & ~code_mask(s)) == 0 && !is_nan(format, code));
  if (is_integer(s)) return code ^ sign_bit(s);  // two's complement to offset binary
  if ((code & sign_bit(s)) != 0) return ~code & code_mask(s);
  return code | sign_bit(s);
}

}  // namespace assay::formats
