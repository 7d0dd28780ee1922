// An exact real number as decode returns it and encode takes it.
#pragma once

#include <bit>
#include <cassert>
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

  static constexpr Exact zero(bool negative = false) { return {Kind::zero, negative, 0, 0, false}; }
  static constexpr Exact infinity(bool negative = false) { return {Kind::infinity, negative, 0, 0, false}; }
  static constexpr Exact nan(bool negative = false) { return {Kind::nan, negative, 0, 0, false}; }
  /// significand == 0 gives zero of that sign.
  static constexpr Exact finite(bool negative, std::uint64_t significand, int exponent, bool sticky = false) {
    return {significand ? Kind::finite : Kind::zero, negative, significand, exponent, sticky};
  }
};

/// x * 2^power, exactly; zero, infinity and NaN are unchanged.
constexpr Exact scaled(Exact x, int power) {
  if (x.kind == Kind::finite) x.exponent += power;
  return x;
}

/// floor(log2 |x|) of a finite non-zero value.
constexpr int floor_log2(const Exact& x) {
  assert(x.kind == Kind::finite);
  return 63 - std::countl_zero(x.significand) + x.exponent;
}

/// True iff |x| is a power of two.
constexpr bool is_power_of_two(const Exact& x) {
  return x.kind == Kind::finite && !x.sticky && std::has_single_bit(x.significand);
}

/// Three-way comparison of magnitudes of finite or zero values without sticky bits: -1, 0 or 1.
constexpr int compare_magnitude(const Exact& a, const Exact& b) {
  assert((a.kind == Kind::finite || a.kind == Kind::zero) && !a.sticky);
  assert((b.kind == Kind::finite || b.kind == Kind::zero) && !b.sticky);
  if (a.kind == Kind::zero || b.kind == Kind::zero)
    return static_cast<int>(a.kind == Kind::finite) - static_cast<int>(b.kind == Kind::finite);
  const int log_a = floor_log2(a), log_b = floor_log2(b);
  if (log_a != log_b) return log_a < log_b ? -1 : 1;
  // Same binade: left-aligned, the significands compare as integers.
  const std::uint64_t left_a = a.significand << std::countl_zero(a.significand);
  const std::uint64_t left_b = b.significand << std::countl_zero(b.significand);
  return left_a == left_b ? 0 : left_a < left_b ? -1 : 1;
}

}  // namespace assay::formats
