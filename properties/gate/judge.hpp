// The verdict on one case: one workload on one route of one device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/runner.hpp"
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
enum class Detail : std::uint8_t {
  verdict,   ///< a case with wrong elements fails without findings
  codes,     ///< findings of such a case do not ask the family for the damage it knows
  findings,  ///< all
};

/// Judges in this order, and stops at the first that fails: support (against the family's rule), the kernel
/// ran at all, guard zones and inputs intact, the witness matches the route, every element of both runs
/// inside its interval and written, both runs equal, and the check itself rejects injected faults (the pass
/// is earned). A witness that does not match is reported with what is wrong with the elements.
/// `ran`, where it is given, gets what the runs left, when there were any.
CaseResult judge_case(const Family&, Workload&, std::size_t route, kernels::Device&,
                      Detail = Detail::findings, Execution* ran = nullptr);

/// The finding for outputs of one case whose bits differ between two devices; nothing when all are equal.
std::optional<Finding> find_difference(const Family&, const Workload&, std::string_view route,
                                       const Contents& on_cpu, const Contents& on_cuda);

}  // namespace assay::properties
