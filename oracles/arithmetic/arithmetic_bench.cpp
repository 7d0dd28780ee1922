// Operations a second of the number types a schedule can be run in.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "oracles/arithmetic/bounded.hpp"

namespace {

using assay::formats::Format;
namespace arithmetic = assay::arithmetic;

// fp32 codes of both signs with magnitudes in [2^-4, 2^4).
std::vector<std::uint32_t> codes(std::size_t count) {
  std::vector<std::uint32_t> out(count);
  std::uint64_t state = 1;
  for (auto& code : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::uint32_t>(state >> 32);
    code = (bits & 0x807FFFFF) | (123 + (bits >> 23) % 8) << 23;
  }
  return out;
}

template <class Arithmetic>
void multiply_accumulate(benchmark::State& state) {
  const auto x = codes(4096);
  for (auto _ : state) {
    auto acc = Arithmetic::template input<Format::fp32>(0);
    for (std::size_t i = 0; i + 1 < x.size(); ++i)
      acc = fma(Arithmetic::template input<Format::fp32>(x[i]),
                Arithmetic::template input<Format::fp32>(x[i + 1]), acc);
    benchmark::DoNotOptimize(acc);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(x.size() - 1));
}
BENCHMARK(multiply_accumulate<arithmetic::ModelledArithmetic>);
BENCHMARK(multiply_accumulate<arithmetic::BoundedArithmetic>);
BENCHMARK(multiply_accumulate<arithmetic::ExactArithmetic>);

}  // namespace
