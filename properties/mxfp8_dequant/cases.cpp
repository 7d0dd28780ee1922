#include "properties/mxfp8_dequant/cases.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

using fixture::DataPattern;
using fixture::PaddingFill;
using fixture::ScalePattern;
using formats::Format;
using oracle::Direction;
using oracle::ScaleLayout;

constexpr Format elements[] = {Format::e4m3, Format::e5m2};
constexpr Format outputs[] = {Format::bf16, Format::fp16, Format::fp32};
constexpr Direction directions[] = {Direction::rowwise, Direction::colwise};
constexpr ScaleLayout layouts[] = {ScaleLayout::linear, ScaleLayout::swizzled};
constexpr DataPattern data_patterns[] = {
    DataPattern::every_code, DataPattern::any_bits,   DataPattern::finite,   DataPattern::ordinary,
    DataPattern::zeros,      DataPattern::subnormals, DataPattern::extremes, DataPattern::specials};
constexpr ScalePattern scale_patterns[] = {ScalePattern::every_code, ScalePattern::any,
                                           ScalePattern::extremes, ScalePattern::realistic,
                                           ScalePattern::rounding};
constexpr std::size_t padding_fills = 4;

/// All 24 combinations of element, output, direction and layout.
std::vector<Point> all_contracts() {
  std::vector<Point> points;
  for (const Format element : elements) {
    for (const Format output : outputs) {
      for (const Direction direction : directions) {
        for (const ScaleLayout layout : layouts) {
          Point point;
          point.contracts = {element, output};
          point.shape.direction = direction;
          point.shape.layout = layout;
          points.push_back(point);
        }
      }
    }
  }
  return points;
}

/// Extents of the data, and padding of the scales that rotates with `turn`: tight, a row more, strides that
/// are odd, a multiple of 16 (which wide loads need), of 8 alone, and past a byte; and what the padding
/// holds.
void set_shape(Point& point, std::size_t rows, std::size_t cols, std::size_t turn) {
  constexpr std::size_t extra_rows[] = {0, 1, 0, 3, 0, 0, 0}, extra_stride[] = {0, 0, 1, 16, 259, 8, 24};
  point.shape.rows = rows;
  point.shape.cols = cols;
  set_scale_extents(point.shape, extra_rows[turn % 7], extra_stride[turn % 7]);
  point.pad = PaddingFill{static_cast<std::uint8_t>(turn % padding_fills)};
}

/// Every contract against every pair of patterns, in 64 blocks and a few of a partial block.
void add_contract_grid(std::vector<Point>& points, std::uint64_t seed) {
  std::size_t turn = 0;
  for (const Point& contract : all_contracts()) {
    for (const DataPattern data : data_patterns) {
      for (const ScalePattern scales : scale_patterns) {
        Point point = contract;
        point.data = data;
        point.scales = scales;
        point.seed = seed;
        const bool rowwise = point.shape.direction == Direction::rowwise;
        set_shape(point, rowwise ? 17 : 35, rowwise ? 128 : 32, turn++);
        points.push_back(point);
      }
    }
  }
}

/// All 65,536 pairs of a data and a scale code under every contract.
void add_every_pair(std::vector<Point>& points) {
  for (Point point : all_contracts()) {
    set_shape(point, 64, 1024, points.size());
    points.push_back(point);
  }
}

/// Sizes on both sides of a block, of a swizzle tile (128 by 4 blocks), of a warp and of a thread block.
/// Contracts, paddings and patterns rotate with counts that share no factor.
void add_shape_sweep(std::vector<Point>& points, std::uint64_t seed, std::size_t contracts_per_shape) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t row_counts[] = {1, 2, 31, 32, 33, 64, 65, 100, 127, 128, 129, 160, 257};
  constexpr std::size_t column_counts[] = {1, 3, 31, 32, 33, 64, 96, 127, 128, 129, 160, 256, 512, 1000};
  constexpr DataPattern fills[] = {DataPattern::any_bits, DataPattern::every_code, DataPattern::finite};
  std::size_t turn = 0;
  for (const std::size_t rows : row_counts) {
    for (const std::size_t cols : column_counts) {
      for (std::size_t i = 0; i < contracts_per_shape; ++i, ++turn) {
        Point point = contracts[(turn * 7) % contracts.size()];  // 7 is coprime to 24: visits every contract
        point.data = fills[turn % 3];
        point.scales = turn % 11 == 0 ? ScalePattern::extremes : ScalePattern::realistic;
        point.seed = seed + turn;
        set_shape(point, rows, cols, turn + turn / contracts.size());
        points.push_back(point);
      }
    }
  }
}

