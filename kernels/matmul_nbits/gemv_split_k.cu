// Int4 decode GEMV with K cut into interleaved slices: the schedule split_k of schedules.md.
//
// The schedule speaks of 32 lanes that take 8 codes each: octets. Here one lane does the work of two of them,
// half a block, and 16 lanes have a chunk of 256 elements of a column; a warp has a chunk of each of two
// slices at a time. The sums are kept apart, and the tree at the end adds them in the schedule's order, so
// the bits are those of the schedule.
//
// A is narrowed to fp16 and permuted to the pairs that decoding gives once a thread block, in shared memory.
// A warp then goes through columns, as many as it takes for all of them with the thread blocks that are
// resident at a time, and never waits for another warp (but where k_split is 8, or A does not fit).
//
// Weights come in groups of as many chunks a slice as Problem::prefetch says. A lane holds the codes of one
// group; those of a chunk make way for the next group's, be it the next column's, as soon as they are used.
// Scales and zero points are fetched for a whole group, one or two a lane, and get to the lanes that need
// them through shared memory: each lane fetching its own would ask as often for 2 bytes as for its codes.
// decisions/split_k_loads.md has the figures.
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {
namespace {

constexpr unsigned threads = 512;
constexpr unsigned warps = threads / 32;
constexpr unsigned resident_blocks = 2;  ///< on a multiprocessor; leaves a lane 64 registers
constexpr unsigned chunk = 256;          ///< elements that the schedule's 32 lanes take of a column at a time
constexpr unsigned octets_per_chunk = chunk / 8, blocks_per_chunk = chunk / 32;
constexpr unsigned octets_of_lane = 2;  ///< of a chunk
constexpr unsigned lanes_per_chunk = octets_per_chunk / octets_of_lane;
constexpr unsigned slices_of_warp = 32 / lanes_per_chunk;
constexpr unsigned staged_elements = 16384;  ///< of A in shared memory at a time

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

/// kWhole: A is staged at once, and every slice of a column is whole groups of chunks. That is a fifth of the
/// instructions less, and they are what is between the kernel and the time that its loads take.
template <unsigned kSplit_, unsigned kPrefetch_, bool kZeroPoints_, bool kWhole_>
struct Form {
  static constexpr unsigned kSplit = kSplit_, kPrefetch = kPrefetch_;
  static constexpr bool kZeroPoints = kZeroPoints_, kWhole = kWhole_;
  static constexpr unsigned warps_per_column = kSplit / slices_of_warp;
  static constexpr unsigned columns_of_block = warps / warps_per_column;
  /// Chunks of a slice whose codes a lane holds, and whose scales the lanes of a slice fetch together.
  static constexpr unsigned group = kPrefetch == 0 ? 1 : kPrefetch;
  static constexpr unsigned scales_of_lane =
      (group * blocks_per_chunk + lanes_per_chunk - 1) / lanes_per_chunk;
};

/// The octets of A in shared memory, in the order (chunk, octet of its lane, lane): the lanes of a chunk read
/// octets side by side.
using StagedA = Bits128[staged_elements / 8];
/// What decodes the blocks that the lanes of a slice have, of a group of at most 4 chunks; twice, in turn.
using Decodings = std::uint32_t[warps * slices_of_warp][2][4 * blocks_per_chunk];
/// A sum for every slice.
using Partials = float[warps * slices_of_warp];

/// The whole octets of A from element `first` on, as many as there is room for.
__device__ __forceinline__ void stage_a(const Params& p, std::uint32_t first, StagedA& staged) {
  const auto* const a = static_cast<const std::uint16_t*>(p.a) + first;
  const std::uint32_t octets = (p.k - first) / 8;
  const std::uint32_t end = octets < staged_elements / 8 ? octets : staged_elements / 8;
  constexpr unsigned batch = 2;  // loads under way at a time
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
      staged[octet - in_chunk + in_chunk % octets_of_lane * lanes_per_chunk + in_chunk / octets_of_lane] =
          permuted(codes[i]);
    }
  }
}

/// A block's scale and zero point as they lie in memory: nothing waits for them before they are used.
struct Scale {
  std::uint16_t scale;
  std::uint8_t zero_points;  ///< of two blocks
};

/// A block's scale, in both halves, and zero point.
struct Decoding {
  ZeroPoint zero;
  std::uint32_t scale;
};

