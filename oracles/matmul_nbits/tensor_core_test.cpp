// The step of a tensor core: by hand, and against a slow derivation in big integers.
#include "oracles/matmul_nbits/tensor_core.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "oracles/matmul_nbits/slow_twin.hpp"
#include "oracles/matmul_nbits/testing.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Dyadic;
using formats::Format;
using testing::mixed;
using Codes = std::vector<std::uint32_t>;

std::uint32_t fp16(double x) {
  return formats::encode(Format::fp16, Dyadic::of(x).exact(), formats::Rounding::nearest_even,
                         formats::Overflow::propagate);
}
std::uint32_t fp32(float x) { return std::bit_cast<std::uint32_t>(x); }

TensorSum fast(const Codes& a, const Codes& b, std::uint32_t acc, int bits) {
  std::vector<TensorOperand> x, y;
  for (const std::uint32_t code : a) x.push_back(TensorOperand::of_fp16(code));
  for (const std::uint32_t code : b) y.push_back(TensorOperand::of_fp16(code));
  return tensor_sum(x, y, acc, bits);
}
std::uint32_t fast_values(const std::vector<double>& a, const std::vector<double>& b, float acc, int bits) {
  Codes x, y;
  for (const double v : a) x.push_back(fp16(v));
  for (const double v : b) y.push_back(fp16(v));
  return fast(x, y, fp32(acc), bits).code;
}

TEST(TensorCore, KeepsSoManyFractionalBits) {
  // Against 2^24, four halves are two whole units at 25 fractional bits, and nothing at 24.
  const std::vector<double> ones(4, 1), halves(4, 0.5);
  EXPECT_EQ(fast_values(ones, halves, 0x1p24f, 25), fp32(0x1p24f + 2));
  EXPECT_EQ(fast_values(ones, halves, 0x1p24f, 24), fp32(0x1p24f));
  EXPECT_EQ(fast_values(ones, halves, -0x1p24f, 25), fp32(-0x1p24f + 2));
}

/// What a whole run of mma makes of 16 activations under weights of 1, in fp32 by way of fp16.
double of_weights_one(TensorCores cores, const std::vector<std::pair<std::size_t, double>>& at) {
  std::vector<std::byte> a(32 * 2), b(16, std::byte{0x99}), scale(2);
  for (const auto& [k, x] : at) arithmetic::store_code(a, 2, k, fp16(x));
  arithmetic::store_code(scale, 2, 0, fp16(1));
  const Contracts contracts{Format::fp16, Schedule::mma, 2, cores};
  const auto y = accept(contracts, {1, 1, 32}, {a, b, scale, {}, {}}).lo;
  const formats::Exact x = formats::decode(Format::fp16, arithmetic::load_code(y, 2, 0));
  return std::ldexp(static_cast<double>(x.significand), x.exponent);
}

TEST(TensorCore, GenerationsDifferInStepsAndBits) {
  const auto hopper = TensorCores::hopper, ampere = TensorCores::ampere;
  // Beside 2^15 hopper keeps places down to 2^-10, ampere to 2^-9.
  EXPECT_EQ(of_weights_one(hopper, {{0, 0x1p15}, {1, -0x1p15}, {2, 0x1p-10}}), 0x1p-10);
  EXPECT_EQ(of_weights_one(ampere, {{0, 0x1p15}, {1, -0x1p15}, {2, 0x1p-10}}), 0);
  EXPECT_EQ(of_weights_one(hopper, {{0, 0x1p15}, {1, -0x1p15}, {2, 0x1p-11}}), 0);
  EXPECT_EQ(of_weights_one(ampere, {{0, 0x1p15}, {1, -0x1p15}, {2, 0x1p-9}}), 0x1p-9);
  // The accumulator keeps 24 bits of 2^15 + 2^-9 between two sums: hopper makes one of 16 products.
  EXPECT_EQ(of_weights_one(hopper, {{0, 0x1p15}, {1, 0x1p-9}, {15, -0x1p15}}), 0x1p-9);
  EXPECT_EQ(of_weights_one(ampere, {{0, 0x1p15}, {1, 0x1p-9}, {15, -0x1p15}}), 0);
  EXPECT_EQ(of_weights_one(hopper, {{0, 0x1p15}, {1, 0x1p-9}, {16, -0x1p15}}), 0);
  EXPECT_EQ(of_weights_one(ampere, {{0, 0x1p15}, {7, -0x1p15}, {8, 0x1p-12}}), 0x1p-12);
}

