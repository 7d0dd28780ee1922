// Int4 decode GEMV with K cut into interleaved slices: the schedule split_k of schedules.md.
//
// The schedule speaks of 32 lanes that take 8 codes each. Here one lane does the work of four of them, so
// that it loads weights 16 bytes at a time: lane (c, j) of a warp, j in 0..7, has column c of four and of
// every chunk of 256 elements the 32 from 32 j on, which is one block with one scale. The sums are kept
// apart, and the tree at the end adds them in the schedule's order, so the bits are those of the schedule.
//
// Warps of a thread block: 8 / k_split groups of columns, k_split slices each. A is narrowed to fp16 and
// permuted to the pairs that decoding gives once a thread block, in shared memory, 8192 elements at a time.
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned warps = threads / 32;
constexpr unsigned chunk = 256;  ///< elements of a column that 8 lanes take together
constexpr unsigned lanes_per_column = 8;
constexpr unsigned columns_per_warp = 32 / lanes_per_column;  ///< at a time
constexpr unsigned octets_per_block = 4;
constexpr unsigned staged_elements = 8192;

struct Params {
  const void* a;
  const std::uint8_t* b;
  const std::uint16_t* scales;
  const std::uint8_t* zero_points;
  void* out;
  Epilogue epilogue;
  std::uint32_t n, k, blocks;
  Store store;
};

/// The octets of A in shared memory, in the order (chunk, octet of its block, block of its chunk): the eight
/// lanes of a column read eight octets side by side.
using StagedA = Bits128[staged_elements / 8];

/// What a lane needs of one block: 32 codes, their scale and zero point.
struct Weights {
  Bits128 codes;
  Code16 scale;
  std::uint32_t zero;
};

template <unsigned kColumns>
struct Lane {
  std::uint32_t column;  ///< the first; the others follow columns_per_warp apart
  std::uint32_t slice, j;
  std::uint32_t sums[kColumns][octets_per_block][4] = {};
};

/// The whole octets of A from element `first` on, as many as there is room for.
__device__ __forceinline__ void stage_a(const Params& p, std::uint32_t first, StagedA& staged) {
  for (std::uint32_t i = threadIdx.x; i < staged_elements / 8; i += threads) {
    const std::uint32_t octet = first / 8 + i;
    if (octet >= p.k / 8) break;
    Bits128 codes = load_as<Bits128>(static_cast<const std::uint16_t*>(p.a) + std::size_t{octet} * 8);
    ASSAY_UNROLL
    for (std::uint32_t& word : codes.word) word = narrowed_pair(p.epilogue.bf16, word);
    const std::uint32_t of_chunk = i / 32, block = i / octets_per_block % lanes_per_column;
    staged[(of_chunk * octets_per_block + i % octets_per_block) * lanes_per_column + block] = permuted(codes);
  }
}

__device__ __forceinline__ Weights load_weights(const Params& p, std::uint32_t column, std::uint32_t block) {
  Weights weights = {};
  if (column >= p.n || block >= p.blocks) return weights;
  const std::size_t at = std::size_t{column} * p.blocks + block;
  weights.codes = load_nc_128(p.b + at * 16, evict_first_policy());
  weights.scale = narrowed(p.epilogue.bf16, p.scales[at]);
  weights.zero = zero_point_of(p.zero_points, (p.blocks + 1) / 2, column, block, 4);
  return weights;
}

/// One octet: its pairs into the sums of the schedule's lane 4 j + o.
__device__ __forceinline__ void accumulate(std::uint32_t codes, const Bits128& a, ZeroPoint zero,
                                           std::uint32_t scale, std::uint32_t (&sums)[4]) {
  const CenteredCodes q = centered(codes, zero);
  ASSAY_UNROLL
  for (unsigned pair = 0; pair < 4; ++pair)
    sums[pair] = fma_rn_f16x2(mul_rn_f16x2(q.pair[pair], scale), a.word[pair], sums[pair]);
}

/// The first `whole` octets of one block.
__device__ __forceinline__ void accumulate(const Weights& weights, const Bits128* octets, std::uint32_t whole,
                                           std::uint32_t (&sums)[octets_per_block][4]) {
  const ZeroPoint zero = ZeroPoint::of(weights.zero);
  const std::uint32_t scale = both(weights.scale);
  ASSAY_UNROLL
  for (unsigned o = 0; o < octets_per_block; ++o) {
    if (o < whole) accumulate(weights.codes.word[o], octets[o * lanes_per_column], zero, scale, sums[o]);
  }
}

