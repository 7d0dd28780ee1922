// The matrix multiply-add against exact integers: every product and sum as the definition has it, without the
// twin's floating point. And what it asks of a warp.
#include "kernels/device/mma.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <vector>

#include "kernels/device/mma_operands.hpp"
#include "kernels/executor/testing.hpp"
#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/codec.hpp"

namespace assay::kernels::cpu {
namespace {

using boost::multiprecision::cpp_int;
using executor::FaultKind;
using executor::Launch;
using executor::Options;
using executor::testing::all_orders;
using executor::testing::expect_fault;
using formats::Exact;
using formats::Format;
using formats::Kind;
using operands::MmaTile;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float value(std::uint32_t code) { return std::bit_cast<float>(code); }

/// An addend of a sum: significand * 2^unit, and the exponent that it has in the alignment.
struct Addend {
  cpp_int significand;
  int unit, exponent;
};

int exponent_of_f16(Code16 code) { return std::max(static_cast<int>(code >> 10 & 31u), 1) - 15; }

cpp_int signed_significand(const Exact& x) {
  return x.negative ? -cpp_int(x.significand) : cpp_int(x.significand);
}

/// Cut to multiples of 2^(largest - fraction_bits), added, and cut to fp32.
std::uint32_t cut_sum(const std::vector<Addend>& addends, int fraction_bits) {
  int largest = -100000;
  for (const Addend& x : addends) largest = std::max(largest, x.exponent);
  cpp_int sum = 0;
  for (const Addend& x : addends) {
    const int shift = x.unit - (largest - fraction_bits);
    sum += shift >= 0 ? cpp_int(x.significand << shift) : cpp_int(x.significand / (cpp_int(1) << -shift));
  }
  return formats::encode(Format::fp32, arithmetic::Dyadic(sum, largest - fraction_bits).exact(),
                         formats::Rounding::toward_zero, formats::Overflow::propagate);
}

/// One sum of products and c, from codes.
std::uint32_t reference_sum(const std::vector<Code16>& a, const std::vector<Code16>& b, std::uint32_t c,
                            int fraction_bits) {
  std::vector<Addend> addends;
  bool nan = formats::is_nan(Format::fp32, c), positive = c == infinity_f32, negative = c == 0xFF800000u;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Exact x = formats::decode(Format::fp16, a[k]), y = formats::decode(Format::fp16, b[k]);
    const bool infinite = x.kind == Kind::infinity || y.kind == Kind::infinity;
    const bool zero = x.kind == Kind::zero || y.kind == Kind::zero;
    nan |= x.kind == Kind::nan || y.kind == Kind::nan || (infinite && zero);
    if (infinite && !zero) (x.negative == y.negative ? positive : negative) = true;
    if (x.kind == Kind::finite && y.kind == Kind::finite) {
      addends.push_back({signed_significand(x) * signed_significand(y), x.exponent + y.exponent,
                         exponent_of_f16(a[k]) + exponent_of_f16(b[k])});
    }
  }
  if (nan || (positive && negative)) return 0x7FFFFFFFu;
  if (positive || negative) return positive ? infinity_f32 : 0xFF800000u;
  if (const Exact x = formats::decode(Format::fp32, c); x.kind == Kind::finite)
    addends.push_back(
        {signed_significand(x), x.exponent, std::max(static_cast<int>(c >> 23 & 0xFFu), 1) - 127});
  return addends.empty() ? 0u : cut_sum(addends, fraction_bits);
}

std::uint32_t reference_element(MmaModel model, const std::vector<Code16>& a, const std::vector<Code16>& b,
                                std::uint32_t c) {
  if (model == MmaModel::hopper) return reference_sum(a, b, c, 25);
  const auto half = [](const std::vector<Code16>& x, std::ptrdiff_t from) {
    return std::vector<Code16>(x.begin() + from, x.begin() + from + 8);
  };
  return reference_sum(half(a, 8), half(b, 8), reference_sum(half(a, 0), half(b, 0), c, 24), 24);
}

struct Line {
  std::vector<Code16> codes;
  twin::MmaOperands operands{};
  explicit Line(std::vector<Code16> of) : codes(std::move(of)) {
    codes.resize(twin::mma_depth);
    for (unsigned k = 0; k < twin::mma_depth; ++k) twin::set_operand(operands, k, codes[k]);
  }
};
Line row_of(const MmaTile& tile, unsigned row) {
  std::vector<Code16> codes;
  for (unsigned k = 0; k < twin::mma_depth; ++k) codes.push_back(tile.a(row, k));
  return Line(codes);
}
Line col_of(const MmaTile& tile, unsigned col) {
  std::vector<Code16> codes;
  for (unsigned k = 0; k < twin::mma_depth; ++k) codes.push_back(tile.b(k, col));
  return Line(codes);
}

void expect_element(const Line& a, const Line& b, float c) {
  ASSERT_EQ(bits(twin::mma_element<MmaModel::hopper>(a.operands, b.operands, c)),
            reference_element(MmaModel::hopper, a.codes, b.codes, bits(c)));
  ASSERT_EQ(bits(twin::mma_element<MmaModel::ampere>(a.operands, b.operands, c)),
            reference_element(MmaModel::ampere, a.codes, b.codes, bits(c)));
}

TEST(Mma, ElementsAreTheDefinitions) {
  for (std::uint32_t number = 0; number < 256; ++number) {
    const MmaTile tile{number * 32771};
    std::vector<Line> cols;
    for (unsigned col = 0; col < twin::mma_cols; ++col) cols.push_back(col_of(tile, col));
    for (unsigned row = 0; row < twin::mma_rows; ++row) {
      const Line a = row_of(tile, row);
      for (unsigned col = 0; col < twin::mma_cols; ++col) {
        expect_element(a, cols[col], tile.c(row, col));
        ASSERT_FALSE(HasFatalFailure()) << "tile " << tile.number << " row " << row << " col " << col;
      }
    }
  }
}

constexpr Code16 one = 0x3C00u, minus_one = 0xBC00u, largest = 0x7BFFu;

/// What an H200 returns, element for element.
TEST(Mma, ElementsThatTheDeviceWasAskedFor) {
  struct Row {
    std::vector<Code16> a, b;
    std::uint32_t c, d;
  };
  const std::vector<Code16> ones(16, one), minus_zeros(16, 0x8000u), most(16, largest);
  const std::vector<Row> rows{
      {{0x7E01u}, {one}, 0, 0x7FFFFFFFu},
      {{}, {}, 0xFFC01234u, 0x7FFFFFFFu},
      {{0x7C00u}, {0}, 0, 0x7FFFFFFFu},
      {{0x7C00u, 0xFC00u}, {one, one}, 0, 0x7FFFFFFFu},
      {{0x7C00u}, {one}, 0xFF800000u, 0x7FFFFFFFu},
      {{0xFC00u}, {one}, 0x3F800000u, 0xFF800000u},
      {{0x7C00u}, {one}, 0x7F800000u, infinity_f32},
      {{one}, {one}, 0xFF800000u, 0xFF800000u},
      {{}, {}, 0x80000000u, 0},
      {minus_zeros, ones, 0x80000000u, 0},
      {{one, minus_one}, ones, 0x80000000u, 0},
      {{one, minus_one, 0x8001u}, {one, one, 0x3800u}, 0, 0xB3000000u},
      {{one, minus_one, 0x8001u}, {one, one, 0x3400u}, 0, 0},
      {{}, {}, 0x807FFFFFu, 0x807FFFFFu},
      {{1}, {1}, 0x007FFFFFu, 0x27800000u},
      {{0x8001u}, {1}, 0x80000000u, 0xA7800000u},
      {most, most, 0x7F7FFFFFu, 0x7F7FFFFFu},
      {most, most, 0, 0x517FC004u},
      {{0, 1}, {largest, 1}, 0, 0x27800000u},
      {{0}, {largest}, 5, 5},
      {{0x1400u}, {0x0010u}, 0x21800001u, 0x30800000u},
  };
  for (const Row& row : rows) {
    const Line a(row.a), b(row.b);
    EXPECT_EQ(bits(twin::mma_element<MmaModel::hopper>(a.operands, b.operands, value(row.c))), row.d)
        << std::hex << row.c;
    expect_element(a, b, value(row.c));
  }
}

/// Where the models part: in the lowest bit that they keep, and in the fp32 between the halves.
TEST(Mma, ModelsDifferInTheirBitsAndHalves) {
  const auto expect = [](std::vector<Code16> a, std::vector<Code16> b, float hopper, float ampere) {
    const Line row(std::move(a)), col(std::move(b));
    EXPECT_EQ(twin::mma_element<MmaModel::hopper>(row.operands, col.operands, 0.0f), hopper);
    EXPECT_EQ(twin::mma_element<MmaModel::ampere>(row.operands, col.operands, 0.0f), ampere);
  };
  constexpr Code16 two_to_minus_14 = 0x0400u, two_to_minus_12 = 0x0C00u, two_to_minus_11 = 0x1000u;
  expect({one, minus_one, two_to_minus_14}, {one, one, two_to_minus_11}, 0x1p-25f, 0.0f);
  expect({one, minus_one, two_to_minus_12}, {one, one, two_to_minus_12}, 0x1p-24f, 0x1p-24f);
  expect({one, two_to_minus_12, 0, 0, 0, 0, 0, 0, minus_one}, {one, two_to_minus_12, 0, 0, 0, 0, 0, 0, one},
         0x1p-24f, 0.0f);
}

// ---- by a warp ----

/// The tile's product by one warp of a block, as a kernel computes it.
template <MmaModel kModel>
void multiply_tile(const MmaTile& tile, float* out) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4 * 2;
  const auto a_pair = [&](unsigned row, unsigned k) { return tile.a(row, k) | tile.a(row, k + 1) << 16; };
  const auto b_pair = [&](unsigned k) { return tile.b(k, g) | tile.b(k + 1, g) << 16; };
  const MmaA a{{a_pair(g, t), a_pair(g + 8, t), a_pair(g, t + 8), a_pair(g + 8, t + 8)}};
  const MmaB b{{b_pair(t), b_pair(t + 8)}};
  const MmaC c{{tile.c(g, t), tile.c(g, t + 1), tile.c(g + 8, t), tile.c(g + 8, t + 1)}};
  const MmaC d = mma_m16n8k16_f16<kModel>(a, b, c);
  out[g * 8 + t] = d.r[0];
  out[g * 8 + t + 1] = d.r[1];
  out[(g + 8) * 8 + t] = d.r[2];
  out[(g + 8) * 8 + t + 1] = d.r[3];
}