TEST(TensorCore, CutsTowardZeroOnBothSides) {
  // 3/4 of a unit is cut to 1/2 at 25 bits; what is left of the sum is cut to fp32, never rounded up.
  const std::vector<double> a = {0.75, 0.75, 0.75}, one = {1, 1, 1}, minus = {-1, -1, -1};
  EXPECT_EQ(fast_values(a, one, 0x1p24f, 25), fp32(0x1p24f)) << "1.5 of a spacing of 2";
  EXPECT_EQ(fast_values(a, minus, -0x1p24f, 25), fp32(-0x1p24f));
  EXPECT_EQ(fast_values({1.75, 1}, {1, 1}, 0x1p24f, 25), fp32(0x1p24f + 2)) << "1.5 + 1, cut from 2.75";
}

TEST(TensorCore, DoesNotNormaliseProducts) {
  // 1.5 * 1.5 is 2.25 with the exponent 0: a term of 2^-25 still counts. It would not at the exponent 1.
  const double tiny = 0x1p-12;
  EXPECT_EQ(fast_values({1.5, -1.5, tiny}, {1.5, 1.5, tiny / 2}, 0, 25), fp32(0x1p-25f));
  EXPECT_EQ(fast_values({1.5, -1.5, tiny}, {1.5, 1.5, tiny / 4}, 0, 25), fp32(0));
}

TEST(TensorCore, TakesSubnormalsAtTheSmallestExponent) {
  // 2^-24 is 2^-10 * 2^-14: with the exponent -14 its product with 1 keeps all bits down to 2^-39, so a
  // product of 2^-40 is cut off beside it, which the value's own exponent of -24 would not do.
  EXPECT_EQ(fast_values({0x1p-24, 0x1p-20}, {1, 0x1p-20}, 0, 25), fp32(0x1p-24f));
  EXPECT_EQ(fast_values({0x1p-24, 0x1p-20}, {1, 0x1p-19}, 0, 25), fp32(0x1p-24f + 0x1p-39f));
}

TEST(TensorCore, ZerosHaveNoExponent) {
  // 0 * 32768 does not align the rest to 2^15.
  EXPECT_EQ(fast_values({0, 0x1p-12}, {32768, 0x1p-12}, 0, 25), fp32(0x1p-24f));
  EXPECT_EQ(fast_values({-0.0}, {1}, 0, 25), fp32(0));
  EXPECT_EQ(fast_values({1, -1}, {1, 1}, 0, 25), fp32(0));
}

TEST(TensorCore, KeepsAnAccumulatorThatNothingIsAddedTo) {
  const Codes zeros(16, 0x8000), largest(16, 0x7BFF);
  for (const std::uint32_t acc :
       {1u, 0x007FFFFFu, 0x80000001u, 0x00800000u, 0x3F800001u, 0x7F7FFFFFu, 0xFF7FFFFFu})
    EXPECT_EQ(fast(zeros, zeros, acc, 25).code, acc);
  EXPECT_EQ(fast(zeros, largest, 0x80000000, 25).code, 0u) << "-0 and zeros are +0";
  EXPECT_EQ(fast(largest, largest, 0x7F7FFFFF, 25).code, 0x7F7FFFFFu) << "2^36 is nothing to 2^128";
  EXPECT_EQ(fast(largest, largest, 0xFF7FFFFF, 25).code, 0xFF7FFFFFu);
}