/// The elements of the octet that k cuts off, in fp32.
__device__ __forceinline__ float tail_of(const Params& p, std::uint32_t column, std::uint32_t block) {
  const Weights weights = load_weights(p, column, block);
  const std::uint32_t octet = p.k / 8;
  std::uint32_t word = 0;
  ASSAY_UNROLL
  for (unsigned o = 0; o < octets_per_block; ++o) {
    if (octet % octets_per_block == o) word = weights.codes.word[o];
  }
  const CenteredCodes codes = centered(word, ZeroPoint::of(weights.zero));
  float tail = 0;
  ASSAY_UNROLL
  for (std::uint32_t e = 0; e < 7; ++e) {
    if (e >= p.k % 8) break;
    const std::uint32_t pair = mul_rn_f16x2(codes.pair[e % 4], both(weights.scale));
    const Code16 a = narrowed(p.epilogue.bf16, load_code(p.a, std::int64_t{octet} * 8 + e));
    tail = fma_rn_f32(cvt_f32_f16(e < 4 ? pair & 0xFFFFu : pair >> 16), cvt_f32_f16(a), tail);
  }
  return tail;
}

/// One lane's four pair sums and its tail, in the schedule's order.
__device__ __forceinline__ float collapsed(float tail, const std::uint32_t (&sums)[4]) {
  ASSAY_UNROLL
  for (const std::uint32_t pair : sums) tail = add_rn_f32(tail, cvt_f32_f16(pair & 0xFFFFu));
  ASSAY_UNROLL
  for (const std::uint32_t pair : sums) tail = add_rn_f32(tail, cvt_f32_f16(pair >> 16));
  return tail;
}

/// The schedule's tree over 32 lanes, of which this lane has lanes 4 j to 4 j + 3; the result is that of j =
/// 0.
__device__ __forceinline__ float reduced(float (&v)[octets_per_block]) {
  ASSAY_UNROLL
  for (unsigned distance = 4; distance > 0; distance /= 2) {
    ASSAY_UNROLL
    for (float& x : v) x = add_rn_f32(x, __shfl_down_sync(~0u, x, distance, lanes_per_column));
  }
  return add_rn_f32(add_rn_f32(v[0], v[2]), add_rn_f32(v[1], v[3]));
}

