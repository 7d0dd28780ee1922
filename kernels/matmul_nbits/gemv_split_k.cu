// Int4 decode GEMV with K cut into interleaved slices: the schedule split_k of schedules.md.
//
// The schedule speaks of 32 lanes that take 8 codes each: octets. Here one lane does the work of four of
// them, side by side, which is one block with one scale and 16 bytes of weights at a time. Eight lanes have a
// chunk of 256 elements of a column, and a warp four chunks: those of two slices of two columns, or of four
// slices of one. The sums are kept apart, and the tree at the end adds them in the schedule's order, so the
// bits are those of the schedule.
//
// A is narrowed to fp16 and permuted to the pairs that decoding gives once a thread block, in shared memory.
// A warp then goes through columns, as many as it takes for all of them with the thread blocks that are
// resident at a time, and never waits for another warp (but where k_split is 8, or A does not fit): the
// weights of the next columns are on their way before the sums of these are done.
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned warps = threads / 32;
constexpr unsigned chunk = 256;  ///< elements that the schedule's 32 lanes take of a column at a time
constexpr unsigned octets_per_chunk = chunk / 8, blocks_per_chunk = chunk / 32;
constexpr unsigned octets_per_block = 4;
constexpr unsigned lanes_per_chunk = octets_per_chunk / octets_per_block;
constexpr unsigned chunks_of_warp = 32 / lanes_per_chunk;  ///< at a time
constexpr unsigned staged_elements = 16384;                ///< of A in shared memory at a time

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

/// What a warp is made of.
template <unsigned kSplit_, unsigned kPrefetch_, bool kZeroPoints_>
struct Form {
  static constexpr unsigned kSplit = kSplit_, kPrefetch = kPrefetch_;
  static constexpr bool kZeroPoints = kZeroPoints_;
  static constexpr unsigned slices_of_warp = kSplit < chunks_of_warp ? kSplit : chunks_of_warp;
  static constexpr unsigned columns_of_warp = chunks_of_warp / slices_of_warp;
  static constexpr unsigned warps_per_column = kSplit / slices_of_warp;
  static constexpr unsigned columns_of_block = warps / warps_per_column * columns_of_warp;
  /// Chunks that are loaded together, and worked on while as many are on their way. Registers that hold more
  /// of them are those of warps.
  static constexpr unsigned group = kPrefetch == 4 ? 4 : 1;
  static constexpr unsigned resident_blocks =  ///< on a multiprocessor
      kPrefetch == 4 ? 2
      : kSplit == 8  ? 3
                     : 4;
};

/// The octets of A in shared memory, in the order (chunk, octet of its block, block): the lanes of a chunk
/// read octets side by side.
using StagedA = Bits128[staged_elements / 8];

/// The whole octets of A from element `first` on, as many as there is room for.
__device__ __forceinline__ void stage_a(const Params& p, std::uint32_t first, StagedA& staged) {
  constexpr unsigned batch = 2;  // loads under way at a time
  const auto* const a = static_cast<const std::uint16_t*>(p.a) + first;
  const std::uint32_t octets = (p.k - first) / 8;
  const std::uint32_t end = octets < staged_elements / 8 ? octets : staged_elements / 8;
  for (std::uint32_t begin = threadIdx.x; begin < end; begin += batch * threads) {
    Bits128 codes[batch];
    ASSAY_UNROLL
    for (unsigned i = 0; i < batch; ++i) {
      const std::uint32_t octet = begin + i * threads;
      if (octet < end) codes[i] = load_as<Bits128>(a + octet * 8);
    }
    ASSAY_UNROLL
    for (unsigned i = 0; i < batch; ++i) {
      const std::uint32_t octet = begin + i * threads;
      if (octet >= end) break;
      ASSAY_UNROLL
      for (std::uint32_t& word : codes[i].word) word = narrowed_pair(p.epilogue.bf16, word);
      const std::uint32_t in_chunk = octet % octets_per_chunk;
      staged[octet - in_chunk + in_chunk % octets_per_block * lanes_per_chunk + in_chunk / octets_per_block] =
          permuted(codes[i]);
    }
  }
}

/// A block, as it lies in memory: nothing waits for it before it is used.
struct Weights {
  Bits128 codes;
  std::uint16_t scale;
  std::uint8_t zero_points;  ///< of two blocks
};

