// The bits of every schedule against a slow second implementation.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracles/matmul_nbits/oracle.hpp"
#include "oracles/matmul_nbits/run.hpp"
#include "oracles/matmul_nbits/slow_twin.hpp"
#include "oracles/matmul_nbits/testing.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using formats::Format;
using testing::Case;
using testing::Draw;

struct Tally {
  std::size_t elements = 0, nan = 0, infinite = 0, zero = 0;
};

void compare(const Contracts& contracts, const Case& c, Tally& tally) {
  const auto accepted = accept(contracts, c.shape, c.operands(), 2);
  ASSERT_TRUE(accepted.exact());
  ASSERT_EQ(accepted.format, contracts.model);
  ASSERT_EQ(accepted.size(), c.shape.m * c.shape.n);
  const slow_twin::Twin twin(contracts, c.shape, c.operands());
  const int bytes = formats::storage_bytes(contracts.model);
  for (std::size_t row = 0; row < c.shape.m; ++row) {
    for (std::size_t col = 0; col < c.shape.n; ++col) {
      const std::uint32_t code = arithmetic::load_code(accepted.lo, bytes, row * c.shape.n + col);
      ASSERT_EQ(code, twin.y(row, col)) << std::hex << "row " << row << " col " << col;
      ++tally.elements;
      tally.nan += formats::is_nan(contracts.model, code);
      tally.infinite += formats::is_infinity(contracts.model, code);
      tally.zero += (code << (33 - 8 * bytes)) == 0;
    }
  }
}

/// The fp32 accumulators, whose last bits the stores of most elements hide.
void compare_accumulators(const Contracts& contracts, const Case& c) {
  const slow_twin::Twin twin(contracts, c.shape, c.operands());
  const Run<arithmetic::HostArithmetic> run(contracts, c.shape, c.operands());
  run.columns(0, c.shape.n, [&](std::size_t row, std::size_t col, const auto& acc, const auto*) {
    ASSERT_EQ(acc.code(), twin.accumulator(row, col)) << std::hex << "row " << row << " col " << col;
  });
}

/// Both kinds of draws, both forms of every optional operand and both roundings of the bias.
void compare_all(Contracts contracts, const Shape& shape, std::uint64_t seed, Tally& tally) {
  for (const Draw draw : {Draw::moderate, Draw::specials, Draw::any_finite}) {
    for (unsigned i = 0; i < 4; ++i) {
      contracts.bias_round = i % 2 == 0 ? BiasRound::once : BiasRound::twice;
      const testing::Options options{draw, i<2, i> 0, draw == Draw::moderate ? -5 : -9};
      SCOPED_TRACE("draw " + std::to_string(static_cast<int>(draw)) + " variant " + std::to_string(i));
      const Case c = testing::random_case(contracts.model, shape, options, ++seed * 4 + i);
      compare(contracts, c, tally);
      if (i == 0) compare_accumulators(contracts, c);
    }
  }
}

TEST(Schedule, SplitKAsWrittenOut) {
  Tally tally;
  for (const Format model : {Format::fp16, Format::bf16}) {
    for (const std::size_t k_split : {2, 8}) {
      for (const std::size_t k : {1, 8, 31, 77, 256, 600, 1051})
        compare_all({model, Schedule::split_k, k_split}, {k % 3 + 1, 3, k, 4, 32}, k, tally);
    }
  }
  compare_all({Format::fp16, Schedule::split_k, 8}, {1, 1, 4403, 4, 32}, 5, tally);
  EXPECT_GT(tally.nan, 50u);
  EXPECT_GT(tally.infinite, 50u);
  EXPECT_GT(tally.elements - tally.nan - tally.infinite - tally.zero, 500u);
}

TEST(Schedule, MulticolAndNaturalAsWrittenOut) {
  Tally tally;
  for (const Schedule schedule : {Schedule::multicol, Schedule::natural}) {
    for (const std::size_t k : {32, 96, 1024, 1120})
      compare_all({Format::fp16, schedule}, {1, 4, k, 4, 32}, k, tally);
  }
  EXPECT_GT(tally.nan, 10u);
  EXPECT_GT(tally.elements - tally.nan - tally.infinite - tally.zero, 100u);
}

TEST(Schedule, TileAsWrittenOut) {
  Tally tally;
  for (const Format model : {Format::fp16, Format::bf16, Format::fp32}) {
    for (const std::size_t bits : {2, 4, 8}) {
      for (const std::size_t block : {16, 32, 64, 128, 256})
        compare_all({model, Schedule::tile}, {2, 3, 2 * block + bits, bits, block}, block + bits, tally);
    }
  }
  EXPECT_GT(tally.nan, 50u);
  EXPECT_GT(tally.elements - tally.nan - tally.infinite - tally.zero, 500u);
}

TEST(Schedule, MmaAsWrittenOut) {
  Tally tally;
  for (const Format model : {Format::fp16, Format::bf16}) {
    for (const TensorCores cores : {TensorCores::hopper, TensorCores::ampere}) {
      for (const std::size_t bits : {2, 4, 8}) {
        for (const std::size_t k : {1, 16, 40, 99})
          compare_all({model, Schedule::mma, 2, cores}, {2, 2, k, bits, 32}, k + bits, tally);
      }
    }
  }
  EXPECT_GT(tally.nan, 50u);
  EXPECT_GT(tally.elements - tally.nan - tally.infinite - tally.zero, 500u);
}

TEST(Schedule, BitsDoNotDependOnThreads) {
  const Shape shape{5, 37, 1031, 4, 32};
  const Case c = testing::random_case(Format::bf16, shape, {Draw::specials}, 77);
  for (const Schedule schedule : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
    const Contracts contracts{Format::bf16, schedule};
    const auto one = accept(contracts, shape, c.operands(), 1);
    for (const unsigned threads : {0u, 2u, 3u, 64u})
      EXPECT_EQ(accept(contracts, shape, c.operands(), threads).lo, one.lo);
  }
}

}  // namespace
}  // namespace assay::oracles::matmul_nbits