/// Buffers off a 16-byte boundary: the scalar route takes them, the vector route refuses data and output by
/// name and takes scales of any alignment.
void add_alignments(std::vector<Point>& points, std::uint64_t seed) {
  struct Alignments {
    std::size_t data, y, scales;
  };
  constexpr Alignments all[] = {{1, 16, 16}, {8, 16, 16},   {16, 4, 16},    {16, 8, 16},  {16, 16, 1},
                                {16, 16, 8}, {16, 16, 256}, {256, 256, 32}, {32, 64, 16}, {2, 4, 2}};
  for (const Point& contract : all_contracts()) {
    for (const Alignments& alignments : all) {
      Point point = contract;
      point.data_alignment = alignments.data;
      point.y_alignment = alignments.y;
      point.scale_alignment = alignments.scales;
      point.scales = ScalePattern::any;
      point.seed = seed;
      set_shape(point, 40, 64, points.size());
      points.push_back(point);
    }
  }
}

/// What the cast makes of ordinary and of extreme inputs, undone.
void add_quantised(std::vector<Point>& points, std::uint64_t seed) {
  using fixtures::mxfp8_cast::Pattern;
  for (Point point : all_contracts()) {
    point.source = Source::quantised;
    for (const Pattern fill : {Pattern::normal, Pattern::scale_extremes, Pattern::every_exponent,
                               Pattern::nan_lanes, Pattern::zeros}) {
      point.fill = fill;
      point.seed = seed;
      point.rule = oracles::mxfp8_cast::ScaleRule{static_cast<std::uint8_t>(points.size() % 4)};
      point.input = outputs[points.size() % 3];
      set_shape(point, 37, 96, points.size());
      points.push_back(point);
    }
  }
}

/// More blocks, and more thread blocks of either route, than 16 bits count; likewise rows, and columns in
/// either direction.
void add_big_grid(std::vector<Point>& points, std::uint64_t seed) {
  Point point;
  point.data = DataPattern::any_bits;
  point.scales = ScalePattern::realistic;
  point.seed = seed;
  set_shape(point, 1, 65600, 1);
  points.push_back(point);
  set_shape(point, 65600, 32, 4);
  points.push_back(point);
  point.shape.direction = Direction::colwise;
  set_shape(point, 1, 65600, 1);
  points.push_back(point);
}

/// Shapes of real layers, in many waves of thread blocks.
void add_large(std::vector<Point>& points, std::uint64_t seed) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t shapes[][2] = {{1024, 1024}, {2880, 2880}, {384, 30528}, {4096, 4096}};
  std::size_t turn = 0;
  for (const auto& [rows, cols] : shapes) {
    for (std::size_t i = 0; i < 6; ++i, ++turn) {
      Point point = contracts[(turn * 7 + 3) % contracts.size()];
      point.data = DataPattern::any_bits;
      point.scales = i % 2 == 0 ? ScalePattern::realistic : ScalePattern::any;
      point.seed = seed + turn;
      set_shape(point, rows, cols, turn);
      points.push_back(point);
    }
  }
}

/// Pairs of codes met in random surroundings: each about 64 times by every contract.
void add_exhaustive(std::vector<Point>& points, std::uint64_t seed) {
  for (Point point : all_contracts()) {
    point.data = DataPattern::any_bits;
    point.scales = ScalePattern::any;
    point.seed = seed;
    set_shape(point, 2048, 2048, points.size());
    points.push_back(point);
  }
}

}  // namespace

std::vector<Point> cases(Level level, std::uint64_t seed) {
  std::vector<Point> points;
  add_contract_grid(points, seed);
  add_alignments(points, seed);
  add_quantised(points, seed);
  add_shape_sweep(points, seed, level == Level::quick ? 4 : 24);
  add_every_pair(points);
  add_big_grid(points, seed);
  if (level != Level::quick) add_large(points, seed);
  if (level == Level::exhaustive) add_exhaustive(points, seed);
  return points;
}

std::vector<Point> golden_cases() {
  std::vector<Point> points;
  for (Point point : all_contracts()) {
    const bool rowwise = point.shape.direction == Direction::rowwise;
    point.scales = ScalePattern::extremes;
    point.pad = PaddingFill::nan;
    point.shape.rows = rowwise ? 4 : 35;
    point.shape.cols = rowwise ? 128 : 32;
    set_scale_extents(point.shape, 1, 2);
    points.push_back(point);
    point.scales = ScalePattern::rounding;
    points.push_back(point);
  }
  return points;
}

std::vector<Point> contracts_for_files(Level level, Format own) {
  const bool fp8 = own == Format::e4m3 || own == Format::e5m2;
  std::vector<Point> points;
  for (Point point : all_contracts()) {
    if (fp8 && point.contracts.element != own) continue;
    // At quick what inference engines do: scales in rows, output bf16.
    const bool usual = point.contracts.output == Format::bf16 && point.shape.layout == ScaleLayout::linear &&
                       point.shape.direction == Direction::rowwise;
    if (level == Level::quick && !usual) continue;
    point.source = Source::file;
    point.scales = ScalePattern::realistic;
    points.push_back(point);
  }
  return points;
}

}  // namespace assay::properties::mxfp8_dequant
