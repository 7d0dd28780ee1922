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
constexpr unsigned octets_per_chunk = chunk / 8;
constexpr unsigned staged_elements = 16384;

struct Params {
  const void* a;
  const std::uint8_t* b;
  const std::uint16_t* scales;
  const std::uint8_t* zero_points;  ///< or null
  void* out;
  Epilogue epilogue;
  std::uint32_t n, k, blocks;
  Store store;
};

/// The octets of A in shared memory, in the order (chunk, octet of its block, block of its chunk): the eight
/// lanes of a column read eight octets side by side.
using StagedA = Bits128[staged_elements / 8];

/// What a lane needs of one block, as it lies in memory: nothing waits for it before it is used.
struct Weights {
  Bits128 codes;
  std::uint16_t scale;
  std::uint8_t zero_points;  ///< of two blocks
};

/// Where a lane's blocks of one column lie: that of its i-th chunk is `i` strides further.
template <unsigned kSplit, bool kZeroPoints>
struct Column {
  const std::uint8_t* codes;
  const std::uint16_t* scales;
  const std::uint8_t* zero_points;

  /// From block `block` of a column on; past the matrix, of its last column.
  static __device__ __forceinline__ Column of(const Params& p, std::uint32_t column, std::uint32_t block) {
    if (column >= p.n) column = p.n - 1;
    const std::size_t first = std::size_t{column} * p.blocks + block;
    return {p.b + first * 16, p.scales + first,
            kZeroPoints ? p.zero_points + std::size_t{column} * ((p.blocks + 1) / 2) + block / 2 : nullptr};
  }

  __device__ __forceinline__ Weights load(std::uint32_t i) const {
    constexpr std::uint32_t blocks = kSplit * lanes_per_column;  // of a stride, an even number
    Weights weights;
    weights.codes = load_nc_128(codes + std::size_t{i} * (blocks * 16), evict_first_policy());
    weights.scale = scales[i * blocks];
    weights.zero_points = kZeroPoints ? zero_points[i * (blocks / 2)] : 0;
    return weights;
  }
};

/// The whole octets of A from element `first` on, as many as there is room for.
__device__ __forceinline__ void stage_a(const Params& p, std::uint32_t first, StagedA& staged) {
  for (std::uint32_t i = threadIdx.x; i < staged_elements / 8; i += threads) {
    const std::uint32_t octet = first / 8 + i;
    if (octet >= p.k / 8) break;
    Bits128 codes = load_as<Bits128>(static_cast<const std::uint16_t*>(p.a) + std::size_t{octet} * 8);
    ASSAY_UNROLL
    for (std::uint32_t& word : codes.word) word = narrowed_pair(p.epilogue.bf16, word);
    const std::uint32_t of_chunk = i / octets_per_chunk, block = i / octets_per_block % lanes_per_column;
    staged[(of_chunk * octets_per_block + i % octets_per_block) * lanes_per_column + block] = permuted(codes);
  }
}

/// One octet: its pairs into the sums of the schedule's lane 4 j + o.
__device__ __forceinline__ void accumulate(std::uint32_t codes, const Bits128& a, ZeroPoint zero,
                                           std::uint32_t scale, std::uint32_t (&sums)[4]) {
  const CenteredCodes q = centered(codes, zero);
  ASSAY_UNROLL
  for (unsigned pair = 0; pair < 4; ++pair)
    sums[pair] = fma_rn_f16x2(mul_rn_f16x2(q.pair[pair], scale), a.word[pair], sums[pair]);
}

/// A block's scale, in both halves, and zero point. A lane's blocks are all even or all odd.
struct Decoding {
  ZeroPoint zero;
  std::uint32_t scale;

  template <bool kZeroPoints>
  static __device__ __forceinline__ Decoding of(const Params& p, const Weights& weights,
                                                std::uint32_t block) {
    const std::uint32_t z = kZeroPoints ? std::uint32_t{weights.zero_points} >> (block % 2 * 4) & 0xFu : 8u;
    return {ZeroPoint::of(z), both(narrowed(p.epilogue.bf16, weights.scale))};
  }
};

/// One lane's sums of a column: sums[o][p] is s[p] of the schedule's lane 4 j + o.
struct Sums {
  std::uint32_t pair[octets_per_block][4] = {};

  /// The first `whole` octets of a block; `a` holds them lanes_per_column apart.
  __device__ __forceinline__ void add(const Weights& weights, const Decoding& decoding, const Bits128* a,
                                      unsigned whole = octets_per_block) {
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o) {
      if (o < whole)
        accumulate(weights.codes.word[o], a[o * lanes_per_column], decoding.zero, decoding.scale, pair[o]);
    }
  }
};

