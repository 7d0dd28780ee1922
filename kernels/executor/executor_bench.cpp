// What a lane, a barrier and a shuffle cost, and two kernels of the shapes that the suite runs most.
// Kernel rows take the number of workers as argument; 256 lanes a block.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/executor/cuda_words.hpp"
#include "kernels/executor/executor.hpp"
#include "kernels/executor/permutation.hpp"

namespace assay::executor {
namespace {

constexpr unsigned lanes = 256;

void run_kernel(unsigned blocks, const std::function<void()>& lane, unsigned workers = 1) {
  Options options;
  options.workers = workers;
  run({"bench", {blocks}, {lanes}}, lane, options);
}

/// Nanoseconds a lane, without collectives.
void no_collective(benchmark::State& state) {
  constexpr unsigned blocks = 256;
  std::vector<std::uint32_t> out(blocks * lanes);
  for (auto _ : state) {
    run_kernel(blocks, [&] { out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; });
  }
  state.counters["per_lane"] = benchmark::Counter(static_cast<double>(state.iterations()) * blocks * lanes,
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(no_collective)->UseRealTime();

/// Nanoseconds a switch: each lane but the last to arrive switches once a barrier.
void barrier_switch(benchmark::State& state) {
  constexpr unsigned rounds = 1000;
  for (auto _ : state) {
    run_kernel(1, [] {
      for (unsigned i = 0; i < rounds; ++i) __syncthreads();
    });
  }
  state.counters["per_switch"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * rounds * lanes,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(barrier_switch)->UseRealTime();

/// Nanoseconds for one __shfl_xor_sync by all 32 lanes of a warp.
void shuffle_of_a_warp(benchmark::State& state) {
  constexpr unsigned rounds = 1000;
  std::vector<float> out(lanes);
  for (auto _ : state) {
    run_kernel(1, [&] {
      auto v = static_cast<float>(threadIdx.x);
      for (unsigned i = 0; i < rounds; ++i) v = __shfl_xor_sync(0xFFFFFFFFu, v, 1 + static_cast<int>(i & 15));
      out[threadIdx.x] = v;
    });
  }
  state.counters["per_shuffle"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * rounds * (lanes / 32),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(shuffle_of_a_warp)->UseRealTime();

// ---- int4 GEMV ---------------------------------------------------------------------------------

// y[n] = sum_k a[k] (q[n,k] - 8) scale[n, k/32]; a warp owns a row, splits k, and folds by shuffles.

constexpr unsigned size = 1024, block = 32;

__global__ void int4_gemv(const float* __restrict__ a, const std::uint8_t* __restrict__ q,
                          const float* __restrict__ scales, float* __restrict__ y) {
  const unsigned row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const unsigned position = threadIdx.x % 32;
  float sum = 0;
  for (unsigned b = position; b < size / block; b += 32) {
    const uint4 packed = *reinterpret_cast<const uint4*>(q + (row * size + b * block) / 2);
    const std::array<unsigned, 4> words{packed.x, packed.y, packed.z, packed.w};
    float part = 0;
    for (unsigned i = 0; i < block; ++i) {
      const int nibble = static_cast<int>((words[i / 8] >> (4 * (i % 8))) & 15u) - 8;
      part = __fadd_rn(part, __fmul_rn(a[b * block + i], static_cast<float>(nibble)));
    }
    sum = __fadd_rn(sum, __fmul_rn(part, __ldg(scales + row * (size / block) + b)));
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum = __fadd_rn(sum, __shfl_xor_sync(0xFFFFFFFFu, sum, distance));
  }
  if (position == 0) y[row] = sum;
}

void gemv(benchmark::State& state) {
  std::vector<float> a(size), scales(size * size / block), y(size);
  std::vector<uint4> q(size * size / 2 / sizeof(uint4));
  for (unsigned i = 0; i < a.size(); ++i) a[i] = static_cast<float>(detail::mix(i) % 256) / 64 - 2;
  for (unsigned i = 0; i < scales.size(); ++i) scales[i] = static_cast<float>(1 + detail::mix(i) % 16) / 256;
  for (unsigned i = 0; i < q.size(); ++i) {
    q[i] = make_uint4(static_cast<unsigned>(detail::mix(i)), static_cast<unsigned>(detail::mix(~0u - i)),
                      i * 77u, i);
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(q.data());
  for (auto _ : state) {
    run_kernel(
        size / (lanes / 32), [&] { int4_gemv(a.data(), bytes, scales.data(), y.data()); },
        static_cast<unsigned>(state.range(0)));
    benchmark::DoNotOptimize(y.data());
  }
}
BENCHMARK(gemv)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// ---- block-scaled cast to e4m3 -----------------------------------------------------------------

// Two lanes share a block of 32 and meet in one shuffle.

/// Round to nearest even, saturating, by integers; x finite.
std::uint8_t e4m3(float x) {
  const unsigned bits = __float_as_uint(x), sign = bits >> 24 & 0x80u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude >= 0x43E00000u) return static_cast<std::uint8_t>(sign | 0x7Eu);  // 448 and over
  if (magnitude < 0x3C800000u) {  // under 2^-6 codes are multiples of 2^-9: the sum's last place is 2^-9
    const unsigned units = __float_as_uint(__fadd_rn(__uint_as_float(magnitude), 16384.0f));
    return static_cast<std::uint8_t>(sign | (units - 0x46800000u));
  }
  const unsigned rounded = magnitude + 0x7FFFFu + (magnitude >> 20 & 1u);
  return static_cast<std::uint8_t>(sign | ((rounded >> 20) - (120u << 3)));
}

__global__ void block_cast(const float* __restrict__ x, std::uint8_t* __restrict__ data,
                           std::uint8_t* __restrict__ scales) {
  const std::size_t half = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::array<float4, 4> v;
  unsigned amax = 0;  // as bits: magnitudes compare as integers
  for (unsigned i = 0; i < 4; ++i) {
    v[i] = __ldcs(reinterpret_cast<const float4*>(x) + half * 4 + i);
    for (const float e : {v[i].x, v[i].y, v[i].z, v[i].w})
      amax = std::max(amax, __float_as_uint(e) & 0x7FFFFFFFu);
  }
  amax = std::max(amax, __shfl_xor_sync(0xFFFFFFFFu, amax, 1));
  const float scaled = __fmul_rn(__uint_as_float(amax), __uint_as_float(0x3B124925u));  // 1/448
  const unsigned up = __float_as_uint(scaled);
  const unsigned byte = (up >> 23) + ((up & 0x7FFFFFu) != 0);
  const float inverse = __uint_as_float((254u - byte) << 23);
  std::array<std::uint8_t, 16> codes;
  for (unsigned i = 0; i < 4; ++i) {
    codes[4 * i] = e4m3(__fmul_rn(v[i].x, inverse));
    codes[4 * i + 1] = e4m3(__fmul_rn(v[i].y, inverse));
    codes[4 * i + 2] = e4m3(__fmul_rn(v[i].z, inverse));
    codes[4 * i + 3] = e4m3(__fmul_rn(v[i].w, inverse));
  }
  std::memcpy(data + half * 16, codes.data(), codes.size());
  if (half % 2 == 0) scales[half / 2] = static_cast<std::uint8_t>(byte);
}

void cast(benchmark::State& state) {
  std::vector<float4> x(size * size / 4);
  std::vector<std::uint8_t> data(size * size), scales(size * size / block);
  auto* values = reinterpret_cast<float*>(x.data());
  for (unsigned i = 0; i < size * size; ++i) {
    values[i] =
        static_cast<float>(static_cast<int>(detail::mix(i) % 4096) - 2048) / static_cast<float>(1 + i % 97);
  }
  for (auto _ : state) {
    run_kernel(
        size * size / 16 / lanes, [&] { block_cast(values, data.data(), scales.data()); },
        static_cast<unsigned>(state.range(0)));
    benchmark::DoNotOptimize(data.data());
  }
}
BENCHMARK(cast)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::executor
