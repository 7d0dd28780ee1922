// Exact numbers of any size: integers times powers of two. Sums and products never round.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <cstdint>

#include "oracles/formats/exact.hpp"
#include "oracles/formats/format.hpp"

namespace assay::arithmetic {

/// numerator * 2^exponent, exactly. There is one zero and no special value: the true value of a computation
/// is a number or does not exist, and then its result is not judged by distance.
class Dyadic {
 public:
  Dyadic() = default;
  Dyadic(boost::multiprecision::cpp_int numerator, int exponent)
      : numerator_(std::move(numerator)), exponent_(exponent) {}
  /// From a zero or finite value without sticky bit.
  explicit Dyadic(const formats::Exact&);
  /// The value of a code that is neither NaN nor Inf.
  static Dyadic of(formats::Format, std::uint32_t code);
  /// From a finite double.
  static Dyadic of(double);

  bool is_zero() const { return numerator_ == 0; }
  bool negative() const { return numerator_ < 0; }

  /// The value as encode() takes it: 63 leading bits, and sticky where more are set. Zero is positive.
  formats::Exact exact() const;

  Dyadic operator-() const { return {-numerator_, exponent_}; }
  Dyadic& operator+=(const Dyadic&);
  Dyadic& operator-=(const Dyadic& other) { return *this += -other; }
  Dyadic& operator*=(const Dyadic&);
  friend Dyadic operator+(Dyadic a, const Dyadic& b) { return a += b; }
  friend Dyadic operator-(Dyadic a, const Dyadic& b) { return a -= b; }
  friend Dyadic operator*(Dyadic a, const Dyadic& b) { return a *= b; }
  friend bool operator==(const Dyadic& a, const Dyadic& b) { return (a - b).is_zero(); }
  friend std::strong_ordering operator<=>(const Dyadic& a, const Dyadic& b) {
    return (a - b).numerator_.sign() <=> 0;
  }

 private:
  boost::multiprecision::cpp_int numerator_ = 0;
  int exponent_ = 0;
};

inline Dyadic abs(const Dyadic& x) { return x.negative() ? -x : x; }
inline Dyadic fma(const Dyadic& a, const Dyadic& b, const Dyadic& c) { return a * b + c; }

/// A conversion of a schedule leaves an exact value alone.
template <formats::Format>
Dyadic convert(const Dyadic& x) {
  return x;
}

}  // namespace assay::arithmetic
