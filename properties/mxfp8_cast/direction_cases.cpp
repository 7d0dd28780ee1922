#include "properties/mxfp8_cast/direction_cases.hpp"

#include <span>

#include "properties/mxfp8_cast/case_parts.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

/// Colwise where `turn` is even, else both. Both directions write what colwise alone does, but by kernels and
/// code paths of their own.
Direction direction_of(std::size_t turn) {
  return turn % 2 == 0 ? Direction::colwise : Direction::bidimensional;
}

/// The blocks of a pattern lie in columns, where the features of its list meet the colwise scales; of a
/// bidimensional cast in every other case in rows.
bool in_columns(const Point& point, std::size_t turn) {
  return point.direction == Direction::colwise || turn % 4 < 2;
}

/// Rows in which a pattern's features all occur over 256 columns, as bands of blocks 32 x 1.
std::size_t rows_for(Pattern pattern) { return pattern == Pattern::every_exponent ? 64 : 32; }

/// Every contract against every pattern. One case in five has a band at the bottom that is not whole; every
/// layout of the scales comes round.
void add_grid(std::vector<Point>& points, Level level, std::uint64_t seed) {
  const auto patterns = fixtures::mxfp8_cast::pattern_names().size();
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t partial[] = {1, 13, 31};
  std::size_t turn = 0;
  for (std::size_t contract = 0; contract < contracts.size(); ++contract) {
    for (std::size_t pattern = 0; pattern < patterns; ++pattern, ++turn) {
      for (std::size_t side = 0; side < (level == Level::quick ? 1 : 2); ++side) {
        Point point = contracts[contract];
        point.direction = direction_of(contract + pattern + side + seed);
        point.fill = Pattern{static_cast<std::uint8_t>(pattern)};
        point.transpose = in_columns(point, turn);
        point.seed = seed;
        const std::size_t rows = rows_for(point.fill);
        set_layout(point, turn % 5 == 4 ? rows + partial[turn % 3] : rows, 256, turn % layouts);
        points.push_back(point);
      }
    }
  }
}

/// Buffers that start off a 256-byte boundary: at multiples of 16 bytes, which every route has to take, and
/// at others, which each has to refuse by name.
void add_offsets(std::vector<Point>& points, std::uint64_t seed) {
  struct Offsets {
    std::size_t x, data, colwise_data;
  };
  constexpr Offsets taken[] = {{8, 0, 0}, {0, 16, 0}, {0, 0, 16}, {24, 48, 16}, {4, 0, 32}};
  constexpr Offsets refused[] = {{1, 0, 0}, {4, 8, 0}, {0, 8, 0}, {0, 0, 8}, {0, 0, 1}, {0, 4, 2}, {2, 0, 0}};
  const auto patterns = fixtures::mxfp8_cast::pattern_names().size();
  std::size_t turn = 0;
  const auto add = [&](Point point, const Offsets& offsets) {
    point.direction = direction_of(turn + turn / 12);
    point.offset = offsets.x;
    point.data_offset = point.has(oracle::Direction::rowwise) ? offsets.data : 0;
    point.colwise_data_offset = offsets.colwise_data;
    point.fill = Pattern{static_cast<std::uint8_t>(turn % patterns)};
    point.transpose = in_columns(point, turn);
    point.seed = seed;
    set_layout(point, 32, 256, 0);
    points.push_back(point);
    ++turn;
  };
  for (const Point& contract : all_contracts()) {
    for (std::size_t i = 0; i < 2; ++i) add(contract, taken[turn % std::size(taken)]);
    add(contract, refused[turn % std::size(refused)]);
  }
}

/// One NaN or Inf in a tile of 32 x 32: 48 tiles in a band meet each lane of either direction and each
/// corner; four tiles have theirs in the corners of the matrix. The other blocks must not notice.
void add_specials(std::vector<Point>& points, std::uint64_t seed) {
  constexpr std::size_t shapes[][2] = {{32, 1536}, {64, 64}, {64, 256}, {65, 96}};
  std::size_t turn = 0;
  for (const auto& [rows, cols] : shapes) {
    for (const Point& contract : all_contracts()) {
      // The scale rules have no part in it: one in four, a different one for each format and shape.
      const std::size_t rule = turn / 3 % 4, wanted = turn / 12 % 4;
      ++turn;
      if (rule != wanted) continue;
      Point point = contract;
      point.direction = direction_of(turn + seed);
      point.fill = Pattern::tile_specials;
      point.seed = seed;
      set_layout(point, rows, cols, turn % layouts);
      points.push_back(point);
    }
  }
}

/// Blocks of nothing but NaN in a band that is not whole: what lies below the matrix must not count as
/// numbers, however few rows are missing. Only te_register tells such a block from one of zeros.
void add_partial_nan(std::vector<Point>& points, std::uint64_t seed) {
  std::size_t turn = 0;
  for (const std::size_t rows : {1, 2, 16, 30, 31}) {
    for (const Format input : {Format::bf16, Format::fp16, Format::fp32}) {
      Point point;
      point.input = input;
      point.contracts.specials = oracle::SpecialBlocks::te_register;
      point.direction = direction_of(turn);
      point.fill = Pattern::nan_counts;
      point.transpose = true;
      point.seed = seed;
      set_layout(point, rows, 96, turn % layouts);
      points.push_back(point);
      ++turn;
    }
  }
}

