// The cases that are kept as goldens, and those of files.
#include "properties/matmul_nbits/case_parts.hpp"
#include "properties/matmul_nbits/cases.hpp"

namespace assay::properties::matmul_nbits {

std::string_view schedule_name(Schedule schedule) {
  constexpr std::string_view names[] = {"split_k", "multicol", "natural", "tile", "mma"};
  return names[static_cast<std::size_t>(schedule)];
}

std::vector<Point> contracts_for_files(Level level) {
  std::vector<Point> points;
  const auto add = [&](Point point) {
    point.source = Source::file;
    points.push_back(std::move(point));
  };
  add(point_of(Format::bf16, Schedule::split_k, 1, 8, 32));
  if (level == Level::quick) return points;
  Point rows = point_of(Format::bf16, Schedule::split_k, 3, 8, 32);
  rows.contracts.k_split = 8;
  rows.zero_points = false;
  add(rows);
  add(point_of(Format::fp16, Schedule::multicol, 1, 8, 32));
  add(point_of(Format::fp16, Schedule::natural, 1, 8, 32));
  add(point_of(Format::bf16, Schedule::mma, 9, 8, 32));
  Point wide = point_of(Format::fp32, Schedule::tile, 2, 8, 32);
  wide.shape.bits = 8;
  add(wide);
  return points;
}

std::vector<Point> golden_cases() {
  std::vector<Point> points;
  const auto add = [&](Point point, Pattern pattern) {
    point.pattern = pattern;
    point.padding = PaddingFill::noise;
    points.push_back(std::move(point));
  };
  for (const Pattern pattern : {Pattern::ordinary, Pattern::specials, Pattern::overflow}) {
    for (const Format model : halves) {
      for (const std::size_t split : {2u, 8u}) {
        Point point = point_of(model, Schedule::split_k, split == 2 ? 1 : 3, 9, 520);
        point.contracts.k_split = split;
        set_bias(point, points.size());
        add(point, pattern);
      }
    }
    for (const Schedule schedule : {Schedule::multicol, Schedule::natural})
      add(point_of(Format::fp16, schedule, 1, 9, 1056), pattern);
    for (const Format model : models) {
      Point point = point_of(model, Schedule::tile, 3, 17, 133);
      point.shape.bits = all_bits[points.size() % 3];
      point.shape.block = all_blocks[points.size() % 5];
      set_bias(point, points.size());
      add(point, pattern);
    }
    for (const TensorCores cores : {TensorCores::hopper, TensorCores::ampere}) {
      Point point = point_of(halves[points.size() % 2], Schedule::mma, 17, 9, 75);
      point.contracts.tensor_cores = cores;
      add(point, pattern);
    }
  }
  add(point_of(Format::bf16, Schedule::split_k, 4, 9, 64), Pattern::rounding);
  add(point_of(Format::bf16, Schedule::tile, 4, 9, 64), Pattern::rounding);
  return points;
}

}  // namespace assay::properties::matmul_nbits
