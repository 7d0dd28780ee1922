// What the kernels share: inputs narrowed to fp16, the decoding of weights, and the epilogue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/bits.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/f16x2.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/matmul_nbits/kernels.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {

using kernels::matmul_nbits::BiasRound;
using kernels::matmul_nbits::Model;
using kernels::matmul_nbits::Problem;
using kernels::matmul_nbits::Store;

/// A 16-bit code of the model as fp16: itself, or bf16 rounded once.
__device__ __forceinline__ Code16 narrowed(bool bf16, Code16 code) {
  return bf16 ? cvt_rn_f16_f32(cvt_f32_bf16(code)) : code;
}

/// Both codes of a word, likewise.
__device__ __forceinline__ std::uint32_t narrowed_pair(bool bf16, std::uint32_t codes) {
  if (!bf16) return codes;
  return cvt_rn_f16x2_f32(cvt_f32_bf16(codes >> 16), cvt_f32_bf16(codes & 0xFFFFu));
}

__device__ __forceinline__ Code16 load_code(const void* codes, std::int64_t index) {
  return static_cast<const std::uint16_t*>(codes)[index];
}

/// The value in both halves.
__device__ __forceinline__ std::uint32_t both(Code16 code) { return code | code << 16; }

/// Eight 4-bit codes less their zero point, as fp16 pairs (e0,e4) (e1,e5) (e2,e6) (e3,e7): exact integers.
///
/// A code under the exponent of 1024 is 1024 + q, one under it four bits higher 1024 + 16 q; taking
/// 1024 + z from the first, and 64 + z from a sixteenth of the second, rounds nothing.
struct CenteredCodes {
  std::uint32_t pair[4];
};
struct ZeroPoint {
  std::uint32_t low;   ///< 1024 + z, twice
  std::uint32_t high;  ///< -(64 + z), twice

  static __device__ __forceinline__ ZeroPoint of(std::uint32_t z) {
    return {both(0x6400u | z), both(0xD400u | z << 4)};
  }
};

__device__ __forceinline__ CenteredCodes centered(std::uint32_t codes, ZeroPoint zero) {
  constexpr std::uint32_t low_nibbles = 0x000F000Fu, high_nibbles = 0x00F000F0u, magic = 0x64006400u;
  constexpr std::uint32_t sixteenth = 0x2C002C00u;
  constexpr std::uint8_t and_or = 0xEA;  // (a & b) | c
  const std::uint32_t later = codes >> 8;
  return {{sub_rn_f16x2(lop3<and_or>(codes, low_nibbles, magic), zero.low),
           fma_rn_f16x2(lop3<and_or>(codes, high_nibbles, magic), sixteenth, zero.high),
           sub_rn_f16x2(lop3<and_or>(later, low_nibbles, magic), zero.low),
           fma_rn_f16x2(lop3<and_or>(later, high_nibbles, magic), sixteenth, zero.high)}};
}

/// A natural octet of fp16 codes (four words of two) as those pairs.
__device__ __forceinline__ Bits128 permuted(const Bits128& octet) {
  constexpr std::uint32_t low_halves = 0x5410u, high_halves = 0x7632u;
  return {{prmt(octet.word[0], octet.word[2], low_halves), prmt(octet.word[0], octet.word[2], high_halves),
           prmt(octet.word[1], octet.word[3], low_halves), prmt(octet.word[1], octet.word[3], high_halves)}};
}

/// The zero point of a block; `points` may be null.
__device__ __forceinline__ std::uint32_t zero_point_of(const std::uint8_t* points, std::int64_t row_bytes,
                                                       std::int64_t column, std::int64_t block,
                                                       unsigned bits) {
  if (points == nullptr) return 1u << (bits - 1);
  const std::int64_t bit = block * bits;
  return points[column * row_bytes + bit / 8] >> (bit % 8) & ((1u << bits) - 1);
}

/// The bias of a problem and what becomes of an fp32 sum.
struct Epilogue {
  const void* bias;  ///< of the model, or null
  bool bf16;         ///< the model
  bool twice;        ///< the bias is added to the rounded sum

  static Epilogue of(const Problem& problem) {
    return {problem.bias, problem.model == Model::bf16, problem.bias_round == BiasRound::twice};
  }

  __device__ __forceinline__ Code16 fp16(float acc, std::int64_t column) const {
    if (bias == nullptr) return cvt_rn_f16_f32(acc);
    if (twice) acc = cvt_f32_f16(cvt_rn_f16_f32(acc));
    const float addend = cvt_f32_f16(narrowed(bf16, load_code(bias, column)));
    return cvt_rn_f16_f32(add_rn_f32(acc, addend));
  }
};

/// fp16 to bf16: what staging ends with, and the direct store.
__device__ __forceinline__ Code16 bf16_of_fp16(Code16 code) { return cvt_rn_bf16_f32(cvt_f32_f16(code)); }

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
