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
  /// Of buffers updated in place: elements that were judged, and those of them that would have been refused
  /// as they were before the run. Only these show that anything was written.
  std::uint64_t in_place = 0, had_to_change = 0;
  double worst_bound_use = 0;
  bool exact = true;
  kernels::Witness witness;
  std::vector<Finding> findings;
  Contents outputs;  ///< of run 1; empty unless it ran
};

/// How much a failing case is looked into. Naming damage costs many times what judging does, and the
/// hundredth finding of one fault says nothing new.
enum class Detail : std::uint8_t { verdict, findings };

/// Judges in this order, and stops at the first that fails: support (against the family's rule), the kernel
/// ran at all, guard zones and inputs intact, the witness matches the route, every element of both runs
/// inside its interval and written, both runs equal, and the check itself rejects injected faults (the pass
/// is earned). A witness that does not match is reported with what is wrong with the elements.
/// With Detail::verdict a case with wrong elements fails without findings.
CaseResult judge_case(const Family&, Workload&, std::size_t route, kernels::Device&,
                      Detail = Detail::findings);

}  // namespace assay::properties