/// Sizes on both sides of the bands, tiles and vectors of either route. Register kernels take bf16 in whole
/// bands of 256 columns, so such shapes meet more contracts of bf16.
void add_shapes(std::vector<Point>& points, Level level, std::uint64_t seed) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t row_counts[] = {1, 2, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 160, 256, 300};
  constexpr std::size_t column_counts[] = {32, 64, 96, 128, 160, 256, 288, 512, 768, 1024};
  constexpr Pattern fills[] = {Pattern::normal, Pattern::ramps, Pattern::finite_bits, Pattern::any_bits,
                               Pattern::every_exponent};
  std::size_t turn = 0;
  const auto add = [&](std::size_t rows, std::size_t cols, std::size_t contract) {
    Point point = contracts[contract];
    point.direction = direction_of(turn);
    point.contracts.padding = alternating_padding(turn / 2, contracts_of_an_input);
    point.fill = fills[turn % std::size(fills)];
    point.transpose = in_columns(point, turn);
    point.seed = seed + turn;
    set_layout(point, rows, cols, turn % layouts);
    points.push_back(point);
    ++turn;
  };
  for (const std::size_t rows : row_counts) {
    for (const std::size_t cols : column_counts) {
      const bool large = rows * cols > std::size_t{1} << 15, whole = rows % 32 == 0 && cols % 256 == 0;
      const std::size_t times = (level == Level::quick ? 1 : 6) * (large ? 1 : 2);
      for (std::size_t i = 0; i < times; ++i) add(rows, cols, turn * 29 % contracts.size());
      for (std::size_t i = 0; whole && i < 2 * times; ++i) add(rows, cols, turn * 5 % contracts_of_an_input);
    }
  }
}

/// The sweep of block maxima in blocks of 32 x 1: of bf16 the whole list under every contract; of fp16 and
/// fp32, at quick, as many of its most telling.
void add_amax_sweep(std::vector<Point>& points, Level level, std::uint64_t seed) {
  std::size_t turn = 0;
  for (Point point : swept_contracts(level, seed)) {
    point.direction = direction_of(turn + turn / 12);
    point.fill = Pattern::amax_mantissas;
    point.transpose = true;
    point.seed = seed;
    const std::size_t bands = level == Level::quick || point.input == Format::bf16 ? 8 : 64;
    set_layout(point, bands * oracle::block, 256, turn % layouts);
    points.push_back(point);
    ++turn;
  }
}

/// Grids that outgrow narrow indices: 66,048 columns, more than 16 bits count, in one band; 264 bands of one
/// run of 256 columns, scales in wide strides; more rows than 16 bits count; and the launch shape of large
/// casts.
void add_big_grid(std::vector<Point>& points, std::uint64_t seed) {
  Point point;
  point.direction = Direction::colwise;
  point.contracts.padding = oracle::Padding::zero;
  point.fill = Pattern::ramps;
  point.transpose = true;
  point.seed = seed;
  point.shape = {32, 66048, {}, {3, 66100}};
  points.push_back(point);
  point.direction = Direction::bidimensional;
  point.transpose = false;
  point.shape = {8448, 256, {8500, 9}, {300, 300}};
  points.push_back(point);
  // Packed and in many waves of the cpu device, so that dispatch sends it to the register kernels too.
  point.shape = {1056, 512, {}, {}};
  set_default_extents(point);
  points.push_back(point);
  point.direction = Direction::colwise;
  points.push_back(point);
  // Of fp32, whose tiles are the narrower ones.
  point.direction = Direction::bidimensional;
  point.input = Format::fp32;
  point.shape = {65600, 32, {65600, 3}, {2050, 32}};
  points.push_back(point);
}

/// Shapes of real layers in many waves of thread blocks. 2880 x 2880 is the shape that padding was reported
/// for (B12): 22.5 tiles of 128 and 90 blocks, neither a multiple of 4 nor of 128.
void add_large(std::vector<Point>& points, std::uint64_t seed) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t shapes[][2] = {{1024, 1024}, {2880, 2880}, {384, 30464}, {4096, 4096}};
  constexpr Direction all_directions[] = {Direction::rowwise, Direction::colwise, Direction::bidimensional};
  std::size_t turn = 0;
  for (const auto& [rows, cols] : shapes) {
    for (const Pattern fill : {Pattern::normal, Pattern::any_bits, Pattern::ramps}) {
      for (const Direction direction : all_directions) {
        for (const bool swizzled : {false, true}) {
          if (direction == Direction::rowwise && !swizzled) continue;  // among the rowwise cases
          Point point = contracts[(turn * 29 + 7) % contracts.size()];
          point.contracts.padding = alternating_padding(turn, 5);
          point.direction = direction;
          point.fill = fill;
          point.transpose = in_columns(point, turn);
          point.seed = seed + turn;
          set_layout(point, rows, cols, swizzled ? 7 : turn % 7);
          points.push_back(point);
          ++turn;
        }
      }
    }
  }
}

/// Every bf16 and fp16 code meets every contract in either direction.
void add_exhaustive(std::vector<Point>& points, std::uint64_t seed) {
  for (Point point : all_contracts()) {
    for (const Pattern fill : {Pattern::any_bits, Pattern::amax_mantissas}) {
      point.direction = Direction::bidimensional;
      point.fill = fill;
      point.transpose = true;
      point.seed = seed;
      set_layout(point, 2048, 2048, 0);
      points.push_back(point);
    }
  }
}

}  // namespace

void add_direction_cases(std::vector<Point>& points, Level level, std::uint64_t seed) {
  add_grid(points, level, seed);
  add_offsets(points, seed);
  add_specials(points, seed);
  add_partial_nan(points, seed);
  add_shapes(points, level, seed);
  add_amax_sweep(points, level, seed);
  add_big_grid(points, seed);
  if (level != Level::quick) add_large(points, seed);
  if (level == Level::exhaustive) add_exhaustive(points, seed);
}

}  // namespace assay::properties::mxfp8_cast
