// Where the blocks of a cast lie in X, and where the scale of each lies in its buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "oracles/formats/scale_layout.hpp"

namespace assay::oracles::mxfp8_cast {

inline constexpr std::size_t block = 32;  ///< elements that share a scale

/// Along which dimension the elements of a block lie. Data is row-major in either.
enum class Direction : std::uint8_t {
  rowwise,  ///< 1 x 32
  colwise,  ///< 32 x 1; the blocks at the bottom have rows % 32 elements where that is not 0
};

enum class ScaleLayout : std::uint8_t {
  linear,    ///< the matrix of scales, row-major in rows of the buffer's stride
  swizzled,  ///< as a block-scaled GEMM reads them, in tiles of 128 x 4
};

/// A scale buffer: rows * stride bytes.
struct ScaleExtent {
  std::size_t rows = 0, stride = 0;
  bool operator==(const ScaleExtent&) const = default;
};

/// X is [rows, cols] row-major and contiguous, cols a multiple of 32. The extent of a direction that is not
/// asked for is not looked at.
struct Shape {
  std::size_t rows = 0, cols = 0;
  ScaleExtent rowwise, colwise;

  std::size_t blocks_per_row() const { return cols / block; }
  std::size_t bands() const { return (rows + block - 1) / block; }  ///< of 32 rows, the last maybe fewer
  const ScaleExtent& extent(Direction direction) const {
    return direction == Direction::rowwise ? rowwise : colwise;
  }
  ScaleExtent& extent(Direction direction) { return direction == Direction::rowwise ? rowwise : colwise; }
  /// The matrix of scales: rowwise [rows, cols/32], colwise [ceil(rows/32), cols].
  ScaleExtent scales(Direction) const;
  /// The buffer of swizzled scales: rowwise [pad128(rows), pad4(cols/32)], colwise [pad4(ceil(rows/32)),
  /// pad128(cols)].
  ScaleExtent swizzled(Direction) const;
};

/// A way in which kernels are known to get a scale's place wrong.
enum class Misplacement : std::uint8_t {
  logical_stride,     ///< linear: rows as far apart as they have scales, in a buffer whose stride is larger
  transposed,         ///< linear: column by column, tightly
  not_swizzled,       ///< swizzled: linear in the padded buffer
  groups_transposed,  ///< swizzled: the four groups of 32 and the four blocks of a tile change places
  axes_swapped,       ///< swizzled: row and block change places in the whole formula
};
inline constexpr std::size_t misplacements = 5;

/// The scales of one direction in their buffer. (row, col) is a place in the matrix of scales.
class ScaleMatrix {
 public:
  /// The buffer must hold the matrix; a swizzled one has exactly the extent of Shape::swizzled.
  ScaleMatrix(const Shape&, Direction, ScaleLayout);

  std::size_t rows() const { return scales_.rows; }
  std::size_t cols() const { return scales_.stride; }
  std::size_t bytes() const { return extent_.rows * extent_.stride; }

  std::size_t index(std::size_t row, std::size_t col) const {
    if (layout_ == ScaleLayout::linear) return row * extent_.stride + col;
    return direction_ == Direction::rowwise ? formats::swizzled_place(row, col, scales_.stride)
                                            : formats::swizzled_place(col, row, scales_.rows);
  }

  struct Place {
    std::size_t row, col;
  };
  /// The inverse of index; nothing for a byte of padding.
  std::optional<Place> place(std::size_t index) const;

  /// Whether the misplacement is one of this layout and puts some scale elsewhere.
  bool can_show(Misplacement) const;
  /// Where it puts the scale; may lie outside the buffer. Different scales have different places.
  std::size_t misplaced(Misplacement, std::size_t row, std::size_t col) const;

 private:
  /// Places along the blocks of one row (or column): j in the formula of the swizzle.
  std::size_t blocks() const { return direction_ == Direction::rowwise ? scales_.stride : scales_.rows; }

  Direction direction_;
  ScaleLayout layout_;
  ScaleExtent scales_, extent_;
};

}  // namespace assay::oracles::mxfp8_cast