/// Where a lane's blocks of one column lie, as one index: what it holds is what its registers are short of.
template <class F>
class Column {
 public:
  Column() = default;
  /// From block j of chunk `slice` on; past the matrix, of its last column.
  __device__ __forceinline__ Column(const Params& p, std::uint32_t column, std::uint32_t slice,
                                    std::uint32_t j) {
    if (column >= p.n) column = p.n - 1;
    const std::uint32_t block = slice * blocks_per_chunk + j;
    first_ = std::size_t{column} * p.blocks + block;
    if constexpr (F::kZeroPoints) zero_points_ = std::size_t{column} * ((p.blocks + 1) / 2) + block / 2;
  }

  /// The block of the i-th chunk.
  __device__ __forceinline__ Weights load(const Params& p, std::uint32_t i) const {
    constexpr std::uint32_t blocks = F::kSplit * blocks_per_chunk;  // from one to the next, an even number
    const std::size_t at = first_ + i * blocks;
    Weights weights;
    weights.codes = load_nc_128(p.b + at * 16, evict_first_policy());
    weights.scale = p.scales[at];
    weights.zero_points = F::kZeroPoints ? p.zero_points[zero_points_ + i * (blocks / 2)] : 0;
    return weights;
  }

 private:
  std::size_t first_, zero_points_;  ///< the latter only with zero points
};

/// A block's scale, in both halves, and zero point.
struct Decoding {
  ZeroPoint zero;
  std::uint32_t scale;
};

/// One lane's sums of a column: pair[o] is s[0..3] of the schedule's lane 4 j + o.
class Sums {
 public:
  /// The first `whole` octets of a block; those of A lie lanes_per_chunk apart.
  __device__ __forceinline__ void add(const Weights& weights, const Decoding& decoding, const Bits128* a,
                                      unsigned whole = octets_per_block) {
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o) {
      if (o >= whole) break;
      const CenteredCodes q = centered(weights.codes.word[o], decoding.zero);
      const Bits128 octet = a[o * lanes_per_chunk];
      ASSAY_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair)
        pair_[o][pair] =
            fma_rn_f16x2(mul_rn_f16x2(q.pair[pair], decoding.scale), octet.word[pair], pair_[o][pair]);
    }
  }

  /// The elements of the octet that k cuts off, octet `o` of the block, in fp32.
  __device__ __forceinline__ void add_tail(const Params& p, const Weights& weights, const Decoding& decoding,
                                           unsigned o) {
    std::uint32_t word = weights.codes.word[0];
    ASSAY_UNROLL
    for (unsigned i = 1; i < octets_per_block; ++i) {
      if (o == i) word = weights.codes.word[i];
    }
    const CenteredCodes q = centered(word, decoding.zero);
    ASSAY_UNROLL
    for (std::uint32_t e = 0; e < 7; ++e) {
      if (e >= p.k % 8) break;
      const std::uint32_t pair = mul_rn_f16x2(q.pair[e % 4], decoding.scale);
      const Code16 a = narrowed(p.epilogue.bf16, load_code(p.a, std::int64_t{p.k / 8} * 8 + e));
      tail_ = fma_rn_f32(cvt_f32_f16(e < 4 ? pair & 0xFFFFu : pair >> 16), cvt_f32_f16(a), tail_);
    }
    tail_octet_ = o;
  }

  /// The schedule's tree over its 32 lanes; the result is that of j = 0.
  __device__ __forceinline__ float reduced() const {
    float v[octets_per_block];
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o) v[o] = collapsed(o);
    ASSAY_UNROLL
    for (unsigned distance = lanes_per_chunk / 2; distance > 0; distance /= 2) {
      ASSAY_UNROLL
      for (float& x : v) x = add_rn_f32(x, __shfl_down_sync(~0u, x, distance, lanes_per_chunk));
    }
    return add_rn_f32(add_rn_f32(v[0], v[2]), add_rn_f32(v[1], v[3]));
  }

 private:
  /// The sum of one of the schedule's lanes.
  __device__ __forceinline__ float collapsed(unsigned o) const {
    float v = tail_octet_ == o ? tail_ : 0.0f;
    ASSAY_UNROLL
    for (const std::uint32_t pair : pair_[o]) v = add_rn_f32(v, cvt_f32_f16(pair & 0xFFFFu));
    ASSAY_UNROLL
    for (const std::uint32_t pair : pair_[o]) v = add_rn_f32(v, cvt_f32_f16(pair >> 16));
    return v;
  }

  std::uint32_t pair_[octets_per_block][4] = {};
  float tail_ = 0;
  unsigned tail_octet_ = 0;
};

