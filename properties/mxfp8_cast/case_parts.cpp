#include "properties/mxfp8_cast/case_parts.hpp"

#include <array>

namespace assay::properties::mxfp8_cast {
namespace {

using formats::Format;

constexpr Format inputs[] = {Format::bf16, Format::fp16, Format::fp32};
constexpr Format elements[] = {Format::e4m3, Format::e5m2};
constexpr oracle::ScaleRule rules[] = {oracle::ScaleRule::rceil, oracle::ScaleRule::floor,
                                       oracle::ScaleRule::ceil, oracle::ScaleRule::even};
constexpr oracle::SpecialBlocks specials[] = {oracle::SpecialBlocks::poison, oracle::SpecialBlocks::te_staged,
                                              oracle::SpecialBlocks::te_register};
constexpr oracle::Padding paddings[] = {oracle::Padding::untouched, oracle::Padding::zero};

/// By how much a buffer is larger than its scales; `tiled`, larger than the tiles that hold them.
struct Extra {
  std::size_t rows, stride;
  bool tiled = false, swizzled = false;
};
constexpr std::array<Extra, layouts> extras = {{{0, 0},
                                                {3, 0},
                                                {0, 1},
                                                {3, 2},
                                                {0, 0, true},
                                                {128, 4, true},
                                                {0, 257},
                                                {0, 0, true, true},
                                                {1, 3},
                                                {0, 0, true, true},
                                                {0, 31}}};

}  // namespace

std::vector<Point> all_contracts() {
  std::vector<Point> points;
  for (const Format input : inputs) {
    for (const Format element : elements) {
      for (const auto rule : rules) {
        for (const auto special : specials) {
          Point point;
          point.input = input;
          point.contracts.element = element;
          point.contracts.scale_rule = rule;
          point.contracts.specials = special;
          point.contracts.padding = paddings[points.size() % 2];
          points.push_back(point);
        }
      }
    }
  }
  return points;
}

std::vector<Point> swept_contracts(Level level, std::uint64_t seed) {
  std::vector<Point> points;
  std::size_t turn = 0;
  for (const Point& point : all_contracts()) {
    const std::size_t special = turn % 3, wanted = (turn / 3 + seed) % 3;
    ++turn;
    if (level != Level::quick || point.input == Format::bf16 || special == wanted) points.push_back(point);
  }
  return points;
}

oracle::Padding alternating_padding(std::size_t turn, std::size_t count) {
  return paddings[(turn + turn / count) % 2];
}

void set_layout(Point& point, std::size_t rows, std::size_t cols, std::size_t layout) {
  const Extra& extra = extras[layout];
  point.shape = {rows, cols, {}, {}};
  point.contracts.layout = extra.swizzled ? oracle::ScaleLayout::swizzled : oracle::ScaleLayout::linear;
  for (const auto direction : {oracle::Direction::rowwise, oracle::Direction::colwise}) {
    oracle::ScaleExtent& extent = point.shape.extent(direction);
    extent = extra.tiled ? point.shape.swizzled(direction) : point.shape.scales(direction);
    extent.rows += extra.rows;
    extent.stride += extra.stride;
  }
}

}  // namespace assay::properties::mxfp8_cast
