#include "properties/mxfp8_cast/cases.hpp"

#include <fmt/core.h>

#include <utility>

#include "properties/mxfp8_cast/case_parts.hpp"
#include "properties/mxfp8_cast/direction_cases.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

void set_shape(Point& point, std::size_t rows, std::size_t cols, std::size_t extra_rows,
               std::size_t extra_stride) {
  point.shape = {rows, cols, {rows + extra_rows, cols / oracle::block + extra_stride}, {}};
}

void add_reported(std::vector<Point>& points) {
  for (const auto& reported : fixtures::mxfp8_cast::reported()) {
    std::string text = fmt::format("mxfp8_cast:in={}", formats::spec(reported.input).name);
    if (!reported.contracts.empty()) text += "," + reported.contracts;
    text += fmt::format(",rows={},cols={}", reported.rows, reported.cols);
    if (reported.scale_rows != 0)
      text += fmt::format(",srows={},stride={}", reported.scale_rows, reported.scale_stride);
    points.push_back(parse(fmt::format("{},reported={}", text, reported.id)));
  }
}

/// Rows of 128 columns in which the features of a pattern's list all occur.
std::size_t rows_for(Pattern pattern) {
  switch (pattern) {
    case Pattern::midpoints:
      return 13;  // 50 blocks
    case Pattern::nan_counts:
      return 19;  // 76
    case Pattern::scale_extremes:
      return 45;  // up to 177
    case Pattern::every_exponent:
      return 72;  // up to 277
    case Pattern::tile_specials:
      return 96;  // three of a tile's corners and a lane; more come with more columns
    default:
      return 9;
  }
}

/// Every contract against every pattern. The layout of the scales rotates, so that each contract meets all.
void add_contract_grid(std::vector<Point>& points, std::uint64_t seed) {
  const auto patterns = fixtures::mxfp8_cast::pattern_names().size();
  std::size_t turn = 0;
  for (const Point& contract : all_contracts()) {
    for (std::size_t pattern = 0; pattern < patterns; ++pattern, ++turn) {
      Point point = contract;
      point.fill = Pattern{static_cast<std::uint8_t>(pattern)};
      point.seed = seed;
      set_layout(point, rows_for(point.fill), 128, turn % layouts);
      points.push_back(point);
    }
  }
}

/// The sweep of block maxima, under every contract at full: for bf16 and fp16 the whole list, every mantissa
/// in every binade it names; for fp32, at quick, the finely swept binade and the next of its fifteen.
void add_amax_sweep(std::vector<Point>& points, Level level, std::uint64_t seed) {
  for (Point point : swept_contracts(level, seed)) {
    point.fill = Pattern::amax_mantissas;
    point.seed = seed;
    const std::size_t blocks = point.input == Format::bf16   ? 1920
                               : point.input == Format::fp16 ? 8192
                               : level == Level::quick       ? 12288
                                                             : 65536;
    constexpr std::size_t cols = 512;
    set_layout(point, blocks / (cols / oracle::block), cols, points.size() % layouts);
    points.push_back(point);
  }
}

/// Sizes on both sides of the tiles of either route (64 rows by 64 columns; 128 columns), of a warp and of a
/// thread block. Contracts, layouts and fills rotate with the coprime counts 72, 11 and 5, so that none is
/// tied to another. Shapes over 2^14 elements get a sixth of the contracts.
void add_shape_sweep(std::vector<Point>& points, std::uint64_t seed, std::size_t contracts_per_shape) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t row_counts[] = {1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 192, 256, 300};
  constexpr std::size_t column_counts[] = {32, 64, 96, 128, 160, 256, 384, 512, 640, 1024};
  constexpr Pattern fills[] = {Pattern::normal, Pattern::ramps, Pattern::finite_bits, Pattern::any_bits,
                               Pattern::every_exponent};
  std::size_t turn = 0;
  for (const std::size_t rows : row_counts) {
    for (const std::size_t cols : column_counts) {
      const bool large = rows * cols > std::size_t{1} << 14;
      for (std::size_t i = 0; i < (large ? contracts_per_shape / 6 : contracts_per_shape); ++i, ++turn) {
        Point point =
            contracts[(turn * 29) % contracts.size()];  // 29 is coprime to 72: visits every contract
        point.contracts.padding = alternating_padding(turn, contracts.size());
        point.fill = fills[turn % std::size(fills)];
        point.seed = seed + turn;
        set_layout(point, rows, cols, turn % layouts);
        points.push_back(point);
      }
    }
  }
}

