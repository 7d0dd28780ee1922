// The schedule's true value in a hundred decimal digits: Boost.Multiprecision as an arithmetic, for tests.
// Nothing outside tests may include it.
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cstddef>
#include <cstdint>

#include "oracles/gated_delta/columns.hpp"

namespace assay::oracles::gated_delta::testing {

using Float = boost::multiprecision::cpp_bin_float_100;

struct Wide {
  Float x;

  friend Wide operator+(const Wide& a, const Wide& b) { return {a.x + b.x}; }
  friend Wide operator-(const Wide& a, const Wide& b) { return {a.x - b.x}; }
  friend Wide operator-(const Wide& a) { return {-a.x}; }
  friend Wide operator*(const Wide& a, const Wide& b) { return {a.x * b.x}; }
  friend Wide operator/(const Wide& a, const Wide& b) { return {a.x / b.x}; }
  friend Wide fma(const Wide& a, const Wide& b, const Wide& c) { return {a.x * b.x + c.x}; }
  friend Wide sqrt(const Wide& a) { return {boost::multiprecision::sqrt(a.x)}; }
};
inline Wide to_bf16(const Wide& x) { return x; }

inline Float value_of(arithmetic::Function f, const Float& x) {
  switch (f) {
    case arithmetic::Function::rsqrt:
      return 1 / sqrt(x);
    case arithmetic::Function::exp:
      return exp(x);
    case arithmetic::Function::sigmoid:
      return 1 / (1 + exp(-x));
    case arithmetic::Function::softplus:
      return (x > 0 ? x : Float(0)) + log1p(exp(-abs(x)));
    case arithmetic::Function::log:
      return log(x);
    case arithmetic::Function::log1p:
      return log1p(x);
  }
  return {};
}
inline Wide apply(arithmetic::Function f, const Wide& a) { return {value_of(f, a.x)}; }

struct WideArithmetic {
  static constexpr std::size_t width = 1;
  using Number = Wide;
  using Row = Columns<Wide, width>;
  static constexpr bool rounds = false;
  static Wide of_fp32(std::uint32_t code) { return {Float(std::bit_cast<float>(code))}; }
  static void set(Row& row, std::size_t column, const Wide& x) { row.at[column] = x; }
};

}  // namespace assay::oracles::gated_delta::testing
