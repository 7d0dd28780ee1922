#include "kernels/device/twin_probe.hpp"

#include "kernels/device/probe_table.hpp"

namespace assay::kernels {

std::span<const WrapperProbe> wrapper_probes(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return cpu::probe_table();
#if defined(ASSAY_WITH_CUDA)
  return cuda::probe_table();
#else
  return {};
#endif
}

}  // namespace assay::kernels
