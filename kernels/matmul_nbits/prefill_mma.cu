// Prefill: weights dequantised to fp16, then a matrix multiplication on tensor cores (the schedule mma of
// schedules.md).
//
// gemm_mma: a thread block of four warps has a tile of 64 x 64 of Y, a warp 32 x 32 of it; A and W pass
// through shared memory 32 elements of k at a time, two steps of mma.m16n8k16. A step adds to the
// accumulators alone, so every element of Y sees its products in ascending k whatever the tile.
#include "kernels/device/mma.hpp"
#include "kernels/matmul_nbits/decode.hpp"
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {

using kernels::matmul_nbits::padded_k;
using kernels::matmul_nbits::TensorCores;

namespace {

// ---- weights ----

constexpr unsigned dequantize_threads = 256;

struct DequantizeParams {
  WeightArray weights;
  const void* scales;
  std::uint32_t* out;  ///< [n, padded / 2] pairs
  std::uint64_t pairs;
  std::uint32_t padded, k;
  bool bf16;
};

__device__ __forceinline__ Code16 weight_of(const DequantizeParams& p, std::int64_t column, std::uint32_t k) {
  if (k >= p.k) return 0;
  const Code16 scale = narrowed(p.bf16, load_code(p.scales, column * p.weights.blocks + k / p.weights.block));
  // Exact in fp32: nine bits times eleven.
  return cvt_rn_f16_f32(mul_rn_f32(static_cast<float>(p.weights.centered(column, k)), cvt_f32_f16(scale)));
}

__global__ void __launch_bounds__(dequantize_threads) dequantize_fp16(const DequantizeParams p) {
  const std::uint64_t pair = std::uint64_t{blockIdx.x} * dequantize_threads + threadIdx.x;
  if (pair >= p.pairs) return;
  const auto column = static_cast<std::int64_t>(pair / (p.padded / 2));
  const auto k = static_cast<std::uint32_t>(pair % (p.padded / 2)) * 2;
  p.out[pair] = weight_of(p, column, k) | weight_of(p, column, k + 1) << 16;
}

// ---- multiplication ----

constexpr unsigned warps_down = 2, warps_across = 2;
constexpr unsigned threads = 32 * warps_down * warps_across;
constexpr unsigned tiles_down = 2, tiles_across = 4;  ///< of 16 x 8, of a warp
constexpr unsigned edge = 64;
constexpr unsigned step = 16;
constexpr unsigned depth = 2 * step;
constexpr unsigned stride = depth + 8;  ///< codes; eight rows then lie in different banks
static_assert(edge == warps_down * tiles_down * 16 && edge == warps_across * tiles_across * 8);

struct Tile {
  alignas(16) std::uint16_t code[edge][stride];
};

struct Params {
  const std::uint16_t* a;
  const std::uint16_t* weights;
  std::uint16_t* out;
  Epilogue epilogue;
  std::uint32_t m, n, k, padded;
  bool wide_a;  ///< rows of A are whole aligned 128-bit words
};

/// Eight codes of a row of A from k on, narrowed; zeros beyond the row and beyond A.
__device__ __forceinline__ Bits128 load_a(const Params& p, std::uint32_t row, std::uint32_t k) {
  Bits128 codes = {};
  if (row >= p.m || k >= p.k) return codes;
  const std::uint16_t* const from = p.a + std::size_t{row} * p.k + k;
  if (p.wide_a) {
    codes = load_as<Bits128>(from);
  } else {
    const std::uint32_t count = p.k - k < 8 ? p.k - k : 8;
    ASSAY_UNROLL
    for (std::uint32_t e = 0; e < 8; ++e) {
      if (e < count) codes.word[e / 2] |= std::uint32_t{from[e]} << (16 * (e % 2));
    }
  }
  ASSAY_UNROLL
  for (std::uint32_t& word : codes.word) word = narrowed_pair(p.epilogue.bf16, word);
  return codes;
}

__device__ __forceinline__ Bits128 load_weights(const Params& p, std::uint32_t column, std::uint32_t k) {
  if (column >= p.n || k >= p.padded) return {};
  return load_as<Bits128>(p.weights + std::size_t{column} * p.padded + k);
}

__device__ __forceinline__ void fill_tiles(const Params& p, std::uint32_t row, std::uint32_t column,
                                           std::uint32_t first, Tile& a, Tile& w) {
  constexpr unsigned octets = depth / 8;
  for (unsigned i = threadIdx.x; i < edge * octets; i += threads) {
    const unsigned line = i / octets, e = i % octets * 8;
    store_as(&a.code[line][e], load_a(p, row + line, first + e));
    store_as(&w.code[line][e], load_weights(p, column + line, first + e));
  }
}

__device__ __forceinline__ std::uint32_t pair_at(const Tile& tile, unsigned line, unsigned e) {
  return load_as<std::uint32_t>(&tile.code[line][e]);
}

/// Where a lane's parts of the fragments lie: row or column `line`, elements from `pair` on.
struct FragmentPlace {
  unsigned line = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2;
};

__device__ __forceinline__ MmaA fragment_a(const Tile& a, unsigned row, unsigned k, FragmentPlace at) {
  return {{pair_at(a, row + at.line, k + at.pair), pair_at(a, row + at.line + 8, k + at.pair),
           pair_at(a, row + at.line, k + at.pair + 8), pair_at(a, row + at.line + 8, k + at.pair + 8)}};
}

__device__ __forceinline__ MmaB fragment_b(const Tile& w, unsigned column, unsigned k, FragmentPlace at) {
  return {{pair_at(w, column + at.line, k + at.pair), pair_at(w, column + at.line, k + at.pair + 8)}};
}

template <TensorCores kCores>
__device__ __forceinline__ MmaC multiplied(const MmaA& a, const MmaB& b, const MmaC& c) {
  return mma_m16n8k16_f16 < kCores == TensorCores::hopper ? MmaModel::hopper : MmaModel::ampere > (a, b, c);
}

__device__ __forceinline__ void store_tile(const Params& p, std::uint32_t row, std::uint32_t column,
                                           const MmaC& acc, FragmentPlace at) {
  ASSAY_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t r = row + at.line + i / 2 * 8, c = column + at.pair + i % 2;
    if (r < p.m && c < p.n)
      p.out[std::size_t{r} * p.n + c] = static_cast<std::uint16_t>(p.epilogue.fp16(acc.r[i], c));
  }
}

template <TensorCores kCores>
__global__ void __launch_bounds__(threads) gemm_mma(const Params p) {
  ASSAY_SHARED(Tile, a);
  ASSAY_SHARED(Tile, w);
  const std::uint32_t first_row = blockIdx.y * edge, first_column = blockIdx.x * edge;
  const unsigned warp = threadIdx.x / 32;
  const unsigned down = warp / warps_across * tiles_down * 16,
                 across = warp % warps_across * tiles_across * 8;
  const FragmentPlace at;
  MmaC acc[tiles_down][tiles_across] = {};

  for (std::uint32_t first = 0; first < p.padded; first += depth) {
    if (first != 0) __syncthreads();
    fill_tiles(p, first_row, first_column, first, a, w);
    __syncthreads();
    ASSAY_UNROLL
    for (unsigned k = 0; k < depth; k += step) {
      if (first + k >= p.padded) break;
      ASSAY_UNROLL
      for (unsigned i = 0; i < tiles_down; ++i) {
        if (first_row + down + 16 * i >= p.m) break;
        const MmaA fragment = fragment_a(a, down + 16 * i, k, at);
        ASSAY_UNROLL
        for (unsigned j = 0; j < tiles_across; ++j) {
          if (first_column + across + 8 * j >= p.n) break;
          acc[i][j] = multiplied<kCores>(fragment, fragment_b(w, across + 8 * j, k, at), acc[i][j]);
        }
      }
    }
  }
  ASSAY_UNROLL
  for (unsigned i = 0; i < tiles_down; ++i) {
    ASSAY_UNROLL
    for (unsigned j = 0; j < tiles_across; ++j)
      store_tile(p, first_row + down + 16 * i, first_column + across + 8 * j, acc[i][j], at);
  }
}

}  // namespace

