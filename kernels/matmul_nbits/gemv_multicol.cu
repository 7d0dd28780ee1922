// Int4 decode GEMV with four columns a warp and unscaled fp16 sums of a block: the schedules multicol and
// natural of schedules.md.
//
// A lane takes whole blocks of 32 codes, of four columns at a time, so that it reads the activations of a
// block once for four. Decoding gives the pairs (e0,e4) (e1,e5) (e2,e6) (e3,e7) of a word; multicol permutes
// the activations to meet them, natural reads weights that were interleaved beforehand so that decoding gives
// (e0,e1) (e2,e3) (e4,e5) (e6,e7).
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned columns = 4;  ///< of a warp
constexpr unsigned octets_per_block = 4;

struct Params {
  const std::uint16_t* a;
  const std::uint8_t* b;
  const std::uint16_t* scales;
  const std::uint8_t* zero_points;
  std::uint16_t* out;
  Epilogue epilogue;
  std::uint32_t n, blocks;
};

/// acc += (q - z) * a over one block, pair by pair; every product and sum is one fp16 rounding.
template <bool kPermute>
__device__ __forceinline__ std::uint32_t block_sum(const Bits128& codes, ZeroPoint zero,
                                                   const Bits128 (&a)[octets_per_block]) {
  std::uint32_t acc = 0;
  ASSAY_UNROLL
  for (unsigned o = 0; o < octets_per_block; ++o) {
    const CenteredCodes q = centered(codes.word[o], zero);
    const Bits128 octet = kPermute ? permuted(a[o]) : a[o];
    ASSAY_UNROLL
    for (unsigned pair = 0; pair < 4; ++pair) acc = fma_rn_f16x2(q.pair[pair], octet.word[pair], acc);
  }
  return acc;
}

template <bool kPermute>
__device__ __forceinline__ void gemv(const Params& p) {
  const std::uint32_t warp = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const std::uint32_t first = warp * columns;
  if (first >= p.n) return;
  std::uint32_t total[columns] = {};
  for (std::uint32_t block = lane; block < p.blocks; block += 32) {
    Bits128 a[octets_per_block];
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o)
      a[o] = load_as<Bits128>(p.a + (std::size_t{block} * octets_per_block + o) * 8);
    ASSAY_UNROLL
    for (unsigned c = 0; c < columns; ++c) {
      // A column beyond the matrix does the work of the last one and stores nothing.
      const std::uint32_t column = first + c < p.n ? first + c : p.n - 1;
      const std::size_t at = std::size_t{column} * p.blocks + block;
      const Bits128 codes = load_nc_128(p.b + at * 16, evict_normal_policy());
      const ZeroPoint zero =
          ZeroPoint::of(zero_point_of(p.zero_points, (p.blocks + 1) / 2, column, block, 4));
      total[c] = fma_rn_f16x2(block_sum<kPermute>(codes, zero, a), both(p.scales[at]), total[c]);
    }
  }
  ASSAY_UNROLL
  for (unsigned c = 0; c < columns; ++c) {
    float v = add_rn_f32(cvt_f32_f16(total[c] & 0xFFFFu), cvt_f32_f16(total[c] >> 16));
    ASSAY_UNROLL
    for (unsigned distance = 16; distance > 0; distance /= 2)
      v = add_rn_f32(v, __shfl_down_sync(~0u, v, distance));
    if (lane == 0 && first + c < p.n)
      p.out[first + c] = static_cast<std::uint16_t>(p.epilogue.fp16(v, first + c));
  }
}

// Two names, so that a witness tells them apart.
__global__ void __launch_bounds__(threads) gemv_multicol(const Params p) { gemv<true>(p); }
__global__ void __launch_bounds__(threads) gemv_natural(const Params p) { gemv<false>(p); }

/// Nibbles e0 .. e7 of a word to e0, e2, e4, e6, e1, e3, e5, e7, low to high.
__global__ void __launch_bounds__(threads)
    interleave_weights(const std::uint32_t* from, std::uint32_t* to, const std::uint64_t words) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= words) return;
  std::uint32_t result = 0;
  ASSAY_UNROLL
  for (unsigned slot = 0; slot < 8; ++slot) {
    const unsigned element = slot < 4 ? 2 * slot : 2 * slot - 7;
    result |= (from[i] >> (4 * element) & 0xFu) << (4 * slot);
  }
  to[i] = result;
}

Params params_of(const Problem& problem, const void* weights, void* out) {
  return {static_cast<const std::uint16_t*>(problem.a),
          static_cast<const std::uint8_t*>(weights),
          static_cast<const std::uint16_t*>(problem.scales),
          problem.zero_points,
          static_cast<std::uint16_t*>(out),
          Epilogue::of(problem),
          static_cast<std::uint32_t>(problem.n),
          static_cast<std::uint32_t>(problem.k / 32)};
}

dim3 grid_of(const Problem& problem) {
  constexpr unsigned columns_per_block = threads / 32 * columns;
  return dim3(static_cast<unsigned>((problem.n + columns_per_block - 1) / columns_per_block));
}

}  // namespace

void launch_gemv_multicol(LaunchContext& context, const Problem& problem, void* out) {
  ASSAY_LAUNCH(context, grid_of(problem), dim3(threads), 0, gemv_multicol,
               params_of(problem, problem.b, out));
}

void launch_gemv_natural(LaunchContext& context, const Problem& problem, const void* weights, void* out) {
  ASSAY_LAUNCH(context, grid_of(problem), dim3(threads), 0, gemv_natural, params_of(problem, weights, out));
}

void launch_interleave_weights(LaunchContext& context, const Problem& problem, void* weights) {
  const std::uint64_t words = static_cast<std::uint64_t>(problem.n * (problem.k / 32)) * octets_per_block;
  ASSAY_LAUNCH(context, dim3(static_cast<unsigned>((words + threads - 1) / threads)), dim3(threads), 0,
               interleave_weights, reinterpret_cast<const std::uint32_t*>(problem.b),
               static_cast<std::uint32_t*>(weights), words);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
