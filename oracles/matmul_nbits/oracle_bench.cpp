// Multiply-adds a second on one thread: exact sums, beside what Boost's floating point takes for the same,
// and accept() by bits and by bound.
#include <benchmark/benchmark.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <vector>

#include "oracles/matmul_nbits/exact_sum.hpp"
#include "oracles/matmul_nbits/testing.hpp"

namespace {

using assay::formats::Format;
namespace nbits = assay::oracles::matmul_nbits;
namespace testing = nbits::testing;

constexpr nbits::Shape shape{8, 64, 4096};

void count(benchmark::State& state, const nbits::Shape& s) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(s.m * s.n * s.k));
}

// From the operands' bytes to the sums, as accept() does it.
void exact_sums(benchmark::State& state, Format model) {
  const auto c = testing::random_case(model, shape, {}, 1);
  for (auto _ : state) {
    const nbits::ExactSums sums(model, shape, c.operands());
    nbits::ExactSums::Weights weights;
    for (std::size_t col = 0; col < shape.n; ++col) {
      sums.prepare(col, weights);
      for (std::size_t row = 0; row < shape.m; ++row) benchmark::DoNotOptimize(sums.sum(row, weights));
    }
  }
  count(state, shape);
}
BENCHMARK_CAPTURE(exact_sums, fp16, Format::fp16);
BENCHMARK_CAPTURE(exact_sums, bf16, Format::bf16);
BENCHMARK_CAPTURE(exact_sums, fp32, Format::fp32);
// Every exponent there is: as many buckets as can be.
void exact_sums_of_any(benchmark::State& state, Format model) {
  const auto c = testing::random_case(model, shape, {testing::Draw::any_finite}, 1);
  const nbits::ExactSums sums(model, shape, c.operands());
  nbits::ExactSums::Weights weights;
  for (auto _ : state) {
    for (std::size_t col = 0; col < shape.n; ++col) {
      sums.prepare(col, weights);
      for (std::size_t row = 0; row < shape.m; ++row) benchmark::DoNotOptimize(sums.sum(row, weights));
    }
  }
  count(state, shape);
}
BENCHMARK_CAPTURE(exact_sums_of_any, bf16, Format::bf16);
BENCHMARK_CAPTURE(exact_sums_of_any, fp32, Format::fp32);

// The plain way, without even the decoding: 50 decimal digits, which do not make it exact.
void boost_50_digits(benchmark::State& state) {
  using Float = boost::multiprecision::cpp_bin_float_50;
  std::vector<Float> a, w, scales;
  for (std::uint64_t k = 0; k < shape.k; ++k) {
    a.emplace_back(std::ldexp(static_cast<double>(testing::mixed(1, k) >> 40), -24));
    w.emplace_back(static_cast<int>(testing::mixed(2, k) >> 60) - 8);
    scales.emplace_back(std::ldexp(static_cast<double>(testing::mixed(3, k) >> 40), -28));
  }
  for (auto _ : state) {
    Float sum = 0;
    for (std::size_t k = 0; k < shape.k; ++k) sum += a[k] * w[k] * scales[k / shape.block];
    benchmark::DoNotOptimize(sum);
  }
  count(state, {1, 1, shape.k});
}
BENCHMARK(boost_50_digits);

void accept(benchmark::State& state, const nbits::Contracts& contracts, const nbits::Shape& s) {
  const auto c = testing::random_case(contracts.model, s, {}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(nbits::accept(contracts, s, c.operands(), 1));
  count(state, s);
}
nbits::Contracts contracts(Format model, nbits::Schedule schedule, nbits::Judge judge) {
  return {model, schedule, 2, {}, {}, judge};
}
void of_schedule(benchmark::State& state, Format model, nbits::Schedule schedule, nbits::Judge judge) {
  const bool one_row = schedule != nbits::Schedule::tile && schedule != nbits::Schedule::mma;
  accept(state, contracts(model, schedule, judge), {one_row ? 1u : 8u, 64, 4096});
}
using nbits::Judge;
using nbits::Schedule;
BENCHMARK_CAPTURE(of_schedule, bits_split_k_fp16, Format::fp16, Schedule::split_k, Judge::bits);
BENCHMARK_CAPTURE(of_schedule, bits_split_k_bf16, Format::bf16, Schedule::split_k, Judge::bits);
BENCHMARK_CAPTURE(of_schedule, bits_multicol, Format::fp16, Schedule::multicol, Judge::bits);
BENCHMARK_CAPTURE(of_schedule, bits_tile_fp16, Format::fp16, Schedule::tile, Judge::bits);
BENCHMARK_CAPTURE(of_schedule, bits_tile_fp32, Format::fp32, Schedule::tile, Judge::bits);
BENCHMARK_CAPTURE(of_schedule, bits_mma, Format::fp16, Schedule::mma, Judge::bits);
BENCHMARK_CAPTURE(of_schedule, bound_split_k_fp16, Format::fp16, Schedule::split_k, Judge::bound);
BENCHMARK_CAPTURE(of_schedule, bound_split_k_bf16, Format::bf16, Schedule::split_k, Judge::bound);
BENCHMARK_CAPTURE(of_schedule, bound_multicol, Format::fp16, Schedule::multicol, Judge::bound);
BENCHMARK_CAPTURE(of_schedule, bound_tile_fp16, Format::fp16, Schedule::tile, Judge::bound);
BENCHMARK_CAPTURE(of_schedule, bound_tile_fp32, Format::fp32, Schedule::tile, Judge::bound);
BENCHMARK_CAPTURE(of_schedule, bound_mma, Format::fp16, Schedule::mma, Judge::bound);

}  // namespace
