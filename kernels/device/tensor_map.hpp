// The description of a matrix that bulk tensor copies take, made by kernels/runtime/tensor_map.hpp. A kernel
// takes it by value, as `const __grid_constant__ TensorMap2d`.
#pragma once

#include <cstdint>

#include "kernels/device/cuda.hpp"
#if !ASSAY_ON_GPU
#include "kernels/executor/async_words.hpp"
#endif

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

#if ASSAY_ON_GPU
/// A CUtensorMap, without the driver's header.
struct alignas(128) TensorMap2d {
  std::uint64_t opaque[16];
};
#else
using TensorMap2d = executor::TensorBox;
#endif

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