template <MmaModel kModel>
void expect_warps(const Options& options) {
  constexpr unsigned warps = 3, rounds = 9;
  std::vector<float> out(warps * rounds * 128);
  const executor::Counts counts = executor::run(
      {"tiles", {1}, {32 * warps}},
      [&] {
        const unsigned warp = threadIdx.x / 32;
        for (unsigned round = 0; round < rounds; ++round)
          multiply_tile<kModel>(MmaTile{warp * rounds + round}, &out[(warp * rounds + round) * 128]);
      },
      options);
  EXPECT_EQ(counts.collectives, warps * rounds);
  for (unsigned i = 0; i < out.size(); ++i) {
    const MmaTile tile{i / 128};
    const unsigned row = i % 128 / 8, col = i % 8;
    const float expected =
        twin::mma_element<kModel>(row_of(tile, row).operands, col_of(tile, col).operands, tile.c(row, col));
    ASSERT_EQ(bits(out[i]), bits(expected)) << "tile " << i / 128 << " row " << row << " col " << col;
  }
}

TEST(Mma, AWarpGathersItsFragments) {
  for (const Options& options : all_orders()) {
    expect_warps<MmaModel::hopper>(options);
    expect_warps<MmaModel::ampere>(options);
  }
}

/// D of one multiplication is C of the next, and shuffles and barriers come between.
TEST(Mma, ChainsWithOtherCollectives) {
  for (const Options& options : all_orders()) {
    std::vector<float> out(64);
    executor::run(
        {"chain", {1}, {64}},
        [&] {
          MmaC c{};
          const std::uint32_t ones = one | one << 16;
          for (unsigned i = 0; i < 5; ++i) {
            c = mma_m16n8k16_f16<MmaModel::hopper>({{ones, ones, ones, ones}}, {{ones, ones}}, c);
            const float sum = __shfl_xor_sync(~0u, c.r[0], 1) + c.r[3];
            if (i % 2 == 1) __syncthreads();
            c.r[0] = c.r[3] = sum;
          }
          out[threadIdx.x] = c.r[0];
        },
        options);
    EXPECT_EQ(std::count(out.begin(), out.end(), 2 * 16.0f * 31), 64) << out[0];
  }
}

