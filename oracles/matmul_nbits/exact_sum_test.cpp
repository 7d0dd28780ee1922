// The exact sums against Boost.Multiprecision.
#include "oracles/matmul_nbits/exact_sum.hpp"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <string>

#include "oracles/matmul_nbits/slow_twin.hpp"
#include "oracles/matmul_nbits/testing.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Dyadic;
using formats::Format;
using testing::Case;
using testing::Draw;

constexpr Format models[] = {Format::fp16, Format::bf16, Format::fp32};

void compare(Format model, const Case& c) {
  const ExactSums sums(model, c.shape, c.operands());
  const slow_twin::Twin twin({model, Schedule::tile}, c.shape, c.operands());
  ExactSums::Weights weights;
  for (std::size_t col = 0; col < c.shape.n; ++col) {
    sums.prepare(col, weights);
    for (std::size_t row = 0; row < c.shape.m; ++row) {
      const Dyadic slow = twin.exact(row, col);
      ASSERT_EQ(sums.sum(row, weights), slow) << "row " << row << " col " << col;
      ASSERT_EQ(exact_element(model, c.shape, c.operands(), row, col), slow);
    }
  }
}

/// All numbers of an operand that code.
void fill(std::vector<std::byte>& codes, Format model, std::uint32_t code) {
  const int bytes = formats::storage_bytes(model);
  for (std::size_t i = 0; i < codes.size() / static_cast<std::size_t>(bytes); ++i)
    arithmetic::store_code(codes, bytes, i, code);
}

TEST(ExactSum, OfAnyFiniteNumbers) {
  std::uint64_t seed = 0;
  for (const Format model : models) {
    for (const Draw draw : {Draw::moderate, Draw::any_finite}) {
      for (const std::size_t bits : {2, 4, 8}) {
        for (const std::size_t block : {16, 32, 256}) {
          for (const std::size_t k : {1, 31, 300, 777})
            compare(model, testing::random_case(model, {2, 2, k, bits, block}, {draw, k % 2 == 0}, ++seed));
        }
      }
    }
  }
}

TEST(ExactSum, OfSubnormalsAlone) {
  for (const Format model : models) {
    Case c = testing::random_case(model, {1, 2, 200, 4, 32}, {}, 9);
    for (std::vector<std::byte>* operand : {&c.a, &c.scales}) {
      const int bytes = formats::storage_bytes(model);
      const std::uint32_t mantissa = (1u << formats::spec(model).mantissa_bits) - 1;
      for (std::size_t i = 0; i < operand->size() / static_cast<std::size_t>(bytes); ++i)
        arithmetic::store_code(*operand, bytes, i,
                               static_cast<std::uint32_t>(testing::mixed(3, i)) & mantissa);
    }
    compare(model, c);
    fill(c.a, model, 1);
    fill(c.scales, model, 1);
    compare(model, c);
  }
}

// The largest sums there are: the same product of the largest numbers, 50,000 times.
TEST(ExactSum, OfLargestNumbersManyTimes) {
  for (const Format model : models) {
    for (const bool negative : {false, true}) {
      Case c = testing::random_case(model, {1, 1, 50000, 8, 256}, {}, 10);
      const std::uint32_t largest = formats::max_finite(model);
      fill(c.a, model, largest);
      fill(c.scales, model, largest);
      for (auto& byte : c.b) byte = negative ? std::byte{0} : std::byte{0xFF};
      for (auto& byte : c.zero_points) byte = negative ? std::byte{0xFF} : std::byte{0};
      const Dyadic square = Dyadic::of(model, largest) * Dyadic::of(model, largest);
      EXPECT_EQ(exact_element(model, c.shape, c.operands(), 0, 0),
                square * Dyadic(negative ? -50000 * 255 : 50000 * 255, 0));
    }
  }
}

// Whatever is added is taken off again: nothing but the one small number at the end is left.
TEST(ExactSum, CancelsToTheLastBit) {
  for (const Format model : models) {
    const std::size_t k = 20001;
    Case c = testing::random_case(model, {1, 1, k, 4, 32}, {Draw::any_finite}, 11);
    const int bytes = formats::storage_bytes(model);
    const std::uint32_t sign = 1u << (formats::spec(model).bits - 1);
    for (std::size_t i = 0; i + 1 < k; i += 2)
      arithmetic::store_code(c.a, bytes, i + 1, arithmetic::load_code(c.a, bytes, i) ^ sign);
    arithmetic::store_code(c.a, bytes, k - 1, 1);
    for (auto& byte : c.b) byte = std::byte{0xCC};  // 12 - 8, alike for both of a pair
    c.zero_points.clear();
    const std::uint32_t last_scale = arithmetic::load_code(c.scales, bytes, c.shape.blocks() - 1);
    EXPECT_EQ(exact_element(model, c.shape, c.operands(), 0, 0),
              Dyadic::of(model, 1) * Dyadic::of(model, last_scale) * Dyadic(4, 0));
  }
}

TEST(ExactSumDeathTest, NeedsFiniteOperands) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const Format model : models) {
    Case c = testing::random_case(model, {1, 1, 40, 4, 32}, {}, 12);
    arithmetic::store_code(c.a, formats::storage_bytes(model), 39, formats::max_finite(model) + 1);
    EXPECT_DEATH(exact_element(model, c.shape, c.operands(), 0, 0), "finite operands");
  }
}

}  // namespace
}  // namespace assay::oracles::matmul_nbits
