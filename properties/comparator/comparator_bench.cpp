// Elements a second and core of a passing comparison. Two sizes: streams that stay in the cache, and streams
// that come from memory (4 x 64 MiB and more). An interval acceptance has all its streams: output, lo, hi and
// best.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "properties/comparator/comparator.hpp"

namespace {

using assay::arithmetic::Acceptance;
using assay::formats::Format;
using assay::properties::compare;

// A fixed sequence of positive finite codes well inside the format, in every width.
Acceptance codes(Format format, std::size_t elements) {
  const int bytes = assay::formats::storage_bytes(format);
  Acceptance accept;
  accept.format = format;
  accept.lo.resize(elements * static_cast<std::size_t>(bytes));
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < elements; ++i) {
    state = state * 1664525u + 1013904223u;
    const std::uint32_t top = 16 + (state >> 24) % 64;  // the most significant byte of the code
    const std::uint32_t code = (top << 8 * (bytes - 1)) | ((state >> 8) & ((1u << 8 * (bytes - 1)) - 1));
    assay::arithmetic::store_code(accept.lo, bytes, i, code);
  }
  return accept;
}

void exact(benchmark::State& state, Format format) {
  const auto elements = static_cast<std::size_t>(state.range(0));
  const Acceptance accept = codes(format, elements);
  const std::vector<std::byte> out = accept.lo;
  for (auto _ : state) {
    const auto comparison = compare(accept, out);
    if (!comparison.passed()) state.SkipWithError("an equal buffer was rejected");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void interval(benchmark::State& state, Format format) {
  const auto elements = static_cast<std::size_t>(state.range(0));
  const int bytes = assay::formats::storage_bytes(format);
  Acceptance accept = codes(format, elements);
  accept.hi = accept.best = accept.lo;
  std::vector<std::byte> out = accept.lo;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint32_t lo = assay::arithmetic::load_code(accept.lo, bytes, i);
    assay::arithmetic::store_code(accept.best, bytes, i, lo + 4);
    assay::arithmetic::store_code(accept.hi, bytes, i, lo + 8);
    assay::arithmetic::store_code(out, bytes, i, lo + static_cast<std::uint32_t>(1 + i % 7));
  }
  for (auto _ : state) {
    const auto comparison = compare(accept, out);
    if (!comparison.passed()) state.SkipWithError("a buffer inside its intervals was rejected");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

constexpr std::int64_t cached = std::int64_t{1} << 16, streamed = std::int64_t{1} << 26;
BENCHMARK_CAPTURE(exact, e4m3, Format::e4m3)->Arg(cached)->Arg(streamed);
BENCHMARK_CAPTURE(exact, e8m0, Format::e8m0)->Arg(cached)->Arg(streamed);
BENCHMARK_CAPTURE(exact, bf16, Format::bf16)->Arg(cached)->Arg(streamed);
BENCHMARK_CAPTURE(exact, fp32, Format::fp32)->Arg(cached)->Arg(streamed);
BENCHMARK_CAPTURE(interval, e4m3, Format::e4m3)->Arg(cached)->Arg(streamed);
BENCHMARK_CAPTURE(interval, bf16, Format::bf16)->Arg(cached)->Arg(streamed);
BENCHMARK_CAPTURE(interval, fp32, Format::fp32)->Arg(cached)->Arg(streamed);

}  // namespace
