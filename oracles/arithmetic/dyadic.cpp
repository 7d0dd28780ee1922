#include "oracles/arithmetic/dyadic.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "oracles/formats/codec.hpp"

namespace assay::arithmetic {

using boost::multiprecision::cpp_int;
using formats::Exact;
using formats::Kind;

Dyadic::Dyadic(const Exact& x) : numerator_(x.significand), exponent_(x.exponent) {
  assert((x.kind == Kind::zero || x.kind == Kind::finite) && !x.sticky);
  if (x.negative) numerator_ = -numerator_;
}

Dyadic Dyadic::of(formats::Format format, std::uint32_t code) {
  return Dyadic(formats::decode(format, code));
}

Dyadic Dyadic::of(double x) {
  assert(std::isfinite(x));
  constexpr int mantissa_bits = 53;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return {cpp_int(static_cast<std::int64_t>(std::ldexp(fraction, mantissa_bits))), exponent - mantissa_bits};
}

Exact Dyadic::exact() const {
  if (is_zero()) return Exact::zero();
  const cpp_int magnitude = boost::multiprecision::abs(numerator_);
  const unsigned top = boost::multiprecision::msb(magnitude);
  const unsigned drop = top >= 63 ? top - 62 : 0;
  const cpp_int head = magnitude >> drop;
  return Exact::finite(negative(), static_cast<std::uint64_t>(head), exponent_ + static_cast<int>(drop),
                       drop > boost::multiprecision::lsb(magnitude));
}

Dyadic& Dyadic::operator+=(const Dyadic& other) {
  const int common = std::min(exponent_, other.exponent_);
  numerator_ <<= static_cast<unsigned>(exponent_ - common);
  exponent_ = common;
  if (other.exponent_ == common) {
    numerator_ += other.numerator_;
  } else {
    numerator_ += other.numerator_ << static_cast<unsigned>(other.exponent_ - common);
  }
  return *this;
}

Dyadic& Dyadic::operator*=(const Dyadic& other) {
  numerator_ *= other.numerator_;
  exponent_ += other.exponent_;
  return *this;
}

}  // namespace assay::arithmetic
