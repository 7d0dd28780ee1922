// Running error bounds and the intervals made of them: a correct schedule is inside, also at its worst; a
// wrong one is not.
#include "oracles/arithmetic/bounded.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracles/arithmetic/interval.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::arithmetic {
namespace {

using formats::Format;
namespace twin = formats::twin;

std::uint32_t fp32(float x) { return std::bit_cast<std::uint32_t>(x); }

// One schedule, written once: an fp32 sum from the left, starting from 0.
template <class Arithmetic>
auto sum_of(const std::vector<float>& terms) {
  auto acc = Arithmetic::template input<Format::fp32>(0);
  for (const float t : terms) acc = acc + Arithmetic::template input<Format::fp32>(fp32(t));
  return acc;
}

// Another, with three formats: weights scaled in fp16, products accumulated in fp32 by fma, stored as bf16.
template <class Arithmetic>
auto scaled_dot(const std::vector<std::uint32_t>& weights, const std::vector<std::uint32_t>& x,
                std::uint32_t scale) {
  auto acc = Arithmetic::template input<Format::fp32>(0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto w = Arithmetic::template input<Format::fp16>(weights[i]) *
                   Arithmetic::template input<Format::fp16>(scale);
    acc = fma(convert<Format::fp32>(w), convert<Format::fp32>(Arithmetic::template input<Format::fp16>(x[i])),
              acc);
  }
  return convert<Format::bf16>(acc);
}

bool inside(const Interval& i, Format format, std::uint32_t code) {
  const std::uint32_t key = formats::ordered_key(format, code);
  return formats::ordered_key(format, i.lo) <= key && key <= formats::ordered_key(format, i.hi);
}
Interval judged(const std::vector<float>& terms) {
  return interval(Format::fp32, sum_of<ExactArithmetic>(terms), sum_of<BoundedArithmetic>(terms).bound(),
                  Store::in_bound);
}
std::uint32_t computed(const std::vector<float>& terms) { return sum_of<ModelledArithmetic>(terms).code(); }

TEST(Bound, IsReachedByTheWorstScheduleAndThatPasses) {
  // Every addition of 2^-24 to 1 is a tie that loses all of it: the errors are as large as they can be and
  // add up.
  std::vector<float> terms(101, 0x1p-24f);
  terms[0] = 1;
  const auto bounded = sum_of<BoundedArithmetic>(terms);
  EXPECT_EQ(bounded.code(), fp32(1));
  EXPECT_EQ(bounded.bound(), 100 * 0x1p-24);
  const Interval i = judged(terms);
  EXPECT_EQ(i.lo, fp32(1)) << "the computed value is exactly the end";
  EXPECT_TRUE(inside(i, Format::fp32, computed(terms)));
  EXPECT_FALSE(inside(i, Format::fp32, fp32(1) - 1)) << "one code further is outside";
}

TEST(Bound, OfExactOperationsIsZeroAndCatchesAnotherOrder) {
  const std::vector<float> declared = {0x1p24f, -0x1p24f, 1, 1}, reordered = {0x1p24f, 1, -0x1p24f, 1};
  EXPECT_EQ(sum_of<BoundedArithmetic>(declared).bound(), 0);
  const Interval i = judged(declared);
  EXPECT_EQ(i.lo, fp32(2));
  EXPECT_EQ(i.hi, fp32(2));
  EXPECT_TRUE(inside(i, Format::fp32, computed(declared)));
  EXPECT_EQ(computed(reordered), fp32(1));
  EXPECT_FALSE(inside(i, Format::fp32, computed(reordered)));
}

TEST(Bound, CatchesADroppedTerm) {
  std::vector<float> terms;
  for (std::uint64_t i = 0; i < 1000; ++i)
    terms.push_back(static_cast<float>(static_cast<int>(twin::draw(50, i) % 2001) - 1000) / 1000);
  const Interval i = judged(terms);
  EXPECT_TRUE(inside(i, Format::fp32, computed(terms)));
  const double bound = sum_of<BoundedArithmetic>(terms).bound();
  int caught = 0, expected = 0;
  for (std::size_t drop = 0; drop < terms.size(); ++drop) {
    std::vector<float> rest = terms;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(drop));
    caught += !inside(i, Format::fp32, computed(rest));
    // Whatever the rest's own rounding does, a term of twice its bound and ours cannot hide.
    expected +=
        std::fabs(static_cast<double>(terms[drop])) > 2 * (bound + sum_of<BoundedArithmetic>(rest).bound());
  }
  EXPECT_GE(caught, expected);
  EXPECT_GT(expected, 900) << "the bound must be small against the terms, or it proves nothing";
}

