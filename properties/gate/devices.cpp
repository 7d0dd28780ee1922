#include "properties/gate/devices.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "fixtures/tensor/errors.hpp"

namespace assay::properties {

using kernels::Device;
using kernels::DeviceKind;

std::vector<Device*> select_devices(const std::vector<DeviceKind>& asked,
                                    const std::vector<DeviceKind>& required,
                                    std::vector<std::string>& notes) {
  for (const DeviceKind kind : required) {
    if (!kernels::device(kind)) {
      throw EnvironmentError(
          fmt::format("device {} is required and absent: {}", to_string(kind), kernels::why_absent(kind)));
    }
    if (!asked.empty() && !std::count(asked.begin(), asked.end(), kind))
      throw BadInput(fmt::format("device {} is required, but --device does not select it", to_string(kind)));
  }
  std::vector<Device*> devices;
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    const bool named = std::count(asked.begin(), asked.end(), kind) > 0;
    if (!named && !asked.empty()) continue;
    if (Device* device = kernels::device(kind)) {
      devices.push_back(device);
    } else if (named) {
      throw EnvironmentError(fmt::format("device {} was asked for and is absent: {}", to_string(kind),
                                         kernels::why_absent(kind)));
    } else {
      notes.push_back(
          fmt::format("device {} was not judged: {}", to_string(kind), kernels::why_absent(kind)));
    }
  }
  return devices;
}

}  // namespace assay::properties
