// The place of a call in kernel source: what a fault on the executor names, and nothing on a GPU. Taken as a
// default argument, Place::here() is the caller's.
#pragma once

#include "kernels/device/cuda.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

#if ASSAY_ON_GPU
struct Place {
  static __device__ constexpr Place here() { return {}; }
};
#else
using Place = executor::Place;
#endif

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
