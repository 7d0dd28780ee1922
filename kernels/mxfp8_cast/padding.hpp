// The padding of a scale array under the contract `zero`: columns beyond the blocks of a row, and rows beyond
// the last.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

struct ScaleArray {
  std::uint8_t* bytes;
  std::int64_t rows, padded_rows;
  std::int64_t blocks_per_row, stride;
};

/// Zeroes the padding, its bytes dealt out to all threads of the grid; any number of threads is right.
__device__ __forceinline__ void zero_padding(const ScaleArray& scales, std::int64_t thread,
                                             std::int64_t threads) {
  const std::int64_t columns = scales.stride - scales.blocks_per_row;
  const std::int64_t beside = scales.rows * columns;
  const std::int64_t below = (scales.padded_rows - scales.rows) * scales.stride;
  for (std::int64_t i = thread; i < beside; i += threads) {
    scales.bytes[i / columns * scales.stride + scales.blocks_per_row + i % columns] = 0;
  }
  for (std::int64_t i = thread; i < below; i += threads) scales.bytes[scales.rows * scales.stride + i] = 0;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
