// Numbers of twice the precision of double, as unevaluated sums of two: about 104 bits from + - * / alone, so
// that the bits are the same on every device. For the few inputs whose rounding double cannot decide.
//
// The error-free transformations are Knuth's sum and Dekker's product, which need round to nearest, no
// contraction and no overflow; here all numbers lie between 2^-330 and 2^200.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

/// high + low, |low| at most half a unit in the last place of high.
struct DoubleDouble {
  double high = 0, low = 0;
};

/// a + b, exactly.
__host__ __device__ constexpr DoubleDouble exact_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// a * b, exactly: each factor as two halves of 26 bits, whose products fit.
__host__ __device__ constexpr DoubleDouble exact_product(double a, double b) {
  constexpr double splitter = 0x1p27 + 1;
  const double scaled_a = splitter * a, scaled_b = splitter * b;
  const double a_high = scaled_a - (scaled_a - a), b_high = scaled_b - (scaled_b - b);
  const double a_low = a - a_high, b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

/// Relative error at most 2^-103 where a and b have the same sign or lie a factor of two apart.
__host__ __device__ constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const DoubleDouble carried = exact_sum(high.high, high.low + low.high);
  return exact_sum(carried.high, carried.low + low.low);
}

/// Relative error at most 2^-101.
__host__ __device__ constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = exact_product(a.high, b.high);
  return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

/// Relative error at most 2^-100: the second quotient is the first one's remainder over b.
__host__ __device__ constexpr DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double quotient = a.high / b.high;
  const DoubleDouble taken = DoubleDouble{-quotient, 0} * b;
  const DoubleDouble left = a + taken;
  return exact_sum(quotient, left.high / b.high);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
