#include <array>
#include <cstdint>

#include "kernels/mxfp8_cast/cast.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

bool aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// What no route takes: a shape outside the terms of Problem, or one without an element.
Support well_formed(const Problem& p) {
  if (p.direction != Direction::rowwise) return Support::no("direction is not rowwise");
  if (p.scale_layout != ScaleLayout::linear) return Support::no("scales are swizzled");
  if (p.rows < 1 || p.cols < 1) return Support::no("no elements");
  if (p.cols % 32 != 0) return Support::no("cols % 32 != 0");
  if (p.rowwise.scale_rows < p.rows) return Support::no("scale_rows < rows");
  if (p.rowwise.scale_stride < p.cols / 32) return Support::no("scale_stride < cols / 32");
  if (p.cols / 32 > ((std::int64_t{1} << 31) - 1) / p.rows) return Support::no("rows * cols / 32 >= 2^31");
  const std::uintptr_t element_bytes = p.input == Input::fp32 ? 4 : 2;
  if (!aligned(p.x, element_bytes)) return Support::no("x not aligned to its element");
  return Support::yes();
}

/// 16-byte accesses need the alignment. The kernel itself would take any whole number of blocks; it is
/// offered for rows of whole 128-byte lines of output, where it is known to be the faster one.
Support register_supports(const Problem& p) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.cols % 128 != 0) return Support::no("cols % 128 != 0");
  if (!aligned(p.x, 16)) return Support::no("x not 16-byte aligned");
  if (!aligned(p.rowwise.data, 16)) return Support::no("data not 16-byte aligned");
  return Support::yes();
}

using Run = void (*)(LaunchContext&, const Problem&);

std::array<Route, 2> make_routes(Run run_register, Run run_staged) {
  return {
      Route{{"mxfp8_cast",
             "register",
             RouteKind::production,
             {"rowwise_register"},
             "two lanes a block, held in registers: no shared memory, no barrier, one shuffle"},
            register_supports,
            run_register},
      Route{{"mxfp8_cast",
             "staged",
             RouteKind::legacy,
             {"rowwise_staged"},
             "tiles of 64 rows through shared memory: any whole number of blocks, any alignment"},
            well_formed,
            run_staged},
  };
}

}  // namespace

std::span<const Route> routes(DeviceKind kind) {
  static const auto cpu_routes =
      make_routes(cpu::mxfp8_cast::launch_rowwise_register, cpu::mxfp8_cast::launch_rowwise_staged);
  if (kind == DeviceKind::cpu) return cpu_routes;
#if defined(ASSAY_WITH_CUDA)
  static const auto cuda_routes =
      make_routes(cuda::mxfp8_cast::launch_rowwise_register, cuda::mxfp8_cast::launch_rowwise_staged);
  return cuda_routes;
#else
  return {};
#endif
}

}  // namespace assay::kernels::mxfp8_cast
