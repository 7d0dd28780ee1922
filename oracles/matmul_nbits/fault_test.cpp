// The known faults: what they make of small inputs worked out by hand, and that each differs from the right
// result.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "oracles/matmul_nbits/oracle.hpp"
#include "oracles/matmul_nbits/testing.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Dyadic;
using formats::Format;
using testing::Case;
using testing::Draw;
using Codes = std::vector<std::uint32_t>;

std::uint32_t code(Format model, double x) {
  return formats::encode(model, Dyadic::of(x).exact(), formats::Rounding::nearest_even,
                         formats::Overflow::propagate);
}
double value(Format model, std::uint32_t c) {
  if (formats::is_infinity(model, c)) return c >> (formats::spec(model).bits - 1) != 0 ? -HUGE_VAL : HUGE_VAL;
  const formats::Exact x = formats::decode(model, c);
  return std::ldexp(x.negative ? -static_cast<double>(x.significand) : static_cast<double>(x.significand),
                    x.exponent);
}

std::vector<std::byte> stored(Format model, const std::vector<double>& values) {
  const int bytes = formats::storage_bytes(model);
  std::vector<std::byte> out(values.size() * static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < values.size(); ++i)
    arithmetic::store_code(out, bytes, i, code(model, values[i]));
  return out;
}
std::vector<std::byte> nibbles(std::size_t count, unsigned nibble) {
  return std::vector<std::byte>(count / 2, static_cast<std::byte>(nibble << 4 | nibble));
}

/// A of ones, all nibbles alike, scales alike, default zero points; to be changed by each test.
Case uniform(Format model, const Shape& shape, unsigned nibble, double scale) {
  Case c;
  c.shape = shape;
  c.a = stored(model, std::vector<double>(shape.m * shape.k, 1));
  c.b = nibbles(2 * shape.n * shape.row_bytes(), nibble);
  c.scales = stored(model, std::vector<double>(shape.n * shape.blocks(), scale));
  return c;
}

Codes codes_of(const Contracts& contracts, const std::vector<std::byte>& bytes) {
  Codes out;
  const int width = formats::storage_bytes(contracts.model);
  for (std::size_t i = 0; i < bytes.size() / static_cast<std::size_t>(width); ++i)
    out.push_back(arithmetic::load_code(bytes, width, i));
  return out;
}
Codes right(const Contracts& contracts, const Case& c) {
  return codes_of(contracts, accept(contracts, c.shape, c.operands()).lo);
}
Codes wrong(Fault fault, const Contracts& contracts, const Case& c) {
  return codes_of(contracts, faulty(fault, contracts, c.shape, c.operands()));
}
std::vector<double> values(const Contracts& contracts, const Codes& codes) {
  std::vector<double> out;
  for (const std::uint32_t c : codes) out.push_back(value(contracts.model, c));
  return out;
}
using Values = std::vector<double>;

/// Every schedule that can compute fp16 with 4 bits in blocks of 32.
std::vector<Contracts> fp16_schedules() {
  std::vector<Contracts> all;
  for (const Schedule s :
       {Schedule::split_k, Schedule::multicol, Schedule::natural, Schedule::tile, Schedule::mma})
    all.push_back({Format::fp16, s});
  return all;
}

TEST(PublicFault, B23_StagingThroughFp16RoundsTwice) {
  Case near_one = uniform(Format::bf16, {1, 8, 32}, 9, 1);
  std::vector<double> row(32, 0.0);
  row[0] = 1, row[1] = 0x1p-8, row[2] = 0x1p-12;
  near_one.a = stored(Format::bf16, row);
  Case large = uniform(Format::bf16, {1, 8, 64}, 15, 1);
  large.a = stored(Format::bf16, std::vector<double>(64, 256));
  for (const Schedule s : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
    const Contracts contracts{Format::bf16, s};
    EXPECT_EQ(right(contracts, near_one), Codes(8, 0x3F80));
    EXPECT_EQ(wrong(Fault::direct_rounding, contracts, near_one), Codes(8, 0x3F81));
    EXPECT_EQ(right(contracts, large), Codes(8, 0x7F80)) << "114688 is beyond fp16";
    EXPECT_EQ(wrong(Fault::direct_rounding, contracts, large), Codes(8, 0x47E0));
    EXPECT_EQ(wrong(Fault::saturated, contracts, large), Codes(8, 0x4780)) << "65504, then bf16";
  }
  // |acc| <= 2^-25 is 0 by way of fp16.
  Case tiny = uniform(Format::bf16, {1, 8, 32}, 9, 0x1p-14);
  row.assign(32, 0.0);
  row[0] = 0x1p-11;
  tiny.a = stored(Format::bf16, row);
  const Contracts tile{Format::bf16, Schedule::tile};
  EXPECT_EQ(right(tile, tiny), Codes(8, 0));
  EXPECT_EQ(wrong(Fault::direct_rounding, tile, tiny), Codes(8, code(Format::bf16, 0x1p-25)));
}

