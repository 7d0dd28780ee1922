#include <array>
#include <cstdint>

#include "kernels/mxfp8_dequant/dequant.hpp"
#include "kernels/mxfp8_dequant/kernels.hpp"

namespace assay::kernels::mxfp8_dequant {
namespace {

bool aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

std::int64_t padded(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

Support scales_fit(const Problem& p) {
  const bool rowwise = p.direction == Direction::rowwise;
  const std::int64_t rows = rowwise ? p.rows : (p.rows + 31) / 32;
  const std::int64_t cols = rowwise ? (p.cols + 31) / 32 : p.cols;
  if (p.scale_layout == ScaleLayout::swizzled) {
    const bool exact =
        p.scale_rows == padded(rows, rowwise ? 128 : 4) && p.scale_stride == padded(cols, rowwise ? 4 : 128);
    return exact ? Support::yes() : Support::no("swizzled scales not padded to whole tiles");
  }
  if (p.scale_rows < rows) return Support::no("scale_rows less than the rows of blocks");
  if (p.scale_stride < cols) return Support::no("scale_stride less than the blocks of a row");
  return Support::yes();
}

/// What no route takes: a shape outside the terms of Problem, or one without an element.
Support well_formed(const Problem& p) {
  if (p.rows < 1 || p.cols < 1) return Support::no("no elements");
  if (p.cols > ((std::int64_t{1} << 36) - 1) / p.rows) return Support::no("rows * cols >= 2^36");
  if (const Support s = scales_fit(p); !s.supported) return s;
  if (!aligned(p.y, p.output == Output::fp32 ? 4 : 2)) return Support::no("y not aligned to its element");
  return Support::yes();
}

Support vector_supports(const Problem& p) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.cols % 32 != 0) return Support::no("cols % 32 != 0");
  if (!aligned(p.data, 16)) return Support::no("data not 16-byte aligned");
  if (!aligned(p.y, 16)) return Support::no("y not 16-byte aligned");
  return Support::yes();
}

using Run = void (*)(LaunchContext&, const Problem&);

std::array<Route, 2> make_routes(Run run_vector, Run run_scalar) {
  return {
      Route{{"mxfp8_dequant",
             "vector",
             RouteKind::production,
             {"dequant_vector"},
             "16 elements a lane: one 128-bit load, 128-bit stores, no shared memory"},
            vector_supports,
            run_vector},
      Route{{"mxfp8_dequant",
             "scalar",
             RouteKind::legacy,
             {"dequant_scalar"},
             "one element a thread: any shape, any alignment"},
            well_formed,
            run_scalar},
  };
}

}  // namespace

std::span<const Route> routes(DeviceKind kind) {
  static const auto cpu_routes =
      make_routes(cpu::mxfp8_dequant::launch_dequant_vector, cpu::mxfp8_dequant::launch_dequant_scalar);
  if (kind == DeviceKind::cpu) return cpu_routes;
#if defined(ASSAY_WITH_CUDA)
  static const auto cuda_routes =
      make_routes(cuda::mxfp8_dequant::launch_dequant_vector, cuda::mxfp8_dequant::launch_dequant_scalar);
  return cuda_routes;
#else
  return {};
#endif
}

}  // namespace assay::kernels::mxfp8_dequant
