// The cast's oracle: the special-block table, elements, padding, threads, and that every named fault is
// visible.
#include "oracles/mxfp8_cast/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "oracles/formats/codec.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::oracles::mxfp8_cast {
namespace {

using formats::Format;
using formats::twin::draw;

using Block = std::array<std::uint32_t, block>;  // fp32 codes

constexpr std::uint32_t inf = 0x7F800000, nan = 0x7FC00000, minus = 0x80000000;
constexpr SpecialBlocks all_specials[] = {SpecialBlocks::poison, SpecialBlocks::te_staged,
                                          SpecialBlocks::te_register};
constexpr Format elements[] = {Format::e4m3, Format::e5m2};

std::uint32_t fp32(float x) { return std::bit_cast<std::uint32_t>(x); }

Block filled(std::uint32_t code) {
  Block b;
  b.fill(code);
  return b;
}
Block with(Block b, std::size_t lane, std::uint32_t code) {
  b[lane] = code;
  return b;
}

struct Result {
  int scale = 0;
  std::array<int, block> data{};
  bool operator==(const Result&) const = default;
};

std::vector<std::byte> bytes_of(std::span<const std::uint32_t> codes, Format input) {
  const int width = formats::storage_bytes(input);
  std::vector<std::byte> bytes(codes.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < codes.size(); ++i) arithmetic::store_code(bytes, width, i, codes[i]);
  return bytes;
}

Result cast(const Block& x, const Contracts& contracts, Fault fault = Fault::none) {
  const CastAcceptance a = accept(Format::fp32, bytes_of(x, Format::fp32), {1, block, {1, 1}, {}},
                                  Direction::rowwise, contracts, fault);
  Result r;
  r.scale = std::to_integer<int>(a.scales.lo[0]);
  for (std::size_t i = 0; i < block; ++i) r.data[i] = std::to_integer<int>(a.data.lo[i]);
  return r;
}

TEST(SpecialBlocks, AllZeroKeepsTheSignsUnderScaleZero) {
  for (const SpecialBlocks specials : all_specials)
    for (const Format element : elements) {
      const Contracts contracts{.element = element, .specials = specials};
      const Result r = cast(with(filled(minus), 3, 0), contracts);
      EXPECT_EQ(r.scale, 0x00);
      for (std::size_t i = 0; i < block; ++i) EXPECT_EQ(r.data[i], i == 3 ? 0x00 : 0x80);
    }
}

TEST(SpecialBlocks, SomeNanInEveryLaneAndSign) {
  for (const Format element : elements)
    for (std::size_t lane = 0; lane < block; ++lane)
      for (const std::uint32_t code : {nan, minus | nan, inf | 1}) {
        const Block x = with(with(filled(0), (lane + 1) % block, fp32(3)), lane, code);
        const Result poisoned = cast(x, {.element = element});
        EXPECT_EQ(poisoned.scale, 0xFF);
        for (const int d : poisoned.data) EXPECT_EQ(d, 0x7F);
        for (const SpecialBlocks specials : {SpecialBlocks::te_staged, SpecialBlocks::te_register}) {
          const Contracts contracts{.element = element, .specials = specials};
          const Result r = cast(x, contracts);
          const Result without = cast(with(x, lane, 0), contracts);
          EXPECT_EQ(r.scale, without.scale) << "amax ignores NaN";
          for (std::size_t i = 0; i < block; ++i) EXPECT_EQ(r.data[i], i == lane ? 0x7F : without.data[i]);
        }
      }
}

TEST(SpecialBlocks, OnlyNanIsWhereTheTwoTransformerEngineContractsDiffer) {
  const int scales[] = {0xFF, 0x00, 0xFF};
  for (const SpecialBlocks specials : all_specials) {
    const Result r = cast(filled(nan), {.specials = specials});
    EXPECT_EQ(r.scale, scales[static_cast<std::size_t>(specials)]);
    for (const int d : r.data) EXPECT_EQ(d, 0x7F);
  }
}

TEST(SpecialBlocks, AnyInfinity) {
  for (const Format element : elements) {
    const int largest = static_cast<int>(formats::max_finite(element));
    Block x = filled(fp32(-1));
    x[0] = inf;
    x[31] = minus | inf;
    x[7] = nan;
    const Result poisoned = cast(x, {.element = element});
    EXPECT_EQ(poisoned.scale, 0xFF);
    for (const int d : poisoned.data) EXPECT_EQ(d, 0x7F);
    for (const SpecialBlocks specials : {SpecialBlocks::te_staged, SpecialBlocks::te_register}) {
      const Result r = cast(x, {.element = element, .specials = specials});
      EXPECT_EQ(r.scale, 0xFE);
      EXPECT_EQ(r.data[0], largest);
      EXPECT_EQ(r.data[31], 0x80 | largest);
      EXPECT_EQ(r.data[7], 0x7F);
      EXPECT_EQ(r.data[1], 0x80) << "-2^-127";
    }
  }
}

TEST(PublicFault, B01_NanLostInTheAbsMax) {
  Block x = filled(0);
  x[0] = nan;
  x[1] = fp32(3);
  EXPECT_EQ(cast(x, {}).scale, 0xFF);
  EXPECT_EQ(cast(x, {}, Fault::nan_dropped_by_max).scale, 120);
  EXPECT_EQ(cast(x, {.scale_rule = ScaleRule::floor}, Fault::nan_dropped_by_max).scale, 120);
}

TEST(PublicFault, B03_ReciprocalsOfTheLastAndFirstScales) {
  const Contracts te{.specials = SpecialBlocks::te_staged};
  const Block x = with(filled(fp32(1)), 4, inf);
  EXPECT_EQ(cast(x, te).data[4], 0x7E);
  EXPECT_EQ(cast(with(x, 4, minus | inf), te).data[4], 0xFE);
  EXPECT_EQ(cast(x, te).data[0], 0x00);
  EXPECT_EQ(cast(x, te, Fault::reciprocal_254_flushed).data[4], 0x7F) << "Inf * 0";
  EXPECT_EQ(cast(with(x, 5, nan), te, Fault::reciprocal_254_flushed).data[5], 0x7F) << "NaN * 0";
  EXPECT_EQ(element_code(Format::fp32, fp32(1), 0xFF, {}), 0x7F);
  const std::uint32_t tiny = fp32(std::bit_cast<float>(0x00400000u));  // 2^-127
  EXPECT_EQ(cast(filled(tiny), {}).scale, 0);
  EXPECT_EQ(cast(filled(tiny), {}).data[0], 0x38) << "1.0";
  EXPECT_EQ(cast(filled(tiny), {}, Fault::reciprocal_0_is_one).data[0], 0x00);
}

TEST(PublicFault, B05_ZeroBlockDividesZeroByZero) {
  for (const Block& x : {filled(0), filled(minus), with(filled(0), 9, minus)}) {
    const Result r = cast(x, {});
    EXPECT_EQ(r.scale, 0);
    for (std::size_t i = 0; i < block; ++i) EXPECT_EQ(r.data[i], x[i] == minus ? 0x80 : 0x00);
    EXPECT_EQ(cast(x, {}, Fault::zero_block_nan).data[0], 0x7F);
  }
  const Block tiny = with(filled(0), 0, 1);
  EXPECT_EQ(cast(tiny, {}, Fault::zero_block_nan), cast(tiny, {})) << "a block that is not all zero divides";
}

// The product in fp32 that kernels form is not exact, but the element it rounds to is always the same: every
// finite bf16 under every scale.
TEST(Elements, TheFp32ProductGivesTheSameCodes) {
  for (const Format element : elements)
    for (std::uint32_t scale = 0; scale <= 0xFE; ++scale) {
      const float reciprocal = std::bit_cast<float>(scale == 0xFE ? 0x00400000u : (254 - scale) << 23);
      for (std::uint32_t code = 0; code < 0x7F80; ++code) {
        const std::uint32_t product = fp32(std::bit_cast<float>(code << 16) * reciprocal);
        ASSERT_EQ(element_code(Format::bf16, code, static_cast<std::uint8_t>(scale), {.element = element}),
                  formats::encode(element, formats::decode(Format::fp32, product)))
            << "code " << code << " scale " << scale;
      }
    }
}

TEST(Padding, IsKnownByteByByte) {
  const Shape shape{3, 96, {5, 7}, {}};  // 3 blocks a row in rows of 7, two rows more than there are
  std::vector<std::uint32_t> x(3 * 96, fp32(1));
  for (std::size_t i = 96; i < 192; ++i) x[i] = fp32(1 << 20);
  const auto bytes = bytes_of(x, Format::fp32);
  const CastAcceptance untouched =
      accept(Format::fp32, bytes, shape, Direction::rowwise, {.padding = Padding::untouched});
  const CastAcceptance zeroed =
      accept(Format::fp32, bytes, shape, Direction::rowwise, {.padding = Padding::zero});
  ASSERT_EQ(untouched.scales.size(), 35u);
  ASSERT_EQ(untouched.data.size(), 288u);
  EXPECT_TRUE(zeroed.scales.untouched.empty());
  std::vector<bool> kept(35);
  std::size_t last_end = 0;
  for (const auto& range : untouched.scales.untouched) {
    EXPECT_TRUE(range.begin >= last_end && range.begin < range.end) << "ascending and disjoint";
    last_end = range.end;
    for (std::size_t i = range.begin; i < range.end; ++i) kept.at(i) = true;
  }
  for (std::size_t i = 0; i < 35; ++i) {
    const bool padding = i >= 21 || i % 7 >= 3;
    EXPECT_EQ(kept[i], padding) << i;
    // Row 1 is at byte 7: with the block count for a stride it would be at byte 3.
    const int expected = padding ? 0 : i / 7 == 1 ? 119 + 20 : 119;
    EXPECT_EQ(std::to_integer<int>(zeroed.scales.lo[i]), expected) << i;
  }
}

TEST(Padding, PackedScalesHaveNone) {
  const CastAcceptance a =
      accept(Format::fp32, bytes_of(filled(0), Format::fp32), {1, block, {1, 1}, {}}, Direction::rowwise, {});
  EXPECT_TRUE(a.scales.untouched.empty());
  EXPECT_TRUE(a.scales.exact() && a.data.exact());
  EXPECT_EQ(accept(Format::bf16, {}, {0, 64, {0, 2}, {}}, Direction::rowwise, {}).data.size(), 0u);
}

std::vector<std::byte> random_codes(Format input, std::size_t count) {
  const int width = formats::storage_bytes(input);
  std::vector<std::uint32_t> codes(count);
  for (std::size_t i = 0; i < count; ++i) {
    codes[i] = static_cast<std::uint32_t>(draw(20, i)) & (width == 2 ? 0xFFFF : ~0u);
    if (i / block % 5 == 0) codes[i] = 0;
    if (i / block % 5 < 3 && (formats::is_nan(input, codes[i]) || formats::is_infinity(input, codes[i])))
      codes[i] = 1;
  }
  return bytes_of(codes, input);
}

TEST(Accept, IsTheSameWithAnyNumberOfThreads) {
  const Shape shape{70, 160, {71, 6}, {5, 161}};
  for (const Format input : {Format::fp32, Format::fp16, Format::bf16}) {
    const auto x = random_codes(input, shape.rows * shape.cols);
    for (const Direction direction : {Direction::rowwise, Direction::colwise}) {
      const CastAcceptance one = accept(input, x, shape, direction, {});
      for (const unsigned threads : {0u, 2u, 3u, 15u, 1000u}) {
        const CastAcceptance many = accept(input, x, shape, direction, {}, Fault::none, threads);
        EXPECT_EQ(one.data.lo, many.data.lo);
        EXPECT_EQ(one.scales.lo, many.scales.lo);
      }
    }
  }
}

TEST(Accept, IsScaleByteAndElementCodeForEveryBlock) {
  const Shape shape{4, 320, {4, 10}, {}};
  for (const Format input : {Format::fp32, Format::fp16, Format::bf16}) {
    const auto x = random_codes(input, shape.rows * shape.cols);
    for (int f = 0; f <= static_cast<int>(last_fault); ++f) {
      const auto fault = static_cast<Fault>(f);
      const Contracts contracts{.element = Format::e5m2, .specials = SpecialBlocks::te_staged};
      const CastAcceptance a = accept(input, x, shape, Direction::rowwise, contracts, fault);
      for (std::size_t b = 0; b < 40; ++b) {
        Block codes;
        for (std::size_t i = 0; i < block; ++i)
          codes[i] = arithmetic::load_code(x, formats::storage_bytes(input), b * block + i);
        const std::uint8_t scale = scale_byte(input, codes, contracts, fault);
        ASSERT_EQ(std::to_integer<std::uint8_t>(a.scales.lo[b]), scale);
        for (std::size_t i = 0; i < block; ++i)
          ASSERT_EQ(std::to_integer<std::uint8_t>(a.data.lo[b * block + i]),
                    element_code(input, codes[i], scale, contracts, fault));
      }
    }
  }
}

struct Witness {
  Fault fault;
  Block x;
  Contracts contracts;
  int scale, data;  ///< what the fault gives for the scale and for lane 0
};

// With amax pinned to 448 by lane 1 the scale is 1, and lane 0 is encoded as it stands.
Block pinned(float x) { return with(filled(fp32(448)), 0, fp32(x)); }

TEST(Fault, EveryOneIsVisibleAndGivesTheKnownWrongValue) {
  const Contracts te{.specials = SpecialBlocks::te_staged};
  const Contracts floor{.scale_rule = ScaleRule::floor};
  const Block over = with(filled(0), 0, fp32(479));
  const Witness witnesses[] = {
      {Fault::element_truncated, pinned(1.12f), {}, 127, 0x38},
      {Fault::element_ties_away, pinned(1.0625f), {}, 127, 0x39},
      {Fault::element_through_fp16, pinned(1.0625001f), {}, 127, 0x38},
      {Fault::element_overflow_to_nan, over, floor, 127, 0x7F},
      {Fault::element_subnormal_flushed, pinned(-0.002f), {}, 127, 0x80},
      {Fault::element_zero_sign_lost, pinned(-0.0f), {}, 127, 0x00},
      {Fault::nan_dropped_by_max, with(pinned(1), 5, nan), {}, 127, 0x38},
      {Fault::last_left_out_of_amax, with(filled(fp32(1)), 31, fp32(448)), {}, 119, 0x78},
      {Fault::scale_one_up, pinned(1), {}, 128, 0x30},
      {Fault::scale_one_down, pinned(1), {}, 126, 0x40},
      {Fault::scale_from_divided_amax, with(filled(0), 0, fp32(256)), floor, 126, 0x7E},
      {Fault::scale_exact_power_doubled, pinned(1), {}, 128, 0x30},
      {Fault::reciprocal_254_flushed, with(filled(0), 0, inf), te, 0xFE, 0x7F},
      {Fault::reciprocal_0_is_one, filled(0x00400000), {}, 0x00, 0x00},
      {Fault::zero_block_nan, filled(0), {}, 0x00, 0x7F},
  };
  ASSERT_EQ(std::size(witnesses), static_cast<std::size_t>(last_fault)) << "one witness for each";
  for (std::size_t i = 0; i < std::size(witnesses); ++i) {
    const Witness& w = witnesses[i];
    ASSERT_EQ(static_cast<std::size_t>(w.fault), i + 1);
    const Result faulty = cast(w.x, w.contracts, w.fault);
    EXPECT_NE(faulty, cast(w.x, w.contracts)) << "fault " << i + 1;
    EXPECT_EQ(faulty.scale, w.scale) << "fault " << i + 1;
    EXPECT_EQ(faulty.data[0], w.data) << "fault " << i + 1;
  }
}

TEST(Fault, AScaleOneOffStaysANumber) {
  EXPECT_EQ(cast(filled(nan), {}, Fault::scale_one_up).scale, 0xFF);
  EXPECT_EQ(cast(filled(nan), {}, Fault::scale_one_down).scale, 0xFF);
  EXPECT_EQ(cast(filled(0), {}, Fault::scale_one_down).scale, 0x00);
  EXPECT_EQ(cast(filled(inf), {.specials = SpecialBlocks::te_staged}, Fault::scale_one_up).scale, 0xFE);
  EXPECT_EQ(cast(filled(inf), {}, Fault::nan_dropped_by_max).scale, 0xFF) << "Inf still counts";
}

TEST(ProgrammerErrorDeathTest, Asserts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto x = bytes_of(filled(0), Format::fp32);
  EXPECT_DEATH(accept(Format::fp32, x, {1, 31, {1, 1}, {}}, Direction::rowwise, {}), "");
  EXPECT_DEATH(accept(Format::fp32, x, {1, 32, {0, 1}, {}}, Direction::rowwise, {}), "");
  EXPECT_DEATH(accept(Format::bf16, x, {1, 32, {1, 1}, {}}, Direction::rowwise, {}), "");
  EXPECT_DEATH(accept(Format::fp32, x, {1, 32, {1, 1}, {}}, Direction::rowwise, {.element = Format::fp16}),
               "");
  EXPECT_DEATH(accept(Format::fp32, x, {1, 32, {1, 1}, {}}, Direction::colwise, {}), "");
  EXPECT_DEATH(
      accept(Format::fp32, x, {1, 32, {1, 1}, {}}, Direction::rowwise, {.layout = ScaleLayout::swizzled}),
      "");
}

}  // namespace
}  // namespace assay::oracles::mxfp8_cast
