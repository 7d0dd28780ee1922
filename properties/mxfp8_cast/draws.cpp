#include "properties/mxfp8_cast/draws.hpp"

#include <algorithm>

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

/// So that a thousand draws stay a matter of seconds.
constexpr std::size_t most_blocks = 640;

/// Two in four aligned to 256 bytes, one a multiple of `step` elements (16 bytes of the widest type), one
/// anything.
std::size_t any_offset(std::size_t step) {
  switch (choice(0, 4)) {
    case 2:
      return step * choice<std::size_t>(1, 4);
    case 3:
      return choice<std::size_t>(1, 64);
    default:
      return 0;
  }
}

/// Two in three take whole runs of 128 columns, which the register route needs; of these one is tall.
void draw_rowwise_shape(oracle::Shape& shape) {
  const int kind = choice(0, 6);
  const bool runs = kind >= 2, tall = kind == 5;
  const std::size_t blocks =
      runs ? 4 * *rc::gen::inRange<std::size_t>(1, tall ? 3 : 17) : *rc::gen::inRange<std::size_t>(1, 13);
  const std::size_t most = std::min<std::size_t>(tall ? 300 : 80, most_blocks / blocks);
  shape.rows = *rc::gen::inRange<std::size_t>(1, most + 1);
  shape.cols = blocks * oracle::block;
}

/// Half take whole bands of runs of 256 columns, which the register route needs; one in six is tall.
void draw_colwise_shape(oracle::Shape& shape) {
  const int kind = choice(0, 6);
  if (kind >= 3) {
    const std::size_t runs = *rc::gen::inRange<std::size_t>(1, 4);
    shape.cols = 256 * runs;
    shape.rows = oracle::block * *rc::gen::inRange<std::size_t>(1, 3 / runs + 2);
    return;
  }
  const bool tall = kind == 2;
  const std::size_t blocks = *rc::gen::inRange<std::size_t>(1, tall ? 4 : 17);
  const std::size_t most = std::min<std::size_t>(tall ? 300 : 70, most_blocks / blocks);
  shape.rows = *rc::gen::inRange<std::size_t>(1, most + 1);
  shape.cols = blocks * oracle::block;
}

void draw_extent(oracle::ScaleExtent& extent, const oracle::ScaleExtent& tiled) {
  switch (choice(0, 5)) {
    case 1:
    case 2:
      extent.rows += choice<std::size_t>(0, 4);
      extent.stride += choice<std::size_t>(0, 6);
      break;
    case 3:  // what a block-scaled GEMM reads
      extent = tiled;
      break;
    case 4:
      extent.stride += choice<std::size_t>(200, 300);
      break;
    default:
      break;
  }
}

}  // namespace

void draw_extents(Point& point) {
  point.contracts.layout = oracle::ScaleLayout{choice(0, 5) == 4};
  set_default_extents(point);
  if (point.contracts.layout == oracle::ScaleLayout::swizzled) return;
  for (const auto direction : point.directions())
    draw_extent(point.shape.extent(direction), point.shape.swizzled(direction));
}

void draw_padded_extents(Point& point) {
  point.contracts.layout = oracle::ScaleLayout::linear;
  set_default_extents(point);
  for (const auto direction : point.directions()) {
    point.shape.extent(direction).stride += 1 + choice<std::size_t>(0, 7);
    point.shape.extent(direction).rows += choice<std::size_t>(0, 5);
  }
}

void draw_offsets(Point& point) {
  point.offset = any_offset(8);
  point.data_offset = point.has(oracle::Direction::rowwise) ? any_offset(16) : 0;
  point.colwise_data_offset = point.has(oracle::Direction::colwise) ? any_offset(16) : 0;
}

Point any_point_along(Direction direction, const std::vector<Pattern>& fills) {
  Point point;
  constexpr Format inputs[] = {Format::bf16, Format::fp16, Format::fp32};
  constexpr Format elements[] = {Format::e4m3, Format::e5m2};
  point.direction = direction;
  // The production kernels of the other directions take bf16: two in three.
  const bool any_input = direction == Direction::rowwise || choice(0, 2) == 1;
  point.input = any_input ? inputs[choice<std::size_t>(0, std::size(inputs))] : Format::bf16;
  point.contracts.element = elements[choice<std::size_t>(0, std::size(elements))];
  point.contracts.scale_rule = oracle::ScaleRule{choice<std::uint8_t>(0, 4)};
  point.contracts.specials = oracle::SpecialBlocks{choice<std::uint8_t>(0, 3)};
  point.contracts.padding = oracle::Padding{choice<std::uint8_t>(0, 2)};
  if (direction == Direction::rowwise) {
    draw_rowwise_shape(point.shape);
  } else {
    draw_colwise_shape(point.shape);
    point.transpose = choice(0, 2) == 1;
  }
  draw_extents(point);
  draw_offsets(point);
  point.fill = fills[choice<std::size_t>(0, fills.size())];
  point.seed = choice<std::uint64_t>(1, 1000);
  return point;
}

Point any_point(const std::vector<Pattern>& fills) {
  constexpr Direction directions[] = {Direction::rowwise, Direction::colwise, Direction::bidimensional};
  return any_point_along(directions[choice<std::size_t>(0, std::size(directions))], fills);
}

}  // namespace assay::properties::mxfp8_cast
