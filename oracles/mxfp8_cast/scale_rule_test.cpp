// The scale rules: against a closed form on bf16 bits, and at the values where known faults go wrong.
#include "oracles/mxfp8_cast/scale_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "oracles/formats/codec.hpp"

namespace assay::oracles::mxfp8_cast {
namespace {

using formats::Exact;
using formats::Format;

constexpr Format elements[] = {Format::e4m3, Format::e5m2};
constexpr ScaleRule rules[] = {ScaleRule::rceil, ScaleRule::floor, ScaleRule::ceil, ScaleRule::even};

Exact of(float x) { return formats::decode(Format::fp32, std::bit_cast<std::uint32_t>(x)); }
Exact bf16(std::uint32_t code) { return formats::decode(Format::bf16, code); }

int byte(const Exact& amax, Format element, ScaleRule rule, Fault fault = Fault::none) {
  return scale_exponent(amax, element, rule, fault) + scale_bias;
}
int byte(float amax, Format element, ScaleRule rule, Fault fault = Fault::none) {
  return byte(of(amax), element, rule, fault);
}
std::uint8_t data(float x, int scale, Format element = Format::e4m3) {
  return element_code(Format::fp32, std::bit_cast<std::uint32_t>(x), static_cast<std::uint8_t>(scale),
                      {.element = element});
}

TEST(ScaleRule, ReciprocalsAreTheCorrectlyRoundedQuotients) {
  EXPECT_EQ(formats::encode(Format::fp32, fp32_reciprocal_of_largest(Format::e4m3)), 0x3B124925u);
  EXPECT_EQ(formats::encode(Format::fp32, fp32_reciprocal_of_largest(Format::e5m2)), 0x37924925u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(1.0f / 448), 0x3B124925u);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(1.0f / 57344), 0x37924925u);
}

// Integer arithmetic on the bits of a bf16 amax, E = 8 or 15: the carry out of amax + 31 is the mantissa
// over 1.75.
TEST(ScaleRule, RceilIsItsClosedFormOnEveryBf16Amax) {
  for (const Format element : elements) {
    const std::uint32_t e = element == Format::e4m3 ? 8 : 15;
    for (std::uint32_t amax = 0; amax < 0x7F80; ++amax) {
      const std::uint32_t f = std::max((amax + 31) & 0x7F80, e << 7);
      const std::uint32_t reciprocal = ((254 + e) << 7) - f;
      ASSERT_EQ(byte(bf16(amax), element, ScaleRule::rceil), static_cast<int>(254 - (reciprocal >> 7)))
          << amax;
    }
  }
}

// The same rule in hardware floats on the bits of s.
TEST(ScaleRule, RceilIsTheFloatRecipeOnEveryMantissaAndExponent) {
  for (const Format element : elements) {
    const float reciprocal = element == Format::e4m3 ? 1.0f / 448 : 1.0f / 57344;
    for (std::uint64_t code = 0; code < 0x7F800000; code += 1021) {
      const float amax = std::bit_cast<float>(static_cast<std::uint32_t>(code));
      const auto s = std::bit_cast<std::uint32_t>(amax * reciprocal);
      const std::uint32_t exponent = s >> 23, mantissa = s & 0x7FFFFF;
      // In the lowest binade the bits are subnormal, 2^-127 is mantissa 0x400000, and byte 1 stands for
      // 2^-126.
      const std::uint32_t expected = exponent > 0 ? exponent + (mantissa != 0) : mantissa > 0x400000;
      ASSERT_EQ(byte(amax, element, ScaleRule::rceil), static_cast<int>(expected)) << std::hex << code;
    }
  }
}

TEST(ScaleRule, RoundingTheRceilProductNeverMovesTheByte) {
  for (const Format element : elements) {
    const Exact reciprocal = fp32_reciprocal_of_largest(element);
    for (std::uint32_t mantissa = 0; mantissa < 1u << 23; ++mantissa) {
      const Exact amax = Exact::finite(false, 1u << 23 | mantissa, -23);
      const Exact product = Exact::finite(false, amax.significand * reciprocal.significand,
                                          amax.exponent + reciprocal.exponent);
      // The product of a bare M is a hair over 1 because the reciprocal was rounded up: there, and only
      // there, the rounding of the product is what keeps the scale.
      const bool is_m = mantissa == 0x600000;
      const int exact = formats::floor_log2(product) + (formats::is_power_of_two(product) || is_m ? 0 : 1);
      ASSERT_EQ(scale_exponent(amax, element, ScaleRule::rceil), exact) << mantissa;
    }
  }
}

TEST(ScaleRule, FloorAndRceilDifferForMantissasOver175) {
  for (const Format element : elements) {
    int differing = 0;
    for (std::uint32_t mantissa = 0; mantissa < 128; ++mantissa) {
      const int floor = byte(bf16(0x3F80 | mantissa), element, ScaleRule::floor);
      const int rceil = byte(bf16(0x3F80 | mantissa), element, ScaleRule::rceil);
      EXPECT_EQ(rceil - floor, mantissa > 96 ? 1 : 0) << mantissa;
      differing += rceil != floor;
    }
    EXPECT_EQ(differing, 31);
  }
}

TEST(ScaleRule, EvenCarriesFromTheTieUpward) {
  // e4m3 keeps 3 bits: 1.9375 is the tie between 1.875 (odd) and 2; e5m2 keeps 2: 1.875 between 1.75 (odd)
  // and 2.
  EXPECT_EQ(byte(1.9375f, Format::e4m3, ScaleRule::even), 127 - 8 + 1);
  EXPECT_EQ(byte(std::nextafter(1.9375f, 1.0f), Format::e4m3, ScaleRule::even), 127 - 8);
  EXPECT_EQ(byte(1.875f, Format::e5m2, ScaleRule::even), 127 - 15 + 1);
  EXPECT_EQ(byte(std::nextafter(1.875f, 1.0f), Format::e5m2, ScaleRule::even), 127 - 15);
  EXPECT_EQ(byte(1.0f, Format::e4m3, ScaleRule::even), 127 - 8);
}

TEST(ScaleRule, ClampsAtTheBottomAndNeverReachesTheTop) {
  for (const Format element : elements)
    for (const ScaleRule rule : rules) {
      EXPECT_EQ(byte(0.0f, element, rule), 0);
      EXPECT_EQ(byte(std::bit_cast<float>(1u), element, rule), 0);
    }
  const float largest = std::bit_cast<float>(0x7F7FFFFFu);
  EXPECT_EQ(byte(largest, Format::e4m3, ScaleRule::floor), 246);
  EXPECT_EQ(byte(largest, Format::e4m3, ScaleRule::ceil), 247);
  EXPECT_EQ(byte(largest, Format::e4m3, ScaleRule::rceil), 247);
  EXPECT_EQ(byte(largest, Format::e5m2, ScaleRule::floor), 239);
  EXPECT_EQ(byte(largest, Format::e5m2, ScaleRule::ceil), 240);
}

// A logarithm in floating point rounds 2^k (1 + 2^-23) to k.
TEST(ScaleRule, CeilSeesOneUlpOverAPowerOfTwo) {
  const float x = std::nextafter(32.0f, 64.0f);
  EXPECT_EQ(scale_exponent(of(x), Format::e4m3, ScaleRule::ceil), 6 - 8);
  EXPECT_EQ(scale_exponent(of(32.0f), Format::e4m3, ScaleRule::ceil), 5 - 8);
  const auto logarithm = static_cast<float>(std::log2(static_cast<double>(x)));
  EXPECT_EQ(static_cast<int>(std::ceil(logarithm)), 5) << "the fault is not seen";
}

TEST(PublicFault, B07_ExponentTakenAfterTheDivision) {
  constexpr Fault fault = Fault::scale_from_divided_amax;
  EXPECT_EQ(byte(256.0f, Format::e4m3, ScaleRule::floor), 127);
  EXPECT_EQ(data(256.0f, 127), 0x78);
  EXPECT_EQ(byte(256.0f, Format::e4m3, ScaleRule::floor, fault), 126);
  EXPECT_EQ(data(256.0f, 126), 0x7E) << "512 saturates";
  for (const float amax : {300.0f, 447.0f}) {
    EXPECT_EQ(byte(amax, Format::e4m3, ScaleRule::floor), 127);
    EXPECT_EQ(byte(amax, Format::e4m3, ScaleRule::floor, fault), 126);
  }
  for (const float control : {448.0f, 224.0f})
    EXPECT_EQ(byte(control, Format::e4m3, ScaleRule::floor),
              byte(control, Format::e4m3, ScaleRule::floor, fault));
  for (int binade = 0; binade < 3; ++binade) {
    int wrong = 0;
    for (std::uint32_t mantissa = 0; mantissa < 128; ++mantissa) {
      const Exact amax = formats::scaled(bf16(0x3F80 | mantissa), binade);
      wrong +=
          byte(amax, Format::e4m3, ScaleRule::floor) != byte(amax, Format::e4m3, ScaleRule::floor, fault);
    }
    EXPECT_EQ(wrong, 96);
  }
}

TEST(PublicFault, B08_FrexpDoublesExactPowers) {
  constexpr Fault fault = Fault::scale_exact_power_doubled;
  EXPECT_EQ(byte(448.0f, Format::e4m3, ScaleRule::rceil), 127);
  EXPECT_EQ(data(448.0f, 127), 0x7E);
  EXPECT_EQ(byte(448.0f, Format::e4m3, ScaleRule::rceil, fault), 128);
  EXPECT_EQ(data(448.0f, 128), 0x76);
  EXPECT_EQ(byte(224.0f, Format::e4m3, ScaleRule::rceil), 126);
  EXPECT_EQ(byte(896.0f, Format::e4m3, ScaleRule::rceil), 128);
  for (const Format element : elements)
    for (int k = -100; k <= 100; ++k) {
      const float m = element == Format::e4m3 ? 448.0f : 57344.0f;
      EXPECT_EQ(byte(std::ldexp(m, k), element, ScaleRule::rceil), 127 + k);
      EXPECT_EQ(byte(std::ldexp(m, k), element, ScaleRule::rceil, fault), 128 + k);
      EXPECT_EQ(byte(std::ldexp(m, k) * 0.875f, element, ScaleRule::rceil, fault), 127 + k)
          << "no power, no fault";
    }
}

TEST(PublicFault, B10_FloorMaySaturateTheLargestElement) {
  EXPECT_EQ(byte(957.0f, Format::e4m3, ScaleRule::floor), 128);
  EXPECT_EQ(data(957.0f, 128), 0x7E) << "478.5 becomes 448, which stands for 896";
  EXPECT_EQ(byte(957.0f, Format::e4m3, ScaleRule::rceil), 129);
  EXPECT_EQ(data(957.0f, 129), 0x77) << "239.25 becomes 240, which stands for 960";
  EXPECT_EQ(data(956.0f, 128), 0x7E);
  EXPECT_EQ(data(956.0f, 129), 0x77);
}

}  // namespace
}  // namespace assay::oracles::mxfp8_cast
