// Time of the twins that the executor runs for every element of a cast.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/device/twin_operands.hpp"

namespace assay::kernels::cpu {
namespace {

std::vector<std::uint32_t> random_words() {
  std::vector<std::uint32_t> words(4096);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = operands::scrambled(i);
  return words;
}

/// Calls function(a, b) on pairs of words; an item is one call. The sum keeps the calls, and their order
/// free.
template <class Function>
void over_pairs(benchmark::State& state, const Function& function) {
  const auto words = random_words();
  for (auto _ : state) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) sum += function(words[i], words[i + 1]);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(words.size() - 1));
}

/// A value between 2^-12 and 2^12, where fp8 has normals, subnormals and saturation.
float moderate(std::uint32_t word) {
  return std::bit_cast<float>((word & 0x807FFFFFu) | (115 + (word >> 23) % 24) << 23);
}

void fp8x2(benchmark::State& state) {
  over_pairs(state, [](std::uint32_t a, std::uint32_t b) {
    return cvt_rn_satfinite_e4m3x2_f32(moderate(a), moderate(b));
  });
}
void product(benchmark::State& state) {
  over_pairs(state, [](std::uint32_t a, std::uint32_t b) {
    return std::bit_cast<std::uint32_t>(mul_rn_f32(moderate(a), moderate(b)));
  });
}
void magnitudes_x2(benchmark::State& state) {
  over_pairs(state,
             [](std::uint32_t a, std::uint32_t b) { return max_bf16x2(a & 0x3FFF3FFFu, b & 0x3FFF3FFFu); });
}
void maximum(benchmark::State& state) {
  over_pairs(state, [](std::uint32_t a, std::uint32_t b) {
    return std::bit_cast<std::uint32_t>(max_f32(moderate(a), moderate(b)));
  });
}
void from_f16(benchmark::State& state) {
  over_pairs(state, [](std::uint32_t a, std::uint32_t) {
    return std::bit_cast<std::uint32_t>(cvt_f32_f16(a & 0xFFFFu));
  });
}
BENCHMARK(fp8x2);
BENCHMARK(product);
BENCHMARK(magnitudes_x2);
BENCHMARK(maximum);
BENCHMARK(from_f16);

}  // namespace
}  // namespace assay::kernels::cpu
