// The twins of division and square root against modelled arithmetic, which shares no code with them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/quotient_operands.hpp"
#include "oracles/arithmetic/modelled.hpp"

namespace assay::kernels::cpu {
namespace {

using F32 = arithmetic::Modelled<formats::Format::fp32>;

/// A prime, so that entries of every kind take part.
constexpr std::uint32_t step = 13;
constexpr std::uint32_t infinity = 0x7F800000u, least_normal = 0x00800000u, magnitude = 0x7FFFFFFFu;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float value(std::uint32_t code) { return std::bit_cast<float>(code); }

TEST(QuotientTwin, QuotientIsRoundedOnce) {
  for (std::uint32_t i = 0; i < operands::quotients; i += step) {
    const auto p = operands::dividend_and_divisor(i);
    ASSERT_EQ(bits(twin::div_rn_f32(value(p.a), value(p.b))), (F32::of_code(p.a) / F32::of_code(p.b)).code())
        << std::hex << p.a << " / " << p.b;
  }
}

/// Every 4,099th code: a prime, so that all low bits take part.
TEST(QuotientTwin, RootIsRoundedOnce) {
  for (std::uint64_t x = 0; x < std::uint64_t{1} << 32; x += 4099) {
    const auto code = static_cast<std::uint32_t>(x);
    ASSERT_EQ(bits(twin::sqrt_rn_f32(value(code))), sqrt(F32::of_code(code)).code()) << std::hex << code;
  }
}

TEST(QuotientTwin, SpecialValues) {
  constexpr std::uint32_t nan = 0x7FFFFFFFu;
  EXPECT_EQ(bits(sqrt_rn_f32(-0.0f)), 0x80000000u);
  EXPECT_EQ(bits(sqrt_rn_f32(value(infinity))), infinity);
  for (const std::uint32_t x : {0x80000001u, 0xBF800000u, 0xFF800000u, 0x7F800001u, 0xFFC12345u})
    EXPECT_EQ(bits(sqrt_rn_f32(value(x))), nan) << std::hex << x;
  EXPECT_EQ(bits(div_rn_f32(0.0f, -0.0f)), nan);
  EXPECT_EQ(bits(div_rn_f32(value(infinity), value(infinity))), nan);
  EXPECT_EQ(bits(div_rn_f32(value(0xFFC12345u), 1.0f)), nan);
  EXPECT_EQ(bits(div_rn_f32(1.0f, -0.0f)), infinity | 0x80000000u);
  EXPECT_EQ(bits(div_rn_f32(-1.0f, value(infinity))), 0x80000000u);
}

/// a * 2^25 = q * divisor +- remainder, and the quotient of 25 bits and more is next to an odd q.
TEST(QuotientTwin, DividendsLieBesideMidpoints) {
  for (std::uint32_t i = 0; i < 10000; ++i) {
    const std::uint32_t divisor = (operands::scrambled(i) & 0xFFFFFFu) | 0x800001u,
                        remainder = 2 * (i & 15u) + 1;
    const std::uint64_t scaled = std::uint64_t{operands::dividend_beside_midpoint(divisor, remainder)} << 25;
    const std::uint64_t q = (scaled + divisor / 2) / divisor;
    ASSERT_TRUE(q >> 24 == 1 && q % 2 == 1) << q;
    ASSERT_EQ(q * divisor > scaled ? q * divisor - scaled : scaled - q * divisor, remainder) << divisor;
  }
}

/// The table holds what it is for: a division by way of the reciprocal, or one that is only almost exact,
/// would not pass.
TEST(QuotientTwin, TableTellsWrongDivisionsFromTheRightOne) {
  unsigned reciprocal = 0, truncated = 0, twice = 0, subnormal = 0, infinite = 0, exact = 0;
  for (std::uint32_t i = 0; i < operands::quotients; i += step) {
    const auto p = operands::dividend_and_divisor(i);
    const float a = value(p.a), b = value(p.b), quotient = twin::div_rn_f32(a, b);
    if (!std::isfinite(a) || !std::isfinite(b) || b == 0) continue;
    const double wide = double{a} / double{b};
    reciprocal += bits(a * (1 / b)) != bits(quotient);
    // The 45 leading bits of the quotient, which decide nothing beside a midpoint.
    const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(wide) & ~std::uint64_t{0xFF});
    truncated += bits(static_cast<float>(cut)) != bits(quotient);
    twice += bits(static_cast<float>(wide)) != bits(quotient);
    subnormal += (bits(quotient) & magnitude) - 1 < least_normal - 1;
    infinite += (bits(quotient) & magnitude) == infinity;
    exact += wide == double{quotient};
  }
  EXPECT_GT(reciprocal, 100000u);
  EXPECT_GT(truncated, 1000u);
  EXPECT_EQ(twice, 0u) << "twice 24 bits are enough (Figueroa, 1995)";
  EXPECT_GT(subnormal, 10000u);
  EXPECT_GT(infinite, 1000u);
  EXPECT_GT(exact, 1000u);
}

}  // namespace
}  // namespace assay::kernels::cpu