/// A sum for every chunk that a warp has at a time.
using Partials = float[warps][chunks_of_warp];

/// One lane's work: block j of the chunks slice, slice + kSplit, ... of one column after the other.
template <class F>
class Lane {
 public:
  __device__ __forceinline__ Lane(const Params& p, const StagedA& staged, Partials& partials)
      : p_(p), staged_(staged), partials_(partials) {
    const std::uint32_t warp = threadIdx.x / 32, part = threadIdx.x % 32 / lanes_per_chunk;
    j_ = threadIdx.x % lanes_per_chunk;
    slice_ = warp % F::warps_per_column * F::slices_of_warp + part % F::slices_of_warp;
    column_ = blockIdx.x * F::columns_of_block + warp / F::warps_per_column * F::columns_of_warp +
              part / F::slices_of_warp;
    const std::uint32_t chunks = p.k / chunk;  // whole ones
    whole_ = chunks > slice_ ? (chunks - slice_ - 1) / F::kSplit + 1 : 0;
    full_groups_ = chunks / (F::kSplit * F::group);
    groups_ = (chunks + F::kSplit * F::group - 1) / (F::kSplit * F::group);
    next_ = Column<F>(p, column_, slice_, j_);
    if constexpr (F::kPrefetch != 0) load(weights_, 0);
  }

  /// All columns, of the part of A that is staged and begins with chunk `first`. `last`: it is the last part;
  /// only where there is one are there several columns.
  __device__ __forceinline__ void run(std::uint32_t first, bool last) {
    constexpr std::uint32_t part = staged_elements / chunk / F::kSplit / F::group;
    const std::uint32_t begin = first / F::kSplit / F::group;
    const std::uint32_t end = last ? groups_ : begin + part;
    for (;;) {
      const Bits128* a = staged_ + slice_ * octets_per_chunk + j_;
      for (std::uint32_t group = begin; group < end; ++group) {
        if constexpr (F::kPrefetch == 0) load(weights_, group);
        Weights incoming[F::group];
        std::uint32_t next = group + 1;
        if (next == groups_) {  // on to the next column
          next = 0;
          next_ = Column<F>(p_, column_ + stride(), slice_, j_);
        }
        if (F::kPrefetch != 0 && (next != 0 || column_ + stride() < p_.n)) load(incoming, next);
        add(group, a);
        ASSAY_UNROLL
        for (unsigned slot = 0; slot < F::group && F::kPrefetch != 0; ++slot) weights_[slot] = incoming[slot];
      }
      if (!last) return;
      add_last_chunk(first);
      finish();
      // A warp goes on as long as one of its columns is there: its lanes stay together.
      if (column_ - threadIdx.x % 32 / lanes_per_chunk / F::slices_of_warp + stride() >= p_.n) return;
      column_ += stride();
      sums_ = {};
    }
  }

 private:
  static __device__ __forceinline__ std::uint32_t stride() { return gridDim.x * F::columns_of_block; }

  /// A lane's blocks are all even or all odd.
  __device__ __forceinline__ Decoding decoding_of(const Weights& weights) const {
    const std::uint32_t z = F::kZeroPoints ? std::uint32_t{weights.zero_points} >> (j_ % 2 * 4) & 0xFu : 8u;
    return {ZeroPoint::of(z), both(narrowed(p_.epilogue.bf16, weights.scale))};
  }

  /// A group of whole chunks of the next column.
  __device__ __forceinline__ void load(Weights (&weights)[F::group], std::uint32_t group) const {
    ASSAY_UNROLL
    for (unsigned slot = 0; slot < F::group; ++slot) {
      const std::uint32_t i = group * F::group + slot;
      if (i >= whole_) break;
      weights[slot] = next_.load(p_, i);
    }
  }

