// Exact sums and products against rationals, and the code helpers of an acceptance.
#include "oracles/arithmetic/dyadic.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/arithmetic/exact_operations.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::arithmetic {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;
using formats::Exact;
using formats::Format;
namespace twin = formats::twin;

cpp_rational rational(std::int64_t numerator, int exponent) {
  const cpp_rational power = cpp_int(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent < 0 ? cpp_rational(numerator) / power : cpp_rational(numerator) * power;
}

struct Pair {
  Dyadic dyadic;
  cpp_rational rational;
};
Pair drawn(std::uint64_t stream, std::uint64_t index) {
  const auto bits = twin::draw(stream, index);
  const std::int64_t numerator = static_cast<std::int64_t>(bits) >> (bits % 61);
  const int exponent = static_cast<int>(bits >> 8 & 255) - 128;
  return {Dyadic(numerator, exponent), rational(numerator, exponent)};
}

TEST(Dyadic, AddsMultipliesAndComparesAsRationals) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Pair a = drawn(40, i), b = drawn(41, i), c = drawn(42, i);
    const auto equals = [](const Dyadic& x, const cpp_rational& y) {
      // y has a power of two below: bring it to an integer and compare it as the only form there is.
      return x == Dyadic(numerator(y), 0) * Dyadic(1, -static_cast<int>(msb(denominator(y))));
    };
    ASSERT_TRUE(equals(a.dyadic + b.dyadic, a.rational + b.rational));
    ASSERT_TRUE(equals(a.dyadic - b.dyadic, a.rational - b.rational));
    ASSERT_TRUE(equals(a.dyadic * b.dyadic, a.rational * b.rational));
    ASSERT_TRUE(equals(fma(a.dyadic, b.dyadic, c.dyadic), a.rational * b.rational + c.rational));
    ASSERT_EQ(a.dyadic < b.dyadic, a.rational < b.rational);
    ASSERT_EQ(abs(a.dyadic) == a.dyadic, a.rational >= 0);
  }
}

TEST(Dyadic, SumsAreTheSameInAnyOrder) {
  Dyadic forward, backward;
  constexpr std::uint64_t count = 2000;
  const auto term = [](std::uint64_t i) {
    const auto code = static_cast<std::uint32_t>(twin::draw(43, i));
    return Dyadic::of(Format::fp32, (code & 0x7F800000) == 0x7F800000 ? 0 : code);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    forward += term(i);
    backward += term(count - 1 - i);
  }
  EXPECT_EQ(forward, backward);
  for (std::uint64_t i = 0; i < count; ++i) forward -= term(i);
  EXPECT_TRUE(forward.is_zero());
}

TEST(Dyadic, DoublesAreExact) {
  for (const double x : {0.0, 1.0, -0.1, 1e300, -5e-324, 0x1.fffffffffffffp+1023}) {
    const Exact e = Dyadic::of(x).exact();
    const double back = std::ldexp(static_cast<double>(e.significand), e.exponent);
    EXPECT_EQ(e.negative ? -back : back, x);
    EXPECT_FALSE(e.sticky);
  }
}

TEST(Dyadic, AnExactOfManyBitsIsSticky) {
  const Dyadic wide = Dyadic(1, 100) + Dyadic(1, 0);
  EXPECT_TRUE(wide.exact().sticky);
  EXPECT_FALSE((wide - Dyadic(1, 0)).exact().sticky);
  EXPECT_EQ(formats::encode(Format::fp32, (Dyadic(0x1000001, 0) + Dyadic(1, -200)).exact()), 0x4B800001u)
      << "just over a tie";
  EXPECT_EQ(formats::encode(Format::fp32, Dyadic(0x1000001, 0).exact()), 0x4B800000u) << "the tie";
}

// The 128-bit sum must be as good as the unbounded one for every rounding.
TEST(ExactOperations, RoundAsTheUnboundedSum) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const auto bits = twin::draw(44, i);
    const Exact a = Exact::finite((bits & 1) != 0, (twin::draw(45, i) >> (bits >> 1 & 63)) | 1,
                                  static_cast<int>(bits >> 8 & 127));
    const Exact b = Exact::finite((bits & 2) != 0, (twin::draw(46, i) >> (bits >> 16 & 63)) | 1,
                                  static_cast<int>(bits >> 24 & 127));
    const Exact fast = sum(a, b), slow = (Dyadic(a) + Dyadic(b)).exact();
    for (const auto rounding : {formats::Rounding::nearest_even, formats::Rounding::toward_zero,
                                formats::Rounding::up, formats::Rounding::down})
      ASSERT_EQ(formats::encode(Format::fp32, fast, rounding), formats::encode(Format::fp32, slow, rounding))
          << i;
    ASSERT_EQ(fast.sticky, slow.sticky) << i;
  }
}

TEST(Codes, AreLittleEndianInEveryWidth) {
  std::vector<std::byte> bytes(8);
  store_code(bytes, 4, 1, 0x12345678);
  EXPECT_EQ(bytes[4], std::byte{0x78});
  EXPECT_EQ(bytes[7], std::byte{0x12});
  EXPECT_EQ(load_code(bytes, 4, 1), 0x12345678u);
  EXPECT_EQ(load_code(bytes, 2, 3), 0x1234u);
  EXPECT_EQ(load_code(bytes, 1, 6), 0x34u);
  EXPECT_EQ(load_code(bytes, 4, 0), 0u);
  store_code(bytes, 2, 0, 0xABCD);
  EXPECT_EQ(load_code(bytes, 4, 0), 0xABCDu);
}

TEST(CodesDeathTest, AssertOnWhatDoesNotFit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  std::vector<std::byte> bytes(4);
  EXPECT_DEATH(store_code(bytes, 1, 0, 0x100), "");
  EXPECT_DEATH(store_code(bytes, 2, 2, 0), "");
  EXPECT_DEATH(load_code(bytes, 4, 1), "");
  EXPECT_DEATH(load_code(bytes, 3, 0), "");
}

}  // namespace
}  // namespace assay::arithmetic
