// Single operations of the arithmetics with bounds: that every true value lies within, that bounds are not
// wider than they need to be, and that quick intervals are the exact ones.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "oracles/arithmetic/host.hpp"
#include "oracles/gated_delta/bounded.hpp"
#include "oracles/gated_delta/multiprecision.hpp"
#include "oracles/gated_delta/nearby.hpp"
#include "oracles/gated_delta/testing.hpp"
#include "oracles/gated_delta/truth.hpp"

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::Function;
using formats::Format;
using testing::Float;

std::uint64_t draw(std::uint64_t stream, std::uint64_t i) { return fixtures::draw(11, stream, i); }
double uniform(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11), -53); }

/// A float of any sign within `binades` of 1; some are subnormal where that is 150.
float number(std::uint64_t bits, int binades) {
  const auto exponent = static_cast<int>(bits >> 40) % (2 * binades + 1) - binades;
  const float magnitude = std::ldexp(1 + std::ldexp(static_cast<float>(bits & 0x7FFFFF), -23), exponent);
  return (bits >> 33 & 1) != 0 ? -magnitude : magnitude;
}
/// A bound of some ulps of x, or none.
double error(float x, std::uint64_t bits) {
  return bits % 4 == 0 ? 0 : std::fabs(static_cast<double>(x)) * std::ldexp(uniform(bits), -14);
}
arithmetic::HostBounded<Format::fp32> existing(float x, double e) {
  return arithmetic::HostBounded<Format::fp32>::of_code(std::bit_cast<std::uint32_t>(x), e);
}

void expect_as_existing(const Bounded<1>& ours, arithmetic::HostBounded<Format::fp32> theirs) {
  ASSERT_EQ(ours.code(), theirs.code());
  if (!std::isfinite(theirs.bound())) {
    ASSERT_FALSE(std::isfinite(ours.bound[0]));
    return;
  }
  ASSERT_EQ(ours.bound[0] == 0, theirs.bound() == 0);
  ASSERT_GE(ours.bound[0], theirs.bound());
  // But for a result that was rounded up to a power of two, the same up to rounding outward.
  const bool power = (ours.code() & 0x7FFFFF) == 0;
  ASSERT_LE(ours.bound[0], theirs.bound() * (power ? 2 : 1) * (1 + 0x1p-45) + growth::least);
}

TEST(Bounded, SumsAndProductsAsTheArithmeticOfAllFamilies) {
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const int binades = i % 3 == 0 ? 150 : i % 3 == 1 ? 20 : 1;
    const std::uint64_t few = i % 2 == 0 ? ~std::uint64_t{0} : ~std::uint64_t{0x7FFF0};  // exact results
    const float a = number(draw(1, i) & few, binades), b = number(draw(2, i) & few, binades),
                c = number(draw(3, i) & few, binades);
    const double ea = error(a, draw(4, i)), eb = error(b, draw(5, i)), ec = error(c, draw(6, i));
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    const Bounded<1> x{{a}, {ea}}, y{{b}, {eb}}, z{{c}, {ec}};
    const auto p = existing(a, ea), q = existing(b, eb), r = existing(c, ec);
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(expect_as_existing(x + y, p + q));
    ASSERT_NO_FATAL_FAILURE(expect_as_existing(x * y, p * q));
    ASSERT_NO_FATAL_FAILURE(expect_as_existing(fma(x, y, z), fma(p, q, r)));
    ASSERT_NO_FATAL_FAILURE(expect_as_existing(to_bf16(x), [&] {
      const auto narrow = arithmetic::convert<Format::bf16>(p);
      return existing(std::bit_cast<float>(narrow.code() << 16), narrow.bound());
    }()));
  }
}

TEST(Bounded, HasNoBoundAfterInfAndNan) {
  const float infinity = HUGE_VALF;
  for (const float special : {infinity, -infinity, std::nanf("")}) {
    const Bounded<1> x = BoundedArithmetic::of_fp32(std::bit_cast<std::uint32_t>(special));
    const Bounded<1> zero{}, one{{1}, {0}};
    for (const Bounded<1>& y :
         {x + one, x * one, x * zero, fma(x, zero, one), fma(zero, x, one), one / x, x / one, sqrt(x),
          apply(Function::exp, x), apply(Function::sigmoid, x), apply(Function::softplus, x), to_bf16(x)})
      EXPECT_FALSE(std::isfinite(y.bound[0])) << special << " " << y.value[0];
  }
  const Bounded<1> largest{{FLT_MAX}, {0}};
  EXPECT_FALSE(std::isfinite((largest + largest).bound[0]));
  EXPECT_FALSE(std::isfinite(to_bf16(largest).bound[0])) << "rounds up to Inf";
}

