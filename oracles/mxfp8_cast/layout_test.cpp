// Places of scales: the swizzled formula at known points, its inverse, and how known faults misplace them.
#include "oracles/mxfp8_cast/layout.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace assay::oracles::mxfp8_cast {
namespace {

constexpr Direction directions[] = {Direction::rowwise, Direction::colwise};

Shape tight(std::size_t rows, std::size_t cols) {
  Shape shape{rows, cols, {}, {}};
  for (const Direction direction : directions) shape.extent(direction) = shape.scales(direction);
  return shape;
}
Shape tiled(std::size_t rows, std::size_t cols) {
  Shape shape{rows, cols, {}, {}};
  for (const Direction direction : directions) shape.extent(direction) = shape.swizzled(direction);
  return shape;
}

TEST(Shape, ExtentsOfMatrixAndSwizzledBuffer) {
  const Shape shape = tight(130, 192);
  EXPECT_EQ(shape.rowwise, (ScaleExtent{130, 6}));
  EXPECT_EQ(shape.colwise, (ScaleExtent{5, 192}));
  EXPECT_EQ(shape.swizzled(Direction::rowwise), (ScaleExtent{256, 8}));
  EXPECT_EQ(shape.swizzled(Direction::colwise), (ScaleExtent{8, 256}));
  // The reported 2880 x 2880: 22.5 tiles of 128, 90 blocks.
  EXPECT_EQ(tight(2880, 2880).swizzled(Direction::rowwise), (ScaleExtent{2944, 92}));
  EXPECT_EQ(tight(2880, 2880).swizzled(Direction::colwise), (ScaleExtent{92, 2944}));
}

TEST(ScaleMatrix, SwizzledPlacesWorkedOutByHand) {
  const ScaleMatrix rowwise(tiled(300, 320), Direction::rowwise, ScaleLayout::swizzled);  // 3 x 3 tiles
  EXPECT_EQ(rowwise.index(0, 0), 0u);
  EXPECT_EQ(rowwise.index(0, 1), 1u);
  EXPECT_EQ(rowwise.index(0, 4), 512u) << "the next tile along the blocks";
  EXPECT_EQ(rowwise.index(1, 0), 16u);
  EXPECT_EQ(rowwise.index(32, 0), 4u) << "32 rows apart: neighbours";
  EXPECT_EQ(rowwise.index(127, 3), 511u);
  EXPECT_EQ(rowwise.index(128, 0), 3u * 512) << "three tiles cover the ten blocks of a row";
  EXPECT_EQ(rowwise.index(299, 9), (2u * 3 + 2) * 512 + 11 * 16 + 4 + 1);
  const ScaleMatrix colwise(tiled(320, 320), Direction::colwise, ScaleLayout::swizzled);
  EXPECT_EQ(colwise.index(1, 0), 1u) << "j is the block of rows";
  EXPECT_EQ(colwise.index(0, 1), 16u) << "i is the column";
  EXPECT_EQ(colwise.index(0, 32), 4u);
  EXPECT_EQ(colwise.index(4, 0), 512u);
  EXPECT_EQ(colwise.index(0, 128), 3u * 512);
}

TEST(ScaleMatrix, PlaceIsTheInverseOfIndex) {
  for (const auto& [rows, cols] :
       {std::pair<std::size_t, std::size_t>{1, 32}, {33, 96}, {128, 128}, {300, 416}}) {
    for (const Direction direction : directions) {
      for (const ScaleLayout layout : {ScaleLayout::linear, ScaleLayout::swizzled}) {
        Shape shape = tiled(rows, cols);
        if (layout == ScaleLayout::linear) shape.extent(direction).stride += 3;
        const ScaleMatrix matrix(shape, direction, layout);
        std::size_t scales = 0;
        for (std::size_t i = 0; i < matrix.bytes(); ++i) {
          const auto place = matrix.place(i);
          if (!place) continue;
          ++scales;
          ASSERT_EQ(matrix.index(place->row, place->col), i);
        }
        EXPECT_EQ(scales, matrix.rows() * matrix.cols());
      }
    }
  }
}

TEST(Misplacement, IsOfOneLayoutAndPutsEveryScaleInAPlaceOfItsOwn) {
  for (const Direction direction : directions) {
    for (const ScaleLayout layout : {ScaleLayout::linear, ScaleLayout::swizzled}) {
      Shape shape = tiled(192, 192);
      const ScaleMatrix matrix(shape, direction, layout);
      std::size_t shown = 0;
      for (std::size_t m = 0; m < misplacements; ++m) {
        const auto how = static_cast<Misplacement>(m);
        if (!matrix.can_show(how)) continue;
        ++shown;
        std::set<std::size_t> places;
        for (std::size_t row = 0; row < matrix.rows(); ++row)
          for (std::size_t col = 0; col < matrix.cols(); ++col)
            places.insert(matrix.misplaced(how, row, col));
        EXPECT_EQ(places.size(), matrix.rows() * matrix.cols()) << m;
      }
      EXPECT_EQ(shown, layout == ScaleLayout::linear ? 2u : 3u);
    }
  }
}

TEST(Misplacement, PlacesWorkedOutByHand) {
  const Shape shape = tiled(192, 192);
  const ScaleMatrix linear(shape, Direction::colwise, ScaleLayout::linear);  // 6 x 192 in 8 x 256
  EXPECT_EQ(linear.misplaced(Misplacement::logical_stride, 2, 5), 2u * 192 + 5);
  EXPECT_EQ(linear.misplaced(Misplacement::transposed, 2, 5), 5u * 6 + 2);
  const ScaleMatrix swizzled(shape, Direction::colwise, ScaleLayout::swizzled);
  EXPECT_EQ(swizzled.misplaced(Misplacement::not_swizzled, 2, 5), 2u * 256 + 5);
  EXPECT_EQ(swizzled.misplaced(Misplacement::groups_transposed, 2, 37), 5u * 16 + 2 * 4 + 1);
  EXPECT_EQ(swizzled.index(2, 37), 5u * 16 + 1 * 4 + 2);
  EXPECT_EQ(swizzled.misplaced(Misplacement::axes_swapped, 2, 5), 512u + 2 * 16 + 1) << "i = 2, j = 5";
}

TEST(Misplacement, CannotShowWhereNothingMoves) {
  const ScaleMatrix packed(tight(64, 64), Direction::rowwise, ScaleLayout::linear);
  EXPECT_FALSE(packed.can_show(Misplacement::logical_stride));
  EXPECT_TRUE(packed.can_show(Misplacement::transposed));
  const ScaleMatrix row(tight(1, 64), Direction::rowwise, ScaleLayout::linear);
  EXPECT_FALSE(row.can_show(Misplacement::transposed));
  const ScaleMatrix one(tiled(1, 32), Direction::rowwise, ScaleLayout::swizzled);
  EXPECT_FALSE(one.can_show(Misplacement::not_swizzled));
}

}  // namespace
}  // namespace assay::oracles::mxfp8_cast