template <unsigned kSplit, unsigned kPrefetch, unsigned kColumns>
__global__ void __launch_bounds__(threads) gemv_split_k(const Params p) {
  constexpr unsigned groups = warps / kSplit;
  constexpr unsigned columns = groups * columns_per_warp * kColumns;
  constexpr unsigned chunks_per_stage = staged_elements / chunk / kSplit;  // of one slice
  constexpr unsigned ahead = kPrefetch == 0 ? 1 : kPrefetch;
  static_assert(chunks_per_stage % ahead == 0);
  ASSAY_SHARED(StagedA, staged);
  using Partials = float[kSplit][columns];
  ASSAY_SHARED(Partials, partials);

  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t in_block = warp / kSplit * columns_per_warp * kColumns + lane / lanes_per_column;
  Lane<kColumns> mine;
  mine.column = blockIdx.x * columns + in_block;
  mine.slice = warp % kSplit;
  mine.j = lane % lanes_per_column;

  // The i-th chunk of the slice begins at element 256 (slice + i kSplit).
  const auto block_of = [&](std::uint32_t i) { return (mine.slice + i * kSplit) * (chunk / 32) + mine.j; };
  Weights ring[ahead][kColumns];
  const auto load = [&](unsigned slot, std::uint32_t i) {
    ASSAY_UNROLL
    for (unsigned c = 0; c < kColumns; ++c)
      ring[slot][c] = load_weights(p, mine.column + c * columns_per_warp, block_of(i));
  };
  if constexpr (kPrefetch != 0) {
    ASSAY_UNROLL
    for (unsigned slot = 0; slot < ahead; ++slot) load(slot, slot);
  }

  const std::uint32_t octets = p.k / 8;  // whole ones
  for (std::uint32_t first = 0; first < p.k; first += staged_elements) {
    if (first != 0) __syncthreads();
    stage_a(p, first, staged);
    __syncthreads();
    const std::uint32_t begin = first / chunk / kSplit;
    for (std::uint32_t i = begin; i < begin + chunks_per_stage; i += ahead) {
      if ((mine.slice + i * kSplit) * chunk >= p.k) break;
      ASSAY_UNROLL
      for (unsigned slot = 0; slot < ahead; ++slot) {
        if constexpr (kPrefetch == 0) load(slot, i);
        const std::uint32_t block = block_of(i + slot);
        const std::uint32_t whole = block * octets_per_block < octets ? octets - block * octets_per_block : 0;
        const Bits128* const a =
            staged + (block / lanes_per_column - first / chunk) * octets_per_block * lanes_per_column +
            mine.j;
        ASSAY_UNROLL
        for (unsigned c = 0; c < kColumns; ++c) accumulate(ring[slot][c], a, whole, mine.sums[c]);
        if constexpr (kPrefetch != 0) load(slot, i + slot + ahead);
      }
    }
  }

  const std::uint32_t cut = p.k % 8 != 0 ? octets : ~0u;  // the octet that is not whole
  const bool has_tail =
      cut != ~0u && cut / 32 % kSplit == mine.slice && cut / octets_per_block % lanes_per_column == mine.j;
  ASSAY_UNROLL
  for (unsigned c = 0; c < kColumns; ++c) {
    const std::uint32_t column = mine.column + c * columns_per_warp;
    const float tail = has_tail ? tail_of(p, column, cut / octets_per_block) : 0.0f;
    float v[octets_per_block];
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o)
      v[o] = collapsed(cut % octets_per_block == o ? tail : 0.0f, mine.sums[c][o]);
    const float partial = reduced(v);
    if (mine.j == 0) partials[mine.slice][in_block + c * columns_per_warp] = partial;
  }
  __syncthreads();

  const std::uint32_t column = blockIdx.x * columns + threadIdx.x;
  if (threadIdx.x >= columns || column >= p.n) return;
  float acc = 0;
  ASSAY_UNROLL
  for (unsigned slice = 0; slice < kSplit; ++slice) acc = add_rn_f32(acc, partials[slice][threadIdx.x]);
  const Code16 code = p.epilogue.fp16(acc, column);
  static_cast<std::uint16_t*>(p.out)[column] =
      static_cast<std::uint16_t>(p.store == Store::bf16 ? bf16_of_fp16(code) : code);
}

template <unsigned kSplit, unsigned kPrefetch>
void launch(LaunchContext& context, const Params& params) {
  constexpr unsigned narrow = warps / kSplit * columns_per_warp;
  // Twice the columns a lane halve what is read of A; they need enough thread blocks to go round.
  const bool wide = kSplit == 2 && params.n >= 2 * narrow * 2 * context.device.capability().multiprocessors;
  const auto grid = [&](unsigned columns) { return dim3((params.n + columns - 1) / columns); };
  if (wide) {
    ASSAY_LAUNCH(context, grid(2 * narrow), dim3(threads), 0, (gemv_split_k<kSplit, kPrefetch, 2>), params);
  } else {
    ASSAY_LAUNCH(context, grid(narrow), dim3(threads), 0, (gemv_split_k<kSplit, kPrefetch, 1>), params);
  }
}

template <unsigned kSplit>
void launch(LaunchContext& context, const Params& params, unsigned prefetch) {
  switch (prefetch) {
    case 0:
      return launch<kSplit, 0>(context, params);
    case 2:
      return launch<kSplit, 2>(context, params);
    default:
      return launch<kSplit, 4>(context, params);
  }
}

}  // namespace

void launch_gemv_split_k(LaunchContext& context, const Problem& row, void* out, Store store) {
  const Params params{row.a,
                      row.b,
                      static_cast<const std::uint16_t*>(row.scales),
                      row.zero_points,
                      out,
                      Epilogue::of(row),
                      static_cast<std::uint32_t>(row.n),
                      static_cast<std::uint32_t>(row.k),
                      static_cast<std::uint32_t>((row.k + 31) / 32),
                      store};
  if (row.k_split == 2) return launch<2>(context, params, row.prefetch);
  launch<8>(context, params, row.prefetch);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
