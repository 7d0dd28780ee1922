// Multiply-adds a second on one thread (three for every element of the state a step), beside what Boost's
// floating point takes for them.
#include <benchmark/benchmark.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "oracles/gated_delta/testing.hpp"

namespace {

using assay::formats::Format;
namespace delta = assay::oracles::gated_delta;
namespace testing = delta::testing;

void count(benchmark::State& state, const delta::Shape& s) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(3 * s.tokens() * s.value_heads *
                                                                         s.key_dim * s.value_dim));
}

void accept(benchmark::State& state, const delta::Contracts& contracts) {
  const auto c = testing::random_case(contracts, {1, 16, 1, 1, 2, 128, 128}, {}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(delta::accept(contracts, c.shape, c.operands(), 1));
  count(state, c.shape);
}
delta::Contracts contracts(Format state, delta::Gates gates, delta::Judge judge) {
  delta::Contracts c;
  c.io = Format::bf16;
  c.state = state;
  c.gates = gates;
  c.judge = judge;
  return c;
}
using delta::Gates;
using delta::Judge;
BENCHMARK_CAPTURE(accept, bits_fp32_state, contracts(Format::fp32, Gates::precomputed, Judge::bits));
BENCHMARK_CAPTURE(accept, bits_bf16_state, contracts(Format::bf16, Gates::precomputed, Judge::bits));
BENCHMARK_CAPTURE(accept, bits_raw_gates, contracts(Format::fp32, Gates::raw, Judge::bits));
BENCHMARK_CAPTURE(accept, bound_fp32_state, contracts(Format::fp32, Gates::precomputed, Judge::bound));
BENCHMARK_CAPTURE(accept, bound_bf16_state, contracts(Format::bf16, Gates::precomputed, Judge::bound));
BENCHMARK_CAPTURE(accept, bound_raw_gates, contracts(Format::fp32, Gates::raw, Judge::bound));

// The plain way: the recurrence of one column in 50 decimal digits, gates and norms left out.
void boost_50_digits(benchmark::State& state) {
  using Float = boost::multiprecision::cpp_bin_float_50;
  constexpr delta::Shape shape{1, 1, 1, 1, 1, 128, 8};
  std::vector<Float> k, q, s(shape.key_dim);
  for (std::uint64_t i = 0; i < shape.key_dim; ++i) {
    const auto drawn = [&](std::uint64_t stream) {
      return std::ldexp(static_cast<double>(assay::fixtures::draw(1, stream, i) >> 40), -28);
    };
    k.emplace_back(drawn(1));
    q.emplace_back(drawn(2));
  }
  const Float alpha = 0.9, beta = 0.4, v = 1;
  for (auto _ : state) {
    for (std::size_t column = 0; column < shape.value_dim; ++column) {
      Float kv = 0, o = 0;
      for (std::size_t i = 0; i < shape.key_dim; ++i) {
        s[i] *= alpha;
        kv += s[i] * k[i];
      }
      const Float u = (v - kv) * beta;
      for (std::size_t i = 0; i < shape.key_dim; ++i) {
        s[i] += k[i] * u;
        o += s[i] * q[i];
      }
      benchmark::DoNotOptimize(o);
    }
  }
  count(state, shape);
}
BENCHMARK(boost_50_digits);

}  // namespace