TEST(PublicFault, B24_RowsArePaddedToWholeBlocks) {
  Case c = uniform(Format::fp16, {1, 2, 48}, 8, 1);
  for (std::size_t i = 24; i < 32; ++i) c.b[i] = std::byte{0xFF};  // padding of row 0: 15
  for (std::size_t i = 32; i < 64; ++i) c.b[i] = i < 56 ? std::byte{0x99} : std::byte{0xFF};
  for (const Schedule s : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
    const Contracts contracts{Format::fp16, s};
    EXPECT_EQ(values(contracts, right(contracts, c)), (Values{0, 48}));
    EXPECT_EQ(values(contracts, wrong(Fault::row_stride_without_padding, contracts, c)), (Values{0, 144}));
  }
}

TEST(PublicFault, B25_TheDefaultZeroPointIsHalfTheRange) {
  for (const Contracts& contracts : fp16_schedules()) {
    const Case eights = uniform(Format::fp16, {1, 1, 32}, 8, 1),
               nines = uniform(Format::fp16, {1, 1, 32}, 9, 1);
    EXPECT_EQ(values(contracts, right(contracts, eights)), (Values{0}));
    EXPECT_EQ(values(contracts, wrong(Fault::zero_point_ignored, contracts, eights)), (Values{256}));
    EXPECT_EQ(values(contracts, right(contracts, nines)), (Values{32}));
  }
}

TEST(PublicFault, B26_ZeroPointsOfARowArePaddedToBytes) {
  Case c = uniform(Format::fp16, {1, 3, 96}, 0, 1);
  c.zero_points.assign(6, std::byte{0xF0});  // the unused nibble of a row's second byte holds 15
  for (unsigned n = 0; n < 3; ++n) {
    const unsigned first = 3 * n;
    c.zero_points[2 * n] = static_cast<std::byte>(first | (first + 1) << 4);
    c.zero_points[2 * n + 1] = static_cast<std::byte>((first + 2) | 0xF0);
    for (unsigned b = 0; b < 3; ++b)
      for (unsigned i = 0; i < 16; ++i) c.b[n * 48 + b * 16 + i] = static_cast<std::byte>((first + b) * 0x11);
  }
  for (const Contracts& contracts : fp16_schedules()) {
    EXPECT_EQ(values(contracts, right(contracts, c)), (Values{0, 0, 0}));
    // Column 1, read on from nibble 3: 15 (unused), 3, 4, for codes 3, 4, 5; column 2 from 6: 5, 15, 6 for 6,
    // 7, 8.
    EXPECT_EQ(values(contracts, wrong(Fault::zero_points_not_padded, contracts, c)),
              (Values{0, 32 * (3 - 15 + 4 - 3 + 5 - 4), 32 * (6 - 5 + 7 - 15 + 8 - 6)}));
    EXPECT_EQ(values(contracts, wrong(Fault::zero_points_swapped, contracts, c))[0],
              32 * (0 - 1 + 1 - 0 + 2 - 15));
  }
}

TEST(PublicFault, B30_ZeroPointHoistedOutOfTheProductOverflows) {
  for (const double scale : {4368.0, 5000.0}) {
    Case c = uniform(Format::fp16, {1, 1, 32}, 15, scale);
    c.zero_points = {std::byte{0xFF}};
    for (const Schedule s : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
      const Contracts contracts{Format::fp16, s};
      EXPECT_EQ(values(contracts, right(contracts, c)), (Values{0}));
      EXPECT_EQ(values(contracts, wrong(Fault::zero_hoisted, contracts, c)), (Values{-HUGE_VAL}));
    }
  }
  Case c = uniform(Format::fp16, {1, 1, 32}, 15, 4364);
  c.zero_points = {std::byte{0xFF}};
  const Contracts contracts{Format::fp16, Schedule::split_k};
  EXPECT_EQ(values(contracts, right(contracts, c)), (Values{0}));
  // -65460 lies between the numbers -65472 and -65440, of which it goes to the first; each weight is 12
  // short.
  EXPECT_EQ(values(contracts, wrong(Fault::zero_hoisted, contracts, c)), (Values{-384}));
}

