// The elementary functions against the oracle's. All 2^32 inputs are the battery's (`wrappers` at level
// exhaustive); here are the hardest of them, every edge of the evaluation, and a spread.
#include "kernels/device/math.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "fixtures/functions/worst_cases.hpp"
#include "oracles/arithmetic/functions.hpp"

namespace assay::kernels::cpu {
namespace {

using arithmetic::Function;

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

float value(std::uint32_t code) { return std::bit_cast<float>(code); }
std::uint32_t code(float x) { return std::bit_cast<std::uint32_t>(x); }

float of_kernel(Function function, float x) {
  switch (function) {
    case Function::rsqrt:
      return rsqrt_f32(x);
    case Function::exp:
      return exp_f32(x);
    case Function::sigmoid:
      return sigmoid_f32(x);
    case Function::softplus:
      return softplus_f32(x);
    case Function::log:
      return log_f32(x);
    case Function::log1p:
      return log1p_f32(x);
  }
  return nan;
}

void expect_as_oracle(Function function, std::uint32_t x) {
  ASSERT_EQ(code(of_kernel(function, value(x))), arithmetic::correctly_rounded(function, x))
      << to_string(function) << " of 0x" << std::hex << x;
}

TEST(Math, WorstCases) {
  std::set<std::string> seen;
  for (const auto& worst : fixtures::functions::worst_cases()) {
    for (const Function function : arithmetic::functions()) {
      if (worst.function != to_string(function)) continue;
      EXPECT_EQ(code(of_kernel(function, value(worst.input))), worst.result)
          << worst.function << " of 0x" << std::hex << worst.input;
      seen.insert(worst.function);
    }
  }
  EXPECT_EQ(seen.size(), arithmetic::functions().size());
}

TEST(Math, SpecialValues) {
  for (const Function function : arithmetic::functions()) {
    for (const std::uint32_t any : {0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu, 0xFF800001u, 0xFFC12345u}) {
      EXPECT_EQ(code(of_kernel(function, value(any))), 0x7FFFFFFFu) << to_string(function);
    }
  }
  EXPECT_EQ(code(rsqrt_f32(0.0f)), code(inf));
  EXPECT_EQ(code(rsqrt_f32(-0.0f)), code(-inf));
  EXPECT_EQ(code(rsqrt_f32(inf)), 0u);
  for (const float negative : {value(0x80000001u), -1.0f, -inf})
    EXPECT_EQ(code(rsqrt_f32(negative)), 0x7FFFFFFFu);
  EXPECT_EQ(rsqrt_f32(value(1)), 0x1.6a09e6p+74f);
  EXPECT_EQ(code(exp_f32(inf)), code(inf));
  EXPECT_EQ(code(exp_f32(-inf)), 0u);
  EXPECT_EQ(code(exp_f32(-0.0f)), code(1.0f));
  EXPECT_EQ(code(sigmoid_f32(inf)), code(1.0f));
  EXPECT_EQ(code(sigmoid_f32(-inf)), 0u);
  EXPECT_EQ(code(sigmoid_f32(-0.0f)), code(0.5f));
  EXPECT_EQ(code(softplus_f32(inf)), code(inf));
  EXPECT_EQ(code(softplus_f32(-inf)), 0u);
  EXPECT_EQ(code(softplus_f32(std::numeric_limits<float>::max())), 0x7F7FFFFFu);
}

TEST(Math, SpecialValuesOfLogarithms) {
  for (const float zero : {0.0f, -0.0f}) {
    EXPECT_EQ(code(log_f32(zero)), code(-inf));
    EXPECT_EQ(code(log1p_f32(zero)), code(zero));
  }
  for (const float negative : {value(0x80000001u), -1.0f, -inf})
    EXPECT_EQ(code(log_f32(negative)), 0x7FFFFFFFu);
  EXPECT_EQ(code(log_f32(inf)), code(inf));
  EXPECT_EQ(code(log_f32(1.0f)), 0u);
  EXPECT_EQ(log_f32(value(1)), -0x1.9d1dap+6f);
  EXPECT_EQ(code(log1p_f32(-1.0f)), code(-inf));
  for (const float below : {value(0xBF800001u), -inf}) EXPECT_EQ(code(log1p_f32(below)), 0x7FFFFFFFu);
  EXPECT_EQ(code(log1p_f32(inf)), code(inf));
  for (const std::uint32_t subnormal : {1u, 0x80000001u, 0x007FFFFFu, 0x807FFFFFu})
    EXPECT_EQ(code(log1p_f32(value(subnormal))), subnormal);
}

/// Where the evaluation takes another way, the result overflows, becomes subnormal or vanishes: with 200
/// codes on either side.
TEST(Math, EdgesOfTheEvaluation) {
  std::vector<float> edges{0.0f,
                           1.0f,
                           2.0f,
                           4.0f,
                           math_detail::exp_last_finite,
                           89.0f,
                           -87.3f,
                           -88.0f,
                           -103.2f,
                           math_detail::exp_zero,
                           -104.0f,
                           -20.0f,
                           40.0f,
                           16.0f,
                           16.635f,
                           -0.8814f,
                           0.8814f,
                           -1.0f,
                           0.70710678f,
                           1.41421356f,
                           0.41421356f,
                           -0.29289322f,
                           math_detail::log1p_linear,
                           -math_detail::log1p_linear,
                           0x1p53f,
                           0x1p54f,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::min()};
  for (int half = 1; half < 40; half += 2) {  // halves of ln 2, where the multiple changes
    edges.push_back(0.34657359f * static_cast<float>(half));
    edges.push_back(-0.34657359f * static_cast<float>(half));
  }
  for (const Function function : arithmetic::functions())
    for (const float edge : edges)
      for (std::uint32_t i = 0; i <= 400; ++i) expect_as_oracle(function, code(edge) - 200 + i);
}

/// One code in 4,099: a prime, so that all low bits take part.
TEST(Math, AcrossTheRange) {
  for (const Function function : arithmetic::functions())
    for (std::uint64_t x = 0; x < std::uint64_t{1} << 32; x += 4099)
      expect_as_oracle(function, static_cast<std::uint32_t>(x));
}

TEST(Math, MonotonicBetweenNeighbours) {
  for (const Function function : arithmetic::functions()) {
    for (std::uint32_t magnitude = 1; magnitude < 0x7F800000u; magnitude += 2053) {
      const float smaller = of_kernel(function, value(magnitude)),
                  larger = of_kernel(function, value(magnitude + 1));
      if (function == Function::rsqrt) {
        ASSERT_GE(smaller, larger) << magnitude;
        continue;
      }
      ASSERT_LE(smaller, larger) << to_string(function) << magnitude;
      const float pole = function == Function::log ? 0.0f : function == Function::log1p ? -1.0f : -inf;
      if (-value(magnitude + 1) < pole) continue;
      ASSERT_GE(of_kernel(function, -value(magnitude)), of_kernel(function, -value(magnitude + 1)))
          << to_string(function) << magnitude;
    }
  }
}

/// The second evaluation, which the functions reach for one input in millions, on inputs of all sizes.
TEST(Math, AccurateEvaluationsAlone) {
  for (std::uint32_t magnitude = 0x30000000u; magnitude <= code(104.0f); magnitude += 16411) {
    for (const float x : {value(magnitude), -value(magnitude)}) {
      const auto expect = [x](Function function, DoubleDouble y) {
        ASSERT_EQ(code(math_detail::rounded_once(y)), arithmetic::correctly_rounded(function, code(x)))
            << to_string(function) << " of " << x;
      };
      if (x <= 88) expect(Function::exp, math_detail::exp_accurate(double{x}));
      if (x > math_detail::large) continue;
      expect(Function::sigmoid, math_detail::sigmoid_accurate(double{x}));
      const double log = math_detail::log1p_quick(math_detail::exp_quick(x < 0 ? double{x} : -double{x}));
      expect(Function::softplus, math_detail::softplus_accurate(double{x}, x < 0 ? log : double{x} + log));
    }
  }
}

/// Likewise of the logarithms, away from where they are not evaluated at all.
TEST(Math, AccurateLogarithmsAlone) {
  for (std::uint32_t magnitude = 1; magnitude < 0x7F800000u; magnitude += 65519) {
    const double x = double{value(magnitude)};
    const auto expect = [](Function function, float of, DoubleDouble y) {
      ASSERT_EQ(code(math_detail::rounded_once(y)), arithmetic::correctly_rounded(function, code(of)))
          << to_string(function) << " of " << of;
    };
    expect(Function::log, value(magnitude), math_detail::log_accurate({x, 0}, math_detail::log_quick(x)));
    if (value(magnitude) < math_detail::log1p_linear) continue;
    for (const float either : {value(magnitude), -value(magnitude)}) {
      if (either <= -1) continue;
      const double quick = math_detail::log_quick(1 + double{either});
      expect(Function::log1p, either, math_detail::log_accurate(exact_sum(double{either}, 1), quick));
    }
  }
}

/// Were there none, neither the second evaluation nor the question would have been tested by the worst cases.
TEST(Math, WorstCasesNeedTheAccurateEvaluation) {
  int exponentials = 0, logarithms = 0, of_one_more = 0;
  for (const auto& worst : fixtures::functions::worst_cases()) {
    const double x{value(worst.input)};
    if (worst.function == "exp") exponentials += !math_detail::decides(math_detail::exp_quick(x));
    if (worst.function == "log") logarithms += !math_detail::decides(math_detail::log_quick(x));
    if (worst.function == "log1p") of_one_more += !math_detail::decides(math_detail::log_quick(1 + x));
  }
  EXPECT_GE(exponentials, 5);
  EXPECT_GE(logarithms, 5);
  EXPECT_GE(of_one_more, 5);
}

}  // namespace
}  // namespace assay::kernels::cpu
