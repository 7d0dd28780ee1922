// The tables behind wrapper_probes, one from each compilation of twin_probe.cu, which collects the parts.
#pragma once

#include <span>

#include "kernels/device/twin_probe.hpp"

namespace assay::kernels {
namespace cpu {
std::span<const WrapperProbe> probe_table();
}
namespace cuda {
std::span<const WrapperProbe> probe_table();
}
}  // namespace assay::kernels
