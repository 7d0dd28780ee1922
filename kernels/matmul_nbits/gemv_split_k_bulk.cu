// Int4 decode GEMV with K cut into interleaved slices (split_k.hpp), weights through shared memory by bulk
// copies: sm_90 and later.
//
// Columns of b are contiguous, so one thread asks for all that is to come, stage by stage, without a register
// or an instruction of the other threads; while a stage is worked on, the next ones are on their way. Scales,
// zero points and A come once, by all threads, while the first stage does.
#include <cassert>

#include "kernels/device/bulk_copy.hpp"
#include "kernels/matmul_nbits/split_k.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {

using namespace split_k;

namespace {

constexpr unsigned buffers = 4;
using Mbarriers = Mbarrier[buffers];

/// Elements of a column in a stage: two chunks of every slice.
template <unsigned kSplit>
constexpr unsigned stage_elements = 2 * chunk* kSplit;

/// How the dynamic shared memory is cut up: byte offsets, multiples of 128.
struct Layout {
  std::uint32_t a, scales, zero_points, bytes;  ///< the buffers of weights come first

  static __host__ __device__ constexpr std::uint32_t rounded(std::uint32_t bytes) {
    return (bytes + 127) / 128 * 128;
  }
  static __host__ __device__ constexpr Layout of(std::uint32_t buffer_bytes, std::uint32_t columns,
                                                 std::uint32_t k, std::uint32_t blocks, bool zero_points) {
    Layout layout{};
    layout.a = buffers * buffer_bytes;
    // Whole chunks: what lies beyond the last octet of A is never used.
    layout.scales = layout.a + rounded((k + chunk - 1) / chunk * chunk * 2);
    layout.zero_points = layout.scales + rounded(columns * blocks * 2);
    layout.bytes = layout.zero_points + (zero_points ? rounded(columns * ((blocks + 1) / 2)) : 0);
    return layout;
  }
};

/// `count` elements side by side to shared memory, by all threads.
template <class T>
__device__ __forceinline__ void gather(T* to, const T* from, std::uint32_t count) {
  for (std::uint32_t i = threadIdx.x; i < count; i += threads) to[i] = from[i];
}

/// The same in 128-bit words where `from` is aligned to them.
__device__ __forceinline__ void gather_wide(std::uint16_t* to, const std::uint16_t* from,
                                            std::uint32_t count) {
  constexpr std::uint32_t wide = sizeof(Bits128) / sizeof(std::uint16_t);
  const std::uint32_t words =
      reinterpret_cast<std::uintptr_t>(from) % sizeof(Bits128) == 0 ? count / wide : 0;
  for (std::uint32_t i = threadIdx.x; i < words; i += threads)
    store_as(to + i * wide, load_as<Bits128>(from + i * wide));
  gather(to + words * wide, from + words * wide, count - words * wide);
}

/// The thread block's columns of weights in shared memory.
template <unsigned kSplit, unsigned kColumns, bool kZeroPoints>
class Block {
 public:
  static constexpr unsigned columns = columns_of_block<kSplit, kColumns>;
  static constexpr unsigned stage_bytes = stage_elements<kSplit> / 2;  ///< of a column
  static constexpr unsigned buffer_bytes = columns * stage_bytes;

  __device__ __forceinline__ Block(const Params& p, std::byte* shared, Mbarrier* full)
      : p_(p),
        layout_(Layout::of(buffer_bytes, columns, p.k, p.blocks, kZeroPoints)),
        shared_(shared),
        full_(full),
        first_(blockIdx.x * columns),
        count_(p.n - first_ < columns ? p.n - first_ : columns) {}

  __device__ __forceinline__ std::uint32_t stages() const {
    return (p_.k + stage_elements<kSplit> - 1) / stage_elements<kSplit>;
  }

  /// Asks for the weights of a stage. By one thread.
  __device__ __forceinline__ void request(std::uint32_t stage) {
    if (stage >= stages()) return;
    const std::uint32_t row_bytes = p_.blocks * 16, begin = stage * stage_bytes;
    const std::uint32_t bytes = row_bytes - begin < stage_bytes ? row_bytes - begin : stage_bytes;
    Mbarrier& full = full_[stage % buffers];
    mbarrier_arrive_expect_tx(full, bytes * count_);
    const std::uint8_t* from = p_.b + std::size_t{first_} * row_bytes + begin;
    std::byte* to = shared_ + stage % buffers * buffer_bytes;
    for (std::uint32_t c = 0; c < count_; ++c, from += row_bytes, to += stage_bytes)
      bulk_load(to, from, bytes, full);
  }

  /// Scales, zero points and A. By all threads; a block barrier follows.
  __device__ __forceinline__ void gather_operands() {
    stage_a(p_, 0, p_.k / 8 * 8, reinterpret_cast<Bits128*>(shared_ + layout_.a));
    gather_wide(scales(), p_.scales + std::size_t{first_} * p_.blocks, count_ * p_.blocks);
    if constexpr (kZeroPoints) {
      const std::uint32_t row = (p_.blocks + 1) / 2;
      gather(zero_points(), p_.zero_points + std::size_t{first_} * row, count_ * row);
    }
  }

