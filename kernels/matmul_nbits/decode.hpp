// Weights of any width, one at a time.
#pragma once

#include "kernels/matmul_nbits/operands.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {

struct WeightArray {
  const std::uint8_t* codes;
  const std::uint8_t* zero_points;  ///< or null
  std::int64_t row_bytes, zero_point_row_bytes;
  unsigned bits, block;
  std::uint32_t blocks;

  static WeightArray of(const Problem& problem) {
    const std::int64_t blocks = (problem.k + problem.block - 1) / problem.block;
    return {problem.b,
            problem.zero_points,
            blocks * problem.block * problem.bits / 8,
            (blocks * problem.bits + 7) / 8,
            problem.bits,
            problem.block,
            static_cast<std::uint32_t>(blocks)};
  }

  /// q - z of an element.
  __device__ __forceinline__ int centered(std::int64_t column, std::int64_t k) const {
    const std::int64_t bit = k * bits;
    const std::uint32_t code = codes[column * row_bytes + bit / 8] >> (bit % 8) & ((1u << bits) - 1);
    return static_cast<int>(code) -
           static_cast<int>(zero_point_of(zero_points, zero_point_row_bytes, column, k / block, bits));
  }
};

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
