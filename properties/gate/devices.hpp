// Which devices a command runs on.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"

namespace assay::properties {

/// A required device is absent, or the system refuses what the program needs of it; exit code 4.
class EnvironmentError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The devices asked for, or every one that is present; then a note tells of each that is not. Throws
/// EnvironmentError for one that is asked for or required and absent, BadInput for one that is required and
/// not asked for.
std::vector<kernels::Device*> select_devices(const std::vector<kernels::DeviceKind>& asked,
                                             const std::vector<kernels::DeviceKind>& required,
                                             std::vector<std::string>& notes);

}  // namespace assay::properties