/// Both in one word: the narrowed scale in both halves, or under the zero point.
template <class F>
__device__ __forceinline__ std::uint32_t packed(const Params& p, Scale scale, std::uint32_t block) {
  const std::uint32_t pair = narrowed_pair(p.epilogue.bf16, both(scale.scale));
  if constexpr (!F::kZeroPoints) return pair;
  return (pair & 0xFFFFu) | (std::uint32_t{scale.zero_points} >> (block % 2 * 4) & 0xFu) << 16;
}

template <class F>
__device__ __forceinline__ Decoding unpacked(std::uint32_t word) {
  if constexpr (!F::kZeroPoints) return {ZeroPoint::of(8), word};
  return {ZeroPoint::of(word >> 16), both(word & 0xFFFFu)};
}

/// Where a lane's next half block and scale lie.
template <class F>
class Place {
 public:
  Place() = default;
  /// `half` and `block` count from the column's beginning.
  __device__ __forceinline__ Place(const Params& p, std::uint32_t column, std::uint32_t half,
                                   std::uint32_t block)
      : codes_(p.b + std::size_t{column} * p.blocks * 16 + half * 8),
        scales_(p.scales + std::size_t{column} * p.blocks + block) {
    if constexpr (F::kZeroPoints)
      zero_points_ = p.zero_points + std::size_t{column} * ((p.blocks + 1) / 2) + block / 2;
  }

  /// So many chunks further on.
  __device__ __forceinline__ void skip(std::uint32_t chunks) {
    codes_ += chunks * (blocks_per_chunk * 16);
    scales_ += chunks * blocks_per_chunk;
    if constexpr (F::kZeroPoints) zero_points_ += chunks * (blocks_per_chunk / 2);
  }
  /// So many columns further on, and `back` chunks back to that column's beginning.
  __device__ __forceinline__ void turn(const Params& p, std::uint32_t columns, std::uint32_t back) {
    codes_ += std::size_t{columns} * p.blocks * 16 - std::size_t{back} * (blocks_per_chunk * 16);
    scales_ += std::size_t{columns} * p.blocks - std::size_t{back} * blocks_per_chunk;
    if constexpr (F::kZeroPoints)
      zero_points_ += std::size_t{columns} * ((p.blocks + 1) / 2) - back * (blocks_per_chunk / 2);
  }

  /// The half block of the chunk so many further on.
  __device__ __forceinline__ Bits64 codes(std::uint32_t chunks) const {
    return load_nc_64(codes_ + chunks * (blocks_per_chunk * 16), evict_first_policy());
  }
  __device__ __forceinline__ Scale scale(std::uint32_t chunks) const {
    Scale scale;
    scale.scale =
        static_cast<std::uint16_t>(load_nc_16(scales_ + chunks * blocks_per_chunk, evict_first_policy()));
    scale.zero_points = F::kZeroPoints ? zero_points_[chunks * (blocks_per_chunk / 2)] : 0;
    return scale;
  }

 private:
  const std::uint8_t* codes_;
  const std::uint16_t* scales_;
  const std::uint8_t* zero_points_;  ///< only with zero points
};