// ---- misuse ----

const Launch one_warp{"matrix", {1}, {32}};

void multiply_ones(executor::Place place = executor::Place::here()) {
  const std::uint32_t ones = one | one << 16;
  mma_m16n8k16_f16<MmaModel::hopper>({{ones, ones, ones, ones}}, {{ones, ones}}, {}, place);
}

TEST(MmaMisuse, ALaneThatExited) {
  expect_fault(FaultKind::exited_lane_read, one_warp,
               {"mma.sync at", "lane (7,0,0), which exited", "mma_test.cpp:"}, [] {
                 if (threadIdx.x == 7) return;
                 multiply_ones();
               });
}

TEST(MmaMisuse, AWarpThatIsNotWhole) {
  expect_fault(FaultKind::exited_lane_read, {"matrix", {1}, {52}},
               {"mma.sync at", "needs lane 20 of warp 1, which does not exist in this block"},
               [] { multiply_ones(); });
}

TEST(MmaMisuse, TwoPlaces) {
  expect_fault(FaultKind::divergent_barrier, one_warp,
               {"divergent mma.sync: it reached mma.sync at", "waits in that at"}, [] {
                 if (threadIdx.x < 16) {
                   multiply_ones();
                 } else {
                   multiply_ones();
                 }
               });
}

