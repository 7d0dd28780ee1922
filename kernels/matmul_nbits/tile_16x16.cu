// The general kernel: any width of code, any block, any model; one thread an element of Y, one chain of fused
// multiply-adds in ascending k (the schedule tile of schedules.md). Tiles of A and of the decoded weights
// pass through shared memory.
#include "kernels/matmul_nbits/decode.hpp"
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {
namespace {

constexpr unsigned edge = 16;
constexpr unsigned depth = 32;          ///< elements of k in shared memory at a time
constexpr unsigned stride = depth + 1;  ///< odd, so that a column of a tile lies in different banks
constexpr unsigned threads = edge * edge;

using Tile = float[edge][stride];

struct Params {
  const void* a;
  WeightArray weights;
  const void* scales;
  void* out;
  Epilogue epilogue;
  std::int64_t m, n, k;
};

template <bool kFp32>
__device__ __forceinline__ float value_of(const void* codes, std::int64_t index, bool bf16) {
  if constexpr (kFp32) return static_cast<const float*>(codes)[index];
  return cvt_f32_f16(narrowed(bf16, load_code(codes, index)));
}

template <bool kFp32>
__device__ __forceinline__ void fill_tiles(const Params& p, std::int64_t row, std::int64_t column,
                                           std::int64_t first, Tile& a, Tile& w) {
  for (unsigned i = threadIdx.x; i < edge * depth; i += threads) {
    const unsigned line = i / depth, e = i % depth;
    const std::int64_t k = first + e;
    if (k >= p.k) continue;
    if (row + line < p.m) a[line][e] = value_of<kFp32>(p.a, (row + line) * p.k + k, p.epilogue.bf16);
    if (column + line >= p.n) continue;
    const float scale =
        value_of<kFp32>(p.scales, (column + line) * p.weights.blocks + k / p.weights.block, p.epilogue.bf16);
    w[line][e] = mul_rn_f32(static_cast<float>(p.weights.centered(column + line, k)), scale);
  }
}

template <bool kFp32>
__global__ void __launch_bounds__(threads) tile_16x16(const Params p) {
  ASSAY_SHARED(Tile, a);
  ASSAY_SHARED(Tile, w);
  const std::int64_t first_row = std::int64_t{blockIdx.y} * edge,
                     first_column = std::int64_t{blockIdx.x} * edge;
  const unsigned y = threadIdx.x / edge, x = threadIdx.x % edge;
  const bool inside = first_row + y < p.m && first_column + x < p.n;
  float acc = 0;
  for (std::int64_t first = 0; first < p.k; first += depth) {
    if (first != 0) __syncthreads();
    fill_tiles<kFp32>(p, first_row, first_column, first, a, w);
    __syncthreads();
    const unsigned count = p.k - first < depth ? static_cast<unsigned>(p.k - first) : depth;
    if (!inside) continue;
    for (unsigned e = 0; e < count; ++e) acc = fma_rn_f32(a[y][e], w[x][e], acc);
  }
  if (!inside) return;
  const std::int64_t at = (first_row + y) * p.n + first_column + x;
  if constexpr (kFp32) {
    const auto* const bias = static_cast<const float*>(p.epilogue.bias);
    static_cast<float*>(p.out)[at] = bias == nullptr ? acc : add_rn_f32(acc, bias[first_column + x]);
  } else {
    static_cast<std::uint16_t*>(p.out)[at] =
        static_cast<std::uint16_t>(p.epilogue.fp16(acc, first_column + x));
  }
}

}  // namespace

void launch_tile_16x16(LaunchContext& context, const Problem& problem, void* out) {
  const Params params{
      problem.a, WeightArray::of(problem), problem.scales, out, Epilogue::of(problem), problem.m, problem.n,
      problem.k};
  const auto tiles = [](std::int64_t extent) { return static_cast<unsigned>((extent + edge - 1) / edge); };
  const dim3 grid(tiles(problem.n), tiles(problem.m));
  if (problem.model == Model::fp32) {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, tile_16x16<true>, params);
  } else {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, tile_16x16<false>, params);
  }
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
