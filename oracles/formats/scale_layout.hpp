// Where the scale of a block lies in a swizzled scale array, the order in which block-scaled GEMMs read it.
#pragma once

#include <cstddef>

namespace assay::formats {

/// Rowwise (1 x 32), i is the row and j the block of columns; colwise (32 x 1), i is the column and j the
/// block of rows. The array is pad128(number of i) * pad4(number of j) bytes, as tiles of 512 bytes that hold
/// 128 of i by 4 of j, tiles along j first. Within a tile, i in 32s varies slower than i by 32:
///   ((i/128) * ceil(j_count/4) + j/4) * 512 + (i%32) * 16 + ((i%128)/32) * 4 + j%4
constexpr std::size_t swizzled_place(std::size_t i, std::size_t j, std::size_t j_count) {
  const std::size_t tiles_along_j = (j_count + 3) / 4;
  return ((i / 128) * tiles_along_j + j / 4) * 512 + (i % 32) * 16 + ((i % 128) / 32) * 4 + j % 4;
}

}  // namespace assay::formats