TEST(PublicFault, B42_EveryCodeAndZeroPoint) {
  for (const Contracts& contracts : fp16_schedules()) {
    for (unsigned q = 0; q < 16; ++q) {
      for (unsigned z = 0; z < 16; ++z) {
        Case c = uniform(Format::fp16, {1, 1, 32}, q, 1);
        c.zero_points = {static_cast<std::byte>(z | 0xA0)};
        const int difference = static_cast<int>(q) - static_cast<int>(z);
        ASSERT_EQ(values(contracts, right(contracts, c)), (Values{32.0 * difference}));
        ASSERT_EQ(values(contracts, wrong(Fault::code_off_by_one, contracts, c)),
                  (Values{32.0 * (difference - 1)}));
        const int as_signed = static_cast<int>(q ^ 8) - 8;
        ASSERT_EQ(values(contracts, wrong(Fault::codes_signed, contracts, c)), (Values{32.0 * as_signed}));
      }
    }
  }
}

TEST(PublicFault, B50_AScaleIgnoredShowsWhereItIsNotOne) {
  for (const double scale : {0.5, 3.0}) {
    for (const Contracts& contracts : fp16_schedules()) {
      const Case c = uniform(Format::fp16, {1, 2, 32}, 11, scale);
      EXPECT_EQ(values(contracts, right(contracts, c)), (Values{96 * scale, 96 * scale}));
      EXPECT_EQ(values(contracts, wrong(Fault::scale_ignored, contracts, c)), (Values{96, 96}));
    }
  }
}

TEST(Fault, HandComputedOfOneHotRows) {
  // A is 1 at one place; codes count up within each block of 16 pairs: element k has code k % 16.
  const auto one_hot = [](std::size_t k, std::size_t at) {
    Case c = uniform(Format::fp16, {1, 1, k}, 0, 2);
    for (std::size_t i = 0; i < c.b.size(); ++i)
      c.b[i] = static_cast<std::byte>(2 * i % 16 | (2 * i + 1) % 16 << 4);
    std::vector<double> row(k, 0.0);
    row[at] = 1;
    c.a = stored(Format::fp16, row);
    return c;
  };
  const Contracts split{Format::fp16, Schedule::split_k}, tile{Format::fp16, Schedule::tile};
  EXPECT_EQ(values(tile, right(tile, one_hot(64, 5))), (Values{2 * (5 - 8)}));
  EXPECT_EQ(values(tile, wrong(Fault::nibbles_swapped, tile, one_hot(64, 5))), (Values{2 * (4 - 8)}));
  EXPECT_EQ(values(split, right(split, one_hot(69, 66))), (Values{2 * (2 - 8)}));
  EXPECT_EQ(values(split, wrong(Fault::tail_dropped, split, one_hot(69, 66))), (Values{0}));
  EXPECT_EQ(values(split, wrong(Fault::last_block_dropped, split, one_hot(64, 34))), (Values{0}));
  EXPECT_EQ(values(split, wrong(Fault::last_block_dropped, split, one_hot(64, 31))), (Values{2 * (15 - 8)}));
  EXPECT_EQ(values(split, wrong(Fault::last_split_dropped, split, one_hot(512, 300))), (Values{0}));
  EXPECT_EQ(values(split, wrong(Fault::splits_stop_early, split, one_hot(512, 255))), (Values{2 * (15 - 8)}));
}

/// 2^15 + 2^-10 - 2^15: nothing is left from left to right, and 2^-10 when elements 0 and 2 meet first.
Case order_matters(Format model) {
  Case c = uniform(model, {1, 1, 32}, 9, 1);
  std::vector<double> row(32, 0.0);
  row[0] = 0x1p15, row[1] = 0x1p-10, row[2] = -0x1p15;
  c.a = stored(model, row);
  return c;
}