/// The elements of the octet that k cuts off, in fp32; `weights` is the block it lies in.
__device__ __forceinline__ float tail_of(const Params& p, const Weights& weights, const Decoding& decoding) {
  const std::uint32_t octet = p.k / 8;
  std::uint32_t word = 0;
  ASSAY_UNROLL
  for (unsigned o = 0; o < octets_per_block; ++o) {
    if (octet % octets_per_block == o) word = weights.codes.word[o];
  }
  const CenteredCodes codes = centered(word, decoding.zero);
  float tail = 0;
  ASSAY_UNROLL
  for (std::uint32_t e = 0; e < 7; ++e) {
    if (e >= p.k % 8) break;
    const std::uint32_t pair = mul_rn_f16x2(codes.pair[e % 4], decoding.scale);
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

/// One lane's work: the blocks (slice + i kSplit) * 8 + j of kColumns columns, i = 0, 1, ...
template <unsigned kSplit, unsigned kPrefetch, unsigned kColumns, bool kZeroPoints>
class Lane {
 public:
  __device__ __forceinline__ Lane(const Params& p, std::uint32_t column, std::uint32_t slice, std::uint32_t j)
      : p_(p),
        slice_(slice),
        j_(j),
        whole_(p.k / chunk > slice ? (p.k / chunk - slice - 1) / kSplit + 1 : 0) {
    ASSAY_UNROLL
    for (unsigned c = 0; c < kColumns; ++c)
      columns_[c] = ColumnOf::of(p, column + c * columns_per_warp, slice * lanes_per_column + j);
    if constexpr (kPrefetch != 0) load<0>(0);
  }

  /// The whole chunks among those staged, which begin with chunk `first`. Two groups take turns: while one is
  /// added, the other is on its way.
  __device__ __forceinline__ void add_whole_chunks(const StagedA& staged, std::uint32_t first) {
    constexpr std::uint32_t stage = staged_elements / chunk / kSplit;
    static_assert(stage % (2 * group) == 0, "a stage begins with the group that was loaded for it");
    const std::uint32_t last = first / kSplit + stage, end = whole_ < last ? whole_ : last;
    const Bits128* a = staged + slice_ * octets_per_chunk + j_;
    for (std::uint32_t i = first / kSplit; i < end; i += 2 * group) {
      if constexpr (kPrefetch == 0) load<0>(i);
      load<1>(i + group);
      add<0>(i, end, a);
      if constexpr (kPrefetch != 0) load<0>(i + 2 * group);
      add<1>(i + group, end, a);
    }
  }

  /// The chunk that k cuts off, where it is this slice's and staged.
  __device__ __forceinline__ void add_last_chunk(const StagedA& staged, std::uint32_t first) {
    const std::uint32_t last = p_.k / chunk, block = last * lanes_per_column + j_;
    if (p_.k % chunk == 0 || last % kSplit != slice_ || last - first >= staged_elements / chunk ||
        block >= p_.blocks)
      return;
    const std::uint32_t octets = p_.k / 8 - min_of(p_.k / 8, block * octets_per_block);
    ASSAY_UNROLL
    for (unsigned c = 0; c < kColumns; ++c) {
      const Weights weights = columns_[c].load(last / kSplit);
      const Decoding decoding = Decoding::of<kZeroPoints>(p_, weights, j_);
      sums_[c].add(weights, decoding, staged + (last - first) * octets_per_chunk + j_, octets);
      if (octets < octets_per_block && p_.k % 8 != 0) tail_[c] = tail_of(p_, weights, decoding);
    }
  }

  /// This lane's part of a column's sum; that of j = 0 is the slice's.
  __device__ __forceinline__ float sum(unsigned c) const {
    const unsigned cut = p_.k / 8 % octets_per_block;  // where a tail belongs
    float v[octets_per_block];
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o)
      v[o] = collapsed(cut == o ? tail_[c] : 0.0f, sums_[c].pair[o]);
    return reduced(v);
  }

 private:
  using ColumnOf = Column<kSplit, kZeroPoints>;
  static constexpr unsigned group = kPrefetch == 0 ? 1 : kPrefetch;

  static __device__ __forceinline__ std::uint32_t min_of(std::uint32_t a, std::uint32_t b) {
    return a < b ? a : b;
  }

  template <unsigned kTurn>
  __device__ __forceinline__ void load(std::uint32_t i) {
    ASSAY_UNROLL
    for (unsigned slot = 0; slot < group; ++slot) {
      if (i + slot >= whole_) break;
      ASSAY_UNROLL
      for (unsigned c = 0; c < kColumns; ++c) weights_[kTurn][slot][c] = columns_[c].load(i + slot);
    }
  }

  /// Adds the chunks from i on, at most a group and before `end`; `a` goes on by a group.
  template <unsigned kTurn>
  __device__ __forceinline__ void add(std::uint32_t i, std::uint32_t end, const Bits128*& a) {
    if (i + group <= end) {
      ASSAY_UNROLL
      for (unsigned slot = 0; slot < group; ++slot) add_chunk(weights_[kTurn][slot], a, slot);
    } else {
      ASSAY_UNROLL
      for (unsigned slot = 0; slot + 1 < group; ++slot) {
        if (i + slot < end) add_chunk(weights_[kTurn][slot], a, slot);
      }
    }
    a += group * kSplit * octets_per_chunk;
  }

  __device__ __forceinline__ void add_chunk(const Weights (&weights)[kColumns], const Bits128* a,
                                            unsigned slot) {
    ASSAY_UNROLL
    for (unsigned c = 0; c < kColumns; ++c)
      sums_[c].add(weights[c], Decoding::of<kZeroPoints>(p_, weights[c], j_),
                   a + slot * kSplit * octets_per_chunk);
  }

  const Params& p_;
  std::uint32_t slice_, j_;
  std::uint32_t whole_;  ///< whole chunks of the slice
  ColumnOf columns_[kColumns];
  Weights weights_[2][group][kColumns];
  Sums sums_[kColumns];
  float tail_[kColumns] = {};
};

template <unsigned kSplit, unsigned kPrefetch, unsigned kColumns, bool kZeroPoints>
__global__ void __launch_bounds__(threads) gemv_split_k(const Params p) {
  constexpr unsigned columns = warps / kSplit * columns_per_warp * kColumns;
  ASSAY_SHARED(StagedA, staged);
  using Partials = float[kSplit][columns];
  ASSAY_SHARED(Partials, partials);

  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t slice = warp % kSplit, j = lane % lanes_per_column;
  const std::uint32_t in_block = warp / kSplit * columns_per_warp * kColumns + lane / lanes_per_column;
  Lane<kSplit, kPrefetch, kColumns, kZeroPoints> mine(p, blockIdx.x * columns + in_block, slice, j);

  for (std::uint32_t first = 0; first < p.k; first += staged_elements) {
    if (first != 0) __syncthreads();
    stage_a(p, first, staged);
    __syncthreads();
    mine.add_whole_chunks(staged, first / chunk);
    mine.add_last_chunk(staged, first / chunk);
  }
  ASSAY_UNROLL
  for (unsigned c = 0; c < kColumns; ++c) {
    const float partial = mine.sum(c);
    if (j == 0) partials[slice][in_block + c * columns_per_warp] = partial;
  }
  __syncthreads();

  const std::uint32_t column = blockIdx.x * columns + threadIdx.x;
  if (threadIdx.x >= columns || column >= p.n) return;
  float acc = 0;
  ASSAY_UNROLL
  for (unsigned s = 0; s < kSplit; ++s) acc = add_rn_f32(acc, partials[s][threadIdx.x]);
  const Code16 code = p.epilogue.fp16(acc, column);
  static_cast<std::uint16_t*>(p.out)[column] =
      static_cast<std::uint16_t>(p.store == Store::bf16 ? bf16_of_fp16(code) : code);
}

template <unsigned kSplit, unsigned kPrefetch, unsigned kColumns>
void launch(LaunchContext& context, const Params& params) {
  constexpr unsigned columns = warps / kSplit * columns_per_warp * kColumns;
  const dim3 grid((params.n + columns - 1) / columns);
  if (params.zero_points != nullptr) {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, (gemv_split_k<kSplit, kPrefetch, kColumns, true>), params);
  } else {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, (gemv_split_k<kSplit, kPrefetch, kColumns, false>), params);
  }
}

template <unsigned kSplit, unsigned kPrefetch>
void launch(LaunchContext& context, const Params& params) {
  // Twice the columns a lane halve what is read of A; they need enough thread blocks to go round.
  constexpr unsigned wide = warps / kSplit * columns_per_warp * 2;
  if (kSplit == 2 && params.n >= 2 * wide * context.device.capability().multiprocessors) {
    launch<kSplit, kPrefetch, 2>(context, params);
  } else {
    launch<kSplit, kPrefetch, 1>(context, params);
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
