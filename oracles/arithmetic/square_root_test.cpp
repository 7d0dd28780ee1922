// The square root against Boost's of big integers: floor and remainder.
#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

#include "oracles/arithmetic/exact_operations.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::arithmetic {
namespace {

using boost::multiprecision::cpp_int;
using formats::Exact;
using formats::Kind;
using formats::twin::draw;

/// root = floor(sqrt(x) / 2^root.exponent) in 31 bits or more, sticky unless nothing remains.
void expect_root(std::uint64_t significand, int exponent) {
  const Exact root = square_root(Exact::finite(false, significand, exponent));
  ASSERT_EQ(root.kind, Kind::finite);
  ASSERT_FALSE(root.negative);
  ASSERT_GE(std::bit_width(root.significand), 31) << significand << " * 2^" << exponent;
  // x in units of the square of the root's.
  const int lift = exponent - 2 * root.exponent;
  ASSERT_GE(lift, 0) << significand << " * 2^" << exponent;
  cpp_int remainder;
  const cpp_int floor = boost::multiprecision::sqrt(cpp_int(cpp_int(significand) << lift), remainder);
  ASSERT_EQ(cpp_int(root.significand), floor) << significand << " * 2^" << exponent;
  ASSERT_EQ(root.sticky, remainder != 0) << significand << " * 2^" << exponent;
}

TEST(SquareRoot, IsTheFloorOfTheRootWithItsSticky) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const std::uint64_t bits = draw(100, i);
    const auto width = static_cast<unsigned>(bits % 32);
    expect_root((bits >> 32 >> width) | 1, static_cast<int>(bits >> 8 & 0x1FF) - 256);
  }
}

/// Where the remainder is nothing, and where it is next to nothing or all but too much.
TEST(SquareRoot, AtSquaresAndBesideThem) {
  for (std::uint64_t n = 1; n < 0x10000; ++n) {
    for (const int exponent : {-149, -2, -1, 0, 7}) {
      expect_root(n * n, exponent);
      expect_root(n * n + 1, exponent);
      if (n > 1) expect_root(n * n - 1, exponent);
    }
  }
  EXPECT_FALSE(square_root(Exact::finite(false, 49, 0)).sticky);
  EXPECT_TRUE(square_root(Exact::finite(false, 49, 1)).sticky);
}

TEST(SquareRoot, OfSpecialValues) {
  EXPECT_EQ(square_root(Exact::nan()).kind, Kind::nan);
  EXPECT_EQ(square_root(Exact::finite(true, 1, 0)).kind, Kind::nan);
  EXPECT_EQ(square_root(Exact::infinity(true)).kind, Kind::nan);
  EXPECT_EQ(square_root(Exact::infinity(false)).kind, Kind::infinity);
  for (const bool negative : {false, true}) {
    const Exact root = square_root(Exact::zero(negative));
    EXPECT_EQ(root.kind, Kind::zero);
    EXPECT_EQ(root.negative, negative);
  }
}

}  // namespace
}  // namespace assay::arithmetic
