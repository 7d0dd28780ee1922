// The gate: which cases run on which routes and devices, and the result.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/devices.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/judge.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// One of `count` parts of the built-in cases, properties and files; the parts together are the whole.
/// Batteries belong to the first.
struct Shard {
  std::uint64_t index = 0, count = 1;  ///< index < count
};

struct GateOptions {
  std::vector<kernels::DeviceKind> devices;   ///< asked for by name; empty: every device that is present
  std::vector<kernels::DeviceKind> required;  ///< absent: EnvironmentError
  std::vector<std::string> families;          ///< empty: all, batteries included
  std::vector<std::string> routes;            ///< "ROUTE" or "FAMILY/ROUTE"; empty: all
  Level level = Level::quick;
  std::uint64_t seed = 1;
  Shard shard;                     ///< of the built-in cases
  std::vector<std::string> on;     ///< "FILE" or "FILE:TENSOR": judge these instead of the built-in cases
  std::vector<std::string> cases;  ///< tokens: judge these instead of the built-in cases
  /// Told of every failing case whose findings are recorded, of its result and of what its runs left; nothing
  /// is told of cases within properties.
  std::function<void(Workload&, const CaseResult&, const Execution&)> on_failure;
  std::string until;  ///< stop at the first finding with this in its pattern; empty: never
};

/// Throws BadInput for an unknown family, route, token, file or tensor (naming the nearest), EnvironmentError
/// for an absent device. Findings of kernels are in the result, never exceptions.
GateResult run_gate(const GateOptions&);

}  // namespace assay::properties
