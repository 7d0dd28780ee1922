// What the two forms of the split-K GEMV share: the work of a lane, and the end of a thread block.
//
// The schedule split_k (schedules.md) speaks of 32 lanes that take 8 codes each. Here one lane does the work
// of four of them, so that it takes weights 16 bytes at a time: lane (c, j) of a warp, j in 0..7, has column
// c of four and of every chunk of 256 elements the 32 from 32 j on, which is one block with one scale. The
// sums are kept apart, and the tree at the end adds them in the schedule's order, so the bits are those of
// the schedule.
//
// Warps of a thread block: 8 / k_split groups of columns, k_split slices each; slice s has the chunks s, s +
// k_split, ... A is narrowed to fp16 and permuted to the pairs that decoding gives once a thread block, in
// shared memory.
#pragma once

#include "kernels/matmul_nbits/operands.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits::split_k {

inline constexpr unsigned threads = 256;
inline constexpr unsigned warps = threads / 32;
inline constexpr unsigned chunk = 256;  ///< elements of a column that 8 lanes take together
inline constexpr unsigned lanes_per_column = 8;
inline constexpr unsigned columns_per_warp = 32 / lanes_per_column;  ///< at a time
inline constexpr unsigned octets_per_block = 4;
inline constexpr unsigned octets_per_chunk = chunk / 8;

struct Params {
  const void* a;
  const std::uint8_t* b;
  const std::uint16_t* scales;
  const std::uint8_t* zero_points;  ///< or null
  void* out;
  Epilogue epilogue;
  std::uint32_t n, k, blocks;
  Store store;

  static Params of(const Problem& row, void* out, Store store) {
    return {row.a,
            row.b,
            static_cast<const std::uint16_t*>(row.scales),
            row.zero_points,
            out,
            Epilogue::of(row),
            static_cast<std::uint32_t>(row.n),
            static_cast<std::uint32_t>(row.k),
            static_cast<std::uint32_t>((row.k + 31) / 32),
            store};
  }
};

/// Columns of a thread block.
template <unsigned kSplit, unsigned kColumns>
inline constexpr unsigned columns_of_block = warps / kSplit* columns_per_warp* kColumns;

/// What a lane needs of one block, as it lies in memory: nothing waits for it before it is used.
struct Weights {
  Bits128 codes;
  std::uint16_t scale;
  std::uint8_t zero_points;  ///< of two blocks
};

/// The whole octets of A from element `first` on, `room` elements or as many as there are, in the order
/// (chunk, octet of its block, block of its chunk): the eight lanes of a column then read eight octets side
/// by side.
__device__ __forceinline__ void stage_a(const Params& p, std::uint32_t first, std::uint32_t room,
                                        Bits128* staged) {
  for (std::uint32_t i = threadIdx.x; i < room / 8; i += threads) {
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

/// What a lane has of one column at the end: its part of the slice's sum, whole in that of j = 0.
struct Accumulators {
  Sums sums;
  float tail = 0;  ///< in the lane whose block k cuts within an octet

  /// A block all of whose elements there are.
  __device__ __forceinline__ void add_whole(const Weights& weights, const Decoding& decoding,
                                            const Bits128* a) {
    sums.add(weights, decoding, a);
  }

  /// Block `block` of the chunk that k cuts off, or none.
  __device__ __forceinline__ void add_last(const Params& p, const Weights& weights, const Decoding& decoding,
                                           const Bits128* a, std::uint32_t block) {
    const std::uint32_t first = block * octets_per_block, octets = p.k / 8 > first ? p.k / 8 - first : 0;
    sums.add(weights, decoding, a, octets);
    if (octets < octets_per_block && p.k % 8 != 0) tail = tail_of(p, weights, decoding);
  }

  __device__ __forceinline__ float sum(const Params& p) const {
    const unsigned cut = p.k / 8 % octets_per_block;  // the octet that a tail belongs to
    float v[octets_per_block];
    ASSAY_UNROLL
    for (unsigned o = 0; o < octets_per_block; ++o) v[o] = collapsed(cut == o ? tail : 0.0f, sums.pair[o]);
    return reduced(v);
  }
};

/// Adds the slices of every column and stores; after a block barrier.
template <unsigned kSplit, unsigned kColumns>
__device__ __forceinline__ void finish(const Params& p,
                                       const float (&partials)[kSplit][columns_of_block<kSplit, kColumns>]) {
  constexpr unsigned columns = columns_of_block<kSplit, kColumns>;
  const std::uint32_t column = blockIdx.x * columns + threadIdx.x;
  if (threadIdx.x >= columns || column >= p.n) return;
  float acc = 0;
  ASSAY_UNROLL
  for (unsigned slice = 0; slice < kSplit; ++slice) acc = add_rn_f32(acc, partials[slice][threadIdx.x]);
  const Code16 code = p.epilogue.fp16(acc, column);
  static_cast<std::uint16_t*>(p.out)[column] =
      static_cast<std::uint16_t>(p.store == Store::bf16 ? bf16_of_fp16(code) : code);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits::split_k
