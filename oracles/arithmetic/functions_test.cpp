// The oracle's functions: known values, its quick way against its intervals, and both against
// Boost.Multiprecision's own numbers of a hundred digits, which share nothing with MPFR.
#include "oracles/arithmetic/functions.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "fixtures/functions/worst_cases.hpp"
#include "oracles/arithmetic/modelled.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::arithmetic {
namespace {

using formats::Exact;
using formats::Format;
using Digits = boost::multiprecision::cpp_bin_float_100;

constexpr std::uint32_t infinity = 0x7F800000u, nan = 0x7FFFFFFFu;

Digits by_digits(Function function, float x) {
  const Digits exactly(x);
  switch (function) {
    case Function::rsqrt:
      return 1 / sqrt(exactly);
    case Function::exp:
      return exp(exactly);
    case Function::sigmoid:
      return 1 / (1 + exp(-exactly));
    case Function::softplus:
      return x > 0 ? exactly + log1p(exp(-exactly)) : log1p(exp(exactly));
    case Function::log:
      return log(exactly);
    case Function::log1p:
      return log1p(exactly);
  }
  return 0;
}

std::uint32_t rounded(const Digits& value) {
  int exponent = 0;
  const Digits scaled = ldexp(frexp(abs(value), &exponent), 63);
  return Modelled<Format::fp32>::rounded(Exact::finite(value < 0, static_cast<std::uint64_t>(floor(scaled)),
                                                       exponent - 63, scaled != floor(scaled)))
      .code();
}

/// Finite, positive for rsqrt and log, above -1 for log1p, and of a size at which the function's value is
/// neither 0, 1, Inf nor x.
std::uint32_t telling_input(Function function, std::uint64_t i) {
  const std::uint64_t bits = formats::twin::draw(300, i);
  if (function == Function::rsqrt || (function == Function::log && i % 2 == 0))
    return static_cast<std::uint32_t>(bits % (infinity - 1)) + 1;
  if (function == Function::log)  // the codes around 1
    return 0x3F000000u + static_cast<std::uint32_t>(bits % 0x01000000u);
  const float magnitude =
      std::ldexp(1 + static_cast<float>(bits >> 41) * 0x1p-23f, static_cast<int>(bits % 30) - 24);
  const float x = magnitude > 104 ? magnitude / 2 : magnitude;
  if (function == Function::log1p) return std::bit_cast<std::uint32_t>(x < 1 && (bits >> 20 & 1) ? -x : x);
  return std::bit_cast<std::uint32_t>((bits >> 20 & 1) != 0 ? x : -x);
}

TEST(Functions, KnownValues) {
  const auto of = [](Function f, float x) { return correctly_rounded(f, std::bit_cast<std::uint32_t>(x)); };
  EXPECT_EQ(of(Function::rsqrt, 4.0f), 0x3F000000u);
  EXPECT_EQ(of(Function::rsqrt, 2.0f), 0x3F3504F3u);
  EXPECT_EQ(of(Function::exp, 0.0f), 0x3F800000u);
  EXPECT_EQ(of(Function::exp, 1.0f), 0x402DF854u);
  EXPECT_EQ(of(Function::sigmoid, 0.0f), 0x3F000000u);
  EXPECT_EQ(of(Function::softplus, 0.0f), 0x3F317218u);
  EXPECT_EQ(of(Function::softplus, 100.0f), std::bit_cast<std::uint32_t>(100.0f));
  EXPECT_EQ(of(Function::log, 1.0f), 0u);
  EXPECT_EQ(of(Function::log, 2.0f), 0x3F317218u);
  EXPECT_EQ(of(Function::log, 0.5f), 0xBF317218u);
  EXPECT_EQ(of(Function::log1p, 1.0f), 0x3F317218u);
  EXPECT_EQ(of(Function::log1p, -0.5f), 0xBF317218u);
}

TEST(Functions, SpecialValuesAreLimits) {
  for (const auto rounding : {correctly_rounded, rounded_by_intervals}) {
    for (const Function function : functions()) {
      for (const std::uint32_t x : {0x7F800001u, 0x7FFFFFFFu, 0xFF800001u, 0xFFC00000u})
        EXPECT_EQ(rounding(function, x), nan) << to_string(function);
    }
    EXPECT_EQ(rounding(Function::rsqrt, 0), infinity);
    EXPECT_EQ(rounding(Function::rsqrt, 0x80000000u), 0xFF800000u);
    EXPECT_EQ(rounding(Function::rsqrt, 0x80000001u), nan);
    EXPECT_EQ(rounding(Function::rsqrt, 0xFF800000u), nan);
    EXPECT_EQ(rounding(Function::rsqrt, infinity), 0u);
    EXPECT_EQ(rounding(Function::exp, infinity), infinity);
    EXPECT_EQ(rounding(Function::exp, 0xFF800000u), 0u);
    EXPECT_EQ(rounding(Function::sigmoid, infinity), 0x3F800000u);
    EXPECT_EQ(rounding(Function::sigmoid, 0xFF800000u), 0u);
    EXPECT_EQ(rounding(Function::softplus, infinity), infinity);
    EXPECT_EQ(rounding(Function::softplus, 0xFF800000u), 0u);
    for (const Function function : {Function::log, Function::log1p}) {
      EXPECT_EQ(rounding(function, infinity), infinity);
      EXPECT_EQ(rounding(function, 0xFF800000u), nan);
    }
    EXPECT_EQ(rounding(Function::log, 0), 0xFF800000u);
    EXPECT_EQ(rounding(Function::log, 0x80000000u), 0xFF800000u);
    EXPECT_EQ(rounding(Function::log, 0x80000001u), nan);
    EXPECT_EQ(rounding(Function::log1p, 0), 0u);
    EXPECT_EQ(rounding(Function::log1p, 0x80000000u), 0x80000000u);
    EXPECT_EQ(rounding(Function::log1p, 0xBF800000u), 0xFF800000u);
    EXPECT_EQ(rounding(Function::log1p, 0xBF800001u), nan);
  }
}

/// e^x passes 2^128 - 2^103, where fp32 ends, between 0x42B17217 and its successor, and 2^-150, half of the
/// smallest, between -103.97208 and its successor.
TEST(Functions, EndsOfTheRange) {
  for (const auto rounding : {correctly_rounded, rounded_by_intervals}) {
    EXPECT_EQ(rounding(Function::exp, 0x42B17217u), 0x7F7FFF84u);
    EXPECT_EQ(rounding(Function::exp, 0x42B17218u), infinity);
    for (const Function function : {Function::exp, Function::sigmoid, Function::softplus}) {
      EXPECT_EQ(rounding(function, 0xC2CFF1B4u), 1u) << to_string(function);
      EXPECT_EQ(rounding(function, 0xC2CFF1B5u), 0u) << to_string(function);
      EXPECT_EQ(rounding(function, 0xFF7FFFFFu), 0u) << to_string(function);
    }
    EXPECT_EQ(rounding(Function::exp, 0x7F7FFFFFu), infinity);
    EXPECT_EQ(rounding(Function::sigmoid, 0x7F7FFFFFu), 0x3F800000u);
    EXPECT_EQ(rounding(Function::softplus, 0x7F7FFFFFu), 0x7F7FFFFFu);
    EXPECT_EQ(rounding(Function::log, 1), 0xC2CE8ED0u);  // -149 log 2 = -103.2789
    for (const Function function : {Function::log, Function::log1p})
      EXPECT_EQ(rounding(function, 0x7F7FFFFFu), 0x42B17218u) << to_string(function);  // 128 log 2 = 88.7228
    EXPECT_EQ(rounding(Function::log1p, 0xBF7FFFFFu), 0xC1851592u);  // -24 log 2 = -16.63553
  }
}

/// log(1 + x) is x up to 2^-24 and for all subnormal x; with few bits, x - x^2/2 lies on midpoints, of which
/// x^3/3 tells.
TEST(Functions, Log1pOfSmallNumbers) {
  for (const auto rounding : {correctly_rounded, rounded_by_intervals}) {
    for (const std::uint32_t sign : {0u, 0x80000000u})
      for (const std::uint32_t magnitude : {1u, 2u, 0x007FFFFFu, 0x00800000u, 0x33000000u, 0x337FFFFFu})
        EXPECT_EQ(rounding(Function::log1p, magnitude | sign), magnitude | sign);
  }
  for (int i = 1; i < 600; ++i) {
    for (const float x : {std::ldexp(static_cast<float>(i), -24), -std::ldexp(static_cast<float>(i), -24)}) {
      const std::uint32_t code = std::bit_cast<std::uint32_t>(x);
      const std::uint32_t expected = rounded(by_digits(Function::log1p, x));
      ASSERT_EQ(rounded_by_intervals(Function::log1p, code), expected) << x;
      ASSERT_EQ(correctly_rounded(Function::log1p, code), expected) << x;
    }
  }
}

TEST(Functions, BothWaysAgreeWithAHundredDigits) {
  for (const Function function : functions()) {
    int undecided = 0;
    for (std::uint64_t i = 0; i < 4000; ++i) {
      const std::uint32_t x = telling_input(function, i);
      const std::uint32_t expected = rounded(by_digits(function, std::bit_cast<float>(x)));
      ASSERT_EQ(rounded_by_intervals(function, x), expected) << to_string(function) << std::hex << x;
      const auto quickly = rounded_quickly(function, x);
      undecided += !quickly;
      if (quickly) {
        ASSERT_EQ(*quickly, expected) << to_string(function) << std::hex << x;
      }
    }
    EXPECT_LE(undecided, 8) << to_string(function) << ": the quick way decides too little";
  }
}

/// Every 65,537th code: both signs, all binades, all low bits.
TEST(Functions, QuickWayAgreesWithIntervalsAcrossTheRange) {
  for (const Function function : functions()) {
    for (std::uint64_t x = 0; x < std::uint64_t{1} << 32; x += 65537) {
      const auto code = static_cast<std::uint32_t>(x);
      const auto quickly = rounded_quickly(function, code);
      if (quickly) {
        ASSERT_EQ(*quickly, rounded_by_intervals(function, code)) << to_string(function) << std::hex << code;
      }
    }
  }
}

/// 1 / (1 + e^-x) = 1/2 + x/4 - x^3/48: small x of few bits lie within x^3/48 of a midpoint, for the smallest
/// less than the first precision of the intervals tells apart.
TEST(Functions, SigmoidBesideItsMidpoints) {
  for (int i = 1; i < 600; ++i) {
    for (const float x : {std::ldexp(static_cast<float>(i), -24), -std::ldexp(static_cast<float>(i), -24)}) {
      const std::uint32_t code = std::bit_cast<std::uint32_t>(x);
      const std::uint32_t expected = rounded(by_digits(Function::sigmoid, x));
      ASSERT_EQ(rounded_by_intervals(Function::sigmoid, code), expected) << x;
      ASSERT_EQ(correctly_rounded(Function::sigmoid, code), expected) << x;
    }
  }
}

TEST(Functions, WorstCasesAndTheirDistanceFromTheMidpoint) {
  EXPECT_EQ(midpoint_distance(Function::rsqrt, std::bit_cast<std::uint32_t>(4.0f)), 0.5);
  for (const auto& worst : fixtures::functions::worst_cases()) {
    for (const Function function : functions()) {
      if (worst.function != to_string(function)) continue;
      const Digits value = by_digits(function, std::bit_cast<float>(worst.input));
      int exponent = 0;
      frexp(value, &exponent);
      const Digits steps = ldexp(abs(value), -std::max(exponent - 24, -149));
      EXPECT_EQ(midpoint_distance(function, worst.input),
                static_cast<double>(abs(steps - floor(steps) - Digits(0.5))));
      EXPECT_EQ(rounded(value), worst.result);
      EXPECT_EQ(rounded_by_intervals(function, worst.input), worst.result);
      // Nearer than its error the quick way must not decide.
      EXPECT_EQ(rounded_quickly(function, worst.input).value_or(worst.result), worst.result);
    }
  }
}

}  // namespace
}  // namespace assay::arithmetic