  /// Block `block` of a column of this thread block, which lies in a buffer; past the matrix, of its last
  /// column.
  __device__ __forceinline__ Weights weights(std::uint32_t column, std::uint32_t block) const {
    if (column >= count_) column = count_ - 1;
    const std::uint32_t stage = block / (stage_elements<kSplit> / 32);
    const std::uint32_t of_stage = block % (stage_elements<kSplit> / 32);
    Weights weights;
    weights.codes =
        load_as<Bits128>(shared_ + stage % buffers * buffer_bytes + column * stage_bytes + of_stage * 16);
    weights.scale = scales()[column * p_.blocks + block];
    weights.zero_points = kZeroPoints ? zero_points()[column * ((p_.blocks + 1) / 2) + block / 2] : 0;
    return weights;
  }

  /// The octets of A of block j of a chunk.
  __device__ __forceinline__ const Bits128* octets(std::uint32_t of_chunk, std::uint32_t j) const {
    return reinterpret_cast<const Bits128*>(shared_ + layout_.a) + of_chunk * octets_per_chunk + j;
  }

 private:
  __device__ __forceinline__ std::uint16_t* scales() const {
    return reinterpret_cast<std::uint16_t*>(shared_ + layout_.scales);
  }
  __device__ __forceinline__ std::uint8_t* zero_points() const {
    return reinterpret_cast<std::uint8_t*>(shared_ + layout_.zero_points);
  }

  const Params& p_;
  Layout layout_;
  std::byte* shared_;
  Mbarrier* full_;
  std::uint32_t first_, count_;
};

template <unsigned kSplit, unsigned kColumns, bool kZeroPoints>
__global__ void __launch_bounds__(threads) gemv_split_k(const Params p) {
  if (!has_bulk_copies) return trap_without_bulk_copies();
  using BlockOf = Block<kSplit, kColumns, kZeroPoints>;
  constexpr std::uint32_t chunks_per_stage = stage_elements<kSplit> / chunk;
  ASSAY_DYNAMIC_SHARED(std::byte, shared);
  ASSAY_SHARED(Mbarriers, full);
  using Partials = float[kSplit][BlockOf::columns];
  ASSAY_SHARED(Partials, partials);
  BlockOf block(p, shared, full);

  const bool leader = threadIdx.x == 0;
  if (leader) {
    for (Mbarrier& one : full) mbarrier_init(one, 1);
    fence_proxy_async();
    for (std::uint32_t stage = 0; stage < buffers; ++stage) block.request(stage);
  }
  block.gather_operands();
  __syncthreads();

  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t slice = warp % kSplit, j = lane % lanes_per_column;
  const std::uint32_t in_block = warp / kSplit * columns_per_warp * kColumns + lane / lanes_per_column;
  Accumulators mine[kColumns];
  const auto add = [&](std::uint32_t of_chunk, const auto& use) {
    const std::uint32_t at = of_chunk * lanes_per_column + j;
    ASSAY_UNROLL
    for (unsigned c = 0; c < kColumns; ++c) {
      const Weights weights = block.weights(in_block + c * columns_per_warp, at);
      use(mine[c], weights, Decoding::of<kZeroPoints>(p, weights, j), block.octets(of_chunk, j), at);
    }
  };
  for (std::uint32_t stage = 0; stage < block.stages(); ++stage) {
    mbarrier_wait(full[stage % buffers], stage / buffers % 2);
    ASSAY_UNROLL
    for (std::uint32_t i = 0; i < chunks_per_stage; i += kSplit) {
      const std::uint32_t of_chunk = stage * chunks_per_stage + i + slice;
      if ((of_chunk + 1) * chunk > p.k) break;
      add(of_chunk, [](Accumulators& to, const Weights& weights, const Decoding& decoding, const Bits128* a,
                       std::uint32_t) { to.add_whole(weights, decoding, a); });
    }
    if (stage + buffers >= block.stages()) continue;
    __syncthreads();  // this stage's buffer is free
    if (leader) block.request(stage + buffers);
  }
  const std::uint32_t last = p.k / chunk;  // the chunk that k cuts off; its stage is still there
  if (p.k % chunk != 0 && last % kSplit == slice && last * lanes_per_column + j < p.blocks) {
    add(last, [&](Accumulators& to, const Weights& weights, const Decoding& decoding, const Bits128* a,
                  std::uint32_t at) { to.add_last(p, weights, decoding, a, at); });
  }

  ASSAY_UNROLL
  for (unsigned c = 0; c < kColumns; ++c) {
    const float partial = mine[c].sum(p);
    if (j == 0) partials[slice][in_block + c * columns_per_warp] = partial;
  }
  __syncthreads();
  finish<kSplit, kColumns>(p, partials);
}

template <unsigned kSplit, unsigned kColumns, bool kZeroPoints>
void launch(LaunchContext& context, const Params& params) {
  using BlockOf = Block<kSplit, kColumns, kZeroPoints>;
  const Layout layout =
      Layout::of(BlockOf::buffer_bytes, BlockOf::columns, params.k, params.blocks, kZeroPoints);
  const dim3 grid((params.n + BlockOf::columns - 1) / BlockOf::columns);
  ASSAY_LAUNCH(context, grid, dim3(threads), layout.bytes, (gemv_split_k<kSplit, kColumns, kZeroPoints>),
               params);
}

template <unsigned kSplit>
void launch(LaunchContext& context, const Params& params) {
  if (params.zero_points != nullptr) return launch<kSplit, 1, true>(context, params);
  launch<kSplit, 1, false>(context, params);
}

}  // namespace

void launch_gemv_split_k_bulk(LaunchContext& context, const Problem& row, void* out, Store store) {
  const Params params = Params::of(row, out, store);
  if (row.k_split == 2) return launch<2>(context, params);
  launch<8>(context, params);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
