#include "properties/gate/judge.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "properties/comparator/comparator.hpp"
#include "properties/comparator/probe.hpp"
#include "properties/gate/case_text.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/runner.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;

Finding simple_finding(Code code, std::string summary) {
  Finding finding;
  finding.code = code;
  finding.summary = std::move(summary);
  return finding;
}

std::vector<Finding> check_memory(const Execution& execution) {
  std::vector<Finding> findings;
  for (const auto& damage : execution.guard_damage) {
    findings.push_back(
        simple_finding(Code::guard_damaged,
                       fmt::format("buffer '{}': {} bytes of its guard zone were written, first at offset {}",
                                   damage.buffer, damage.bytes, damage.first_offset)));
  }
  for (const auto& input : execution.modified_inputs) {
    findings.push_back(simple_finding(Code::input_modified, fmt::format("input '{}' was modified", input)));
  }
  return findings;
}

/// Both runs were right element by element; where an interval holds more than one code they must also agree.
std::vector<Finding> check_deterministic(Workload& workload, const Execution& execution) {
  std::vector<Finding> findings;
  const auto outputs = workload.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Acceptance first_run = workload.acceptance()[i];
    if (first_run.exact()) continue;  // both equal the one code, up to the class of NaNs
    first_run.lo = execution.first[i];
    first_run.hi.clear();
    first_run.best.clear();
    const Comparison comparison = compare(first_run, execution.second[i], execution.before_second[i]);
    if (comparison.failed == 0) continue;
    Finding finding = simple_finding(Code::not_deterministic,
                                     fmt::format("{}: {} elements differ between two runs of the same case",
                                                 outputs[i].name, grouped(comparison.failed)));
    finding.notes.push_back(describe_mismatch(outputs[i], comparison.first.front()));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::size_t to_be_written(const Acceptance& acceptance) {
  std::size_t elements = acceptance.size();
  for (const arithmetic::ElementRange& kept : acceptance.untouched) elements -= kept.end - kept.begin;
  return elements;
}

/// Sums up what was compared; assumes both runs were right.
void count_compared(Workload& workload, const Execution& execution, CaseResult& result) {
  const auto outputs = workload.outputs();
  for (std::size_t i = 0; i < execution.first.size(); ++i) {
    const Acceptance& acceptance = workload.acceptance()[i];
    result.elements += acceptance.size();
    result.exact = result.exact && acceptance.exact();
    if (!outputs[i].initial.empty()) {
      const auto& before = execution.before_first[i];
      result.in_place += to_be_written(acceptance);
      result.had_to_change += compare(acceptance, before, before, 0).failed;
    }
    if (acceptance.exact()) continue;
    const Comparison comparison = compare(acceptance, execution.first[i], execution.before_first[i]);
    result.worst_bound_use = std::max(result.worst_bound_use, comparison.worst_bound_use);
  }
}

std::vector<Finding> probe_outputs(Workload& workload, const Execution& execution, CaseResult& result) {
  std::vector<Finding> findings;
  const auto outputs = workload.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ProbeReport report = probe(workload.acceptance()[i], execution.first[i], execution.before_first[i],
                                     {outputs[i].rows, outputs[i].cols, outputs[i].stride});
    for (const Probe& one : report.probes) {
      result.probes += one.applied && one.caught ? 1u : 0u;
      if (!one.applied || one.caught) continue;
      findings.push_back(
          simple_finding(Code::probe_missed,
                         fmt::format("{}: the injected fault '{}' was accepted", outputs[i].name, one.name)));
    }
    if (findings.empty() && !report.earned()) {
      findings.push_back(
          simple_finding(Code::probe_missed, fmt::format("{}: no fault could be injected", outputs[i].name)));
    }
  }
  return findings;
}

bool elements_right(Workload& workload, const Execution& execution) {
  for (std::size_t i = 0; i < execution.first.size(); ++i) {
    const Acceptance& acceptance = workload.acceptance()[i];
    if (compare(acceptance, execution.first[i], execution.before_first[i], 0).failed > 0) return false;
    if (compare(acceptance, execution.second[i], execution.before_second[i], 0).failed > 0) return false;
  }
  return true;
}

