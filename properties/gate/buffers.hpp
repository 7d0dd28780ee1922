// A workload's buffers on a device, and one launch over them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

struct Buffers {
  std::vector<std::unique_ptr<kernels::DeviceBuffer>> owned;
  std::vector<void*> pointers;  ///< their data, as Workload::launch takes it
};

std::size_t bytes_of(const OutputBuffer&);

/// The inputs uploaded, in the order of Workload::inputs().
Buffers allocate_inputs(const std::vector<InputBuffer>&, kernels::Device&);
/// The outputs and behind them the scratch buffers, with whatever the memory held.
Buffers allocate_outputs(const Workload&, kernels::Device&);

void collect_damage(const Buffers&, std::vector<kernels::GuardDamage>&);

/// The byte a poisoned buffer holds at `index` in the first run; the second run's is its complement. Depends
/// on the index so that a row or block copied from elsewhere does not look unwritten.
std::byte poison(std::size_t index);
std::vector<std::byte> poisoned(std::size_t bytes, bool complement);

/// What an output holds before a run: poison, or what it begins with where it is updated in place.
std::vector<std::byte> before_run(const OutputBuffer&, bool complement);

/// Launches a route, waits for it and records it in `witness`. Returns what the executor or the device said
/// when it stopped the kernel.
std::optional<std::string> launch_and_wait(const Workload&, std::size_t route, kernels::Device&,
                                           const Buffers& in, const Buffers& out, kernels::Witness& witness);

}  // namespace assay::properties