/// Buffers that start off a 16-byte boundary: the staged route must take them by its narrow loads and stores,
/// the register route refuse them by name. What a narrow access may get wrong depends on the value, so every
/// contract meets every offset, and the patterns rotate.
void add_offsets(std::vector<Point>& points, std::uint64_t seed) {
  struct Offsets {
    std::size_t x, data;
  };
  constexpr Offsets all_offsets[] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0},  {0, 1},
                                     {0, 2}, {0, 4}, {0, 8}, {3, 1}, {32, 16}, {12, 32}};
  const auto patterns = fixtures::mxfp8_cast::pattern_names().size();
  std::size_t turn = 0;
  for (const Point& contract : all_contracts()) {
    for (const Offsets& offsets : all_offsets) {
      Point point = contract;
      point.offset = offsets.x;
      point.data_offset = offsets.data;
      point.fill = Pattern{static_cast<std::uint8_t>(turn++ % patterns)};
      point.seed = seed;
      set_shape(point, 5, 256, 0, 0);
      points.push_back(point);
    }
  }
}

/// Grids that outgrow narrow indices: 65,600 blocks of 32, more than 16 bits count, in 257 tiles of 64 rows,
/// whose scales lie 300 apart; more rows, and more columns, than 16 bits count; a single row whose few
/// threads have 127 rows of padding to zero. Three of them take the launch shape of large casts.
void add_big_grid(std::vector<Point>& points, std::uint64_t seed) {
  Point point;
  point.contracts.padding = oracle::Padding::zero;
  point.fill = Pattern::ramps;
  point.seed = seed;
  point.shape = {1, 128, {128, 4}, {}};
  points.push_back(point);
  point.shape = {16400, 128, {16512, 300}, {}};
  points.push_back(point);
  // More elements than the tier of small casts takes on the cpu device, and on a GPU at the level full;
  // packed, so that dispatch sends it there too. The last thread block is not full, and the flat index of a
  // block is its place.
  point.shape = {32, 65664, {32, 2052}, {}};
  points.push_back(point);
  point.input = Format::fp32;
  point.shape = {65600, 32, {65600, 3}, {}};
  points.push_back(point);
}

/// Shapes of real layers, in many waves of thread blocks; the last one is past the tier of small casts on a
/// GPU of up to 140 multiprocessors. All indices fit 32 bits.
void add_large(std::vector<Point>& points, std::uint64_t seed) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t shapes[][2] = {{1024, 1024}, {2880, 2880}, {384, 30528}, {4224, 4352}};
  std::size_t turn = 0;
  for (const auto& [rows, cols] : shapes) {
    for (const Pattern fill : {Pattern::normal, Pattern::any_bits, Pattern::ramps}) {
      for (std::size_t i = 0; i < 2; ++i, ++turn) {
        Point point = contracts[(turn * 29 + 7) % contracts.size()];
        point.fill = fill;
        point.seed = seed + turn;
        set_shape(point, rows, cols, i * 64, i * 2);
        points.push_back(point);
      }
    }
  }
}

/// Every bf16 and fp16 code meets every contract: any_bits over 2^22 elements draws each of the 65,536 codes
/// about 64 times.
void add_exhaustive(std::vector<Point>& points, std::uint64_t seed) {
  for (Point point : all_contracts()) {
    for (const Pattern fill :
         {Pattern::any_bits, Pattern::finite_bits, Pattern::amax_mantissas, Pattern::scale_extremes}) {
      point.fill = fill;
      point.seed = seed;
      set_shape(point, 2048, 2048, 0, 0);
      points.push_back(point);
    }
  }
}

}  // namespace

