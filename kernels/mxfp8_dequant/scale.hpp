// Scales of the MXFP8 dequantisation: where the scale of a block lies, and what its code means.
#pragma once

#include "kernels/device/arch.hpp"
#include "kernels/device/scale_layout.hpp"
#include "kernels/mxfp8_dequant/dequant.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant {

using kernels::mxfp8_dequant::Direction;
using kernels::mxfp8_dequant::Problem;
using kernels::mxfp8_dequant::ScaleLayout;

/// 2^(code - 127) as fp32 bits, NaN for code 255. Code 0 is a subnormal: the shift alone would give zero.
__host__ __device__ __forceinline__ constexpr std::uint32_t scale_bits(std::uint32_t code) {
  constexpr std::uint32_t two_to_minus_127 = 0x00400000u;
  if (code == 255) return canonical_nan_f32;
  if (code == 0) return two_to_minus_127;
  return code << 23;
}

struct ScaleArray {
  const std::uint8_t* codes;
  std::int64_t stride;
  std::int64_t tiles;  ///< of a swizzled array, along its blocks
  ScaleLayout layout;

  static ScaleArray of(const Problem& p) {
    const std::int64_t blocks = ((p.direction == Direction::rowwise ? p.cols : p.rows) + 31) / 32;
    return {p.scales, p.scale_stride, (blocks + 3) / 4, p.scale_layout};
  }

  /// Index of the scale of block (row, block) in the rowwise direction, (block, column) in the colwise one.
  template <Direction kDirection>
  __device__ __forceinline__ std::int64_t place(std::int64_t block_row, std::int64_t block_col) const {
    if (layout == ScaleLayout::linear) return block_row * stride + block_col;
    return kDirection == Direction::rowwise ? swizzled_place(block_row, block_col, tiles)
                                            : swizzled_place(block_col, block_row, tiles);
  }

  /// The scale of the element at (row, col).
  template <Direction kDirection>
  __device__ __forceinline__ float of_element(std::int64_t row, std::int64_t col) const {
    const std::int64_t at = kDirection == Direction::rowwise ? place<kDirection>(row, col / 32)
                                                             : place<kDirection>(row / 32, col);
    return std::bit_cast<float>(scale_bits(codes[at]));
  }
};

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant
