// Faults reported in public against conversions and decoders. Each test holds the right values, and codes the
// fault to show that it gives another: a value that the fault would also give proves nothing.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "oracles/formats/codec.hpp"

namespace assay::formats {
namespace {

Exact of(float x) { return decode(Format::fp32, std::bit_cast<std::uint32_t>(x)); }
std::uint32_t e4m3(float x, Overflow overflow = Overflow::saturate) {
  return encode(Format::e4m3, of(x), Rounding::nearest_even, overflow);
}
std::uint32_t e5m2(float x, Overflow overflow = Overflow::saturate) {
  return encode(Format::e5m2, of(x), Rounding::nearest_even, overflow);
}
std::uint32_t through_fp16(Format to, float x) {
  return encode(
      to, decode(Format::fp16, encode(Format::fp16, of(x), Rounding::nearest_even, Overflow::propagate)));
}

// B14: on the way through fp16 the bits beyond a midpoint are lost, and what was above it becomes a tie.
TEST(PublicFault, B14_Fp32ThroughFp16ToFp8RoundsTwice) {
  const struct {
    float x;
    std::uint32_t once, twice;
  } cases[] = {{std::bit_cast<float>(0x3F880001u), 0x39, 0x38},  // 1.125, 1.0
               {400.1f, 0x7D, 0x7C},                             // 416, 384
               {272.0625f, 0x79, 0x78},                          // 288, 256
               {136.00208f, 0x71, 0x70},                         // 144, 128
               {std::nextafter(400.0f, 500.0f), 0x7D, 0x7C}};
  for (const auto& c : cases) {
    EXPECT_EQ(e4m3(c.x), c.once) << c.x;
    EXPECT_EQ(through_fp16(Format::e4m3, c.x), c.twice) << "the fault is not seen at " << c.x;
    EXPECT_EQ(e4m3(-c.x), 0x80 | c.once);
    EXPECT_EQ(through_fp16(Format::e4m3, -c.x), 0x80 | c.twice);
  }
  // A step through fp16 that truncates fails elsewhere: here nearest gives the right code by luck.
  const Exact x = of(400.199585f);
  EXPECT_EQ(encode(Format::e4m3, x), 0x7Du);
  EXPECT_EQ(encode(Format::e4m3, decode(Format::fp16, encode(Format::fp16, x))), 0x7Du);
  EXPECT_EQ(encode(Format::e4m3, decode(Format::fp16, encode(Format::fp16, x, Rounding::toward_zero))),
            0x7Cu);
}

TEST(PublicFault, B14_Fp32ThroughFp16ToBf16RoundsTwice) {
  const float x = 1 + std::ldexp(1.0f, -8) + std::ldexp(1.0f, -12);
  EXPECT_EQ(encode(Format::bf16, of(x)), 0x3F81u);
  EXPECT_EQ(through_fp16(Format::bf16, x), 0x3F80u);
  // Of the 2^23 values in [1, 2), one in sixteen differs.
  std::uint32_t differing = 0;
  for (std::uint32_t code = 0x3F800000; code < 0x40000000; ++code) {
    const float y = std::bit_cast<float>(code);
    differing += encode(Format::bf16, of(y)) != through_fp16(Format::bf16, y);
  }
  EXPECT_EQ(differing, 524288u);
  EXPECT_EQ(through_fp16(Format::bf16, 65520.0f), 0x7F7Fu) << "Inf in fp16, saturated in bf16";
  EXPECT_EQ(through_fp16(Format::bf16, std::ldexp(1.0f, -25)), 0u);
}

// B15: an encoder of one's own, wrong in four ways.
TEST(PublicFault, B15_HomeMadeE5m2Encoder) {
  const auto faulty = [](float x) -> std::uint32_t {
    const float magnitude = std::fabs(x);
    if (magnitude < std::ldexp(1.0f, -14)) return 0;  // subnormals flushed, and with them the sign of zero
    if (magnitude > 57344.0f) return x < 0 ? 0xFC : 0x7C;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(magnitude) + (1u << 20);  // ties away
    return ((bits >> 21) - (112u << 2)) | (x < 0 ? 0x80 : 0);
  };
  const struct {
    float x;
    std::uint32_t saturated, propagated;
  } cases[] = {{1.125f, 0x3C, 0x3C},  {1.625f, 0x3E, 0x3E}, {std::ldexp(1.0f, -16), 0x01, 0x01},
               {1e-5f, 0x01, 0x01},   {-0.0f, 0x80, 0x80},  {65504.0f, 0x7B, 0x7C},
               {61440.0f, 0x7B, 0x7C}};
  for (const auto& c : cases) {
    EXPECT_EQ(e5m2(c.x), c.saturated) << c.x;
    EXPECT_EQ(e5m2(c.x, Overflow::propagate), c.propagated) << c.x;
    EXPECT_NE(faulty(c.x), c.saturated) << "the fault is not seen at " << c.x;
  }
  // The tie between the largest value and the one that would follow is 61440: below it nothing overflows.
  EXPECT_EQ(e5m2(61439.0f), 0x7Bu);
  EXPECT_EQ(e5m2(61439.0f, Overflow::propagate), 0x7Bu);
  EXPECT_NE(faulty(61439.0f), 0x7Bu);
  EXPECT_EQ(faulty(1.5f), e5m2(1.5f)) << "the fault is no nonsense: plain values come out right";
}

// B17: rounding at the wrong bit position.
TEST(PublicFault, B17_MxElementEncoderTruncates) {
  const auto faulty =
      [](const Exact& x) {  // the last mantissa bit is cut, and everything below the smallest normal too
        const std::uint32_t code = encode(Format::e4m3, x, Rounding::toward_zero);
        return code & ((code & 0x78) != 0 ? ~1u : ~7u);
      };
  std::uint32_t lost = 0;
  for (std::uint32_t code = 0; code < 256; ++code) {
    if (is_nan(Format::e4m3, code)) continue;
    EXPECT_EQ(encode(Format::e4m3, decode(Format::e4m3, code)), code);
    lost += faulty(decode(Format::e4m3, code)) != code;
  }
  EXPECT_EQ(lost, 132u);
  EXPECT_EQ(e4m3(9.0f / 8), 0x39u);
  for (std::uint32_t k = 0; k <= 8; ++k) EXPECT_EQ(encode(Format::e4m3, Exact::finite(false, k, -9)), k);
  EXPECT_EQ(encode(Format::e4m3, Exact::finite(false, 1025, -20)), 0x01u) << "2^-10 + 2^-20";
  EXPECT_EQ(encode(Format::e4m3, Exact::finite(false, 1, -10)), 0x00u) << "a tie, to even";
  EXPECT_EQ(encode(Format::e4m3, Exact::finite(false, 3, -10)), 0x02u) << "a tie, to even";
  EXPECT_NE(faulty(Exact::finite(false, 1025, -20)), 0x01u);
  EXPECT_NE(faulty(Exact::finite(false, 3, -10)), 0x02u);
}

// B18: two stacks, two overflow rules; they differ above 464 only.
TEST(PublicFault, B18_OverflowToNanOrToTheLargestValue) {
  const float above = std::nextafter(464.0f, 500.0f);
  for (const float x : {448.0f, 464.0f}) {
    EXPECT_EQ(e4m3(x, Overflow::saturate), 0x7Eu);
    EXPECT_EQ(e4m3(x, Overflow::propagate), 0x7Eu);
  }
  for (const float x : {above, 465.0f, 480.0f, 1000.0f, HUGE_VALF}) {
    EXPECT_EQ(e4m3(x, Overflow::saturate), 0x7Eu) << x;
    EXPECT_EQ(e4m3(x, Overflow::propagate), 0x7Fu) << x;
    EXPECT_EQ(e4m3(-x, Overflow::saturate), 0xFEu) << x;
    EXPECT_EQ(e4m3(-x, Overflow::propagate), 0x7Fu) << x;
  }
  EXPECT_EQ(e4m3(std::nanf("")), 0x7Fu);
  EXPECT_EQ(e4m3(-std::nanf("")), 0x7Fu);
}

// B19: decoders that take every code for a normal number, or that only shift and scale.
TEST(PublicFault, B19_DecoderTakesSpecialCodesForNormals) {
  const auto value = [](const Exact& x) {
    const double magnitude = x.kind == Kind::nan ? std::nan("")
                             : x.kind == Kind::infinity
                                 ? HUGE_VAL
                                 : std::ldexp(static_cast<double>(x.significand), x.exponent);
    return x.negative ? -magnitude : magnitude;
  };
  const auto always_normal = [](std::uint32_t code) {
    const double magnitude = std::ldexp(1 + (code & 7) / 8.0, static_cast<int>(code >> 3 & 15) - 7);
    return (code & 0x80) != 0 ? -magnitude : magnitude;
  };
  // The magnitude bits moved to fp16's place, and the difference of the biases multiplied back.
  const auto shift_and_scale = [&value](std::uint32_t code) {
    return value(decode(Format::fp16, (code & 0x80) << 8 | (code & 0x7F) << 7)) * 256;
  };
  const auto differs = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a != b; };
  int wrong_normal = 0, wrong_shift = 0;
  for (std::uint32_t code = 0; code < 256; ++code) {
    const double right = value(decode(Format::e4m3, code));
    wrong_normal += differs(right, always_normal(code));
    wrong_shift += differs(right, shift_and_scale(code));
    for (const Format wide : {Format::fp32, Format::fp16, Format::bf16})
      for (const Format narrow : {Format::e4m3, Format::e5m2}) {
        const Exact x = decode(narrow, code);
        const Exact widened = decode(wide, encode(wide, x, Rounding::nearest_even, Overflow::propagate));
        EXPECT_FALSE(differs(value(x), value(widened))) << "every fp8 value fits every wider format";
      }
  }
  EXPECT_EQ(wrong_normal, 18);
  EXPECT_EQ(wrong_shift, 2);
  for (const std::uint32_t sign : {0x00u, 0x80u}) {
    EXPECT_EQ(decode(Format::e4m3, sign | 0x7F).kind, Kind::nan);
    EXPECT_EQ(decode(Format::e4m3, sign).kind, Kind::zero);
    EXPECT_EQ(decode(Format::e5m2, sign | 0x7C).kind, Kind::infinity);
    for (std::uint32_t code = 0x7D; code <= 0x7F; ++code)
      EXPECT_EQ(decode(Format::e5m2, sign | code).kind, Kind::nan);
  }
}

// B53: references that were wrong themselves.
TEST(PublicFault, B53_TheReferenceItselfIsWrong) {
  for (std::uint32_t m = 1; m <= 7; ++m) {
    const Exact x = decode(Format::e4m3, m);
    EXPECT_EQ(compare_magnitude(x, Exact::finite(false, m, -9)), 0);
    EXPECT_NE(compare_magnitude(x, Exact::finite(false, m, -6)), 0) << "steps of 2^-6 were the fault";
  }
  EXPECT_EQ(e4m3(0.0015f), 0x01u) << "nearer to 2^-9 than to 0; a flush gives 0x00";
  EXPECT_EQ(encode(Format::e8m0, Exact::finite(false, 1, -128)), 0x00u);
  EXPECT_EQ(encode(Format::e8m0, Exact::finite(false, 1, -1000)), 0x00u) << "never 0xFF, which is NaN";
  EXPECT_EQ(floor_log2(decode(Format::e8m0, 0x00)), -127) << "2^-128 was the fault";
}

// A rounding bias added to the bits without a guard for the largest exponent turns NaN into zeros and
// infinities.
TEST(PublicFault, Bf16RoundingBiasWithoutGuardLosesNan) {
  const auto faulty = [](std::uint32_t bits) { return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16; };
  for (const std::uint32_t nan : {0x7FFFFFFFu, 0xFFFFFFFFu, 0x7FFF8000u, 0x7F800001u, 0xFF800001u}) {
    EXPECT_EQ(encode(Format::bf16, decode(Format::fp32, nan)), 0x7FFFu);
    EXPECT_FALSE(is_nan(Format::bf16, faulty(nan) & 0xFFFF)) << std::hex << nan;
  }
  EXPECT_EQ(faulty(0x3F808001), encode(Format::bf16, decode(Format::fp32, 0x3F808001)));
}

}  // namespace
}  // namespace assay::formats
