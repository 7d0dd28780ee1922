// The timer of the first CUDA device. Defined in builds with the toolkit only.
#pragma once

#include <memory>

#include "kernels/runtime/timer.hpp"

namespace assay::kernels {

/// The device must be there. Throws DeviceError.
std::unique_ptr<Timer> cuda_timer();

}  // namespace assay::kernels
