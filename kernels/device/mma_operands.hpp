// The operands of the matrix multiply-add's probe: tile after tile of 16 x 16 by 16 x 8, 128 outputs each,
// all a pure function of the tile's number.
#pragma once

#include "kernels/device/mma.hpp"
#include "kernels/device/twin_operands.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands {

inline constexpr std::uint32_t tile_outputs = twin::mma_rows * twin::mma_cols;
/// Fewer where they are compared with integer arithmetic on a CPU, which takes a thousand times as long.
inline constexpr std::uint64_t mma_outputs = std::uint64_t{1} << (ASSAY_ON_GPU ? 30 : 24);

/// Tiles of eight kinds take turns.
struct MmaTile {
  std::uint32_t number;

  enum Kind : std::uint32_t {
    any_exponent,
    narrow,         ///< four neighbouring exponents
    cancelling,     ///< pairs of products that cancel, or nearly
    subnormal,      ///< and the smallest normals
    single,         ///< one product that is not zero, and C around it
    one_large,      ///< the other products around the last fractional bit
    with_specials,  ///< some Inf, NaN and zeros
    mostly_zero,
  };
  __host__ __device__ constexpr Kind kind() const { return static_cast<Kind>(number & 7u); }
  /// Of single and one_large: where that product is.
  __host__ __device__ constexpr std::uint32_t chosen() const { return number >> 3 & 15u; }

  static __host__ __device__ constexpr Code16 finite(std::uint32_t h, std::uint32_t exponent) {
    return (h & 0x83FFu) | (exponent < 31 ? exponent : 30) << 10;
  }
  /// Element k of line `line` of a side: a row of A (side 0), a column of B (side 1).
  __host__ __device__ constexpr Code16 operand(std::uint32_t side, std::uint32_t line,
                                               std::uint32_t k) const {
    const std::uint32_t of_tile = scrambled(number), of_line = scrambled(number * 32 + side * 16 + line);
    const std::uint32_t h = scrambled(of_line + k * 0x9E3779B9u), pick = h >> 16;
    const bool zero = (h >> 10 & 7u) == 0;
    switch (kind()) {
      case any_exponent:
        return finite(h, pick % 31);
      case narrow:
        return finite(h, of_tile % 28 + (pick & 3u));
      case cancelling: {
        const std::uint32_t g = scrambled(of_line + (k & ~1u) * 0x9E3779B9u);
        const Code16 first = finite(g, of_tile % 23 + (g >> 16 & 7u));
        if ((k & 1u) == 0) return first;
        return side == 0 ? first ^ 0x8000u : first ^ ((pick & 3u) == 0 ? 1u << (pick >> 2 & 3u) : 0u);
      }
      case subnormal:
        return zero ? h & 0x8000u : finite(h, pick & 1u ? 0 : pick >> 1 & 3u);
      case single:
        return k == chosen() ? finite(h, pick % 31) : h & 0x8000u;
      case one_large:
        return k == chosen() ? finite(h, 25 + pick % 6) : finite(h, (of_line & 7u) + (pick & 7u));
      case with_specials:
        if ((pick & 63u) == 0) return 0x7C00u | (h & 0x8000u) | (pick & 64u ? h & 0x3FFu : 0u);
        return zero ? h & 0x8000u : finite(h, pick % 31);
      default:
        return (h >> 10 & 7u) == 1 ? finite(h, pick % 31) : h & 0x8000u;
    }
  }
  __host__ __device__ constexpr Code16 a(std::uint32_t row, std::uint32_t k) const {
    return operand(0, row, k);
  }
  __host__ __device__ constexpr Code16 b(std::uint32_t k, std::uint32_t col) const {
    return operand(1, col, k);
  }

  /// C has any size, or one at which it and a product meet at the edges of the sum's bits.
  __host__ __device__ constexpr float c(std::uint32_t row, std::uint32_t col) const {
    const std::uint32_t h = scrambled(scrambled(number * 128 + row * 8 + col) ^ 0xC0FFEEu);
    const std::uint32_t sign = h & 0x80000000u, mantissa = h & 0x7FFFFFu, pick = scrambled(h);
    const Code16 x = a(row, chosen()), y = b(chosen(), col);
    std::uint32_t bits = 0;
    switch (pick & 7u) {
      case 0:
        bits = sign;
        break;
      case 1:
        bits = sign | mantissa >> (pick >> 8 & 31u);
        break;
      case 2:
        bits = sign | mantissa | (pick >> 8) % 255 << 23;
        break;
      case 3:
        // One product and a little more, with the other sign.
        bits = std::bit_cast<std::uint32_t>(twin::cvt_f32_f16(x) * twin::cvt_f32_f16(y));
        bits = (bits & infinity_f32) == infinity_f32 ? sign : (bits ^ 0x80000000u) + (pick >> 8 & 3u);
        break;
      default:
        // From 32 places below a product to 31 above it.
        bits = sign | mantissa | ((x >> 10 & 31u) + (y >> 10 & 31u) + 97 - 32 + (pick >> 8 & 63u)) << 23;
    }
    if (kind() == with_specials && (pick >> 16 & 15u) == 0)
      bits = sign | infinity_f32 | (pick & 0x100000u ? mantissa : 0u);
    return std::bit_cast<float>(bits);
  }
};

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::operands