TEST(Bound, HoldsForRandomSchedulesInThreeFormats) {
  int inexact = 0;
  for (std::uint64_t run = 0; run < 300; ++run) {
    std::vector<std::uint32_t> weights, x;
    for (std::uint64_t i = 0; i < 64; ++i) {
      const std::uint64_t bits = twin::draw(51, run * 64 + i);
      weights.push_back(static_cast<std::uint32_t>((bits & 0x83FF) | (10 + (bits >> 16) % 10) << 10));
      x.push_back(static_cast<std::uint32_t>((bits >> 32 & 0x83FF) | (8 + (bits >> 48) % 14) << 10));
    }
    const auto scale = static_cast<std::uint32_t>(0x2C00 | (twin::draw(52, run) & 0x3FF));
    const Dyadic truth = scaled_dot<ExactArithmetic>(weights, x, scale);
    const auto bounded = scaled_dot<BoundedArithmetic>(weights, x, scale);
    ASSERT_EQ(bounded.code(), scaled_dot<ModelledArithmetic>(weights, x, scale).code())
        << "the bound changes no bit";
    const Dyadic error = abs(Dyadic::of(Format::bf16, bounded.code()) - truth);
    ASSERT_LE(error, Dyadic::of(bounded.bound()));
    const Interval i = interval(Format::bf16, truth, bounded.bound(), Store::in_bound);
    ASSERT_TRUE(inside(i, Format::bf16, bounded.code()));
    inexact += !error.is_zero();
  }
  EXPECT_GT(inexact, 290);
}

TEST(Bound, IsNoLargerThanTheTextbookBoundOfASum) {
  std::vector<float> terms;
  double magnitudes = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    terms.push_back(std::ldexp(static_cast<float>(twin::draw(53, i) >> 40), -24));
    magnitudes += static_cast<double>(terms.back());
  }
  const double n_u = 1000 * 0x1p-24;  // gamma_n = n u / (1 - n u), Higham
  EXPECT_LT(sum_of<BoundedArithmetic>(terms).bound(), n_u / (1 - n_u) * magnitudes);
}

TEST(Bound, GrowsWithTheOperandsErrors) {
  const auto a = Bounded<Format::fp32>::of_code(fp32(3), 0.25),
             b = Bounded<Format::fp32>::of_code(fp32(-2), 0.5);
  EXPECT_EQ((a + b).bound(), 0.75);
  EXPECT_EQ((a - b).bound(), 0.75);
  EXPECT_EQ((a * b).bound(), 3 * 0.5 + 2 * 0.25 + 0.125) << "(3 + 0.25) * (2 + 0.5) - 6";
  EXPECT_EQ(fma(a, b, a).bound(), 2.125 + 0.25);
  EXPECT_EQ(convert<Format::fp16>(a).bound(), 0.25);
}

TEST(Bound, IsInfiniteAfterOverflowOrNan) {
  const auto big = Bounded<Format::fp16>::of_code(0x7BFF);
  EXPECT_EQ((big + big).bound(), HUGE_VAL);
  EXPECT_EQ((big * big - big * big).bound(), HUGE_VAL);
  EXPECT_EQ((Bounded<Format::fp16>::of_code(0x7C00, 1) * big).bound(), HUGE_VAL);
}

TEST(Bound, CoversSubnormalResults) {
  const auto tiny = Bounded<Format::fp32>::of_code(1), half = Bounded<Format::fp32>::of_code(fp32(0.5f));
  const auto product = tiny * half;
  EXPECT_EQ(product.code(), 0u);
  EXPECT_EQ(product.bound(), 0x1p-150) << "half of the smallest value, and all of the result";
}

