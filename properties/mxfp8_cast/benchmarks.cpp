#include "properties/mxfp8_cast/benchmarks.hpp"

#include <fmt/core.h>

#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

constexpr std::size_t shapes[][2] = {{1024, 1024}, {2048, 4096},   {4096, 4096},
                                     {8192, 8192}, {16384, 16384}, {65536, 16384}};

Benchmark benchmark_of(Direction direction, const char* name, std::size_t rows, std::size_t cols) {
  Point point;  // bf16 to e4m3 by the defaults of a token: rceil, poison, padding untouched, packed scales
  point.direction = direction;
  point.shape = {rows, cols, {}, {}};
  set_default_extents(point);
  // Aligned as allocators align; the gate's buffers are aligned to what a route needs and no more, which
  // costs a tile of rows half sectors on both sides.
  point.data_offset = point.colwise_data_offset = 256;
  Benchmark benchmark;
  benchmark.name = fmt::format("{}, bf16 to e4m3, {} x {}", name, rows, cols);
  benchmark.token = print(point);
  benchmark.routes = {"register", "staged", "register-sm100"};
  benchmark.bytes_read = rows * cols * 2;
  for (const auto one : point.directions()) {
    const oracle::ScaleExtent scales = point.shape.scales(one);
    benchmark.bytes_written += rows * cols + scales.rows * scales.stride;
  }
  return benchmark;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  std::vector<Benchmark> all;
  const std::pair<Direction, const char*> directions[] = {{Direction::rowwise, "rowwise"},
                                                          {Direction::bidimensional, "bidimensional"},
                                                          {Direction::colwise, "colwise"}};
  for (const auto& [direction, name] : directions) {
    for (const auto& [rows, cols] : shapes) all.push_back(benchmark_of(direction, name, rows, cols));
  }
  return all;
}

}  // namespace assay::properties::mxfp8_cast
