#include "properties/gated_delta/benchmarks.hpp"

#include <fmt/core.h>

#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {
namespace {

using formats::Format;
using oracle::Gates;
using oracle::Layout;

/// Heads of a layer: 16 of keys for 32 of values.
Point point_of(std::size_t batch, Format state, Layout layout, Gates gates) {
  Point point;
  point.contracts.io = Format::bf16;
  point.contracts.state = state;
  point.contracts.layout = layout;
  point.contracts.gates = gates;
  point.shape.batch = batch;
  point.shape.key_heads = 16;
  point.shape.value_heads = 32;
  point.shape.key_dim = point.shape.value_dim = 128;
  // As allocators align; the gate's buffers are aligned to what a route needs and no more.
  point.io_alignment = point.state_alignment = 256;
  return point;
}

std::uint64_t width_of(Format format) { return static_cast<std::uint64_t>(formats::storage_bytes(format)); }

/// The traffic is every byte of the operands once, the states read and written, and o.
Benchmark benchmark_of(const Point& point) {
  const oracle::Shape shape = shape_of(point);
  const bool kv = point.contracts.layout == Layout::kv, raw = point.contracts.gates == Gates::raw;
  Benchmark benchmark;
  benchmark.name =
      fmt::format("batch {}, {} heads, {} x {}, {} state, [{}]{}", shape.batch, shape.value_heads,
                  shape.key_dim, shape.value_dim, formats::spec(point.contracts.state).name,
                  kv ? "K,V" : "V,K", raw ? "" : ", gates given");
  benchmark.token = print(point);
  benchmark.routes = {"register"};
  if (kv) benchmark.routes.emplace_back("two_pass");
  const std::uint64_t states = shape.state_elements() * width_of(point.contracts.state);
  const std::uint64_t io = width_of(point.contracts.io);
  const std::uint64_t qk = 2 * shape.tokens() * shape.key_heads * shape.key_dim * io;
  const std::uint64_t values = shape.out_elements() * io;
  const std::uint64_t gates = raw ? 2 * shape.tokens() * shape.value_heads * io + 2 * shape.value_heads * 4
                                  : 2 * shape.tokens() * shape.value_heads * 4;
  benchmark.bytes_read = states + qk + values + gates + shape.batch * 4;
  benchmark.bytes_written = states + values;
  return benchmark;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  std::vector<Benchmark> all;
  const auto add = [&](Format state, Gates gates) {
    for (const Layout layout : {Layout::kv, Layout::vk}) {
      for (const std::size_t batch : {1u, 4u, 16u, 64u, 256u})
        all.push_back(benchmark_of(point_of(batch, state, layout, gates)));
    }
  };
  add(Format::fp32, Gates::raw);
  add(Format::fp32, Gates::precomputed);
  add(Format::bf16, Gates::raw);
  return all;
}

}  // namespace assay::properties::gated_delta
