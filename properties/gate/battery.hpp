// A battery is a check of the gate that is not an operator family: what all kernels stand on (the PTX
// wrappers).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/recorder.hpp"

namespace assay::properties {

struct Battery {
  std::string_view name, summary;
  std::function<std::vector<std::string>()> routes;
  /// Judges the routes for which `selected` is true on that device, and records rows and findings.
  std::function<void(kernels::Device&, Level, const std::function<bool(std::string_view)>& selected,
                     Recorder&)>
      run;
};

const std::vector<const Battery*>& batteries();
struct RegisterBattery {
  explicit RegisterBattery(const Battery*);
};

}  // namespace assay::properties
