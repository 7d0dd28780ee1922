// Every code of every format, every midpoint and both sides of it, in every rounding, against the twin.
#include "oracles/formats/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "oracles/formats/twin.hpp"

namespace assay::formats {
namespace {

constexpr Rounding roundings[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up,
                                  Rounding::down};
constexpr Overflow overflows[] = {Overflow::saturate, Overflow::propagate};
constexpr Format small_floats[] = {Format::e4m3, Format::e5m2, Format::e8m0, Format::fp16, Format::bf16};

std::string test_name(const testing::TestParamInfo<Format>& info) {
  return std::string(spec(info.param).name);
}

// Compares all signs, roundings and overflow rules at one magnitude. False when any differs.
bool agrees_at(Format format, const twin::Number& magnitude) {
  const twin::Place place = twin::place(format, magnitude);
  for (const bool negative : {false, true}) {
    if (negative && !spec(format).has_sign) continue;
    const Exact x = twin::exact_of(negative, magnitude);
    for (const Rounding rounding : roundings)
      for (const Overflow overflow : overflows)
        if (encode(format, x, rounding, overflow) != twin::pick(format, place, negative, rounding, overflow))
          return false;
  }
  return true;
}

// Between code and the next: the value itself, its close surroundings, the midpoint and both sides of it.
std::array<twin::Number, 8> probes(Format format, std::uint32_t code) {
  const twin::Number low = twin::value(format, code);
  const twin::Number high =
      code == twin::layout(format).max_finite ? twin::beyond_max(format) : twin::value(format, code + 1);
  const twin::Number middle = (low + high) / 2, near = (high - low) >> 20;
  return {low, low + 1, middle - near, middle - 1, middle, middle + 1, middle + near, high - 1};
}

class SmallFloat : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Formats, SmallFloat, testing::ValuesIn(small_floats), test_name);

TEST_P(SmallFloat, DecodesEveryCodeAsTheTwinEnumeratesIt) {
  const Format format = GetParam();
  const twin::Layout layout = twin::layout(format);
  for (std::uint32_t code = 0; code < 1u << spec(format).bits; ++code) {
    const std::uint32_t magnitude = code & ~layout.sign;
    const Exact x = decode(format, code);
    ASSERT_EQ(x.negative, (code & layout.sign) != 0) << code;
    if (magnitude <= layout.max_finite) {
      ASSERT_EQ(twin::magnitude_of(x), twin::value(format, magnitude)) << code;
    } else if (magnitude == layout.overflow && layout.overflow != layout.nan) {
      ASSERT_EQ(x.kind, Kind::infinity) << code;
    } else {
      ASSERT_EQ(x.kind, Kind::nan) << code;
    }
    ASSERT_EQ(is_nan(format, code), x.kind == Kind::nan);
    ASSERT_EQ(is_infinity(format, code), x.kind == Kind::infinity);
  }
}

TEST_P(SmallFloat, EncodingADecodedCodeIsTheIdentity) {
  const Format format = GetParam();
  for (std::uint32_t code = 0; code < 1u << spec(format).bits; ++code) {
    if (is_nan(format, code)) continue;
    for (const Rounding rounding : roundings)
      ASSERT_EQ(encode(format, decode(format, code), rounding, Overflow::propagate), code);
  }
}

TEST_P(SmallFloat, EncodesEveryCodeMidpointAndNeighbourhoodAsTheTwin) {
  const Format format = GetParam();
  for (std::uint32_t code = 0; code <= max_finite(format); ++code)
    for (const twin::Number& magnitude : probes(format, code))
      ASSERT_TRUE(agrees_at(format, magnitude)) << "near code " << code;
}

TEST_P(SmallFloat, EncodesTheFarEndsAsTheTwin) {
  const Format format = GetParam();
  for (int exponent = -500; exponent < 500; ++exponent)
    for (const std::uint64_t significand : {1u, 3u, 0xFFFFFFFFu})
      ASSERT_TRUE(agrees_at(format, twin::number(significand, exponent))) << significand << " 2^" << exponent;
}

// Significands that fill all 64 bits, wherever their leading bit falls relative to the format.
TEST_P(SmallFloat, EncodesFullWidthSignificandsAsTheTwin) {
  const Format format = GetParam();
  for (int exponent = -260; exponent < 140; ++exponent)
    for (const std::uint64_t significand :
         {~0ull, 1ull << 63, 1ull << 63 | 1, 3ull << 62, 0xAAAAAAAAAAAAAAABull})
      for (const Rounding rounding : roundings)
        for (const bool sticky : {false, true}) {
          const Exact x = Exact::finite(false, significand, exponent, sticky);
          ASSERT_EQ(encode(format, x, rounding, Overflow::propagate),
                    twin::encode(format, false, twin::magnitude_of(x), rounding, Overflow::propagate))
              << significand << " 2^" << exponent << " sticky " << sticky;
        }
}

TEST_P(SmallFloat, KeysOrderTheCodesWithNeighboursOneApart) {
  const Format format = GetParam();
  const std::uint32_t sign = twin::layout(format).sign;
  const std::uint32_t top = max_finite(format) + (is_infinity(format, max_finite(format) + 1) ? 1 : 0);
  for (std::uint32_t code = 0; code < top; ++code) {
    ASSERT_EQ(ordered_key(format, code + 1), ordered_key(format, code) + 1);
    if (sign != 0) {
      ASSERT_EQ(ordered_key(format, sign | (code + 1)) + 1, ordered_key(format, sign | code));
    }
  }
  if (sign != 0) {
    EXPECT_EQ(ordered_key(format, sign) + 1, ordered_key(format, 0)) << "-0 is just under +0";
  }
}

TEST(Fp32, DecodesAndEncodesAsTheTwinAtSampledCodesAndTheirMidpoints) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    // Half of the draws cluster at the ends of binades, where carries happen.
    auto code = static_cast<std::uint32_t>(twin::draw(1, i)) & 0x7FFFFFFF;
    if (i % 2 == 0) code = (code & 0x7F800000) + static_cast<std::uint32_t>(twin::draw(2, i) % 5) - 2;
    code = code > max_finite(Format::fp32) ? max_finite(Format::fp32) - code % 4 : code;
    ASSERT_EQ(twin::magnitude_of(decode(Format::fp32, code)), twin::value(Format::fp32, code));
    ASSERT_EQ(encode(Format::fp32, decode(Format::fp32, code)), code);
    for (const twin::Number& magnitude : probes(Format::fp32, code))
      ASSERT_TRUE(agrees_at(Format::fp32, magnitude)) << "near code " << code;
  }
}

