#include "oracles/formats/exact.hpp"

#include <bit>
#include <cassert>

namespace assay::formats {

int floor_log2(const Exact& x) {
  assert(x.kind == Kind::finite);
  return 63 - std::countl_zero(x.significand) + x.exponent;
}

bool is_power_of_two(const Exact& x) {
  return x.kind == Kind::finite && !x.sticky && std::has_single_bit(x.significand);
}

int compare_magnitude(const Exact& a, const Exact& b) {
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
