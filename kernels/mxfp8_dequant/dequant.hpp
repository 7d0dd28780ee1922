// MXFP8 dequantisation: the problem a route takes, and the routes.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/runtime/route.hpp"

namespace assay::kernels::mxfp8_dequant {

/// Along which dimension the 32 elements of a block lie. Data is row-major in both.
enum class Direction : std::uint8_t {
  rowwise,  ///< 1 x 32
  colwise,  ///< 32 x 1
};
enum class Element : std::uint8_t { e4m3, e5m2 };
enum class Output : std::uint8_t { fp32, fp16, bf16 };

/// How the scales lie: linear as the matrix of blocks, rowwise [row, block] and colwise [block, column], with
/// any row stride; or swizzled as a block-scaled GEMM reads them (swizzled_place of
/// kernels/device/scale_layout.hpp).
enum class ScaleLayout : std::uint8_t { linear, swizzled };

/// y[r, c] = data[r, c] * 2^(scale - 127), rounded once to the output format, NaN where the scale is 255.
///
/// Pointers are device pointers. data and y are [rows, cols], row-major and contiguous. scales is
/// [scale_rows, scale_stride] bytes, of which rowwise [rows, ceil(cols/32)] and colwise [ceil(rows/32), cols]
/// are scales; the rest is padding and may hold anything. Swizzled, the extents are exactly rowwise
/// [pad128(rows), pad4(ceil(cols/32))], colwise [pad4(ceil(rows/32)), pad128(cols)]. The last block of a row
/// (rowwise) or of a column (colwise) holds the elements that there are.
struct Problem {
  const std::uint8_t* data = nullptr;
  const std::uint8_t* scales = nullptr;
  void* y = nullptr;
  std::int64_t rows = 0, cols = 0, scale_rows = 0, scale_stride = 0;
  Direction direction{};
  Element element{};
  Output output{};
  ScaleLayout scale_layout{};
};

struct Route {
  RouteInfo info;
  /// Decides from everything but the pointed-to contents (alignment of the pointers included).
  Support (*supports)(const Problem&);
  /// Launches on context.device; returns before completion on cuda. Throws DeviceError or ExecutorError.
  void (*run)(LaunchContext& context, const Problem&);
};

/// The routes built for that device, in this order; empty for cuda in a build without the toolkit.
///   vector   production: dequant_vector, 16 elements a lane
///   scalar   legacy: dequant_scalar, one element a thread
std::span<const Route> routes(DeviceKind);

}  // namespace assay::kernels::mxfp8_dequant
