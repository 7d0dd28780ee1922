// Each known fault is planted in right outputs, and the diagnosis must name it and nothing else that it is
// not.
#include "properties/mxfp8_cast/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "properties/mxfp8_cast/case_parts.hpp"
#include "properties/mxfp8_cast/testing.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using oracle::Fault;
using oracle::Misplacement;

Point point_of(Direction direction, oracle::ScaleLayout layout, Pattern fill) {
  Point point;
  point.direction = direction;
  point.fill = fill;
  point.transpose = direction == Direction::colwise;
  point.contracts.layout = layout;
  point.shape = {160, 192, {}, {}};
  set_default_extents(point);
  return point;
}

std::vector<std::string> patterns_of(CastWorkload& workload, const Contents& outputs) {
  std::vector<std::string> patterns;
  for (const Diagnosis& one : workload.diagnose(outputs, poisoned(outputs))) patterns.push_back(one.pattern);
  return patterns;
}

using Names = std::vector<std::string>;
constexpr Direction all_directions[] = {Direction::rowwise, Direction::colwise, Direction::bidimensional};
constexpr oracle::ScaleLayout both_layouts[] = {oracle::ScaleLayout::linear, oracle::ScaleLayout::swizzled};

TEST(Diagnosis, RightOutputsHaveNone) {
  for (const Direction direction : all_directions)
    for (const auto layout : both_layouts) {
      CastWorkload workload(point_of(direction, layout, Pattern::any_bits));
      EXPECT_EQ(patterns_of(workload, outputs_with(workload, Fault::none)), Names{});
    }
}

TEST(Diagnosis, NamesEveryFaultOfArithmeticInEveryDirection) {
  struct Planted {
    Fault fault;
    Pattern fill;
    const char* pattern;
    oracle::ScaleRule rule = oracle::ScaleRule::rceil;
    oracle::SpecialBlocks specials = oracle::SpecialBlocks::poison;
  };
  constexpr auto floor = oracle::ScaleRule::floor;
  constexpr auto staged = oracle::SpecialBlocks::te_staged;
  const Planted all[] = {
      {Fault::element_truncated, Pattern::normal, "truncation"},
      {Fault::element_ties_away, Pattern::midpoints, "ties away from zero"},
      {Fault::element_through_fp16, Pattern::midpoints, "double rounding"},
      {Fault::element_overflow_to_nan, Pattern::amax_mantissas, "overflow to NaN", floor},
      {Fault::element_subnormal_flushed, Pattern::subnormals, "subnormal flushed"},
      {Fault::element_zero_sign_lost, Pattern::zeros, "sign of zero lost"},
      {Fault::nan_dropped_by_max, Pattern::nan_lanes, "NaN dropped by max"},
      {Fault::last_left_out_of_amax, Pattern::normal, "last element left out of amax"},
      {Fault::scale_one_up, Pattern::normal, "scale off by one"},
      {Fault::scale_one_down, Pattern::normal, "scale off by one"},
      {Fault::scale_from_divided_amax, Pattern::normal, "exponent taken after the division", floor},
      {Fault::scale_exact_power_doubled, Pattern::amax_mantissas, "exact power of two doubled"},
      {Fault::reciprocal_254_flushed, Pattern::inf_lanes, "reciprocal of 254 flushed",
       oracle::ScaleRule::rceil, staged},
      {Fault::reciprocal_0_is_one, Pattern::scale_extremes, "reciprocal of 0 taken as 1"},
      {Fault::zero_block_nan, Pattern::zeros, "zero block divided by zero"},
  };
  ASSERT_EQ(std::size(all), static_cast<std::size_t>(oracle::last_fault));
  for (const Planted& planted : all) {
    for (const Direction direction : {Direction::rowwise, Direction::colwise}) {
      Point point = point_of(direction, oracle::ScaleLayout::swizzled, planted.fill);
      if (planted.fault == Fault::element_through_fp16) point.input = formats::Format::fp32;
      // In e4m3, Inf * 0 and an Inf that does not saturate are the same NaN.
      if (planted.fault == Fault::reciprocal_254_flushed) point.contracts.element = formats::Format::e5m2;
      point.contracts.scale_rule = planted.rule;
      point.contracts.specials = planted.specials;
      CastWorkload workload(point);
      EXPECT_EQ(patterns_of(workload, outputs_with(workload, planted.fault)), Names{planted.pattern})
          << print(point);
    }
  }
}

