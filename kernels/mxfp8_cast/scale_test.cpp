// Scale bytes and reciprocals against the definition, over every exponent and the mantissas where a rule
// turns.
#include "kernels/mxfp8_cast/scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::kernels::cpu::mxfp8_cast {
namespace {

TEST(Reciprocal, IsTheExactPowerOfTwoForEveryByte) {
  for (std::uint32_t byte = 0; byte < 255; ++byte) {
    const double expected = std::ldexp(1.0, 127 - static_cast<int>(byte));
    EXPECT_EQ(static_cast<double>(std::bit_cast<float>(e8m0_reciprocal_bits(byte))), expected) << byte;
  }
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(e8m0_reciprocal_bits(255))));
}

TEST(Reciprocal, OfMaxIsCorrectlyRounded) {
  EXPECT_EQ(reciprocal_of_max_bits(Element::e4m3), std::bit_cast<std::uint32_t>(1.0f / 448));
  EXPECT_EQ(reciprocal_of_max_bits(Element::e5m2), std::bit_cast<std::uint32_t>(1.0f / 57344));
}

/// The rules by the real numbers: the least or greatest byte whose power of two bounds the value, by trial.
int byte_by_trial(double value, bool ceil) {
  for (int byte = 0; byte <= 254; ++byte) {
    const double power = std::ldexp(1.0, byte - 127);
    if (ceil ? value <= power : value < 2 * power) return byte;
  }
  return 255;
}

int reference(float amax, ScaleRule rule, Element element) {
  const int emax = element == Element::e4m3 ? 8 : 15;
  const double exact = amax;
  switch (rule) {
    case ScaleRule::rceil:
      return byte_by_trial(amax * (element == Element::e4m3 ? 1.0f / 448 : 1.0f / 57344), true);
    case ScaleRule::floor:
      return byte_by_trial(std::ldexp(exact, -emax), false);
    case ScaleRule::ceil:
      return byte_by_trial(std::ldexp(exact, -emax), true);
    case ScaleRule::even:
      break;
  }
  if (exact == 0) return 0;
  const int mantissa_bits = element == Element::e4m3 ? 3 : 2;
  const double step = std::ldexp(1.0, std::ilogb(exact) - mantissa_bits);
  return byte_by_trial(std::ldexp(std::nearbyint(exact / step) * step, -emax), false);
}

TEST(ScaleByte, FollowsTheDefinitionOfEachRule) {
  std::vector<std::uint32_t> mantissas;
  for (std::uint32_t top = 0; top < 128; ++top) {
    for (const std::uint32_t low : {0u, 1u, 0xFFFFu}) mantissas.push_back(top << 16 | low);
  }
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (const std::uint32_t mantissa : mantissas) {
      const float amax = std::bit_cast<float>(exponent << 23 | mantissa);
      for (const Element element : {Element::e4m3, Element::e5m2}) {
        for (const ScaleRule rule : {ScaleRule::rceil, ScaleRule::floor, ScaleRule::ceil, ScaleRule::even}) {
          ASSERT_EQ(static_cast<int>(scale_byte(amax, rule, element)), reference(amax, rule, element))
              << std::hexfloat << amax << " rule " << static_cast<int>(rule) << " element "
              << static_cast<int>(element);
        }
      }
    }
  }
}

TEST(ScaleByte, KnownPoints) {
  const auto byte = [](float amax, ScaleRule rule) { return scale_byte(amax, rule, Element::e4m3); };
  EXPECT_EQ(byte(256, ScaleRule::floor), 127u);  // not by dividing by 448 first: that gives 126
  EXPECT_EQ(byte(448, ScaleRule::rceil), 127u);  // an exact power of two is not doubled
  EXPECT_EQ(byte(224, ScaleRule::rceil), 126u);
  EXPECT_EQ(byte(896, ScaleRule::rceil), 128u);
  EXPECT_EQ(byte(957, ScaleRule::floor), 128u);  // saturates the largest element, as the rule has it
  EXPECT_EQ(byte(957, ScaleRule::rceil), 129u);
  EXPECT_EQ(byte(3, ScaleRule::floor), 120u);
  EXPECT_EQ(byte(3, ScaleRule::rceil), 120u);
  EXPECT_EQ(byte(3, ScaleRule::ceil), 121u);
  EXPECT_EQ(byte(0, ScaleRule::even), 0u);
  EXPECT_EQ(byte(0x1.fffffep127f, ScaleRule::floor), 246u);
  EXPECT_EQ(byte(0x1.fffffep127f, ScaleRule::rceil), 247u);
}

}  // namespace
}  // namespace assay::kernels::cpu::mxfp8_cast
