// Runs one workload on one route of one device, twice, between guard zones and over two different poisons.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/buffers.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

/// What two runs of one case left behind. Run 1 starts from poison P, run 2 from its complement, with lanes,
/// warps and blocks in another order and shared memory poisoned differently: an element that was never
/// written holds P and then ~P, and a result that depends on the order or on unwritten memory moves. A buffer
/// that is updated in place holds the same before both runs.
struct Execution {
  Contents first, second;                ///< outputs after run 1 and run 2
  Contents before_first, before_second;  ///< what they held before
  kernels::Witness witness;              ///< of run 1
  kernels::Witness second_witness;
  std::vector<kernels::GuardDamage> guard_damage;
  std::vector<std::string> modified_inputs;  ///< names
  std::optional<std::string>
      kernel_fault;  ///< what the executor or the device said when it stopped the kernel
};

/// Runs it. Throws only on programmer errors and on a device that fails outside the kernel.
Execution execute(const Workload&, std::size_t route, kernels::Device&);

}  // namespace assay::properties