TEST(Fp32, KeysOrderTheCodes) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto a = static_cast<std::uint32_t>(twin::draw(3, i)),
               b = static_cast<std::uint32_t>(twin::draw(4, i));
    if (is_nan(Format::fp32, a) || is_nan(Format::fp32, b)) continue;
    const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
    ASSERT_EQ(x < y, ordered_key(Format::fp32, a) < ordered_key(Format::fp32, b));
  }
  EXPECT_EQ(ordered_key(Format::fp32, 0x80000000) + 1, ordered_key(Format::fp32, 0));
}

TEST(Specials, FollowTheOverflowRule) {
  for (const Format format :
       {Format::e4m3, Format::e5m2, Format::e8m0, Format::fp16, Format::bf16, Format::fp32}) {
    const twin::Layout l = twin::layout(format);
    for (const Rounding rounding : roundings) {
      EXPECT_EQ(encode(format, Exact::nan(), rounding, Overflow::saturate), l.nan);
      EXPECT_EQ(encode(format, Exact::nan(), rounding, Overflow::propagate), l.nan);
      EXPECT_EQ(encode(format, Exact::infinity(), rounding, Overflow::saturate), l.max_finite);
      EXPECT_EQ(encode(format, Exact::infinity(), rounding, Overflow::propagate), l.overflow);
      if (l.sign == 0) continue;
      EXPECT_EQ(encode(format, Exact::nan(true), rounding), l.nan) << "the canonical NaN has no sign";
      EXPECT_EQ(encode(format, Exact::infinity(true), rounding, Overflow::saturate), l.sign | l.max_finite);
      EXPECT_EQ(encode(format, Exact::infinity(true), rounding, Overflow::propagate),
                l.overflow == l.nan ? l.nan : l.sign | l.overflow);
      EXPECT_EQ(encode(format, Exact::zero(true), rounding), l.sign);
      EXPECT_EQ(encode(format, Exact::zero(false), rounding), 0u);
    }
    EXPECT_EQ(canonical_nan(format), l.nan);
    EXPECT_EQ(max_finite(format), l.max_finite);
  }
}

// Integers are few enough to try every value. Saturation first, because no rounding leads back out of the
// range.
int brute_force_integer(int low, int high, int sixteenths, Rounding rounding) {
  const int x = std::clamp(sixteenths, 16 * low, 16 * high);
  int best = rounding == Rounding::up ? high : rounding == Rounding::toward_zero ? 0 : low;
  for (int v = low; v <= high; ++v) {
    const int distance = std::abs(16 * v - x), best_distance = std::abs(16 * best - x);
    const bool nearer = distance < best_distance;
    switch (rounding) {
      case Rounding::nearest_even:
        if (nearer || (distance == best_distance && v % 2 == 0)) best = v;
        break;
      case Rounding::toward_zero:
        if (nearer && v * x >= 0 && std::abs(16 * v) <= std::abs(x)) best = v;
        break;
      case Rounding::up:
        if (nearer && 16 * v >= x) best = v;
        break;
      case Rounding::down:
        if (nearer && 16 * v <= x) best = v;
        break;
    }
  }
  return best;
}