void launch_dequantize_fp16(LaunchContext& context, const Problem& problem, void* weights) {
  const auto padded = static_cast<std::uint32_t>(padded_k(problem.k));
  const std::uint64_t pairs = static_cast<std::uint64_t>(problem.n) * (padded / 2);
  const DequantizeParams params{WeightArray::of(problem),
                                problem.scales,
                                static_cast<std::uint32_t*>(weights),
                                pairs,
                                padded,
                                static_cast<std::uint32_t>(problem.k),
                                problem.model == Model::bf16};
  const auto grid = static_cast<unsigned>((pairs + dequantize_threads - 1) / dequantize_threads);
  ASSAY_LAUNCH(context, dim3(grid), dim3(dequantize_threads), 0, dequantize_fp16, params);
}

void launch_gemm_mma(LaunchContext& context, const Problem& problem, const void* weights, void* out) {
  const Params params{static_cast<const std::uint16_t*>(problem.a),
                      static_cast<const std::uint16_t*>(weights),
                      static_cast<std::uint16_t*>(out),
                      Epilogue::of(problem),
                      static_cast<std::uint32_t>(problem.m),
                      static_cast<std::uint32_t>(problem.n),
                      static_cast<std::uint32_t>(problem.k),
                      static_cast<std::uint32_t>(padded_k(problem.k)),
                      problem.k % 8 == 0 && reinterpret_cast<std::uintptr_t>(problem.a) % 16 == 0};
  const auto tiles = [](std::int64_t extent) { return static_cast<unsigned>((extent + edge - 1) / edge); };
  const dim3 grid(tiles(problem.n), tiles(problem.m));
  if (problem.tensor_cores == TensorCores::hopper) {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, gemm_mma<TensorCores::hopper>, params);
  } else {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, gemm_mma<TensorCores::ampere>, params);
  }
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