TEST(MmaMisuse, TwoModels) {
  expect_fault(FaultKind::mask_mismatch, one_warp, {"different operation", "mma.sync"}, [] {
    const executor::Place place = executor::Place::here();
    if (threadIdx.x < 16) {
      multiply_ones(place);
    } else {
      mma_m16n8k16_f16<MmaModel::ampere>({}, {}, {}, place);
    }
  });
}

TEST(MmaMisuse, AnotherCollective) {
  expect_fault(FaultKind::mask_mismatch, one_warp, {"different operation", "mma.sync", "__shfl_xor_sync"},
               [] {
                 if (threadIdx.x % 2 == 0) {
                   multiply_ones();
                 } else {
                   __shfl_xor_sync(~0u, 1, 1);
                 }
               });
}

TEST(MmaMisuse, AShuffleOfSomeLanes) {
  expect_fault(FaultKind::mask_mismatch, one_warp, {"different masks", "mma.sync", "__shfl_xor_sync"}, [] {
    if (threadIdx.x >= 2) {
      multiply_ones();
    } else {
      __shfl_xor_sync(7u, 1, 1);
    }
  });
}

TEST(MmaMisuse, ABarrierThatOtherLanesWaitAt) {
  expect_fault(FaultKind::divergent_barrier, {"matrix", {1}, {64}}, {"mma.sync", "__syncthreads"}, [] {
    if (threadIdx.x == 40) __syncthreads();
    multiply_ones();
  });
}

}  // namespace
}  // namespace assay::kernels::cpu
