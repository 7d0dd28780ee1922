// Launching a kernel on the device its source was compiled for, and recording that in the witness.
//
//   ASSAY_LAUNCH(context, grid, block, dynamic_shared_bytes, kernel<Args...>, arguments...);
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/device/cuda.hpp"
#include "kernels/runtime/device.hpp"

namespace assay::kernels {

/// "ns::rowwise_register<float, 3>" -> "rowwise_register".
std::string_view base_name(std::string_view symbol);

#if ASSAY_ON_GPU
namespace detail {
std::string launched_name(const void* function);  // cudaFuncGetName, demangled, base name
void throw_if_failed(cudaError_t, std::string_view what);
}  // namespace detail

namespace cuda {
template <class... Params, class... Args>
void launch(LaunchContext& context, dim3 grid, dim3 block, std::size_t shared, std::string_view /*symbol*/,
            void (*kernel)(Params...), Args... args) {
  const auto* const function = reinterpret_cast<const void*>(kernel);
  context.witness.launches.push_back({detail::launched_name(function),
                                      {grid.x, grid.y, grid.z},
                                      {block.x, block.y, block.z},
                                      shared,
                                      function});
  kernel<<<grid, block, shared>>>(static_cast<Params>(args)...);
  detail::throw_if_failed(cudaGetLastError(), "launch");
}
}  // namespace cuda
#else
namespace cpu {
template <class... Params, class... Args>
void launch(LaunchContext& context, dim3 grid, dim3 block, std::size_t shared, std::string_view symbol,
            void (*kernel)(Params...), Args... args) {
  const executor::Launch what{
      base_name(symbol), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared};
  context.witness.launches.push_back({std::string(what.kernel), what.grid, what.block, shared});
  const executor::Counts counts = executor::run(
      what, [&] { kernel(static_cast<Params>(args)...); }, context.device.executor_options);
  context.witness.counters["executor.blocks"] += counts.blocks;
  context.witness.counters["executor.barriers"] += counts.barriers;
}
}  // namespace cpu
#endif

}  // namespace assay::kernels

#define ASSAY_LAUNCH(context, grid, block, shared, kernel, ...) \
  ::assay::kernels::ASSAY_DEVICE_NAMESPACE::launch(context, grid, block, shared, #kernel, kernel, __VA_ARGS__)