/// One lane's sums of a column: pair[o] is s[0..3] of the schedule's lane 2 j + o.
class Sums {
 public:
  /// The first `whole` octets of half a block; those of A lie lanes_per_chunk apart.
  __device__ __forceinline__ void add(const Bits64& codes, const Decoding& decoding, const Bits128* a,
                                      unsigned whole = octets_of_lane) {
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_of_lane; ++o) {
      if (o >= whole) break;
      const CenteredCodes q = centered(codes.word[o], decoding.zero);
      const Bits128 octet = a[o * lanes_per_chunk];
      ASSAY_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair)
        pair_[o][pair] =
            fma_rn_f16x2(mul_rn_f16x2(q.pair[pair], decoding.scale), octet.word[pair], pair_[o][pair]);
    }
  }

  /// The elements of the octet that k cuts off, the lane's octet `o`, in fp32.
  __device__ __forceinline__ void add_tail(const Params& p, const Bits64& codes, const Decoding& decoding,
                                           unsigned o) {
    const CenteredCodes q = centered(o == 0 ? codes.word[0] : codes.word[1], decoding.zero);
    ASSAY_UNROLL
    for (std::uint32_t e = 0; e < 7; ++e) {
      if (e >= p.k % 8) break;
      const std::uint32_t pair = mul_rn_f16x2(q.pair[e % 4], decoding.scale);
      const Code16 a = narrowed(p.epilogue.bf16, load_code(p.a, std::int64_t{p.k / 8} * 8 + e));
      tail_ = fma_rn_f32(cvt_f32_f16(e < 4 ? pair & 0xFFFFu : pair >> 16), cvt_f32_f16(a), tail_);
    }
    tail_octet_ = o;
  }

  /// The schedule's tree over its 32 lanes, two of which are here: every lane of the chunk gets the result.
  ///
  /// At the tree's first distance, 16, a lane meets the one 8 further on; each of the two adds up one of both
  /// octets, and at the last distance, 1, they meet again. Which operand comes first changes no sum.
  __device__ __forceinline__ float reduced(std::uint32_t j) const {
    const float v[octets_of_lane] = {collapsed(0), collapsed(1)};
    constexpr unsigned farthest = lanes_per_chunk / 2;
    const bool odd = j / farthest != 0;  // which octet is this lane's
    float sum = met(odd ? v[1] : v[0], odd ? v[0] : v[1], farthest);
    ASSAY_UNROLL
    for (unsigned distance = farthest / 2; distance > 0; distance /= 2) sum = met(sum, sum, distance);
    return met(sum, sum, farthest);
  }

 private:
  /// `mine` and what the lane at that distance offers.
  static __device__ __forceinline__ float met(float mine, float offered, unsigned distance) {
    return add_rn_f32(mine, __shfl_xor_sync(~0u, offered, distance, lanes_per_chunk));
  }

  /// The sum of one of the schedule's lanes.
  __device__ __forceinline__ float collapsed(unsigned o) const {
    float v = tail_octet_ == o ? tail_ : 0.0f;
    ASSAY_UNROLL
    for (const std::uint32_t pair : pair_[o]) v = add_rn_f32(v, cvt_f32_f16(pair & 0xFFFFu));
    ASSAY_UNROLL
    for (const std::uint32_t pair : pair_[o]) v = add_rn_f32(v, cvt_f32_f16(pair >> 16));
    return v;
  }

  std::uint32_t pair_[octets_of_lane][4] = {};
  float tail_ = 0;
  unsigned tail_octet_ = 0;
};

/// One lane's work: octets 2 j and 2 j + 1 of the chunks slice, slice + kSplit, ... of one column after the
/// other.
template <class F>
class Lane {
 public:
  __device__ __forceinline__ Lane(const Params& p, const StagedA& staged, Decodings& decodings,
                                  Partials& partials)
      : p_(p), staged_(staged), partials_(partials) {
    const std::uint32_t warp = threadIdx.x / 32, part = threadIdx.x / lanes_per_chunk;
    decodings_ = decodings[part][0];
    j_ = threadIdx.x % lanes_per_chunk;
    slice_ = part % F::kSplit;
    column_ = blockIdx.x * F::columns_of_block + warp / F::warps_per_column;
    chunks_ = p.k / chunk;
    groups_ = (chunks_ + F::kSplit * F::group - 1) / (F::kSplit * F::group);
    if (column_ >= p.n) return;
    next_ = Place<F>(p, column_, slice_ * lanes_per_chunk + j_,
                     (slice_ + j_ / blocks_per_chunk * F::kSplit) * blocks_per_chunk + j_ % blocks_per_chunk);
    if constexpr (F::kPrefetch != 0) {
      load_scales(left_from(0));
      ASSAY_UNROLL
      for (unsigned slot = 0; slot < F::group; ++slot) load_codes(slot, left_from(0));
    }
  }

  /// All columns, of the part of A that is staged and begins with chunk `first`. `last`: it is the last part;
  /// only where there is one are there several columns.
  __device__ __forceinline__ void run(std::uint32_t first, bool last) {
    constexpr std::uint32_t part = staged_elements / chunk / F::kSplit / F::group;
    const std::uint32_t begin = first / chunk_of(1), end = last ? groups_ : begin + part;
    if (F::warps_per_column == 1 && column_ >= p_.n) return;
    for (;;) {
      if (first == 0) sums_ = {};
      if (F::warps_per_column == 1 || column_ < p_.n) {
        const Bits128* a = staged_ + slice_ * octets_per_chunk + j_;
        for (std::uint32_t group = begin; group < end; ++group) {
          add_group(group, a);
          a += F::group * F::kSplit * octets_per_chunk;
        }
        if (!F::kWhole && last) add_last_chunk(first);
      }
      if (!last) return;
      finish();
      column_ += stride();
      if (column_ >= p_.n) return;
    }
  }

