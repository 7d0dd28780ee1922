// The dequantisation's oracle: special scale codes, places of scales, threads, and that every named fault is
// visible.
#include "oracles/mxfp8_dequant/oracle.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "oracles/formats/scale_layout.hpp"

namespace assay::oracles::mxfp8_dequant {
namespace {

using formats::Format;

constexpr Format outputs[] = {Format::fp32, Format::fp16, Format::bf16};

std::uint32_t fp32(std::uint8_t data, std::uint8_t scale, Format element = Format::e4m3,
                   Fault fault = Fault::none) {
  return output_code(data, scale, {element, Format::fp32}, fault);
}

TEST(SpecialScales, ZeroIsTheSubnormalTwoToTheMinus127) {
  EXPECT_EQ(fp32(0x38, 0), 0x00400000u) << "1.0 * 2^-127";
  EXPECT_EQ(fp32(0xB8, 0), 0x80400000u);
  EXPECT_EQ(fp32(0x01, 0), 0x00002000u) << "2^-9 * 2^-127 = 2^-136 = 2^13 * 2^-149";
  EXPECT_EQ(fp32(0x01, 0, Format::e5m2), 0x00000040u) << "2^-143, the smallest product there is";
  EXPECT_EQ(fp32(0x80, 0), 0x80000000u) << "-0";
  EXPECT_EQ(output_code(0x38, 0, {Format::e4m3, Format::bf16}), 0x0040u);
  EXPECT_EQ(output_code(0x38, 0, {Format::e4m3, Format::fp16}), 0x0000u);
  EXPECT_EQ(output_code(0xB8, 0, {Format::e4m3, Format::fp16}), 0x8000u) << "its sign is kept";
}

TEST(SpecialScales, Code254IsTheLargestPowerAndOverflows) {
  EXPECT_EQ(fp32(0x38, 254), 0x7F000000u) << "2^127";
  EXPECT_EQ(fp32(0x3F, 254), 0x7F700000u) << "1.875 * 2^127, the largest that fits";
  EXPECT_EQ(fp32(0x40, 254), 0x7F800000u) << "2 * 2^127";
  EXPECT_EQ(fp32(0x7E, 254), 0x7F800000u) << "448 * 2^127";
  EXPECT_EQ(fp32(0xFE, 254), 0xFF800000u);
  EXPECT_EQ(fp32(0x80, 254), 0x80000000u) << "-0 * 2^127 is -0";
  EXPECT_EQ(fp32(0x01, 254), 0x7A800000u) << "2^-9 * 2^127";
}

TEST(SpecialScales, Code255MakesEveryElementNan) {
  for (const Format output : outputs)
    for (const Format element : {Format::e4m3, Format::e5m2})
      for (std::uint32_t data = 0; data < 256; ++data)
        ASSERT_EQ(output_code(static_cast<std::uint8_t>(data), 255, {element, output}),
                  formats::canonical_nan(output));
}

TEST(SpecialData, NanAndInfinityUnderEveryOtherScale) {
  for (std::uint32_t scale = 0; scale < 255; ++scale) {
    const auto s = static_cast<std::uint8_t>(scale);
    for (const int nan : {0x7F, 0xFF}) EXPECT_EQ(fp32(static_cast<std::uint8_t>(nan), s), 0x7FFFFFFFu);
    for (const int nan : {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF})
      EXPECT_EQ(fp32(static_cast<std::uint8_t>(nan), s, Format::e5m2), 0x7FFFFFFFu);
    EXPECT_EQ(fp32(0x7C, s, Format::e5m2), 0x7F800000u);
    EXPECT_EQ(fp32(0xFC, s, Format::e5m2), 0xFF800000u);
    EXPECT_EQ(output_code(0xFC, s, {Format::e5m2, Format::fp16}), 0xFC00u);
  }
}

TEST(Narrowing, RoundsOnceToNearestEvenAndOverflowsToInf) {
  const Contracts fp16{Format::e4m3, Format::fp16}, bf16{Format::e5m2, Format::bf16};
  EXPECT_EQ(output_code(0x79, 127 + 8, fp16), 0x7C00u) << "288 * 2^8 = 73728";
  EXPECT_EQ(output_code(0x77, 127 + 8, fp16), 0x7B80u) << "240 * 2^8 = 61440";
  EXPECT_EQ(output_code(0x7F ^ 0x01, 127, fp16), 0x5F00u) << "448";
  EXPECT_EQ(output_code(0x38, 127 - 25, fp16), 0x0000u) << "2^-25, a tie, to even";
  EXPECT_EQ(output_code(0x39, 127 - 25, fp16), 0x0001u) << "1.125 * 2^-25";
  EXPECT_EQ(output_code(0x3C, 127 - 24, fp16), 0x0002u) << "1.5 * 2^-24, a tie, to even";
  EXPECT_EQ(output_code(0x3D, 0, bf16), 0x0050u) << "1.25 * 2^-127 = 80 * 2^-133";
  EXPECT_EQ(output_code(0x01, 0, bf16), 0x0000u) << "2^-143";
}

// ---- places ----

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

/// Scale code of every element, read back from an output of ones.
std::vector<int> scales_seen(const Shape& shape, const std::vector<std::byte>& scales,
                             std::optional<Misplacement> misplacement = {}) {
  const std::vector<std::byte> ones(shape.rows * shape.cols, std::byte{0x38});
  const Contracts contracts{Format::e4m3, Format::fp32};
  const auto a = misplacement ? accept_misplaced(ones, scales, shape, contracts, *misplacement)
                              : accept(ones, scales, shape, contracts);
  std::vector<int> seen;
  for (std::size_t i = 0; i < ones.size(); ++i)
    seen.push_back(static_cast<int>(arithmetic::load_code(a.lo, 4, i) >> 23));
  return seen;
}

TEST(Places, RowwiseAtAPaddedStrideWithAPartialBlock) {
  const Shape shape{2, 40, 3, 5, Direction::rowwise, ScaleLayout::linear};
  EXPECT_EQ(shape.block_cols(), 2u);
  auto scales = bytes({101, 102, 0xFF, 0xFF, 0xFF, 103, 104, 0xFF, 0xFE, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});
  const auto seen = scales_seen(shape, scales);
  for (std::size_t i = 0; i < seen.size(); ++i)
    ASSERT_EQ(seen[i], 101 + static_cast<int>(i / 40 * 2 + i % 40 / 32)) << i;
  for (const std::size_t padding : {2u, 3u, 4u, 7u, 9u, 14u}) scales[padding] = std::byte{77};
  EXPECT_EQ(scales_seen(shape, scales), seen) << "padding is not looked at";
}

TEST(Places, ColwiseWithAPartialBlock) {
  const Shape shape{33, 2, 2, 3, Direction::colwise, ScaleLayout::linear};
  EXPECT_EQ(shape.block_rows(), 2u);
  const auto seen = scales_seen(shape, bytes({101, 102, 0xFF, 103, 104, 0xFF}));
  for (std::size_t i = 0; i < seen.size(); ++i)
    ASSERT_EQ(seen[i], 101 + static_cast<int>(i / 2 / 32 * 2 + i % 2)) << i;
}

TEST(Places, SwizzledIsTheFormulaInBothDirections) {
  for (const Direction direction : {Direction::rowwise, Direction::colwise}) {
    Shape shape{direction == Direction::rowwise ? 200u : 161u,
                direction == Direction::rowwise ? 161u : 200u,
                0,
                0,
                direction,
                ScaleLayout::swizzled};
    shape.scale_rows = shape.least_scale_rows();
    shape.scale_stride = shape.least_scale_stride();
    EXPECT_EQ(shape.scale_rows, direction == Direction::rowwise ? 256u : 8u);
    EXPECT_EQ(shape.scale_stride, direction == Direction::rowwise ? 8u : 256u);
    std::vector<std::byte> scales(shape.scale_rows * shape.scale_stride, std::byte{0xFF});
    for (std::size_t i = 0; i < 200; ++i)
      for (std::size_t j = 0; j < 6; ++j)
        scales[formats::swizzled_place(i, j, 6)] = static_cast<std::byte>(1 + (i * 6 + j) % 200);
    const auto seen = scales_seen(shape, scales);
    for (std::size_t at = 0; at < seen.size(); ++at) {
      const std::size_t row = at / shape.cols, col = at % shape.cols;
      const std::size_t i = direction == Direction::rowwise ? row : col,
                        j = (direction == Direction::rowwise ? col : row) / 32;
      ASSERT_EQ(seen[at], static_cast<int>(1 + (i * 6 + j) % 200)) << row << ", " << col;
    }
  }
}

TEST(Accept, IsTheSameWithAnyNumberOfThreads) {
  for (const Direction direction : {Direction::rowwise, Direction::colwise}) {
    const Shape shape{65, 70, 65, 70, direction, ScaleLayout::linear};
    std::vector<std::byte> data, scales;
    for (std::size_t i = 0; i < 65 * 70; ++i) {
      data.push_back(static_cast<std::byte>(i * 37 % 256));
      scales.push_back(static_cast<std::byte>(i * 91 % 256));
    }
    for (const Format output : outputs) {
      const auto one = accept(data, scales, shape, {Format::e5m2, output});
      EXPECT_TRUE(one.exact() && one.untouched.empty());
      EXPECT_EQ(one.nan, arithmetic::NanRule::canonical);
      for (const unsigned threads : {0u, 2u, 3u, 65u, 1000u})
        EXPECT_EQ(accept(data, scales, shape, {Format::e5m2, output}, Fault::none, threads).lo, one.lo);
    }
  }
}

// ---- faults ----

struct Witness {
  Fault fault;
  std::uint8_t data, scale;
  Contracts contracts;
  std::uint32_t wrong;
};

TEST(Fault, EveryOneOfAnElementIsVisibleAndGivesTheKnownWrongValue) {
  const Contracts fp32_out{Format::e4m3, Format::fp32}, e5m2_out{Format::e5m2, Format::fp32};
  const Contracts fp16_out{Format::e4m3, Format::fp16}, bf16_out{Format::e4m3, Format::bf16};
  const Witness witnesses[] = {
      {Fault::scale_0_flushed, 0xB8, 0, fp32_out, 0x80000000},
      {Fault::scale_0_flushed, 0x7C, 0, e5m2_out, 0x7FFFFFFF},
      {Fault::scale_0_is_one, 0x38, 0, fp32_out, 0x3F800000},
      {Fault::scale_254_infinite, 0xB8, 254, fp32_out, 0xFF800000},
      {Fault::scale_254_infinite, 0x80, 254, fp32_out, 0x7FFFFFFF},
      {Fault::scale_254_flushed, 0x38, 254, fp32_out, 0},
      {Fault::scale_255_infinite, 0x38, 255, fp32_out, 0x7F800000},
      {Fault::scale_255_infinite, 0x00, 255, fp32_out, 0x7FFFFFFF},
      {Fault::scale_255_power, 0x30, 255, fp32_out, 0x7F000000},
      {Fault::scale_one_up, 0x38, 127, fp32_out, 0x40000000},
      {Fault::scale_one_down, 0x38, 127, fp32_out, 0x3F000000},
      {Fault::element_specials_as_numbers, 0xFF, 127, fp32_out, 0xC3F00000},
      {Fault::element_specials_as_numbers, 0x7C, 127, e5m2_out, 0x47800000},
      {Fault::element_subnormal_flushed, 0x87, 127, fp32_out, 0x80000000},
      {Fault::product_sign_of_zero_lost, 0x80, 127, fp32_out, 0},
      {Fault::product_subnormal_flushed, 0x81, 0, fp32_out, 0x80000000},
      {Fault::product_truncated, 0x3C, 127 - 25, fp16_out, 0x0000},
      {Fault::product_overflow_saturated, 0xFE, 254, bf16_out, 0xFF7F},
      {Fault::product_through_fp16, 0x38, 254, bf16_out, 0x7F80},
  };
  std::set<Fault> seen;
  for (const Witness& w : witnesses) {
    seen.insert(w.fault);
    const std::uint32_t faulty = output_code(w.data, w.scale, w.contracts, w.fault);
    EXPECT_EQ(faulty, w.wrong) << "fault " << static_cast<int>(w.fault);
    const bool nan_either_way = w.fault == Fault::scale_255_infinite && w.data == 0;
    EXPECT_EQ(faulty == output_code(w.data, w.scale, w.contracts), nan_either_way)
        << "fault " << static_cast<int>(w.fault);
  }
  const std::set<Fault> of_places = {Fault::element_pairs_swapped, Fault::last_partial_block_stale};
  for (int f = 1; f <= static_cast<int>(last_fault); ++f)
    EXPECT_NE(seen.contains(Fault{static_cast<std::uint8_t>(f)}),
              of_places.contains(Fault{static_cast<std::uint8_t>(f)}))
        << "fault " << f << " has one witness, here or below";
}

TEST(Fault, OfPlaces) {
  const Shape padded{3, 32, 3, 2, Direction::rowwise, ScaleLayout::linear};
  const auto scales = bytes({101, 102, 103, 104, 105, 106});
  EXPECT_EQ(scales_seen(padded, scales)[32], 103);
  EXPECT_EQ(scales_seen(padded, scales, Misplacement::logical_stride)[32], 102);

  const Shape swizzled{128, 64, 128, 4, Direction::rowwise, ScaleLayout::swizzled};
  std::vector<std::byte> tile;
  for (int i = 0; i < 512; ++i) tile.push_back(static_cast<std::byte>(1 + i % 250));
  const std::size_t row = 64;  // elements
  EXPECT_EQ(scales_seen(swizzled, tile)[row], 1 + 16);
  EXPECT_EQ(scales_seen(swizzled, tile, Misplacement::not_swizzled)[row], 1 + 4);
  EXPECT_EQ(scales_seen(swizzled, tile)[32 * row], 1 + 4);
  EXPECT_EQ(scales_seen(swizzled, tile, Misplacement::groups_transposed)[32 * row], 1 + 1);
  EXPECT_EQ(scales_seen(swizzled, tile, Misplacement::groups_transposed)[32], 1 + 4) << "the second block";
  EXPECT_EQ(scales_seen(swizzled, tile, Misplacement::axes_swapped)[row], 1 + 1);
}

TEST(Fault, OfElements) {
  const Contracts c{Format::e4m3, Format::fp32};
  const auto row = accept(bytes({1, 2, 3}), bytes({127}), {1, 3, 1, 1, Direction::rowwise, {}}, c,
                          Fault::element_pairs_swapped);
  EXPECT_EQ(arithmetic::load_code(row.lo, 4, 0), fp32(2, 127));
  EXPECT_EQ(arithmetic::load_code(row.lo, 4, 1), fp32(1, 127));
  EXPECT_EQ(arithmetic::load_code(row.lo, 4, 2), fp32(3, 127)) << "the last of an odd row has no partner";

  const std::vector<std::byte> data(35 * 2, std::byte{0x38});
  const auto stale = accept(data, bytes({127, 127, 127, 127}), {35, 2, 2, 2, Direction::colwise, {}}, c,
                            Fault::last_partial_block_stale);
  ASSERT_EQ(stale.untouched.size(), 1u);
  EXPECT_EQ(stale.untouched[0].begin, 64u);
  EXPECT_EQ(stale.untouched[0].end, 70u);
  const auto rowwise_stale = accept(data, bytes({127, 127, 127, 127}), {2, 35, 2, 2, Direction::rowwise, {}},
                                    c, Fault::last_partial_block_stale);
  ASSERT_EQ(rowwise_stale.untouched.size(), 2u);
  EXPECT_EQ(rowwise_stale.untouched[1].begin, 67u);
  EXPECT_EQ(rowwise_stale.untouched[1].end, 70u);
}

TEST(ProgrammerErrorDeathTest, Asserts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::vector<std::byte> data(64), scales(512);
  const Contracts c;
  EXPECT_DEATH(accept(data, scales, {1, 32, 128, 4, {}, {}}, c), "");
  EXPECT_DEATH(accept(data, scales, {2, 32, 512, 0, {}, {}}, c), "");
  EXPECT_DEATH(accept(data, scales, {2, 32, 64, 8, {}, ScaleLayout::swizzled}, c), "");
  EXPECT_DEATH(accept(data, scales, {2, 32, 128, 4, {}, {}}, {Format::fp16, Format::fp32}), "");
  EXPECT_DEATH(accept(data, scales, {2, 32, 128, 4, {}, {}}, {Format::e4m3, Format::e5m2}), "");
}

}  // namespace
}  // namespace assay::oracles::mxfp8_dequant
