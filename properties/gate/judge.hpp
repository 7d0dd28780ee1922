// The verdict on one case: one workload on one route of one device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

struct CaseResult {
  Verdict verdict = Verdict::vacuous;
  std::string unsupported_reason;
  std::uint64_t elements = 0;  ///< compared in run 1, padding included
  std::uint64_t probes = 0;    ///< injected faults that were rejected
  double worst_bound_use = 0;
  bool exact = true;
  kernels::Witness witness;
  std::vector<Finding> findings;
  Contents outputs;  ///< of run 1; empty unless it ran
};

/// Judges in this order, and stops at the first that fails: support (against the family's rule), the kernel
/// ran at all, guard zones and inputs intact, the witness matches the route, every element of both runs
/// inside its interval and written, both runs equal, and the check itself rejects injected faults (the pass
/// is earned).
CaseResult judge_case(const Family&, Workload&, std::size_t route, kernels::Device&);

}  // namespace assay::properties
