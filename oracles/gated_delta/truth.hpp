// The true value of the schedule, which is what it would give without any rounding, in doubles with a running
// error bound of their own: some 2^29 times closer than fp32.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "oracles/gated_delta/enclosure.hpp"
#include "oracles/gated_delta/growth.hpp"

namespace assay::oracles::gated_delta {

/// `Width` doubles and a bound each: |value - true|, 0 only of inputs and of what exact zeros make of them,
/// Inf or NaN where there is none.
template <std::size_t Width>
struct Truth {
  std::array<double, Width> value{};
  std::array<double, Width> bound{};
};

namespace truth {

struct One {
  double value, bound;
};

/// A result of doubles, each rounded to nearest, whose magnitudes sum to `magnitudes`: they err by 2^-53 of
/// that, and by what underflow makes of products.
ASSAY_INLINED One rounded(double value, double magnitudes, double inherited, double underflow) {
  return {value, growth::upward(inherited + magnitudes * 0x1p-53 + underflow)};
}
/// Far more than half of the least subnormal double; 0 where a factor is exactly 0.
ASSAY_INLINED double underflow(One a, One b) {
  const double of_a = growth::unless_zero(std::fabs(a.value) + a.bound, growth::least);
  return growth::unless_zero(std::fabs(b.value) + b.bound, of_a);
}
ASSAY_INLINED One fused(One a, One b, One c) {
  const double product = a.value * b.value, sum = product + c.value;
  return rounded(sum, std::fabs(product) + std::fabs(sum),
                 growth::of_product(a.value, a.bound, b.value, b.bound) + c.bound, underflow(a, b));
}
ASSAY_INLINED One product(One a, One b) {
  const double p = a.value * b.value;
  return rounded(p, std::fabs(p), growth::of_product(a.value, a.bound, b.value, b.bound), underflow(a, b));
}
// A sum of doubles is exact where it is subnormal.
ASSAY_INLINED One sum(One a, One b) {
  const double s = a.value + b.value;
  return rounded(s, std::fabs(s), a.bound + b.bound, 0);
}
template <std::size_t Width>
ASSAY_INLINED One at(const Truth<Width>& x, std::size_t i) {
  const std::size_t place = Width == 1 ? 0 : i;
  return {x.value[place], x.bound[place]};
}
template <std::size_t Width, class Result>
ASSAY_INLINED Truth<Width> each(Result&& result) {
  Truth<Width> out;
  for (std::size_t i = 0; i < Width; ++i) {
    const One one = result(i);
    out.value[i] = one.value;
    out.bound[i] = one.bound;
  }
  return out;
}

}  // namespace truth

template <std::size_t Width>
ASSAY_INLINED Truth<Width> operator+(const Truth<Width>& a, const Truth<Width>& b) {
  return truth::each<Width>([&](std::size_t i) { return truth::sum(truth::at(a, i), truth::at(b, i)); });
}
template <std::size_t Width>
ASSAY_INLINED Truth<Width> operator-(const Truth<Width>& a) {
  return truth::each<Width>([&](std::size_t i) { return truth::One{-a.value[i], a.bound[i]}; });
}
template <std::size_t Width>
ASSAY_INLINED Truth<Width> operator-(const Truth<Width>& a, const Truth<Width>& b) {
  return a + -b;
}
template <std::size_t Width>
ASSAY_INLINED Truth<Width> operator*(const Truth<1>& a, const Truth<Width>& b) {
  return truth::each<Width>([&](std::size_t i) { return truth::product(truth::at(a, 0), truth::at(b, i)); });
}
template <std::size_t Width>
ASSAY_INLINED Truth<Width> fma(const Truth<1>& a, const Truth<Width>& b, const Truth<Width>& c) {
  return truth::each<Width>(
      [&](std::size_t i) { return truth::fused(truth::at(a, 0), truth::at(b, i), truth::at(c, i)); });
}
template <std::size_t Width>
ASSAY_INLINED Truth<Width> to_bf16(const Truth<Width>& x) {
  return x;
}
inline Truth<1> operator/(const Truth<1>& a, const Truth<1>& b) {
  const double q = a.value[0] / b.value[0];
  const double underflow = growth::unless_zero(std::fabs(a.value[0]) + a.bound[0], growth::least);
  const double inherited = growth::of_quotient(q, a.bound[0], b.value[0], b.bound[0]);
  const truth::One one = truth::rounded(q, std::fabs(q), inherited, underflow);
  return {{one.value}, {one.bound}};
}
inline Truth<1> sqrt(const Truth<1>& x) {
  const double r = std::sqrt(x.value[0]);
  const truth::One one = truth::rounded(r, r, growth::of_root(x.value[0], x.bound[0]), 0);
  return {{one.value}, {one.bound}};
}
template <class F>
requires requires(F f, Enclosure x) { enclose(f, x); }
Truth<1> apply(F f, const Truth<1>& x) {
  const Enclosure y = enclose(f, around(x.value[0], x.bound[0]));
  const double middle = y.low + (y.high - y.low) / 2;
  const double up = y.high - middle, down = middle - y.low;
  return {{middle}, {growth::upward(growth::larger(up, down) + growth::least)}};
}

/// To be the argument of the schedule.
struct TruthArithmetic {
  static constexpr std::size_t width = 8;
  using Number = Truth<1>;
  using Row = Truth<width>;
  static constexpr bool rounds = false;
  static Number of_fp32(std::uint32_t code) {
    const float x = std::bit_cast<float>(code);
    return {{x}, {std::isfinite(x) ? 0 : growth::infinity}};
  }
  static void set(Row& row, std::size_t column, const Number& x) {
    row.value[column] = x.value[0];
    row.bound[column] = x.bound[0];
  }
};

}  // namespace assay::oracles::gated_delta