TEST(Upward, NeverBelowAndExactWherePossible) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double a =
        std::ldexp(static_cast<double>(twin::draw(54, i) >> 11), -static_cast<int>(twin::draw(55, i) % 120));
    const double b =
        std::ldexp(static_cast<double>(twin::draw(56, i) >> 11), -static_cast<int>(twin::draw(57, i) % 120));
    const Dyadic x = Dyadic::of(a), y = Dyadic::of(b);
    const Dyadic s = Dyadic::of(sum_upward(a, b)), p = Dyadic::of(product_upward(a, b));
    ASSERT_GE(s, x + y);
    ASSERT_GE(p, x * y);
    ASSERT_LE(Dyadic::of(std::nextafter(sum_upward(a, b), 0)), x + y);
    ASSERT_LE(Dyadic::of(std::nextafter(product_upward(a, b), 0)), x * y);
  }
  EXPECT_EQ(sum_upward(0.5, 0.25), 0.75);
  EXPECT_EQ(product_upward(3, 0.25), 0.75);
  EXPECT_EQ(product_upward(0, HUGE_VAL), 0);
  EXPECT_GT(product_upward(0x1p-600, 0x1p-600), 0);
}

TEST(Intervals, FollowTheStore) {
  // 1 + 2^-9 lies between the bf16 codes 0x3F80 and 0x3F81 (1 + 2^-7), nearer to the first.
  const Dyadic value = Dyadic::of(1 + 0x1p-9);
  const Interval nearest = interval(Format::bf16, value, 0, Store::nearest_even);
  EXPECT_EQ(nearest.lo, 0x3F80u);
  EXPECT_EQ(nearest.hi, 0x3F80u) << "no forgiveness of a truncated or rounded-up neighbour";
  const Interval faithful = interval(Format::bf16, value, 0, Store::faithful);
  EXPECT_EQ(faithful.lo, 0x3F80u);
  EXPECT_EQ(faithful.hi, 0x3F81u);
  const Interval reaching = interval(Format::bf16, value, 0x1p-9, Store::in_bound);
  EXPECT_EQ(reaching.lo, 0x3F80u);
  EXPECT_EQ(reaching.hi, 0x3F80u);
  EXPECT_EQ(interval(Format::bf16, value, 3 * 0x1p-9, Store::in_bound).hi, 0x3F81u);
  EXPECT_EQ(interval(Format::bf16, value, 0x1p-8, Store::nearest_even).hi, 0x3F81u);
  EXPECT_EQ(nearest.best, 0x3F80u);
}

TEST(Intervals, AdmitBothZerosWhereAnEndIsZero) {
  const Interval exact = interval(Format::fp16, Dyadic(), 0, Store::in_bound);
  EXPECT_EQ(exact.lo, 0x8000u);
  EXPECT_EQ(exact.hi, 0x0000u);
  const Interval from_zero = interval(Format::fp16, Dyadic::of(1.0), 1, Store::in_bound);
  EXPECT_EQ(from_zero.lo, 0x8000u);
  EXPECT_EQ(from_zero.hi, 0x4000u);
  const Interval to_zero = interval(Format::fp16, Dyadic::of(-1.0), 1, Store::in_bound);
  EXPECT_EQ(to_zero.lo, 0xC000u);
  EXPECT_EQ(to_zero.hi, 0x0000u);
}

TEST(Intervals, OverflowAsTheStoreDoes) {
  const Dyadic value = Dyadic::of(65519.0);
  EXPECT_EQ(interval(Format::fp16, value, 0.5, Store::nearest_even).hi, 0x7BFFu);
  EXPECT_EQ(interval(Format::fp16, value, 1, Store::nearest_even).hi, 0x7C00u);
  const Interval fp8 = interval(Format::e4m3, value, 1, Store::nearest_even, formats::Overflow::saturate);
  EXPECT_EQ(fp8.lo, 0x7Eu);
  EXPECT_EQ(fp8.hi, 0x7Eu);
}

TEST(Intervals, FillAnAcceptance) {
  Acceptance a = intervals(Format::bf16, 3);
  EXPECT_EQ(a.size(), 3u);
  EXPECT_FALSE(a.exact());
  set(a, 2, {0x3F80, 0x3F82, 0x3F81});
  EXPECT_EQ(load_code(a.lo, 2, 2), 0x3F80u);
  EXPECT_EQ(load_code(a.hi, 2, 2), 0x3F82u);
  EXPECT_EQ(load_code(a.best, 2, 2), 0x3F81u);
}

TEST(IntervalsDeathTest, AssertOnBoundsThatCannotBe) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(interval(Format::fp16, Dyadic(), HUGE_VAL, Store::in_bound), "");
  EXPECT_DEATH(interval(Format::bf16, Dyadic::of(1 + 0x1p-9), 0, Store::in_bound),
               "no code within the bound");
}

}  // namespace
}  // namespace assay::arithmetic
