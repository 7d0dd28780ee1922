#include "properties/matmul_nbits/draws.hpp"

#include <algorithm>

#include "properties/gate/search.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using fixture::Pattern;
using formats::Format;
using oracle::Schedule;

template <class T>
T one_of(const std::vector<T>& list) {
  return list[choice<std::size_t>(0, list.size())];
}

/// Half of them short; the others around the boundaries of slices of 256 and of all of them together.
std::size_t any_k(std::size_t step) {
  const int kind = choice(0, 4);
  if (kind < 2) return step * *rc::gen::inRange<std::size_t>(1, 96 / step + 1);
  if (kind == 2) return step * *rc::gen::inRange<std::size_t>(1, 600 / step + 1);
  const std::size_t edge = 256 * choice<std::size_t>(1, 9);
  return (edge + step * choice<std::size_t>(0, 4)) / step * step;
}

void set_any_contracts(Point& point) {
  oracle::Contracts& contracts = point.contracts;
  if (contracts.schedule == Schedule::split_k) {
    contracts.k_split = choice(0, 2) == 0 ? 2 : 8;
    point.prefetch = static_cast<unsigned>(2 * choice(0, 3));
  }
  if (contracts.schedule == Schedule::mma)
    contracts.tensor_cores = oracle::TensorCores{choice<std::uint8_t>(0, 2)};
  const int bias = choice(0, 3);
  point.bias = bias != 0;
  contracts.bias_round = bias == 2 ? oracle::BiasRound::twice : oracle::BiasRound::once;
  point.zero_points = choice(0, 4) != 3;
  point.padding = fixture::PaddingFill{choice<std::uint8_t>(0, 3)};
}

void set_any_shape(Point& point) {
  oracle::Shape& shape = point.shape;
  const Schedule schedule = point.contracts.schedule;
  if (schedule == Schedule::tile || schedule == Schedule::mma) {
    shape.bits = std::size_t{2} << choice(0, 3);
    shape.block = std::size_t{16} << choice(0, 5);
    shape.m = *rc::gen::inRange<std::size_t>(1, 20);
    shape.n = *rc::gen::inRange<std::size_t>(1, 20);
    shape.k = *rc::gen::inRange<std::size_t>(1, choice(0, 4) == 0 ? 300 : 60);
    return;
  }
  shape.m = 1;
  shape.n = *rc::gen::inRange<std::size_t>(1, 11);
  shape.k = any_k(schedule == Schedule::split_k ? 1 : 32);
}

}  // namespace

std::vector<Schedule> schedules_of_rows() { return {Schedule::split_k, Schedule::tile, Schedule::mma}; }
std::vector<Schedule> all_schedules() {
  return {Schedule::split_k, Schedule::tile, Schedule::mma, Schedule::multicol, Schedule::natural};
}

Point any_point(const std::vector<Schedule>& schedules, const std::vector<Pattern>& patterns) {
  Point point;
  point.contracts.schedule = one_of(schedules);
  switch (point.contracts.schedule) {
    case Schedule::tile:
      point.contracts.model = one_of<Format>({Format::bf16, Format::fp16, Format::fp32});
      break;
    case Schedule::natural:
      point.interleaved = choice(0, 2) == 1;
      [[fallthrough]];
    case Schedule::multicol:
      point.contracts.model = Format::fp16;
      break;
    default:
      point.contracts.model = one_of<Format>({Format::bf16, Format::fp16});
  }
  point.pattern = one_of(patterns);
  point.seed = choice<std::uint64_t>(1, 1000);
  set_any_contracts(point);
  set_any_shape(point);
  return point;
}

Point any_gemv(const std::vector<Pattern>& patterns, bool rows) {
  Point point = any_point({Schedule::split_k}, patterns);
  if (!rows) return point;
  point.shape.m = choice<std::size_t>(2, 9);
  point.shape.k = any_k(8);
  point.shape.n = std::min<std::size_t>(point.shape.n, 4);
  return point;
}

}  // namespace assay::properties::matmul_nbits
