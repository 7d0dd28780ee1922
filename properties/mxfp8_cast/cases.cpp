#include "properties/mxfp8_cast/cases.hpp"

#include <fmt/core.h>

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

constexpr Format inputs[] = {Format::bf16, Format::fp16, Format::fp32};
constexpr Format elements[] = {Format::e4m3, Format::e5m2};
constexpr oracle::ScaleRule rules[] = {oracle::ScaleRule::rceil, oracle::ScaleRule::floor,
                                       oracle::ScaleRule::ceil, oracle::ScaleRule::even};
constexpr oracle::SpecialBlocks specials[] = {oracle::SpecialBlocks::poison, oracle::SpecialBlocks::te_staged,
                                              oracle::SpecialBlocks::te_register};
constexpr oracle::Padding paddings[] = {oracle::Padding::untouched, oracle::Padding::zero};

/// All 72 combinations of input, element, scale rule and special-block contract; padding alternates.
std::vector<Point> all_contracts() {
  std::vector<Point> points;
  for (const Format input : inputs) {
    for (const Format element : elements) {
      for (const auto rule : rules) {
        for (const auto special : specials) {
          Point point;
          point.input = input;
          point.contracts = {element, rule, special, paddings[points.size() % 2]};
          points.push_back(point);
        }
      }
    }
  }
  return points;
}

void set_shape(Point& point, std::size_t rows, std::size_t cols, std::size_t extra_rows,
               std::size_t extra_stride) {
  point.shape = {rows, cols, rows + extra_rows, cols / oracle::block + extra_stride};
}

void add_reported(std::vector<Point>& points) {
  for (const auto& reported : fixtures::mxfp8_cast::reported()) {
    points.push_back(parse(fmt::format("mxfp8_cast:in={},{}{}rows={},cols={},srows={},stride={},reported={}",
                                       formats::spec(reported.input).name, reported.contracts,
                                       reported.contracts.empty() ? "" : ",", reported.rows, reported.cols,
                                       reported.scale_rows, reported.scale_stride, reported.id)));
  }
}

/// Every contract against every pattern. The stride is packed and padded in turn, so that each contract meets
/// both.
void add_contract_grid(std::vector<Point>& points, std::uint64_t seed) {
  const auto patterns = fixtures::mxfp8_cast::pattern_names().size();
  for (const Point& contract : all_contracts()) {
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
      Point point = contract;
      point.fill = Pattern{static_cast<std::uint8_t>(pattern)};
      point.seed = seed;
      const std::size_t padded = (points.size() / 2) % 3;
      set_shape(point, 9, 128, padded, padded * 2);
      points.push_back(point);
    }
  }
}

/// Sizes on both sides of every tile, warp and gate boundary; contracts rotate so that each shape meets
/// several.
void add_shape_sweep(std::vector<Point>& points, std::uint64_t seed, std::size_t contracts_per_shape) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t row_counts[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129};
  constexpr std::size_t column_counts[] = {32, 64, 96, 128, 160, 256, 384, 512, 1024};
  constexpr Pattern fills[] = {Pattern::normal, Pattern::ramps, Pattern::finite_bits, Pattern::any_bits};
  std::size_t turn = 0;
  for (const std::size_t rows : row_counts) {
    for (const std::size_t cols : column_counts) {
      for (std::size_t i = 0; i < contracts_per_shape; ++i, ++turn) {
        Point point =
            contracts[(turn * 29) % contracts.size()];  // 29 is coprime to 72: visits every contract
        point.contracts.padding = paddings[turn % 2];
        point.fill = fills[turn % 4];
        point.seed = seed + turn;
        set_shape(point, rows, cols, (turn / 2) % 2 * 3, turn % 3);
        points.push_back(point);
      }
    }
  }
}

/// Inputs that start off a 16-byte boundary: the staged route must take them, the register route refuse them
/// by name.
void add_offsets(std::vector<Point>& points, std::uint64_t seed) {
  for (const Format input : inputs) {
    for (const std::size_t offset :
         {std::size_t{1}, std::size_t{2}, std::size_t{4}, std::size_t{8}, std::size_t{16}}) {
      Point point;
      point.input = input;
      point.offset = offset;
      point.seed = seed;
      set_shape(point, 5, 256, 0, 0);
      points.push_back(point);
    }
  }
}

/// Shapes of real layers, where grids, waves and 32-bit indices are really used.
void add_large(std::vector<Point>& points, std::uint64_t seed) {
  const std::vector<Point> contracts = all_contracts();
  constexpr std::size_t shapes[][2] = {{1024, 1024}, {2880, 2880}, {384, 30528}, {4096, 4096}};
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
  add_shape_sweep(points, seed, level == Level::quick ? 2 : 24);
  add_offsets(points, seed);
  if (level != Level::quick) add_large(points, seed);
  if (level == Level::exhaustive) add_exhaustive(points, seed);
  return points;
}

std::vector<Point> golden_cases() {
  std::vector<Point> points;
  add_reported(points);
  constexpr std::size_t largest =
      4096;  // elements; what matters of a larger report is its shape, which the gate runs
  std::erase_if(points, [](const Point& point) { return point.shape.rows * point.shape.cols > largest; });
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
  }
  return points;
}

}  // namespace assay::properties::mxfp8_cast
