// Elements a second of accept() on one thread: the cost of an expectation.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "oracles/mxfp8_cast/oracle.hpp"

namespace {

using assay::formats::Format;
namespace cast = assay::oracles::mxfp8_cast;

// Codes with a spread of exponents around 1, both signs and every mantissa bit in use.
std::vector<std::byte> codes(Format input, std::size_t count) {
  const int bytes = assay::formats::storage_bytes(input);
  std::vector<std::byte> out(count * static_cast<std::size_t>(bytes));
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto significand = static_cast<std::uint32_t>(state >> 40) | 1u;
    const int exponent = static_cast<int>(state >> 20 & 7) - 28;
    const auto x = assay::formats::Exact::finite((state >> 30 & 1) != 0, significand, exponent);
    assay::arithmetic::store_code(out, bytes, i, assay::formats::encode(input, x));
  }
  return out;
}

void accept(benchmark::State& state, Format input, Format element,
            cast::Direction direction = cast::Direction::rowwise) {
  const cast::Shape shape{256, 4096, {256, 128}, {8, 4096}};
  const auto x = codes(input, shape.rows * shape.cols);
  cast::Contracts contracts;
  contracts.element = element;
  for (auto _ : state) benchmark::DoNotOptimize(cast::accept(input, x, shape, direction, contracts));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(shape.rows * shape.cols));
}
BENCHMARK_CAPTURE(accept, fp32_e4m3, Format::fp32, Format::e4m3);
BENCHMARK_CAPTURE(accept, bf16_e4m3, Format::bf16, Format::e4m3);
BENCHMARK_CAPTURE(accept, bf16_e5m2, Format::bf16, Format::e5m2);
BENCHMARK_CAPTURE(accept, fp16_e4m3, Format::fp16, Format::e4m3);
BENCHMARK_CAPTURE(accept, bf16_e4m3_colwise, Format::bf16, Format::e4m3, cast::Direction::colwise);
BENCHMARK_CAPTURE(accept, fp32_e4m3_colwise, Format::fp32, Format::e4m3, cast::Direction::colwise);

}  // namespace