  /// Adds a group of whole chunks; `a` goes on by as many.
  __device__ __forceinline__ void add(std::uint32_t group, const Bits128*& a) {
    constexpr unsigned apart = F::kSplit * octets_per_chunk;
    if (group < full_groups_) {
      ASSAY_UNROLL
      for (unsigned slot = 0; slot < F::group; ++slot)
        sums_.add(weights_[slot], decoding_of(weights_[slot]), a + slot * apart);
    } else {
      ASSAY_UNROLL
      for (unsigned slot = 0; slot < F::group; ++slot) {
        if (group * F::group + slot < whole_)
          sums_.add(weights_[slot], decoding_of(weights_[slot]), a + slot * apart);
      }
    }
    a += F::group * apart;
  }

  /// The chunk that k cuts off, where it is this slice's; A is staged from chunk `first` on.
  __device__ __forceinline__ void add_last_chunk(std::uint32_t first) {
    const std::uint32_t last = p_.k / chunk, octets = p_.k / 8;
    const std::uint32_t octet = last * octets_per_chunk + j_ * octets_per_block;
    if (p_.k % chunk == 0 || last % F::kSplit != slice_ || octet >= (p_.k + 7) / 8) return;
    const std::uint32_t whole = octets - octet < octets_per_block ? octets - octet : octets_per_block;
    const Weights weights = Column<F>(p_, column_, slice_, j_).load(p_, last / F::kSplit);
    const Decoding decoding = decoding_of(weights);
    sums_.add(weights, decoding, staged_ + (last - first) * octets_per_chunk + j_, whole);
    if (whole < octets_per_block && p_.k % 8 != 0 && octet + whole == octets)
      sums_.add_tail(p_, weights, decoding, whole);
  }

  /// Adds the slices and stores. Slices of two warps meet at block barriers, which all warps come to.
  __device__ __forceinline__ void finish() const {
    const std::uint32_t warp = threadIdx.x / 32, part = threadIdx.x % 32 / lanes_per_chunk;
    const float sum = sums_.reduced();
    if (j_ == 0) partials_[warp][part] = sum;
    meet();
    if (j_ == 0 && slice_ == 0 && column_ < p_.n) {
      float acc = 0;
      const float* const slices = &partials_[warp][part];  // of one warp, or of two
      ASSAY_UNROLL
      for (unsigned slice = 0; slice < F::kSplit; ++slice) acc = add_rn_f32(acc, slices[slice]);
      const Code16 code = p_.epilogue.fp16(acc, column_);
      static_cast<std::uint16_t*>(p_.out)[column_] =
          static_cast<std::uint16_t>(p_.store == Store::bf16 ? bf16_of_fp16(code) : code);
    }
    meet();
  }

  static __device__ __forceinline__ void meet() {
    if constexpr (F::warps_per_column == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  const Params& p_;
  const Bits128* staged_;
  Partials& partials_;
  std::uint32_t slice_, j_, column_;
  std::uint32_t whole_;                 ///< whole chunks of the slice
  std::uint32_t groups_, full_groups_;  ///< of a column; those whose chunks all slices have
  Column<F> next_;
  Weights weights_[F::group];
  Sums sums_;
};

template <class F>
__global__ void __launch_bounds__(threads, F::resident_blocks) gemv_split_k(const Params p) {
  ASSAY_SHARED(StagedA, staged);
  ASSAY_SHARED(Partials, partials);
  Lane<F> mine(p, staged, partials);
  for (std::uint32_t first = 0; first < p.k; first += staged_elements) {
    if (first != 0) __syncthreads();
    stage_a(p, first, staged);
    __syncthreads();
    mine.run(first / chunk, p.k - first <= staged_elements);
  }
}

template <class F>
void launch_form(LaunchContext& context, const Params& params) {
  const auto rounded_up = [](std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; };
  std::uint32_t grid = rounded_up(params.n, F::columns_of_block);
  if (params.k <= staged_elements && F::warps_per_column == 1) {
    // As many columns for every warp, of the thread blocks that are resident at a time.
    const std::uint32_t resident = context.device.capability().multiprocessors * F::resident_blocks;
    grid = rounded_up(grid, rounded_up(grid, resident));
  }
  ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0, gemv_split_k<F>, params);
}

template <unsigned kSplit, unsigned kPrefetch>
void launch(LaunchContext& context, const Params& params) {
  if (params.zero_points != nullptr) return launch_form<Form<kSplit, kPrefetch, true>>(context, params);
  launch_form<Form<kSplit, kPrefetch, false>>(context, params);
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
