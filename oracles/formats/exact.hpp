// An exact real number as decode returns it and encode takes it.
#pragma once

#include <cstdint>

namespace assay::formats {

enum class Kind : std::uint8_t { zero, finite, infinity, nan };

/// A dyadic rational (-1)^negative * significand * 2^exponent, or a special value. `sticky` says that the
/// true value lies strictly between this magnitude and the one with significand + 1: what lets an encoder
/// round once, from a value with more bits than fit, as if it had all of them. A sticky significand must have
/// at least one bit below the target's last place, or the side of a midpoint would be unknown.
struct Exact {
  Kind kind = Kind::zero;
  bool negative = false;
  std::uint64_t significand = 0;  ///< non-zero iff kind is finite
  int exponent = 0;
  bool sticky = false;

  static Exact zero(bool negative = false) { return {Kind::zero, negative, 0, 0, false}; }
  static Exact infinity(bool negative = false) { return {Kind::infinity, negative, 0, 0, false}; }
  static Exact nan(bool negative = false) { return {Kind::nan, negative, 0, 0, false}; }
  /// significand == 0 gives zero of that sign.
  static Exact finite(bool negative, std::uint64_t significand, int exponent, bool sticky = false) {
    return {significand ? Kind::finite : Kind::zero, negative, significand, exponent, sticky};
  }
};

/// x * 2^power, exactly; zero, infinity and NaN are unchanged.
inline Exact scaled(Exact x, int power) {
  if (x.kind == Kind::finite) x.exponent += power;
  return x;
}

/// Three-way comparison of magnitudes of finite or zero values without sticky bits: -1, 0 or 1.
int compare_magnitude(const Exact& a, const Exact& b);

/// floor(log2 |x|) of a finite non-zero value.
int floor_log2(const Exact& x);

/// True iff |x| is a power of two.
bool is_power_of_two(const Exact& x);

}  // namespace assay::formats
