#include "oracles/mxfp8_cast/layout.hpp"

#include <cassert>

namespace assay::oracles::mxfp8_cast {
namespace {

std::size_t padded(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

ScaleExtent Shape::scales(Direction direction) const {
  if (direction == Direction::rowwise) return {rows, blocks_per_row()};
  return {bands(), cols};
}

ScaleExtent Shape::swizzled(Direction direction) const {
  const ScaleExtent least = scales(direction);
  if (direction == Direction::rowwise) return {padded(least.rows, 128), padded(least.stride, 4)};
  return {padded(least.rows, 4), padded(least.stride, 128)};
}

ScaleMatrix::ScaleMatrix(const Shape& shape, Direction direction, ScaleLayout layout)
    : direction_(direction),
      layout_(layout),
      scales_(shape.scales(direction)),
      extent_(shape.extent(direction)) {
  assert(extent_.rows >= scales_.rows && extent_.stride >= scales_.stride);
  assert(layout == ScaleLayout::linear || extent_ == shape.swizzled(direction));
}

std::optional<ScaleMatrix::Place> ScaleMatrix::place(std::size_t index) const {
  assert(index < bytes());
  Place place{index / extent_.stride, index % extent_.stride};
  if (layout_ == ScaleLayout::swizzled) {
    // A tile of 512 bytes is 32 rows of 16: four groups, 32 apart along i, of four blocks.
    const std::size_t tiles = padded(blocks(), 4) / 4, tile = index / 512, within = index % 512;
    const std::size_t i = tile / tiles * 128 + within % 16 / 4 * 32 + within / 16;
    const std::size_t j = tile % tiles * 4 + within % 4;
    place = direction_ == Direction::rowwise ? Place{i, j} : Place{j, i};
  }
  if (place.row >= scales_.rows || place.col >= scales_.stride) return std::nullopt;
  return place;
}

bool ScaleMatrix::can_show(Misplacement how) const {
  const bool linear = layout_ == ScaleLayout::linear;
  const bool wants_linear = how == Misplacement::logical_stride || how == Misplacement::transposed;
  if (linear != wants_linear) return false;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t col = 0; col < cols(); ++col) {
      if (misplaced(how, row, col) != index(row, col)) return true;
    }
  }
  return false;
}

std::size_t ScaleMatrix::misplaced(Misplacement how, std::size_t row, std::size_t col) const {
  const bool rowwise = direction_ == Direction::rowwise;
  const std::size_t i = rowwise ? row : col, j = rowwise ? col : row;
  switch (how) {
    case Misplacement::logical_stride:
      return row * scales_.stride + col;
    case Misplacement::transposed:
      return col * scales_.rows + row;
    case Misplacement::not_swizzled:
      return row * extent_.stride + col;
    case Misplacement::groups_transposed: {
      const std::size_t in_tile = i % 32 * 16;
      const std::size_t tile = formats::swizzled_place(i / 128 * 128, j / 4 * 4, blocks());
      return tile + in_tile + j % 4 * 4 + i % 128 / 32;
    }
    case Misplacement::axes_swapped:
      return formats::swizzled_place(j, i, rowwise ? scales_.rows : scales_.stride);
  }
  assert(false && "unknown misplacement");
  return 0;
}

}  // namespace assay::oracles::mxfp8_cast
