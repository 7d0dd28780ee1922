#include "properties/gate/recorder.hpp"

#include <algorithm>
#include <utility>

namespace assay::properties {

Row& Recorder::row(std::string_view family, std::string_view route, std::string_view device) {
  for (Row& row : result_.rows) {
    if (row.family == family && row.route == route && row.device == device) return row;
  }
  Row row;
  row.family = family;
  row.route = route;
  row.device = device;
  return result_.rows.emplace_back(std::move(row));
}

void Recorder::count(Row& row, const CaseResult& result) {
  if (result.verdict == Verdict::unsupported) {
    ++row.unsupported;
    ++row.unsupported_reasons[result.unsupported_reason];
    return;
  }
  ++row.cases;
  row.elements += result.elements;
  row.probes += result.probes;
  row.in_place += result.in_place;
  row.had_to_change += result.had_to_change;
  row.worst_bound_use = std::max(row.worst_bound_use, result.worst_bound_use);
  row.exact = row.exact && result.exact;
  for (const kernels::LaunchRecord& launch : result.witness.launches) ++row.launches[launch.kernel];
}

void Recorder::add_counts(Row& row, const CaseResult& result) {
  count(row, result);
  if (result.verdict == Verdict::fail || result.verdict == Verdict::error ||
      result.verdict == Verdict::vacuous) {
    ++row.failed;
  }
}

void Recorder::add(Row& row, const CaseResult& result) {
  add_counts(row, result);
  for (const Finding& finding : result.findings) add(finding);
}

void Recorder::add(Finding finding) {
  const bool last = !until_.empty() && text_of_patterns(finding).find(until_) != std::string::npos;
  if (kinds_.insert({finding.place, finding.code, finding.patterns}).second) {
    result_.findings.push_back(std::move(finding));
  } else {
    ++result_.suppressed;
  }
  if (!last) return;
  result_.stopped_at = until_;
  throw StoppedEarly{};
}

bool Recorder::add(std::vector<Finding> findings) {
  for (Finding& finding : findings) add(std::move(finding));
  return findings.empty();
}

}  // namespace assay::properties
