// MXFP8 cast, rowwise: the problem a route takes, and the routes.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/runtime/route.hpp"

namespace assay::kernels::mxfp8_cast {

enum class Input : std::uint8_t { fp32, fp16, bf16 };
enum class Element : std::uint8_t { e4m3, e5m2 };
enum class ScaleRule : std::uint8_t { rceil, floor, ceil, even };
enum class SpecialBlocks : std::uint8_t { poison, te_staged, te_register };
enum class Padding : std::uint8_t { untouched, zero };

/// Pointers are device pointers. x [rows, cols] and data [rows, cols] are row-major and contiguous; cols % 32
/// == 0. scales is [scale_rows, scale_stride], scale_rows >= rows, scale_stride >= cols/32; the rest of it is
/// padding.
struct Problem {
  const void* x = nullptr;
  std::uint8_t* data = nullptr;
  std::uint8_t* scales = nullptr;
  std::int64_t rows = 0, cols = 0, scale_rows = 0, scale_stride = 0;
  Input input{};
  Element element{};
  ScaleRule scale_rule{};
  SpecialBlocks specials{};
  Padding padding{};
};

struct Route {
  RouteInfo info;
  /// Decides from everything but the pointed-to contents (alignment of the pointers included).
  Support (*supports)(const Problem&);
  /// Launches on context.device; returns before completion on cuda. Throws DeviceError or ExecutorError.
  void (*run)(LaunchContext& context, const Problem&);
};

/// The routes built for that device: "register" (production) and "staged" (legacy), in that order. Empty for
/// cuda in a build without the toolkit.
std::span<const Route> routes(DeviceKind);

}  // namespace assay::kernels::mxfp8_cast
