// Elements a second of accept() on one thread: the cost of an expectation.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "oracles/mxfp8_dequant/oracle.hpp"

namespace {

using assay::formats::Format;
namespace dequant = assay::oracles::mxfp8_dequant;

void accept(benchmark::State& state, Format element, Format output, dequant::Direction direction) {
  dequant::Shape shape{512, 4096, 0, 0, direction, dequant::ScaleLayout::linear};
  shape.scale_rows = shape.least_scale_rows();
  shape.scale_stride = shape.least_scale_stride();
  std::vector<std::byte> data(shape.rows * shape.cols), scales(shape.scale_rows * shape.scale_stride);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 37 + i / 256);
  for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<std::byte>(100 + i * 7 % 41);
  for (auto _ : state) benchmark::DoNotOptimize(dequant::accept(data, scales, shape, {element, output}));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(data.size()));
}
BENCHMARK_CAPTURE(accept, e4m3_bf16_rowwise, Format::e4m3, Format::bf16, dequant::Direction::rowwise);
BENCHMARK_CAPTURE(accept, e5m2_fp32_rowwise, Format::e5m2, Format::fp32, dequant::Direction::rowwise);
BENCHMARK_CAPTURE(accept, e4m3_bf16_colwise, Format::e4m3, Format::bf16, dequant::Direction::colwise);

}  // namespace
