// The schedule's running error bound: what its fp32 numbers are, and how far each is from its true value at
// most (Wilkinson). As oracles/arithmetic/bounded.hpp, for rows of columns and with the functions of this
// schedule.
#pragma once

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "oracles/arithmetic/host.hpp"
#include "oracles/gated_delta/enclosure.hpp"
#include "oracles/gated_delta/growth.hpp"

namespace assay::oracles::gated_delta {

/// `Width` fp32 numbers and a bound each: |value - true|, 0 where nothing was rounded, Inf or NaN where there
/// is none. Each operation adds to what its operands' errors grow to half of the spacing that its result is
/// rounded in, or nothing where the result is exact.
template <std::size_t Width>
struct Bounded {
  std::array<float, Width> value{};
  std::array<double, Width> bound{};

  std::uint32_t code() const requires(Width == 1) {
    return arithmetic::Host<formats::Format::fp32>::of_word(value[0]).code();
  }
};

namespace bounded {

struct One {
  float value;
  double bound;
};

/// `value` is sum + rest, the exact result, rounded; `inherited` not yet upward. What rounding has moved is
/// zero only where it is computed as zero: sum - value is exact, and if not zero, more than the rest.
ASSAY_INLINED One rounded(float value, double sum, double rest, double inherited) {
  const double moved = (sum - double{value}) + rest;
  const double own = growth::unless_zero(std::fabs(moved), growth::half_spacing<23>(sum));
  return {value, growth::upward(inherited + own) + growth::unless_finite(value)};
}
// Products of two fp32 are exact in double, and so is what TwoSum says of a sum.
ASSAY_INLINED One fused(One a, One b, One c) {
  const arithmetic::host::Pair exact =
      arithmetic::host::two_sum(double{a.value} * double{b.value}, double{c.value});
  return rounded(std::fma(a.value, b.value, c.value), exact.sum, exact.rest,
                 growth::of_product(a.value, a.bound, b.value, b.bound) + c.bound);
}
ASSAY_INLINED One product(One a, One b) {
  return rounded(a.value * b.value, double{a.value} * double{b.value}, 0,
                 growth::of_product(a.value, a.bound, b.value, b.bound));
}
ASSAY_INLINED One sum(One a, One b) {
  const arithmetic::host::Pair exact = arithmetic::host::two_sum(a.value, b.value);
  return rounded(a.value + b.value, exact.sum, exact.rest, a.bound + b.bound);
}
/// To bf16, to nearest even: half of the dropped part is added to the code, less one where the kept part is
/// even; a carry goes to the next binade, and in the end to Inf.
ASSAY_INLINED One to_bf16(One x) {
  const auto code = std::bit_cast<std::uint32_t>(x.value);
  const float narrow = std::bit_cast<float>((code + 0x7FFFu + (code >> 16 & 1)) & 0xFFFF0000u);
  const double moved = double{narrow} - double{x.value};
  const double own = growth::unless_zero(std::fabs(moved), growth::half_spacing<7>(x.value));
  const double no_bound = growth::unless_finite(x.value) + growth::unless_finite(narrow);
  const bool number = std::fabs(x.value) <= growth::infinity;
  return {number ? narrow : x.value, growth::upward(x.bound + own) + no_bound};
}

/// Number `i` of a row; a row of one stands for all.
template <std::size_t Width>
ASSAY_INLINED One at(const Bounded<Width>& x, std::size_t i) {
  const std::size_t place = Width == 1 ? 0 : i;
  return {x.value[place], x.bound[place]};
}
template <std::size_t Width, class Result>
ASSAY_INLINED Bounded<Width> each(Result&& result) {
  Bounded<Width> out;
  for (std::size_t i = 0; i < Width; ++i) {
    const One one = result(i);
    out.value[i] = one.value;
    out.bound[i] = one.bound;
  }
  return out;
}

}  // namespace bounded

template <std::size_t Width>
ASSAY_INLINED Bounded<Width> operator+(const Bounded<Width>& a, const Bounded<Width>& b) {
  return bounded::each<Width>(
      [&](std::size_t i) { return bounded::sum(bounded::at(a, i), bounded::at(b, i)); });
}
template <std::size_t Width>
ASSAY_INLINED Bounded<Width> operator-(const Bounded<Width>& a) {
  return bounded::each<Width>([&](std::size_t i) { return bounded::One{-a.value[i], a.bound[i]}; });
}
template <std::size_t Width>
ASSAY_INLINED Bounded<Width> operator-(const Bounded<Width>& a, const Bounded<Width>& b) {
  return a + -b;
}
template <std::size_t Width>
ASSAY_INLINED Bounded<Width> operator*(const Bounded<1>& a, const Bounded<Width>& b) {
  return bounded::each<Width>(
      [&](std::size_t i) { return bounded::product(bounded::at(a, 0), bounded::at(b, i)); });
}
template <std::size_t Width>
ASSAY_INLINED Bounded<Width> fma(const Bounded<1>& a, const Bounded<Width>& b, const Bounded<Width>& c) {
  return bounded::each<Width>(
      [&](std::size_t i) { return bounded::fused(bounded::at(a, 0), bounded::at(b, i), bounded::at(c, i)); });
}
template <std::size_t Width>
ASSAY_INLINED Bounded<Width> to_bf16(const Bounded<Width>& x) {
  return bounded::each<Width>([&](std::size_t i) { return bounded::to_bf16(bounded::at(x, i)); });
}
/// Exact where the quotient times b is a, which a double can tell.
inline Bounded<1> operator/(const Bounded<1>& a, const Bounded<1>& b) {
  const float q = a.value[0] / b.value[0];
  const double wide = double{a.value[0]} / double{b.value[0]};
  if (!(std::fabs(q) <= FLT_MAX)) return {{q}, {growth::infinity}};
  const double own = double{q} * double{b.value[0]} == double{a.value[0]} ? 0 : growth::half_spacing<23>(q);
  const double inherited = growth::of_quotient(wide, a.bound[0], b.value[0], b.bound[0]);
  return {{q}, {growth::upward(inherited + own)}};
}
inline Bounded<1> sqrt(const Bounded<1>& x) {
  const float r = std::sqrt(x.value[0]);
  if (!(r <= FLT_MAX)) return {{r}, {growth::infinity}};
  const double own = double{r} * double{r} == double{x.value[0]} ? 0 : growth::half_spacing<23>(r);
  return {{r}, {growth::upward(growth::of_root(x.value[0], x.bound[0]) + own)}};
}
/// f of a number: computed, and true somewhere in the image of what its argument may be.
inline Bounded<1> apply(arithmetic::Function f, const Bounded<1>& x) {
  const float y = std::bit_cast<float>(arithmetic::correctly_rounded(f, x.code()));
  if (!(std::fabs(y) <= FLT_MAX)) return {{y}, {growth::infinity}};
  const Enclosure here = enclose(f, {x.value[0], x.value[0]});
  const bool exact = here.low == y && here.high == y;
  const double own = exact ? 0 : growth::half_spacing<23>(y);
  if (x.bound[0] == 0) return {{y}, {own}};
  const Enclosure there = enclose(f, around(x.value[0], x.bound[0]));
  const double up = there.high - here.low, down = here.high - there.low;
  return {{y}, {growth::upward(growth::larger(up, down) + own)}};
}
/// 0 < log(1 + e^x') - x' < e^-x', whichever side of 20 the true x' is on.
inline Bounded<1> softplus_of_large(const Bounded<1>& x) {
  const double least_x = around(x.value[0], x.bound[0]).low;
  const double own = enclose(arithmetic::Function::exp, {-least_x, -least_x}).high;
  return {x.value, {growth::upward(x.bound[0] + own)}};
}

/// To be the argument of the schedule.
struct BoundedArithmetic {
  static constexpr std::size_t width = 8;
  using Number = Bounded<1>;
  using Row = Bounded<width>;
  static constexpr bool rounds = true;
  static Number of_fp32(std::uint32_t code) {
    const float x = std::bit_cast<float>(code);
    return {{x}, {std::fabs(x) <= FLT_MAX ? 0 : growth::infinity}};
  }
  static void set(Row& row, std::size_t column, const Number& x) {
    row.value[column] = x.value[0];
    row.bound[column] = x.bound[0];
  }
};

}  // namespace assay::oracles::gated_delta
