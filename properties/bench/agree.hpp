// Whether the routes of a benchmark compute the same bits by the kernels they claim.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/buffers.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties::bench {

struct Agreement {
  std::vector<Finding> findings;            ///< empty: they do
  std::vector<kernels::Witness> witnesses;  ///< of each route that ran
  bool stopped = false;                     ///< a kernel was stopped: on cuda nothing more can run
};

/// Runs `routes` (indices into the family's) one after the other, each over outputs that hold the same
/// poison, or the same contents where they are updated in place, so that what a route leaves unwritten is not
/// hidden by what the one before it wrote. Stops at the first that is wrong. Beside the workload it needs
/// host memory for its outputs and for its largest output twice.
Agreement check_agreement(const Family&, const Workload&, const std::vector<std::size_t>& routes,
                          kernels::Device&, const Buffers& in, const Buffers& out);

}  // namespace assay::properties::bench
