#include "properties/repro/failure.hpp"

#include <fmt/core.h>

#include "properties/comparator/comparator.hpp"
#include "properties/gate/damage.hpp"

namespace assay::properties::repro {
namespace {

/// Findings that are about the elements of outputs, of which the family can name the damage.
bool about_elements(Code code) {
  return code == Code::wrong_code || code == Code::not_written || code == Code::padding_written;
}

}  // namespace

std::string to_string(const FailureClass& failure) {
  return fmt::format("{} {}", code_text(failure.code),
                     failure.pattern.empty() ? "without a pattern" : failure.pattern);
}

std::optional<FailureClass> class_of(const std::vector<Finding>& findings) {
  if (findings.empty()) return std::nullopt;
  const Finding& first = findings.front();
  return FailureClass{first.code, first.patterns.empty() ? "" : first.patterns.front()};
}

std::vector<Element> first_wrong(Workload& workload, const Execution& execution) {
  std::vector<Element> wrong;
  for (std::size_t i = 0; i < execution.second.size(); ++i) {
    const auto& acceptance = workload.acceptance()[i];
    Comparison comparison = compare(acceptance, execution.first[i], execution.before_first[i], 1);
    if (comparison.failed == 0)
      comparison = compare(acceptance, execution.second[i], execution.before_second[i], 1);
    if (comparison.failed > 0) wrong.push_back({i, comparison.first.front().index});
  }
  return wrong;
}

bool SameFailure::of(Workload& workload, std::vector<Element>* wrong) {
  Execution execution;
  CaseResult result = judge_case(family_, workload, route_, device_, Detail::codes, &execution);
  if (result.verdict == Verdict::unsupported) return false;
  ++judgements_;
  auto found = class_of(result.findings);
  if (!found || found->code != failure_.code) return false;
  if (about_elements(found->code)) found = class_of(find_damage(workload, execution));
  if (found != failure_) return false;
  if (wrong != nullptr) *wrong = first_wrong(workload, execution);
  return true;
}

}  // namespace assay::properties::repro
