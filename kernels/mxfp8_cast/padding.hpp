// Where the bytes of a scale array lie, and its padding under the contract `zero`: columns beyond the blocks
// of a row, and rows beyond the last.
#pragma once

#include "kernels/device/scale_layout.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

/// The matrix of scales: rowwise [row, block], colwise [block, column].
struct ScaleArray {
  std::uint8_t* bytes;
  std::int64_t rows, padded_rows;
  std::int64_t blocks_per_row, stride;
};

/// A scale array in either layout. Swizzled, its padded extents are whole tiles.
struct ScalePlaces {
  ScaleArray array;
  bool swizzled;
  bool colwise;

  /// Offset of an element of the matrix, padding included.
  __device__ __forceinline__ std::int64_t operator()(std::int64_t row, std::int64_t column) const {
    if (!swizzled) return row * array.stride + column;
    return colwise ? swizzled_place(column, row, array.padded_rows / 4)
                   : swizzled_place(row, column, array.stride / 4);
  }
};

/// Zeroes the padding, its bytes dealt out to all threads of the grid; any number of threads is right.
__device__ __forceinline__ void zero_padding(const ScalePlaces& places, std::int64_t thread,
                                             std::int64_t threads) {
  const ScaleArray& scales = places.array;
  const std::int64_t columns = scales.stride - scales.blocks_per_row;
  const std::int64_t beside = scales.rows * columns;
  const std::int64_t below = (scales.padded_rows - scales.rows) * scales.stride;
  for (std::int64_t i = thread; i < beside; i += threads) {
    scales.bytes[places(i / columns, scales.blocks_per_row + i % columns)] = 0;
  }
  for (std::int64_t i = thread; i < below; i += threads) {
    scales.bytes[places(scales.rows + i / scales.stride, i % scales.stride)] = 0;
  }
}

__device__ __forceinline__ void zero_padding(const ScaleArray& scales, std::int64_t thread,
                                             std::int64_t threads) {
  zero_padding(ScalePlaces{scales, false, false}, thread, threads);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
