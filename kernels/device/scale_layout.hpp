// Index of a block's scale in an array swizzled for a block-scaled GEMM.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

/// i is the row and j the block of columns of a rowwise scale, i the column and j the block of rows of a
/// colwise one; `tiles_along_j` is ceil(j_count / 4). A tile is 512 bytes: 128 of i by 4 of j.
__host__ __device__ __forceinline__ constexpr std::int64_t swizzled_place(std::int64_t i, std::int64_t j,
                                                                          std::int64_t tiles_along_j) {
  return ((i / 128) * tiles_along_j + j / 4) * 512 + (i % 32) * 16 + ((i % 128) / 32) * 4 + j % 4;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
