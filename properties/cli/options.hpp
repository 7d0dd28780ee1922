// What the options of several commands have in common.
#pragma once

#include <string>

#include "kernels/runtime/device.hpp"

namespace assay::cli {

/// The footer of every command's help.
extern const char* const exit_codes;

/// Throws BadInput naming the nearest.
kernels::DeviceKind parse_device(const std::string& name);

}  // namespace assay::cli
