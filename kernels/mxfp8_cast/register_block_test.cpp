// The scaling conversion of the register kernels, over everything it can be given.
#include "kernels/mxfp8_cast/register_block.hpp"

#include <gtest/gtest.h>

#include "oracles/formats/codec.hpp"

namespace assay::kernels::cpu::mxfp8_cast {
namespace {

using formats::Format;

/// What the contract asks for: the exact quotient, rounded once.
std::uint32_t right_code(Format element, const formats::Exact& x, std::uint32_t byte) {
  if (x.kind == formats::Kind::nan || byte == 255) return 0x7F;
  return formats::encode(element, formats::scaled(x, 127 - static_cast<int>(byte)),
                         formats::Rounding::nearest_even, formats::Overflow::saturate);
}

/// Every bf16 under every scale, four at a time with four scales.
template <Element kElement>
void check_every_bf16_under_every_scale(Format element) {
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const std::uint32_t bytes[4] = {byte, (byte + 1) % 256, byte ^ 0x80u, 255 - byte};
    std::uint32_t scales[4];
    for (unsigned i = 0; i < 4; ++i) scales[i] = e8m0_reciprocal_bf16(bytes[i]);
    for (std::uint32_t x = 0; x < 0x10000u; ++x) {
      // Consecutive bytes and their complements in all four places: every (x, byte) pair occurs in each.
      const std::uint32_t codes = cvt_scaled_pairs<kElement>(x * 0x10001u, scales[1] << 16 | scales[0],
                                                             x * 0x10001u, scales[3] << 16 | scales[2]);
      const formats::Exact value = formats::decode(Format::bf16, x);
      std::uint32_t expected = 0;
      for (unsigned i = 0; i < 4; ++i) expected |= right_code(element, value, bytes[i]) << (8 * i);
      ASSERT_EQ(codes, expected) << std::hex << x << " under " << byte;
    }
  }
}

TEST(RegisterBlock, EveryBf16UnderEveryScaleToE4m3) {
  check_every_bf16_under_every_scale<Element::e4m3>(Format::e4m3);
}
TEST(RegisterBlock, EveryBf16UnderEveryScaleToE5m2) {
  check_every_bf16_under_every_scale<Element::e5m2>(Format::e5m2);
}

TEST(RegisterBlock, ScalesOfBlocksWithNanOrInfinityAreTheContracts) {
  const float nan = std::bit_cast<float>(canonical_nan_f32), infinity = std::bit_cast<float>(infinity_f32);
  const auto scale = [](float amax, SpecialBlocks specials) {
    return block_scale(amax, ScaleRule::rceil, specials, Element::e4m3);
  };
  EXPECT_EQ(scale(nan, SpecialBlocks::poison), 0xFFu);
  EXPECT_EQ(scale(infinity, SpecialBlocks::poison), 0xFFu);
  EXPECT_EQ(scale(nan, SpecialBlocks::te_staged), 0u);
  EXPECT_EQ(scale(infinity, SpecialBlocks::te_staged), 0xFEu);
  EXPECT_EQ(scale(nan, SpecialBlocks::te_register), 0xFFu);
  EXPECT_EQ(scale(infinity, SpecialBlocks::te_register), 0xFEu);
  EXPECT_EQ(scale(448.0f, SpecialBlocks::poison), 127u);
}

}  // namespace
}  // namespace assay::kernels::cpu::mxfp8_cast