/// The checks of an execution in order; the first that finds anything decides.
std::vector<Finding> find_faults(const Family& family, Workload& workload, std::size_t route,
                                 const Execution& execution, Detail detail, CaseResult& result) {
  if (execution.kernel_fault) return {simple_finding(Code::kernel_fault, *execution.kernel_fault)};
  if (auto found = check_memory(execution); !found.empty()) return found;
  for (const kernels::Witness* witness : {&execution.witness, &execution.second_witness}) {
    auto found = check_witness(family, workload, route, *witness);
    if (found.empty()) continue;
    // Another path ran than was claimed. What it left behind says what that path does.
    if (detail != Detail::verdict && !elements_right(workload, execution)) {
      for (Finding& damage : find_damage(workload, execution, detail == Detail::findings))
        found.push_back(std::move(damage));
    }
    return found;
  }
  if (!elements_right(workload, execution)) {
    result.verdict = Verdict::fail;
    for (const Acceptance& acceptance : workload.acceptance()) result.elements += acceptance.size();
    if (detail == Detail::verdict) return {};
    return find_damage(workload, execution, detail == Detail::findings);
  }
  if (auto found = check_deterministic(workload, execution); !found.empty()) return found;
  count_compared(workload, execution, result);
  if (result.elements == 0) return {};
  return probe_outputs(workload, execution, result);
}

}  // namespace

CaseResult judge_case(const Family& family, Workload& workload, std::size_t route, kernels::Device& device,
                      Detail detail, Execution* ran) {
  CaseResult result;
  const std::string name(family.routes()[route].name);
  const kernels::Support support = workload.supports(route, device.kind());
  const kernels::Support expected = workload.expected_support(route, device.kind());
  if (support.supported != expected.supported || support.reason != expected.reason) {
    const auto words = [](const kernels::Support& what) {
      return what.supported ? std::string("takes it") : fmt::format("refuses it ({})", what.reason);
    };
    result.verdict = Verdict::fail;
    result.findings.push_back(simple_finding(
        Code::unlisted_unsupported,
        fmt::format("by the family's rule the route {}, by its own it {}", words(expected), words(support))));
  } else if (!support.supported) {
    result.unsupported_reason = support.reason;
    result.verdict = Verdict::unsupported;
  } else {
    Execution execution = execute(workload, route, device);
    result.witness = execution.witness;
    result.findings = find_faults(family, workload, route, execution, detail, result);
    if (execution.kernel_fault) {
      result.verdict = Verdict::error;
    } else if (!result.findings.empty()) {
      result.verdict = Verdict::fail;
    } else if (result.verdict != Verdict::fail && result.elements > 0) {
      result.verdict = Verdict::pass;
    }
    if (ran != nullptr) {
      result.outputs = execution.first;
      *ran = std::move(execution);
    } else {
      result.outputs = std::move(execution.first);
    }
  }
  for (Finding& finding : result.findings) {
    finding.place = fmt::format("{}/{} on {}", family.name(), name, to_string(device.kind()));
    finding.token = with_place(workload.token(), name, to_string(device.kind()));
  }
  return result;
}

std::optional<Finding> find_difference(const Family& family, const Workload& workload, std::string_view route,
                                       const Contents& on_cpu, const Contents& on_cuda) {
  for (std::size_t i = 0; i < on_cpu.size(); ++i) {
    const auto [at, other] = std::mismatch(on_cpu[i].begin(), on_cpu[i].end(), on_cuda[i].begin());
    if (at == on_cpu[i].end()) continue;
    const OutputBuffer output = workload.outputs()[i];
    const auto index = static_cast<std::size_t>(at - on_cpu[i].begin()) /
                       static_cast<std::size_t>(formats::storage_bytes(output.format));
    Finding finding = simple_finding(
        Code::devices_differ,
        fmt::format("{}: the bits differ, first at {}", output.name, describe_place(output, index)));
    finding.place = fmt::format("{}/{} on cpu and cuda", family.name(), route);
    finding.token = workload.token();
    return finding;
  }
  return std::nullopt;
}

}  // namespace assay::properties
