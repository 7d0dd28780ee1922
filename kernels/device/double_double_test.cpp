// Double-double against exact numbers: transformations without error, operations within their bounds.
#include "kernels/device/double_double.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::kernels::cpu {
namespace {

using arithmetic::Dyadic;
using formats::twin::draw;

/// Either sign, 53 random bits, from 2^-40 to 2^40; every fourth one has few bits set.
double number(std::uint64_t stream, std::uint64_t i) {
  const std::uint64_t bits = draw(stream, i), shape = draw(stream + 1, i);
  const std::uint64_t mantissa = shape % 4 == 0 ? bits & bits << 7 & bits << 13 : bits;
  const double magnitude = std::ldexp(1.0 + std::ldexp(static_cast<double>(mantissa >> 12), -52),
                                      static_cast<int>(shape >> 32 & 63) - 32);
  return (shape >> 8 & 1) != 0 ? -magnitude : magnitude;
}

DoubleDouble pair(std::uint64_t stream, std::uint64_t i) {
  const double high = number(stream, i);
  return exact_sum(high, std::ldexp(number(stream + 2, i), std::ilogb(high) - 90));
}

Dyadic exact(DoubleDouble x) { return Dyadic::of(x.high) + Dyadic::of(x.low); }

/// |x| 2^power.
Dyadic scaled(const Dyadic& x, int power) { return abs(x) * Dyadic(1, power); }

TEST(DoubleDouble, SumsAndProductsOfDoublesAreExact) {
  for (std::uint64_t i = 0; i < 50000; ++i) {
    const double a = number(10, i), b = number(20, i);
    ASSERT_EQ(exact(exact_sum(a, b)), Dyadic::of(a) + Dyadic::of(b)) << a << " " << b;
    ASSERT_EQ(exact(exact_product(a, b)), Dyadic::of(a) * Dyadic::of(b)) << a << " " << b;
    ASSERT_EQ(exact_sum(a, b).high, a + b);
    ASSERT_EQ(exact_product(a, b).high, a * b);
  }
}

TEST(DoubleDouble, OperationsStayWithinTheirBounds) {
  for (std::uint64_t i = 0; i < 50000; ++i) {
    const DoubleDouble a = pair(30, i), b = pair(40, i);
    const Dyadic x = exact(a), y = exact(b);
    const bool sum_bounded = (a.high > 0) == (b.high > 0) || std::abs(a.high) > 2 * std::abs(b.high) ||
                             std::abs(b.high) > 2 * std::abs(a.high);
    if (sum_bounded) {
      ASSERT_LE(scaled(exact(a + b) - (x + y), 103), abs(x + y)) << i;
    }
    ASSERT_LE(scaled(exact(a * b) - x * y, 101), abs(x * y)) << i;
    ASSERT_LE(scaled(exact(a / b) * y - x, 100), abs(x)) << i;
  }
}

}  // namespace
}  // namespace assay::kernels::cpu
