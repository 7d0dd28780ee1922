// Int4 decode GEMV with K cut into interleaved slices (split_k.hpp), weights through registers: any device.
//
// Up to `prefetch` chunks of weights are on their way in registers while as many are worked on.
#include "kernels/matmul_nbits/split_k.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {

using namespace split_k;

namespace {

constexpr unsigned staged_elements = 16384;  ///< of A in shared memory at a time
using StagedA = Bits128[staged_elements / 8];

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
    ASSAY_UNROLL
    for (unsigned c = 0; c < kColumns; ++c) {
      const Weights weights = columns_[c].load(last / kSplit);
      mine_[c].add_last(p_, weights, Decoding::of<kZeroPoints>(p_, weights, j_),
                        staged + (last - first) * octets_per_chunk + j_, block);
    }
  }

  /// This lane's part of a column's sum; that of j = 0 is the slice's.
  __device__ __forceinline__ float sum(unsigned c) const { return mine_[c].sum(p_); }

 private:
  using ColumnOf = Column<kSplit, kZeroPoints>;
  static constexpr unsigned group = kPrefetch == 0 ? 1 : kPrefetch;

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
      mine_[c].add_whole(weights[c], Decoding::of<kZeroPoints>(p_, weights[c], j_),
                         a + slot * kSplit * octets_per_chunk);
  }

  const Params& p_;
  std::uint32_t slice_, j_;
  std::uint32_t whole_;  ///< whole chunks of the slice
  ColumnOf columns_[kColumns];
  Weights weights_[2][group][kColumns];
  Accumulators mine_[kColumns];
};

template <unsigned kSplit, unsigned kPrefetch, unsigned kColumns, bool kZeroPoints>
__global__ void __launch_bounds__(threads) gemv_split_k(const Params p) {
  constexpr unsigned columns = columns_of_block<kSplit, kColumns>;
  ASSAY_SHARED(StagedA, staged);
  using Partials = float[kSplit][columns];
  ASSAY_SHARED(Partials, partials);

  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t slice = warp % kSplit, j = lane % lanes_per_column;
  const std::uint32_t in_block = warp / kSplit * columns_per_warp * kColumns + lane / lanes_per_column;
  Lane<kSplit, kPrefetch, kColumns, kZeroPoints> mine(p, blockIdx.x * columns + in_block, slice, j);

  for (std::uint32_t first = 0; first < p.k; first += staged_elements) {
    if (first != 0) __syncthreads();
    stage_a(p, first, staged_elements, staged);
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
  finish<kSplit, kColumns>(p, partials);
}

template <unsigned kSplit, unsigned kPrefetch, unsigned kColumns>
void launch(LaunchContext& context, const Params& params) {
  constexpr unsigned columns = columns_of_block<kSplit, kColumns>;
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
  constexpr unsigned wide = columns_of_block<kSplit, 2>;
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
  if (row.prefetch == 4 && row.k <= kernels::matmul_nbits::bulk_max_k && context.device.capability().sm >= 90)
    return launch_gemv_split_k_bulk(context, row, out, store);
  const Params params = Params::of(row, out, store);
  if (row.k_split == 2) return launch<2>(context, params, row.prefetch);
  launch<8>(context, params, row.prefetch);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
