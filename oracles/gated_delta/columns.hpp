// Columns of the recurrence side by side, and the arithmetics of bits. The columns of V never meet, so a
// schedule that computes with a row of them at a time gives each its own bits, and loops over a row become
// vector instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "oracles/arithmetic/functions.hpp"
#include "oracles/arithmetic/host.hpp"

// A row has to be computed where its instruction set is chosen (vectorised.hpp): what is not inlined there is
// compiled for any machine.
#define ASSAY_INLINED [[gnu::always_inline]] inline

namespace assay::oracles::gated_delta {

using arithmetic::convert;

/// `Width` numbers, which every operation takes one by one; a single Number stands for as many of it.
template <class Number, std::size_t Width>
struct Columns {
  std::array<Number, Width> at{};  ///< +0

  ASSAY_INLINED friend Columns operator+(const Columns& a, const Columns& b) {
    return each([&](std::size_t i) { return a.at[i] + b.at[i]; });
  }
  ASSAY_INLINED friend Columns operator-(const Columns& a, const Columns& b) {
    return each([&](std::size_t i) { return a.at[i] - b.at[i]; });
  }
  ASSAY_INLINED friend Columns operator*(const Number& a, const Columns& b) {
    return each([&](std::size_t i) { return a * b.at[i]; });
  }
  ASSAY_INLINED friend Columns fma(const Number& a, const Columns& b, const Columns& c) {
    return each([&](std::size_t i) { return fma(a, b.at[i], c.at[i]); });
  }
  template <class Result>
  ASSAY_INLINED static Columns each(Result&& result) {
    Columns out;
    for (std::size_t i = 0; i < Width; ++i) out.at[i] = result(i);
    return out;
  }
};

/// A number, or each of some columns, rounded once to bf16.
template <template <formats::Format> class Number>
ASSAY_INLINED Number<formats::Format::fp32> to_bf16(const Number<formats::Format::fp32>& x) {
  return convert<formats::Format::fp32>(convert<formats::Format::bf16>(x));
}
template <class Number, std::size_t Width>
ASSAY_INLINED Columns<Number, Width> to_bf16(const Columns<Number, Width>& x) {
  return Columns<Number, Width>::each([&](std::size_t i) { return to_bf16(x.at[i]); });
}

/// Correctly rounded functions of a number of bits.
template <template <formats::Format> class Number>
Number<formats::Format::fp32> apply(arithmetic::Function f, const Number<formats::Format::fp32>& x) {
  return Number<formats::Format::fp32>::of_code(arithmetic::correctly_rounded(f, x.code()));
}

/// log(1 + e^x) of an x over 20, taken for x.
template <template <formats::Format> class Number>
Number<formats::Format::fp32> softplus_of_large(const Number<formats::Format::fp32>& x) {
  return x;
}

/// What schedule.hpp is a template over: bits in software, and the same by the machine's floats.
template <template <formats::Format> class Of, std::size_t Width>
struct BitsArithmetic {
  using Number = Of<formats::Format::fp32>;
  static constexpr std::size_t width = Width;
  using Row = Columns<Number, width>;
  static constexpr bool rounds = true;  ///< else a schedule gives true values
  static Number of_fp32(std::uint32_t code) { return Number::of_code(code); }
  static void set(Row& row, std::size_t column, const Number& x) { row.at[column] = x; }
};
using HostArithmetic = BitsArithmetic<arithmetic::Host, 32>;
using ModelledArithmetic = BitsArithmetic<arithmetic::Modelled, 4>;

}  // namespace assay::oracles::gated_delta