TEST(TensorCore, FollowsSpecialValues) {
  const std::uint32_t nan = 0x7E00, infinity = 0x7C00, one = 0x3C00, zero = 0;
  const std::uint32_t nan32 = 0x7FFFFFFF, infinity32 = 0x7F800000;
  EXPECT_EQ(fast({nan}, {zero}, 0, 25).code, nan32);
  EXPECT_EQ(fast({one}, {one}, 0x7FC00001, 25).code, nan32);
  EXPECT_EQ(fast({infinity}, {zero}, 0, 25).code, nan32);
  EXPECT_EQ(fast({infinity}, {one}, 0, 25).code, infinity32);
  EXPECT_EQ(fast({infinity}, {one | 0x8000}, 0, 25).code, infinity32 | 0x80000000);
  EXPECT_EQ(fast({infinity, infinity}, {one, one | 0x8000}, 0, 25).code, nan32);
  EXPECT_EQ(fast({infinity}, {one}, infinity32 | 0x80000000, 25).code, nan32);
  EXPECT_EQ(fast({one}, {one}, infinity32 | 0x80000000, 25).code, infinity32 | 0x80000000);
  EXPECT_EQ(fast({infinity}, {one}, 0, 25).error, HUGE_VAL);
}

/// fp16 codes of one kind of draw.
std::uint32_t operand(std::uint64_t kind, std::uint64_t bits) {
  const auto any = static_cast<std::uint32_t>(bits & 0xFFFF), choice = static_cast<std::uint32_t>(bits >> 16);
  const auto with_field = [&](std::uint32_t field) { return (any & 0x83FF) | field << 10; };
  switch (kind % 5) {
    case 0:
      return with_field(13 + choice % 5);
    case 1:  // any finite
      return (any & 0x7C00) == 0x7C00 ? any ^ 0x4000 : any;
    case 2:  // subnormals beside numbers about 1
      return with_field(choice % 2 == 0 ? 0 : 15);
    case 3:  // zeros between
      return choice % 4 == 0 ? any & 0x8000 : with_field(10 + choice / 4 % 12);
    default:  // some Inf and NaN
      return choice % 16 == 0 ? (any & 0x8300) | 0x7C00 : with_field(15);
  }
}

TEST(TensorCore, AgreesWithASlowDerivation) {
  std::size_t inexact = 0, special = 0, zero = 0;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    const std::size_t width = i % 2 == 0 ? 16 : 8;
    const int bits = i % 2 == 0 ? 25 : 24;
    Codes a, b;
    Dyadic exact;
    for (std::size_t j = 0; j < width; ++j) {
      a.push_back(operand(i / 2, mixed(100, i * 16 + j)));
      b.push_back(operand(i / 2, mixed(101, i * 16 + j)));
    }
    if (i % 7 == 0) {  // cancel the first half against the second
      for (std::size_t j = 0; j < width / 2; ++j) {
        a[width - 1 - j] = a[j] ^ 0x8000;
        b[width - 1 - j] = b[j];
      }
    }
    const std::uint64_t draw = mixed(102, i);
    auto acc = static_cast<std::uint32_t>(draw & 0x807FFFFF);
    switch (i / 10 % 4) {
      case 0:
        acc |= static_cast<std::uint32_t>(127 + (draw >> 32) % 24) << 23;
        break;
      case 1:
        acc |= static_cast<std::uint32_t>(20 + (draw >> 32) % 180) << 23;
        break;
      case 2:
        acc = (draw >> 40) % 8 == 0 ? acc : 0;  // subnormal, or the start
        break;
      default:
        if ((draw >> 40) % 16 == 0) acc |= 0x7F800000u;
        break;
    }
    const TensorSum sum = fast(a, b, acc, bits);
    ASSERT_EQ(sum.code, slow_twin::tensor_sum(a, b, acc, bits)) << "draw " << i;
    if ((sum.code & 0x7F800000) == 0x7F800000) {
      ++special;
      ASSERT_EQ(sum.error, HUGE_VAL);
      continue;
    }
    exact = Dyadic::of(Format::fp32, acc);
    for (std::size_t j = 0; j < width; ++j)
      exact += Dyadic::of(Format::fp16, a[j]) * Dyadic::of(Format::fp16, b[j]);
    const Dyadic error = arithmetic::abs(exact - Dyadic::of(Format::fp32, sum.code));
    ASSERT_LE(error, Dyadic::of(sum.error)) << "draw " << i;
    inexact += !error.is_zero();
    zero += sum.code == 0;
  }
  EXPECT_GT(inexact, 10000u);
  EXPECT_GT(special, 3000u);
  EXPECT_GT(zero, 20u);
}

}  // namespace
}  // namespace assay::oracles::matmul_nbits
