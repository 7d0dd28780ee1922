// MXFP8 cast, rowwise, colwise or both from one read: the problem a route takes, and the routes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/runtime/route.hpp"

namespace assay::kernels::mxfp8_cast {

/// Along which dimension the 32 elements of a block lie. Data stays row-major in every direction.
enum class Direction : std::uint8_t {
  rowwise,        ///< 1 x 32
  colwise,        ///< 32 x 1
  bidimensional,  ///< both, from one read of x
};
enum class Input : std::uint8_t { fp32, fp16, bf16 };
enum class Element : std::uint8_t { e4m3, e5m2 };
enum class ScaleRule : std::uint8_t { rceil, floor, ceil, even };
enum class SpecialBlocks : std::uint8_t { poison, te_staged, te_register };
enum class Padding : std::uint8_t { untouched, zero };

/// Where the scale of block (i, j) lies. i is the row and j the block of columns of a rowwise scale; i is the
/// column and j the block of rows of a colwise one.
enum class ScaleLayout : std::uint8_t {
  linear,    ///< as the matrix of blocks: rowwise [row, block], colwise [block, column]
  swizzled,  ///< as a block-scaled GEMM reads them: tiles of 128 x 4,
             ///< ((i/128) * nX + j/4) * 512 + (i%32) * 16 + ((i%128)/32) * 4 + j%4, nX = ceil(blocks / 4)
};

/// What one direction writes.
///
/// data is [rows, cols], row-major and contiguous. scales is [scale_rows, scale_stride] bytes, of which
/// rowwise [rows, cols/32] and colwise [ceil(rows/32), cols] are scales and the rest is padding. Swizzled,
/// the extents are exactly rowwise [pad128(rows), pad4(cols/32)], colwise [pad4(ceil(rows/32)),
/// pad128(cols)], and the bytes of the buffer are permuted.
struct Output {
  std::uint8_t* data = nullptr;
  std::uint8_t* scales = nullptr;
  std::int64_t scale_rows = 0, scale_stride = 0;
};

/// Pointers are device pointers. x is [rows, cols], row-major and contiguous; cols % 32 == 0. Where rows % 32
/// is not 0, the last blocks of the colwise direction hold the rows that there are. The output of a direction
/// that is not asked for is not looked at.
struct Problem {
  const void* x = nullptr;
  std::int64_t rows = 0, cols = 0;
  Direction direction{};
  Output rowwise, colwise;
  Input input{};
  Element element{};
  ScaleRule scale_rule{};
  SpecialBlocks specials{};
  Padding padding{};
  ScaleLayout scale_layout{};

  bool has_rowwise() const { return direction != Direction::colwise; }
  bool has_colwise() const { return direction != Direction::rowwise; }
};

struct Route {
  RouteInfo info;
  /// Decides from everything but the pointed-to contents (alignment of the pointers included).
  Support (*supports)(const Problem&);
  /// Launches on context.device; returns before completion on cuda. Throws DeviceError or ExecutorError.
  void (*run)(LaunchContext& context, const Problem&);
};

/// The routes built for that device, in this order; empty for cuda in a build without the toolkit.
///   register        production: rowwise_register, colwise_register, bidimensional_register
///   staged          legacy: rowwise_staged; bidimensional_tma for the other two directions
///   dispatch        what a library calls: one of the two, by the gates of dispatch.hpp, counted in the
///   witness register-sm100  experiment: register with the tuning of sm_100, on any device
std::span<const Route> routes(DeviceKind);

}  // namespace assay::kernels::mxfp8_cast