/// Values that x may have, the ends and what is between.
std::vector<Float> within(double x, double e) {
  std::vector<Float> all;
  for (const double part : {-1.0, -0.6, 0.0, 0.3, 1.0}) all.push_back(Float(x) + Float(e) * part);
  return all;
}

/// f(x') for each, against both arithmetics: within their bounds, which at some x' is needed but for `slack`.
template <class Ours, class True>
void expect_within(const Ours& y, const std::vector<Float>& trues, True&& f, double own, const char* what) {
  Float farthest = 0;
  for (const Float& x : trues) {
    const Float distance = abs(f(x) - Float(y.value[0]));
    ASSERT_LE(distance, Float(y.bound[0])) << what << " of " << static_cast<double>(x);
    if (distance > farthest) farthest = distance;
  }
  ASSERT_LE(Float(y.bound[0]), (farthest + 2 * Float(own)) * 1.01) << what;
}

void functions_within(Function f, double low, double high, std::uint64_t stream, const char* what) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto x = static_cast<float>(low + (high - low) * uniform(draw(stream, i)));
    const double e = i % 4 == 0 ? 0 : std::fabs(x) * std::ldexp(uniform(draw(stream + 1, i)), -16);
    const auto true_f = [&](const Float& z) { return testing::value_of(f, z); };
    const Bounded<1> y = apply(f, Bounded<1>{{x}, {e}});
    const double own = growth::half_spacing<23>(y.value[0]);
    ASSERT_NO_FATAL_FAILURE(expect_within(y, within(x, e), true_f, own, what));
    const Truth<1> t = apply(f, Truth<1>{{x}, {e}});
    ASSERT_NO_FATAL_FAILURE(expect_within(t, within(x, e), true_f, std::fabs(t.value[0]) * 0x1p-52, what));
    ASSERT_LE(t.bound[0], y.bound[0] * 1.01);
  }
}

TEST(Bounds, FunctionsOfIntervals) {
  functions_within(Function::exp, -80, 80, 20, "exp");
  functions_within(Function::exp, -104, -80, 22, "exp to subnormals");
  functions_within(Function::sigmoid, -100, 100, 24, "sigmoid");
  functions_within(Function::softplus, -100, 100, 26, "softplus");
  functions_within(Function::softplus, -2, 2, 28, "softplus");
  functions_within(Function::rsqrt, 1e-12, 1e-6, 30, "rsqrt");
  functions_within(Function::rsqrt, 1, 1000, 32, "rsqrt");
  functions_within(Function::log1p, 0, 3, 34, "log1p");
  functions_within(Function::log1p, 0, 1e9, 36, "log1p");
  functions_within(Function::log, 1, 1e9, 38, "log");
}

TEST(Bounds, FunctionsThatAreExact) {
  EXPECT_EQ(apply(Function::exp, Bounded<1>{{0}, {0}}).bound[0], 0);
  EXPECT_EQ(apply(Function::sigmoid, Bounded<1>{{0}, {0}}).bound[0], 0);
  EXPECT_EQ(apply(Function::rsqrt, Bounded<1>{{0.25f}, {0}}).bound[0], 0);
  EXPECT_GT(apply(Function::exp, Bounded<1>{{-200}, {0}}).bound[0], 0) << "0 stands for 1e-87";
  EXPECT_EQ(apply(Function::exp, Bounded<1>{{-200}, {0}}).bound[0], 0x1p-150);
}

TEST(Bounds, QuotientsAndRoots) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const float a = number(draw(40, i), 20), b = number(draw(41, i), 20);
    const double ea = error(a, draw(42, i)), eb = error(b, draw(43, i));
    for (const Float& divisor : within(b, eb)) {
      const auto by = [&](const Float& x) { return Float(x / divisor); };
      const Bounded<1> q = Bounded<1>{{a}, {ea}} / Bounded<1>{{b}, {eb}};
      const Truth<1> t = Truth<1>{{a}, {ea}} / Truth<1>{{b}, {eb}};
      for (const Float& x : within(a, ea)) {
        ASSERT_LE(abs(by(x) - Float(q.value[0])), Float(q.bound[0]));
        ASSERT_LE(abs(by(x) - Float(t.value[0])), Float(t.bound[0]));
      }
    }
    const float radicand = std::fabs(a);
    const auto root = [](const Float& x) { return Float(sqrt(x)); };
    const Bounded<1> r = sqrt(Bounded<1>{{radicand}, {ea}});
    ASSERT_NO_FATAL_FAILURE(
        expect_within(r, within(radicand, ea), root, growth::half_spacing<23>(r.value[0]), "root"));
    const Truth<1> t = sqrt(Truth<1>{{radicand}, {ea}});
    ASSERT_NO_FATAL_FAILURE(expect_within(t, within(radicand, ea), root, t.value[0] * 0x1p-52, "root"));
  }
  EXPECT_EQ((Bounded<1>{{6}, {0}} / Bounded<1>{{3}, {0}}).bound[0], 0);
  const double of_third = (Bounded<1>{{1}, {0}} / Bounded<1>{{3}, {0}}).bound[0];
  EXPECT_TRUE(0x1p-26 <= of_third && of_third <= 0x1p-26 * (1 + 0x1p-45)) << of_third;
  EXPECT_EQ(sqrt(Bounded<1>{{2.25f}, {0}}).bound[0], 0);
  EXPECT_FALSE(std::isfinite((Bounded<1>{{1}, {0}} / Bounded<1>{{1}, {1}}).bound[0])) << "by zero, perhaps";
  EXPECT_FALSE(std::isfinite(sqrt(Bounded<1>{{1}, {2}}).bound[0]));
}

