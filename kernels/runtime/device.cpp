#include "kernels/runtime/device.hpp"

#include "kernels/runtime/cpu_device.hpp"
#include "kernels/runtime/cuda_device.hpp"

namespace assay::kernels {

Device* device(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return &cpu_device();
#if defined(ASSAY_WITH_CUDA)
  return cuda_device().device.get();
#else
  return nullptr;
#endif
}

std::string why_absent(DeviceKind kind) {
  if (kind == DeviceKind::cpu) return {};
#if defined(ASSAY_WITH_CUDA)
  return cuda_device().why_absent;
#else
  return "built without the CUDA toolkit";
#endif
}

}  // namespace assay::kernels