TEST(Fault, OtherPairsAddInAnotherOrder) {
  const Contracts split{Format::fp16, Schedule::split_k};
  EXPECT_EQ(values(split, right(split, order_matters(Format::fp16))), (Values{0}));
  EXPECT_EQ(values(split, wrong(Fault::other_pairs, split, order_matters(Format::fp16))), (Values{0x1p-10}));
  // In one fp16 chain 2^11 + 1 + 1 stays 2^11; where 1 + 1 meet in the other chain they are not lost.
  Case c = uniform(Format::fp16, {1, 1, 32}, 9, 1);
  std::vector<double> row(32, 0.0);
  row[0] = 0x1p11, row[1] = 1, row[3] = 1;
  c.a = stored(Format::fp16, row);
  const Contracts multicol{Format::fp16, Schedule::multicol}, natural{Format::fp16, Schedule::natural};
  EXPECT_EQ(values(multicol, right(multicol, c)), (Values{0x1p11}));
  EXPECT_EQ(values(multicol, wrong(Fault::other_pairs, multicol, c)), (Values{0x1p11 + 2}));
  EXPECT_EQ(values(natural, right(natural, c)), (Values{0x1p11 + 2}));
  EXPECT_EQ(values(natural, wrong(Fault::other_pairs, natural, c)), (Values{0x1p11}));
}

TEST(Fault, ScalesReadElsewhere) {
  Case c = uniform(Format::fp16, {1, 2, 64}, 9, 1);
  c.scales = stored(Format::fp16, {1, 2, 4, 8});
  for (const Contracts& contracts : fp16_schedules()) {
    EXPECT_EQ(values(contracts, right(contracts, c)), (Values{32 * 3, 32 * 12}));
    EXPECT_EQ(values(contracts, wrong(Fault::scale_of_next_block, contracts, c)), (Values{32 * 6, 32 * 16}));
    EXPECT_EQ(values(contracts, wrong(Fault::scales_transposed, contracts, c)), (Values{32 * 5, 32 * 10}));
  }
}

TEST(Fault, StoresGoneWrong) {
  // acc = 1 + 2^-11 + 2^-12 in fp32: fp16 goes up to 1 + 2^-10, truncation stays at 1.
  Case c = uniform(Format::fp16, {1, 1, 32}, 9, 1);
  std::vector<double> row(32, 0.0);
  row[0] = 1, row[1] = 0x1p-11, row[2] = 0x1p-12;
  c.a = stored(Format::fp16, row);
  const Contracts tile{Format::fp16, Schedule::tile};
  EXPECT_EQ(right(tile, c), Codes{0x3C01});
  EXPECT_EQ(wrong(Fault::truncated, tile, c), Codes{0x3C00});
  // The same by way of fp16 to bf16, where it is the last rounding that is cut: 1 + 3/4 of a place.
  Case narrow = uniform(Format::bf16, {1, 1, 32}, 9, 1);
  std::vector<double> places(32, 0.0);
  places[0] = 1, places[1] = 0x1p-8, places[2] = 0x1p-9;
  narrow.a = stored(Format::bf16, places);
  const Contracts bf16_tile{Format::bf16, Schedule::tile};
  EXPECT_EQ(right(bf16_tile, narrow), Codes{0x3F81});
  EXPECT_EQ(wrong(Fault::truncated, bf16_tile, narrow), Codes{0x3F80});
  // With a bias of -1 the sum before the last rounding is 2^-11 + 2^-12, by the other contract 2^-10.
  c.bias = stored(Format::fp16, {-1});
  EXPECT_EQ(values(tile, right(tile, c)), (Values{0x1p-11 + 0x1p-12}));
  EXPECT_EQ(values(tile, wrong(Fault::bias_twice_for_once, tile, c)), (Values{0x1p-10}));
  EXPECT_EQ(values(tile, wrong(Fault::bias_dropped, tile, c)), (Values{1 + 0x1p-10}));
  const Contracts twice{Format::fp16, Schedule::tile, 2, {}, BiasRound::twice};
  EXPECT_EQ(values(twice, right(twice, c)), (Values{0x1p-10}));
  EXPECT_EQ(values(twice, wrong(Fault::bias_twice_for_once, twice, c)), (Values{0x1p-11 + 0x1p-12}));

  const Case large = uniform(Format::fp16, {1, 1, 32}, 15, 4000),
             tiny = uniform(Format::fp16, {1, 1, 32}, 7, 0x1p-20);
  EXPECT_EQ(right(tile, large), Codes{0x7C00});
  EXPECT_EQ(wrong(Fault::saturated, tile, large), Codes{0x7BFF});
  EXPECT_EQ(wrong(Fault::truncated, tile, large), Codes{0x7BFF});
  EXPECT_EQ(values(tile, right(tile, tiny)), (Values{-0x1p-15}));
  EXPECT_EQ(wrong(Fault::subnormals_flushed, tile, tiny), Codes{0x8000});
}