TEST(Bounds, SoftplusOfLargeNumbersIsNearlyLinear) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto x = static_cast<float>(20 + 30 * uniform(draw(50, i)));
    const double e = i % 2 == 0 ? 0 : 0x1p-16;
    const Bounded<1> y = softplus_of_large(Bounded<1>{{x}, {e}});
    for (const Float& z : within(x, e))
      ASSERT_LE(abs(testing::value_of(Function::softplus, z) - x), Float(y.bound[0]));
    ASSERT_GT(y.bound[0], e);
    ASSERT_LE(y.bound[0], (e + 1.001 * std::exp(-x)) * (1 + 0x1p-45));
  }
}

TEST(Bounds, TruthOfSumsAndProducts) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double a = number(draw(60, i), 60) * (1 + uniform(draw(61, i)) * 0x1p-25),
                 b = number(draw(62, i), 60) * (1 + uniform(draw(63, i)) * 0x1p-25),
                 c = i % 2 == 0 ? -a * b : number(draw(64, i), 60);
    const Truth<1> x{{a}, {0}}, y{{b}, {0}}, z{{c}, {0}};
    const auto check = [](const Truth<1>& t, const Float& exact, double magnitudes) {
      ASSERT_LE(abs(exact - Float(t.value[0])), Float(t.bound[0]));
      ASSERT_LE(t.bound[0], magnitudes * 0x1p-51 + 2 * growth::least);
    };
    ASSERT_NO_FATAL_FAILURE(check(x + z, Float(a) + c, std::fabs(a) + std::fabs(c)));
    ASSERT_NO_FATAL_FAILURE(check(x * y, Float(a) * b, std::fabs(a * b)));
    ASSERT_NO_FATAL_FAILURE(check(fma(x, y, z), Float(a) * b + c, std::fabs(a * b) + std::fabs(c)));
  }
}

TEST(Nearby, IsTheExactInterval) {
  std::size_t wide = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::uint64_t bits = draw(70, i), more = draw(71, i);
    const Format format = i % 2 == 0 ? Format::fp32 : Format::bf16;
    const int binades = i % 3 == 0 ? 150 : 4;
    double value = std::ldexp(1 + uniform(more), static_cast<int>(bits % 300) % (2 * binades) - binades);
    if (i % 5 == 0) value = static_cast<float>(value);                  // at a number
    if (i % 7 == 0) value = static_cast<float>(value) * (1 + 0x1p-24);  // near a midpoint
    if (bits >> 63) value = -value;
    const double spacing =
        format == Format::fp32 ? growth::half_spacing<23>(value) : growth::half_spacing<7>(value);
    double bound = spacing * std::ldexp(1 + uniform(bits), static_cast<int>(more % 12));
    if (i % 11 == 0) bound = std::fabs(value);  // an end of zero
    if (i % 13 == 0 &&
        format == Format::fp32) {  // ends a trifle within a number, which a double does not tell from it
      value = static_cast<double>(static_cast<float>(std::ldexp(1 + uniform(more), 3)));
      bound = std::nextafter(static_cast<double>(1 + more % 8) * 0x1p-20, 0.0);
    }
    const double most = format == Format::fp32 ? double{FLT_MAX} : 0x1.fep127;
    if (!(std::fabs(value) - bound <= most)) continue;
    const auto quick = nearby(format, value, bound);
    const auto exact =
        arithmetic::interval(format, arithmetic::Dyadic::of(value), bound, arithmetic::Store::in_bound);
    ASSERT_EQ(quick.lo, exact.lo) << std::hexfloat << value << " +- " << bound;
    ASSERT_EQ(quick.hi, exact.hi) << std::hexfloat << value << " +- " << bound;
    ASSERT_EQ(quick.best, exact.best) << std::hexfloat << value;
    wide += quick.lo != quick.hi;
  }
  EXPECT_GT(wide, 50000u);
}

}  // namespace
}  // namespace assay::oracles::gated_delta