 private:
  static __device__ __forceinline__ std::uint32_t stride() { return gridDim.x * F::columns_of_block; }
  /// The first chunk of a group.
  static __device__ __forceinline__ std::uint32_t chunk_of(std::uint32_t group) {
    return group * (F::kSplit * F::group);
  }

  /// Whole chunks from this slice's first in a group on.
  __device__ __forceinline__ std::uint32_t left_from(std::uint32_t group) const {
    if constexpr (F::kWhole) return ~0u;
    const std::uint32_t first = chunk_of(group) + slice_;
    return first < chunks_ ? chunks_ - first : 0;
  }

  /// The scales of the next group, as far as so many chunks go: those of the slice's first chunk in it are
  /// for the first lanes, those of the second for the next, ...
  __device__ __forceinline__ void load_scales(std::uint32_t left) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::scales_of_lane; ++i) {
      const std::uint32_t slot = i * slots_of_scales + j_ / blocks_per_chunk;
      if (slot < F::group && slot * F::kSplit < left)
        scales_[i] = next_.scale(i * (slots_of_scales * F::kSplit));
    }
  }

  /// The scales that were loaded, for the lanes of the slice. These wait for each other once a group: what is
  /// written here was last read in the group before the one that they all have finished then.
  __device__ __forceinline__ const std::uint32_t* share_scales() {
    std::uint32_t* const shared = decodings_ + turn_;
    turn_ ^= 4 * blocks_per_chunk;
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::scales_of_lane; ++i) {
      const std::uint32_t at = i * lanes_per_chunk + j_;
      if (at < F::group * blocks_per_chunk) shared[at] = packed<F>(p_, scales_[i], j_);
    }
    return shared + j_ / 2;
  }

  /// The codes of a whole chunk of the next group, unless it is past those that are left.
  __device__ __forceinline__ void load_codes(unsigned slot, std::uint32_t left) {
    if (slot * F::kSplit < left) codes_[slot] = next_.codes(slot * F::kSplit);
  }

  /// Adds the whole chunks of a group, and loads the group after it.
  __device__ __forceinline__ void add_group(std::uint32_t group, const Bits128* a) {
    const std::uint32_t left = left_from(group);
    if constexpr (F::kPrefetch == 0) {
      load_scales(left);
      load_codes(0, left);
    }
    const std::uint32_t* const decodings = share_scales();
    std::uint32_t next_left = 0;
    if (group + 1 < groups_) {
      next_.skip(F::kSplit * F::group);
      if constexpr (F::kPrefetch != 0) next_left = left_from(group + 1);
    } else {  // on to the next column
      next_.turn(p_, stride(), chunk_of(group));
      if (F::kPrefetch != 0 && column_ + stride() < p_.n) next_left = left_from(0);
    }
    load_scales(next_left);
    __syncwarp();
    if (F::kWhole || chunk_of(group + 1) <= chunks_) {  // all slices have all chunks of the group
      add_slots(~0u, a, decodings, next_left);
    } else {
      add_slots(left, a, decodings, next_left);
    }
  }

  /// As many chunks of the group as are left, each of which makes way for one of the next group.
  __device__ __forceinline__ void add_slots(std::uint32_t left, const Bits128* a,
                                            const std::uint32_t* decodings, std::uint32_t next_left) {
    ASSAY_UNROLL
    for (unsigned slot = 0; slot < F::group; ++slot) {
      if (slot * F::kSplit < left)
        sums_.add(codes_[slot], unpacked<F>(decodings[slot * blocks_per_chunk]),
                  a + slot * (F::kSplit * octets_per_chunk));
      load_codes(slot, next_left);
    }
  }

  /// The chunk that k cuts off, where it is this slice's; A is staged from chunk `first` on.
  __device__ __forceinline__ void add_last_chunk(std::uint32_t first) {
    const std::uint32_t octets = p_.k / 8;
    const std::uint32_t octet = chunks_ * octets_per_chunk + j_ * octets_of_lane;
    if (p_.k % chunk == 0 || chunks_ % F::kSplit != slice_ || octet >= (p_.k + 7) / 8) return;
    const std::uint32_t whole = octets - octet < octets_of_lane ? octets - octet : octets_of_lane;
    const std::uint32_t half = octet / octets_of_lane, block = half / 2;
    const Place<F> place(p_, column_, half, block);
    const Bits64 codes = place.codes(0);
    const Decoding decoding = unpacked<F>(packed<F>(p_, place.scale(0), block));
    sums_.add(codes, decoding, staged_ + (chunks_ - first) * octets_per_chunk + j_, whole);
    if (whole < octets_of_lane && p_.k % 8 != 0 && octet + whole == octets)
      sums_.add_tail(p_, codes, decoding, whole);
  }

  /// Adds the slices and stores. Those of several warps meet at a block barrier, which all warps come to
  /// once.
  __device__ __forceinline__ void finish() const {
    const float sum = sums_.reduced(j_);
    float* const slices = partials_ + threadIdx.x / 32 / F::warps_per_column * F::kSplit;
    if constexpr (F::warps_per_column > 1) {
      if (j_ == 0) slices[slice_] = sum;
      __syncthreads();
    }
    float acc = 0;
    ASSAY_UNROLL
    for (unsigned slice = 0; slice < F::kSplit; ++slice)
      acc = add_rn_f32(
          acc, F::warps_per_column == 1 ? __shfl_sync(~0u, sum, slice * lanes_per_chunk) : slices[slice]);
    if (j_ != 0 || slice_ != 0 || column_ >= p_.n) return;
    const Code16 code = p_.epilogue.fp16(acc, column_);
    static_cast<std::uint16_t*>(p_.out)[column_] =
        static_cast<std::uint16_t>(p_.store == Store::bf16 ? bf16_of_fp16(code) : code);
  }

  /// Chunks of a slice that its lanes fetch a scale each of.
  static constexpr unsigned slots_of_scales = lanes_per_chunk / blocks_per_chunk;

  const Params& p_;
  const Bits128* staged_;
  float* partials_;
  std::uint32_t* decodings_;  ///< of the lanes of the slice
  std::uint32_t turn_ = 0;
  std::uint32_t j_, slice_, column_;
  std::uint32_t chunks_, groups_;  ///< of a column: whole chunks, and groups with one
  Place<F> next_;                  ///< in the group that is to be loaded
  Scale scales_[F::scales_of_lane] = {};
  Bits64 codes_[F::group];
  Sums sums_;
};