/// Random operands of many models and schedules, wide enough for every fault to show.
std::vector<std::pair<Contracts, Case>> many_cases() {
  std::vector<std::pair<Contracts, Case>> all;
  std::uint64_t seed = 7000;
  const auto add = [&](const Contracts& contracts, const Shape& shape) {
    const auto with = [&](const testing::Options& options) {
      all.emplace_back(contracts, testing::random_case(contracts.model, shape, options, ++seed));
    };
    for (const int centre : {-5, 5}) with({Draw::moderate, true, true, centre});
    with({Draw::specials, true, true, -5});
    // Subnormal results without a bias; results that overflow though the sums in fp16 do not.
    for (const int centre : {-23, -21, 6, 7, 8}) with({Draw::moderate, true, false, centre});
  };
  for (const Format model : {Format::fp16, Format::bf16}) {
    add({model, Schedule::split_k, 2}, {2, 16, 813});
    add({model, Schedule::mma}, {2, 16, 300, 4, 64});  // 2 bits times a bf16 scale need no rounding
    add({model, Schedule::tile}, {2, 16, 300, 4, 64});
  }
  add({Format::fp32, Schedule::tile}, {2, 16, 300, 4, 16});
  add({Format::fp16, Schedule::multicol}, {1, 128, 1120});
  add({Format::fp16, Schedule::natural}, {1, 128, 1120});
  // The pairs of split_k decide nothing but the order of eight fp32 additions a lane.
  for (const Format model : {Format::fp16, Format::bf16})
    all.emplace_back(Contracts{model, Schedule::split_k}, order_matters(model));
  return all;
}

// Where a fault has a meaning it shows somewhere, and every fault has one somewhere.
TEST(Fault, EachDiffersFromTheRightResult) {
  const auto cases = many_cases();
  for (std::size_t f = 0; f < fault_count; ++f) {
    const auto fault = static_cast<Fault>(f);
    std::set<std::pair<Format, Schedule>> meant, seen;
    for (const auto& [contracts, c] : cases) {
      const Codes y = wrong(fault, contracts, c);
      if (y.empty()) continue;
      ASSERT_EQ(y.size(), c.shape.m * c.shape.n);
      meant.emplace(contracts.model, contracts.schedule);
      if (y != right(contracts, c)) seen.emplace(contracts.model, contracts.schedule);
    }
    EXPECT_FALSE(seen.empty()) << to_string(fault);
    EXPECT_EQ(seen, meant) << to_string(fault);
  }
}

TEST(Fault, MeansNothingWhereItCannotShow) {
  Case plain = uniform(Format::fp32, {1, 1, 32}, 9, 2);
  const Contracts tile{Format::fp32, Schedule::tile};
  const std::set<Fault> meant = {Fault::nibbles_swapped, Fault::code_off_by_one,
                                 Fault::codes_signed,    Fault::zero_point_ignored,
                                 Fault::scale_ignored,   Fault::last_block_dropped};
  for (std::size_t f = 0; f < fault_count; ++f) {
    const auto fault = static_cast<Fault>(f);
    EXPECT_EQ(wrong(fault, tile, plain).empty(), !meant.contains(fault)) << to_string(fault);
  }
  const Contracts split{Format::fp16, Schedule::split_k};
  const Case short_row = uniform(Format::fp16, {1, 1, 256}, 9, 2);
  EXPECT_TRUE(wrong(Fault::last_split_dropped, split, short_row).empty()) << "the last slice has no element";
  EXPECT_TRUE(wrong(Fault::splits_stop_early, split, short_row).empty());
  Case bytes = testing::random_case(Format::fp16, {1, 4, 64, 8, 32}, {}, 1);
  const Contracts bytes_tile{Format::fp16, Schedule::tile};
  EXPECT_TRUE(wrong(Fault::nibbles_swapped, bytes_tile, bytes).empty());
  EXPECT_TRUE(wrong(Fault::zero_points_not_padded, bytes_tile, bytes).empty());
}

TEST(Fault, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (std::size_t f = 0; f < fault_count; ++f) names.insert(to_string(static_cast<Fault>(f)));
  EXPECT_EQ(names.size(), fault_count);
  EXPECT_EQ(to_string(Fault::other_pairs), "other pairs");
}

}  // namespace
}  // namespace assay::oracles::matmul_nbits
