#include "oracles/arithmetic/exact_operations.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace assay::arithmetic {
namespace {

using formats::Exact;
using formats::Kind;
__extension__ using Wide = unsigned __int128;

int width(Wide x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(x));
}

/// (-1)^negative * (significand + something strictly between 0 and 1 if sticky) * 2^exponent in 63 bits.
Exact compressed(bool negative, Wide significand, int exponent, bool sticky) {
  const int drop = width(significand) - 63;
  if (drop > 0) {
    sticky = sticky || (significand & ((Wide{1} << drop) - 1)) != 0;
    significand >>= drop;
    exponent += drop;
  }
  return Exact::finite(negative, static_cast<std::uint64_t>(significand), exponent, sticky);
}

/// Both finite and non-zero, |a| in the binade of |b| or a higher one.
Exact finite_sum(const Exact& a, const Exact& b) {
  // The leading bit of a goes to bit 126, so that a carry has room. b then keeps all bits that are at most
  // 126 places below; were any lost, the operands would be so far apart that no cancellation could bring them
  // back.
  const int lift = 127 - width(a.significand);
  const int exponent = a.exponent - lift;
  const Wide high = Wide{a.significand} << lift;
  const int shift = b.exponent - exponent;
  Wide low = 0;
  bool lost = false;
  if (shift >= 0) {
    low = Wide{b.significand} << shift;
  } else if (shift > -64) {
    low = b.significand >> -shift;
    lost = (b.significand & ((std::uint64_t{1} << -shift) - 1)) != 0;
  } else {
    lost = true;
  }
  if (a.negative == b.negative) return compressed(a.negative, high + low, exponent, lost);
  if (high == low && !lost) return Exact::zero();
  if (high < low)
    return compressed(b.negative, low - high, exponent, false);  // same binade: nothing was lost
  return compressed(a.negative, high - low - (lost ? 1 : 0), exponent, lost);
}

struct Root {
  std::uint64_t floor, remainder;  ///< radicand = floor^2 + remainder
};

/// Digit by digit: a bit of the root is set where its square still fits into what is left.
Root integer_root(std::uint64_t radicand) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit != 0; bit >>= 2) {
    const bool fits = radicand >= root + bit;
    radicand -= fits ? root + bit : 0;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return {root, radicand};
}

}  // namespace

Exact product(const Exact& a, const Exact& b) {
  assert(!a.sticky && !b.sticky);
  const bool negative = a.negative != b.negative;
  if (a.kind == Kind::nan || b.kind == Kind::nan) return Exact::nan();
  if (a.kind == Kind::infinity || b.kind == Kind::infinity)
    return a.kind == Kind::zero || b.kind == Kind::zero ? Exact::nan() : Exact::infinity(negative);
  assert(a.significand >> 32 == 0 && b.significand >> 32 == 0);
  return Exact::finite(negative, a.significand * b.significand, a.exponent + b.exponent);
}

Exact sum(const Exact& a, const Exact& b) {
  assert(!a.sticky && !b.sticky);
  if (a.kind == Kind::nan || b.kind == Kind::nan) return Exact::nan();
  if (a.kind == Kind::infinity && b.kind == Kind::infinity && a.negative != b.negative) return Exact::nan();
  if (a.kind == Kind::infinity) return a;
  if (b.kind == Kind::infinity) return b;
  if (a.kind == Kind::zero && b.kind == Kind::zero) return Exact::zero(a.negative && b.negative);
  if (a.kind == Kind::zero) return b;
  if (b.kind == Kind::zero) return a;
  return formats::floor_log2(a) >= formats::floor_log2(b) ? finite_sum(a, b) : finite_sum(b, a);
}

Exact quotient(const Exact& a, const Exact& b) {
  assert(!a.sticky && !b.sticky);
  const bool negative = a.negative != b.negative;
  if (a.kind == Kind::nan || b.kind == Kind::nan || (a.kind == b.kind && a.kind != Kind::finite))
    return Exact::nan();
  if (a.kind == Kind::infinity || b.kind == Kind::zero) return Exact::infinity(negative);
  if (a.kind == Kind::zero || b.kind == Kind::infinity) return Exact::zero(negative);
  assert(a.significand >> 32 == 0 && b.significand >> 32 == 0);
  const Wide dividend = Wide{a.significand} << 64;  // the quotient has 64 - 31 bits at least
  return compressed(negative, dividend / b.significand, a.exponent - b.exponent - 64,
                    dividend % b.significand != 0);
}

Exact square_root(const Exact& x) {
  assert(!x.sticky);
  if (x.kind == Kind::nan || x.kind == Kind::zero) return x;
  if (x.negative) return Exact::nan();
  if (x.kind == Kind::infinity) return x;
  assert(x.significand >> 32 == 0);
  // An even exponent, and a radicand of 62 or 63 bits, so that the root has 31 or 32.
  int lift = 63 - width(x.significand);
  lift -= (x.exponent - lift) & 1;
  const auto [root, remainder] = integer_root(x.significand << lift);
  return Exact::finite(false, root, (x.exponent - lift) / 2, remainder != 0);
}

}  // namespace assay::arithmetic