/// Where something is wrong in the last rows alone, they decide; nothing that explains the rows before is
/// said.
TEST(Diagnosis, NamesAFaultThatShowsInTheLastRowsAlone) {
  for (const Direction direction : {Direction::rowwise, Direction::colwise})
    for (const std::size_t row : {0u, 33u, 126u, 150u}) {
      const Point point = point_of(direction, oracle::ScaleLayout::swizzled, Pattern::normal);
      auto x = std::make_shared<std::vector<std::byte>>(x_bytes(point));  // bf16 ones, and one NaN
      for (std::size_t i = 0; i < x->size(); i += 2) (*x)[i] = std::byte{0x80}, (*x)[i + 1] = std::byte{0x3F};
      (*x)[(row * point.shape.cols + 100) * 2 + 1] = std::byte{0x7F};
      (*x)[(row * point.shape.cols + 100) * 2] = std::byte{0xC0};
      CastWorkload workload(point, *x, x);
      EXPECT_EQ(patterns_of(workload, outputs_with(workload, Fault::nan_dropped_by_max)),
                Names{"NaN dropped by max"})
          << row;
    }
}

/// One direction's scales where the misplacement puts them; elsewhere as before, or zero as padding.
void misplace(const CastWorkload& workload, oracle::Direction direction, Misplacement how, Contents& outputs,
              std::size_t scales) {
  const Point& point = workload.point();
  const oracle::ScaleMatrix matrix(point.shape, direction, point.contracts.layout);
  ASSERT_TRUE(matrix.can_show(how));
  const auto right = outputs[scales];
  std::fill(outputs[scales].begin(), outputs[scales].end(),
            point.contracts.padding == oracle::Padding::zero ? std::byte{0} : poison);
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    for (std::size_t col = 0; col < matrix.cols(); ++col) {
      const std::size_t at = matrix.misplaced(how, row, col);
      if (at < right.size()) outputs[scales][at] = right[matrix.index(row, col)];
    }
}

TEST(Diagnosis, NamesWhereScalesWereMisplaced) {
  constexpr const char* names[] = {"logical stride", "scales transposed", "swizzle ignored",
                                   "swizzle transposed", "swizzle transposed"};
  for (std::size_t m = 0; m < oracle::misplacements; ++m) {
    const auto layout = oracle::ScaleLayout{m >= 2};
    for (const auto padding : {oracle::Padding::untouched, oracle::Padding::zero}) {
      for (const bool colwise : {false, true}) {
        Point point = point_of(Direction::bidimensional, layout, Pattern::normal);
        point.contracts.padding = padding;
        if (layout == oracle::ScaleLayout::linear)
          point.shape.rowwise.stride += 3, point.shape.colwise.stride += 5;
        CastWorkload workload(point);
        Contents outputs = outputs_with(workload, Fault::none);
        misplace(workload, colwise ? oracle::Direction::colwise : oracle::Direction::rowwise,
                 static_cast<Misplacement>(m), outputs, colwise ? 3 : 1);
        EXPECT_EQ(patterns_of(workload, outputs), Names{names[m]}) << m << " " << print(point);
      }
    }
  }
}

TEST(Diagnosis, NamesBlocksAlongTheWrongDimension) {
  for (const auto layout : both_layouts) {
    CastWorkload both(point_of(Direction::bidimensional, layout, Pattern::ramps));
    const Contents right = outputs_with(both, Fault::none);
    for (const std::size_t wrong : {0u, 2u}) {
      Contents outputs = right;
      outputs[wrong] = right[2 - wrong];
      EXPECT_EQ(patterns_of(both, outputs), Names{"blocks along the wrong dimension"});
    }
  }
}

TEST(Diagnosis, NamesTilesOfAnotherPlace) {
  CastWorkload workload(point_of(Direction::colwise, oracle::ScaleLayout::linear, Pattern::normal));
  Contents outputs = outputs_with(workload, Fault::none);
  const std::size_t cols = workload.point().shape.cols;
  for (std::size_t row = 0; row < 32; ++row) {  // tile (0, 0) shows tile (1, 2)
    const auto from = outputs[0].begin() + static_cast<std::ptrdiff_t>((32 + row) * cols + 64);
    std::copy_n(from, 32, outputs[0].begin() + static_cast<std::ptrdiff_t>(row * cols));
  }
  EXPECT_EQ(patterns_of(workload, outputs), Names{"tile of another place"});
  outputs[0][5] ^= std::byte{1};
  EXPECT_EQ(patterns_of(workload, outputs), Names{}) << "one element more, and it is no tile of this matrix";
}

}  // namespace
}  // namespace assay::properties::mxfp8_cast
