// The first CUDA device of this machine. Defined in builds with the toolkit only.
#pragma once

#include <memory>
#include <string>

#include "kernels/runtime/device.hpp"

namespace assay::kernels {

/// Exactly one of the two is set.
struct CudaDevice {
  std::unique_ptr<Device> device;
  std::string why_absent;  ///< in the driver's words
};

/// Looked for once, at the first call.
CudaDevice& cuda_device();

}  // namespace assay::kernels