TEST(Integers, RoundAndSaturateAsByTryingEveryValue) {
  for (int sixteenths = -16 * 20; sixteenths <= 16 * 20; ++sixteenths)
    for (const Rounding rounding : roundings)
      for (const Overflow overflow : overflows) {
        const Exact x = Exact::finite(sixteenths < 0, static_cast<std::uint64_t>(std::abs(sixteenths)), -4);
        const int i4 = brute_force_integer(-8, 7, sixteenths, rounding);
        ASSERT_EQ(encode(Format::int4, x, rounding, overflow), static_cast<std::uint32_t>(i4) & 0xF)
            << sixteenths;
        const int u4 = brute_force_integer(0, 15, sixteenths, rounding);
        ASSERT_EQ(encode(Format::uint4, x, rounding, overflow), static_cast<std::uint32_t>(u4)) << sixteenths;
      }
  EXPECT_EQ(encode(Format::int4, Exact::finite(false, 1, 100)), 7u);
  EXPECT_EQ(encode(Format::int4, Exact::finite(true, 1, 100)), 8u);
  EXPECT_EQ(encode(Format::uint4, Exact::finite(true, 1, 100)), 0u);
}

TEST(Integers, DecodeAndOrder) {
  for (std::uint32_t code = 0; code < 16; ++code) {
    const int value = code < 8 ? static_cast<int>(code) : static_cast<int>(code) - 16;
    const Exact x = decode(Format::int4, code);
    EXPECT_EQ(x.negative ? -static_cast<int>(x.significand) : static_cast<int>(x.significand), value);
    EXPECT_EQ(static_cast<int>(ordered_key(Format::int4, code)), value + 8);
    EXPECT_EQ(encode(Format::int4, x), code);
    EXPECT_EQ(decode(Format::uint4, code).significand, code);
    EXPECT_EQ(ordered_key(Format::uint4, code), code);
    EXPECT_EQ(encode(Format::uint4, decode(Format::uint4, code)), code);
  }
}

TEST(Exacts, CompareAndTakeLogarithms) {
  const Exact three = Exact::finite(true, 3, 0), six_halves = Exact::finite(false, 6, -1);
  EXPECT_EQ(compare_magnitude(three, six_halves), 0);
  EXPECT_EQ(compare_magnitude(three, Exact::finite(false, 7, -1)), -1);
  EXPECT_EQ(compare_magnitude(Exact::finite(false, 1, 60), Exact::finite(false, ~0ull, -4)), 1);
  EXPECT_EQ(compare_magnitude(Exact::zero(), three), -1);
  EXPECT_EQ(compare_magnitude(Exact::zero(true), Exact::zero()), 0);
  EXPECT_EQ(floor_log2(three), 1);
  EXPECT_EQ(floor_log2(Exact::finite(false, 1, -149)), -149);
  EXPECT_TRUE(is_power_of_two(Exact::finite(true, 8, -3)));
  EXPECT_FALSE(is_power_of_two(six_halves));
  EXPECT_FALSE(is_power_of_two(Exact::finite(false, 8, -3, true)));
  EXPECT_FALSE(is_power_of_two(Exact::infinity()));
  EXPECT_EQ(scaled(Exact::infinity(), 5).kind, Kind::infinity);
}

TEST(Names, AreFoundAndUnique) {
  for (const Format format : all_formats) EXPECT_EQ(format_named(spec(format).name), format);
  EXPECT_EQ(format_named("fp64"), std::nullopt);
  EXPECT_EQ(format_named(""), std::nullopt);
  EXPECT_EQ(storage_bytes(Format::int4), 1);
  EXPECT_EQ(storage_bytes(Format::e8m0), 1);
  EXPECT_EQ(storage_bytes(Format::bf16), 2);
  EXPECT_EQ(storage_bytes(Format::fp32), 4);
}

TEST(ProgrammerErrorDeathTest, Asserts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(decode(Format::e4m3, 0x100), "");
  EXPECT_DEATH(encode(Format::e8m0, Exact::finite(true, 1, 0)), "no negative values");
  EXPECT_DEATH(encode(Format::int4, Exact::nan()), "neither NaN nor Inf");
  EXPECT_DEATH(encode(Format::e4m3, Exact::finite(false, 15, 0, true)), "sticky");
  EXPECT_DEATH(ordered_key(Format::e4m3, 0x7F), "");
  EXPECT_DEATH(canonical_nan(Format::uint4), "no NaN");
}

}  // namespace
}  // namespace assay::formats
