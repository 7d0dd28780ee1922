#include "properties/matmul_nbits/benchmarks.hpp"

#include <fmt/core.h>

#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using formats::Format;
using oracle::Schedule;

constexpr std::size_t layers[][2] = {{4096, 4096}, {14336, 4096}, {4096, 14336}, {32000, 4096}};  // n, k

constexpr unsigned recommended_prefetch = 4;

Point point_of(Format model, Schedule schedule, std::size_t m, std::size_t n, std::size_t k,
               bool zero_points) {
  Point point;
  point.contracts.model = model;
  point.contracts.schedule = schedule;
  point.contracts.k_split = 2;  // (n + 3) / 4 thread blocks are more than any device has multiprocessors
  point.shape = {m, n, k, 4, 32};
  point.zero_points = zero_points;
  // As allocators align; the gate's buffers are aligned to what a route needs and no more.
  point.a_alignment = point.b_alignment = point.scale_alignment = point.y_alignment = 256;
  return point;
}

/// The traffic is every byte of the operands once, and of Y.
Benchmark benchmark_of(std::string name, const Point& point, std::vector<std::string> routes) {
  const oracle::Shape& shape = point.shape;
  const std::uint64_t width = element_width(point);
  Benchmark benchmark{std::move(name), print(point), std::move(routes), 0, 0};
  benchmark.bytes_read =
      shape.m * shape.k * width + shape.n * shape.row_bytes() + shape.n * shape.blocks() * width;
  if (point.zero_points) benchmark.bytes_read += shape.n * shape.zero_point_row_bytes();
  benchmark.bytes_written = shape.m * shape.n * width;
  return benchmark;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  std::vector<Benchmark> all;
  const auto gemv = [](std::size_t n, std::size_t k, unsigned prefetch) {
    Point point = point_of(Format::bf16, Schedule::split_k, 1, n, k, false);
    point.prefetch = prefetch;
    return point;
  };
  const auto with_zero_points = [](std::size_t n, std::size_t k) {
    Point point = point_of(Format::fp16, Schedule::split_k, 1, n, k, true);
    point.prefetch = recommended_prefetch;
    return point;
  };
  for (const auto& [n, k] : layers)
    all.push_back(benchmark_of(fmt::format("GEMV, bf16, {} x {}", n, k), gemv(n, k, recommended_prefetch),
                               {"direct", "staged"}));
  for (const auto& [n, k] : layers)
    all.push_back(benchmark_of(fmt::format("GEMV, fp16, {} x {}", n, k), with_zero_points(n, k), {"direct"}));
  for (const unsigned prefetch : {0u, 2u, 4u}) {
    for (const auto& [n, k] : layers)
      all.push_back(benchmark_of(fmt::format("GEMV with prefetch {}, bf16, {} x {}", prefetch, n, k),
                                 gemv(n, k, prefetch), {"direct"}));
  }
  for (const auto& [n, k] : layers) {
    all.push_back(benchmark_of(fmt::format("multicol GEMV, fp16, {} x {}", n, k),
                               point_of(Format::fp16, Schedule::multicol, 1, n, k, true), {"multicol"}));
    Point natural = point_of(Format::fp16, Schedule::natural, 1, n, k, true);
    natural.interleaved = true;  // as a model would be loaded
    all.push_back(benchmark_of(fmt::format("natural GEMV, fp16, {} x {}", n, k), natural, {"natural"}));
  }
  all.push_back(benchmark_of("prefill, bf16, 512 x 4096 x 4096",
                             point_of(Format::bf16, Schedule::mma, 512, 4096, 4096, false), {"mma"}));
  return all;
}

}  // namespace assay::properties::matmul_nbits