std::vector<Point> cases(Level level, std::uint64_t seed) {
  std::vector<Point> points;
  add_reported(points);
  add_contract_grid(points, seed);
  add_offsets(points, seed);
  add_shape_sweep(points, seed, level == Level::quick ? 12 : 48);
  add_amax_sweep(points, level, seed);
  add_big_grid(points, seed);
  add_direction_cases(points, level, seed);
  if (level != Level::quick) add_large(points, seed);
  if (level == Level::exhaustive) add_exhaustive(points, seed);
  return points;
}

namespace {

/// Rowwise linear cases: the first goldens, whose tokens and bits are fixed for good.
std::vector<Point> rowwise_goldens() {
  std::vector<Point> points;
  add_reported(points);
  constexpr std::size_t largest =
      4096;  // elements; what matters of a larger report is its shape, which the gate runs
  std::erase_if(points, [](const Point& point) {
    return point.shape.rows * point.shape.cols > largest || point.direction != Direction::rowwise ||
           point.contracts.layout != oracle::ScaleLayout::linear;
  });
  for (Point point : all_contracts()) {
    for (const Pattern fill : {Pattern::amax_mantissas, Pattern::any_bits}) {
      point.fill = fill;
      point.seed = 1;
      set_shape(point, 4, 128, points.size() % 2, points.size() % 3);
      points.push_back(point);
    }
  }
  return points;
}

/// Every contract in both directions, the bottom band not whole, scales linear with padded strides and
/// swizzled in turn; and the shape that register kernels take, colwise, each rule with one of the elements.
std::vector<Point> direction_goldens() {
  std::vector<Point> points;
  std::size_t turn = 0;
  for (Point point : all_contracts()) {
    point.direction = Direction::bidimensional;
    point.fill = turn / 2 % 2 == 0 ? Pattern::amax_mantissas : Pattern::any_bits;
    point.transpose = turn % 3 != 0;
    point.seed = 1;
    set_layout(point, 35, 32, turn % 2 == 0 ? 3 : 7);
    points.push_back(point);
    ++turn;
  }
  for (Point point : all_contracts()) {
    const bool e4m3 = point.contracts.element == Format::e4m3;
    const auto specials = e4m3 ? oracle::SpecialBlocks::te_register : oracle::SpecialBlocks::poison;
    const auto rule = point.contracts.scale_rule;
    const bool with_e4m3 = rule == oracle::ScaleRule::rceil || rule == oracle::ScaleRule::ceil;
    if (point.input != Format::bf16 || point.contracts.specials != specials || e4m3 != with_e4m3) continue;
    point.direction = Direction::colwise;
    point.fill = Pattern::nan_counts;
    point.transpose = true;
    point.seed = 1;
    set_layout(point, 32, 256, 0);
    points.push_back(point);
  }
  return points;
}

std::string record_of(const Point& point) {
  std::string name(formats::spec(point.input).name);
  if (point.direction == Direction::colwise) name += "_colwise";
  if (point.direction == Direction::bidimensional) name += "_bidimensional";
  return name;
}

}  // namespace

std::map<std::string, std::vector<Point>> golden_cases() {
  std::map<std::string, std::vector<Point>> records;
  for (const auto& points : {rowwise_goldens(), direction_goldens()}) {
    for (const Point& point : points) records[record_of(point)].push_back(point);
  }
  return records;
}

std::vector<Point> contracts_for_files(Level level, Format own) {
  std::vector<Point> points;
  for (Point point : all_contracts()) {
    const bool recipe = point.contracts.scale_rule == oracle::ScaleRule::rceil ||
                        point.contracts.scale_rule == oracle::ScaleRule::floor;
    const bool judged_at_quick = recipe && point.contracts.specials == oracle::SpecialBlocks::poison;
    // The tensor's own type, and bf16, which is what the production kernels are dispatched for.
    if (point.input != own && point.input != Format::bf16) continue;
    if (level == Level::quick && !judged_at_quick) continue;
    points.push_back(point);
    // Both directions at once, of what the production kernels take; all contracts from the next level on.
    const bool rceil = point.contracts.scale_rule == oracle::ScaleRule::rceil;
    if (level == Level::quick && !(rceil && point.input == Format::bf16)) continue;
    point.direction = Direction::bidimensional;
    points.push_back(point);
  }
  return points;
}

}  // namespace assay::properties::mxfp8_cast
