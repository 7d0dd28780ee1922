// The packed bf16 product against exact products, rounded once by the format's own definition.
#include "kernels/device/bf16x2.hpp"

#include <gtest/gtest.h>

#include "kernels/device/twin_operands.hpp"
#include "oracles/formats/codec.hpp"

namespace assay::kernels::cpu {
namespace {

using formats::Exact;
using formats::Format;
using formats::Kind;

std::uint32_t reference_product(std::uint32_t a, std::uint32_t b) {
  const Exact x = formats::decode(Format::bf16, a), y = formats::decode(Format::bf16, b);
  const bool negative = x.negative != y.negative;
  const bool infinite = x.kind == Kind::infinity || y.kind == Kind::infinity;
  const bool zero = x.kind == Kind::zero || y.kind == Kind::zero;
  Exact product = Exact::finite(negative, x.significand * y.significand, x.exponent + y.exponent);
  if (infinite) product = Exact::infinity(negative);
  if (zero) product = infinite ? Exact::nan() : Exact::zero(negative);
  if (x.kind == Kind::nan || y.kind == Kind::nan) product = Exact::nan();
  if (product.kind == Kind::nan) return canonical_nan_16;
  return formats::encode(Format::bf16, product, formats::Rounding::nearest_even,
                         formats::Overflow::propagate);
}

TEST(Bf16x2, ProductsWithEverySpecialCodeAreRoundedOnce) {
  for (std::uint32_t special = 0; special < operands::special_codes; ++special) {
    const std::uint32_t b = operands::special_16<7>(special);
    for (std::uint32_t a = 0; a < 0x10000u; a += 1 + special % 5) {
      ASSERT_EQ(twin::mul_rn_bf16(a, b), reference_product(a, b)) << std::hex << a << " * " << b;
    }
  }
}

TEST(Bf16x2, ProductsThatFallBetweenSubnormals) {
  // Every significand against every other where the product has 1 to 8 subnormal bits left: rounding through
  // fp32 first would get ties wrong.
  for (std::uint32_t a = 0x2080u; a < 0x2100u; ++a) {
    for (std::uint32_t b = 0x1A80u; b < 0x2080u; ++b)
      ASSERT_EQ(twin::mul_rn_bf16(a, b), reference_product(a, b)) << std::hex << a << " * " << b;
  }
}

TEST(Bf16x2, ThePairsKeepTheirPlaces) {
  EXPECT_EQ(mul_rn_bf16x2(0x3F804000u, 0x40003FC0u), 0x40004040u);  // 1 * 2, 2 * 1.5
}

TEST(Bf16x2, TheReciprocalOfEveryScaleIsExact) {
  for (std::uint32_t byte = 0; byte < 255; ++byte) {
    const Exact power = Exact::finite(false, 1, 127 - static_cast<int>(byte));
    EXPECT_EQ(e8m0_reciprocal_bf16(byte), formats::encode(Format::bf16, power)) << byte;
    EXPECT_EQ(e8m0_reciprocal_bf16x2(byte), e8m0_reciprocal_bf16(byte) * 0x10001u);
  }
  EXPECT_EQ(e8m0_reciprocal_bf16(255), canonical_nan_16);
}

}  // namespace
}  // namespace assay::kernels::cpu