template <class F>
__global__ void __launch_bounds__(threads, resident_blocks) gemv_split_k(const Params p) {
  ASSAY_SHARED(StagedA, staged);
  ASSAY_SHARED(Decodings, decodings);
  ASSAY_SHARED(Partials, partials);
  Lane<F> mine(p, staged, decodings, partials);
  if constexpr (F::kWhole) {
    stage_a(p, 0, staged);
    __syncthreads();
    mine.run(0, true);
  } else {
    for (std::uint32_t first = 0; first < p.k; first += staged_elements) {
      if (first != 0) __syncthreads();
      stage_a(p, first, staged);
      __syncthreads();
      mine.run(first / chunk, p.k - first <= staged_elements);
    }
  }
}

template <class F>
void launch_kernel(LaunchContext& context, const Params& params) {
  const auto rounded_up = [](std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; };
  std::uint32_t grid = rounded_up(params.n, F::columns_of_block);
  if (params.k <= staged_elements && F::warps_per_column == 1) {
    // As many columns for every warp, of the thread blocks that are resident at a time.
    const std::uint32_t resident = context.device.capability().multiprocessors * resident_blocks;
    grid = rounded_up(grid, rounded_up(grid, resident));
  }
  ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0, gemv_split_k<F>, params);
}

template <unsigned kSplit, unsigned kPrefetch, bool kZeroPoints>
void launch_form(LaunchContext& context, const Params& params) {
  using Whole = Form<kSplit, kPrefetch, kZeroPoints, true>;
  if (params.k <= staged_elements && params.k % (kSplit * Whole::group * chunk) == 0)
    return launch_kernel<Whole>(context, params);
  launch_kernel<Form<kSplit, kPrefetch, kZeroPoints, false>>(context, params);
}

template <unsigned kSplit, unsigned kPrefetch>
void launch(LaunchContext& context, const Params& params) {
  if (params.zero_points != nullptr) return launch_form<kSplit, kPrefetch, true>(context, params);
  launch_form<kSplit, kPrefetch, false>(context, params);
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
