// The CPU executor as a Device.
#pragma once

#include "kernels/runtime/device.hpp"

namespace assay::kernels {

/// Always present. Memory is mapped so that a kernel that leaves its buffer is stopped or seen.
Device& cpu_device();

}  // namespace assay::kernels
