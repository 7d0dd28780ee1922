#include "properties/gate/damage.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "properties/comparator/comparator.hpp"
#include "properties/gate/describe.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;

/// Elements of `wrong` that hold in both runs what they held before: each run's poison, so nobody wrote them;
/// in a buffer updated in place its old contents, so nobody wrote them anything new.
std::vector<std::size_t> unwritten(const Execution& execution, std::size_t output, std::size_t width,
                                   const std::vector<std::size_t>& wrong) {
  std::vector<std::size_t> result;
  const auto same = [&](const Contents& now, const Contents& before, std::size_t index) {
    return std::memcmp(now[output].data() + index * width, before[output].data() + index * width, width) == 0;
  };
  for (const std::size_t index : wrong) {
    if (same(execution.first, execution.before_first, index) &&
        same(execution.second, execution.before_second, index)) {
      result.push_back(index);
    }
  }
  return result;
}

/// "rows stale" when whole rows are unwritten, else "elements stale".
Finding describe_unwritten(const OutputBuffer& output, const std::vector<std::size_t>& stale) {
  std::vector<std::size_t> full_rows;
  std::size_t in_full_rows = 0;
  for (std::size_t i = 0; !output.place && i < stale.size();) {
    const std::size_t row = stale[i] / output.stride;
    std::size_t j = i;
    while (j < stale.size() && stale[j] / output.stride == row) ++j;
    if (row < output.rows && j - i >= output.cols) {
      full_rows.push_back(row);
      in_full_rows += j - i;
    }
    i = j;
  }
  Finding finding;
  finding.code = Code::not_written;
  if (!full_rows.empty() && in_full_rows == stale.size()) {
    finding.summary = fmt::format("{}: rows {} stale", output.name, describe_ranges(full_rows, output.rows));
    finding.patterns = {"rows stale"};
  } else {
    finding.summary = fmt::format("{}: {} of {} elements were never written", output.name,
                                  grouped(stale.size()), grouped(output.elements));
    finding.patterns = {"elements stale"};
    for (std::size_t i = 0; i < std::min<std::size_t>(stale.size(), 4); ++i) {
      finding.notes.push_back(describe_place(output, stale[i]) +
                              (output.initial.empty() ? ": still holds the poison of both runs"
                                                      : ": still holds what it held before both runs"));
    }
  }
  return finding;
}

Finding describe_wrong(const OutputBuffer& output, const Comparison& comparison, std::size_t wrong_elements) {
  Finding finding;
  const bool all_untouched = std::all_of(comparison.first.begin(), comparison.first.end(),
                                         [](const Mismatch& mismatch) { return mismatch.untouched; });
  finding.code = all_untouched ? Code::padding_written : Code::wrong_code;
  finding.summary = fmt::format(
      "{}: {} of {} elements {}", output.name, grouped(wrong_elements), grouped(comparison.compared),
      all_untouched ? "had to stay untouched and were written" : "are outside their interval");
  if (all_untouched)
    finding.patterns.push_back(output.initial.empty() ? "padding written" : "untouched elements written");
  for (std::size_t i = 0; i < std::min<std::size_t>(comparison.first.size(), 4); ++i) {
    finding.notes.push_back(describe_mismatch(output, comparison.first[i]));
  }
  if (comparison.worst_codes_outside > 1) {
    finding.notes.push_back(
        fmt::format("worst element is {} codes outside", grouped(comparison.worst_codes_outside)));
  }
  return finding;
}

void findings_of_output(Workload& workload, const Execution& execution, std::size_t index,
                        std::vector<Finding>& findings) {
  const OutputBuffer output = workload.outputs()[index];
  const Acceptance& acceptance = workload.acceptance()[index];
  for (const bool second : {false, true}) {
    const auto& actual = second ? execution.second[index] : execution.first[index];
    const auto& before = second ? execution.before_second[index] : execution.before_first[index];
    const Comparison comparison = compare(acceptance, actual, before);
    if (comparison.failed == 0) continue;
    const std::vector<std::size_t> wrong = mismatching(acceptance, actual, before);
    const auto width = static_cast<std::size_t>(formats::storage_bytes(output.format));
    const std::vector<std::size_t> stale = unwritten(execution, index, width, wrong);
    if (!stale.empty()) findings.push_back(describe_unwritten(output, stale));
    if (stale.size() < wrong.size()) {
      findings.push_back(describe_wrong(output, comparison, wrong.size() - stale.size()));
    }
    return;  // the second run of a buffer adds nothing to a first that is already wrong
  }
}

}  // namespace

std::vector<Finding> find_damage(Workload& workload, const Execution& execution, bool named) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < execution.first.size(); ++i)
    findings_of_output(workload, execution, i, findings);
  if (findings.empty() || !named) return findings;

  for (const Diagnosis& diagnosis : workload.diagnose(execution.first, execution.before_first)) {
    for (Finding& finding : findings) {
      finding.patterns.insert(finding.patterns.begin(), diagnosis.pattern);
      finding.notes.push_back(fmt::format("{}: {}", diagnosis.pattern, diagnosis.detail));
    }
  }
  return findings;
}

namespace {

std::vector<std::string> launches_in(const kernels::Witness& witness) {
  std::vector<std::string> kernels;
  for (const kernels::LaunchRecord& launch : witness.launches) kernels.push_back(launch.kernel);
  return kernels;
}

/// What the route counted; the executor counts for itself.
std::vector<std::string> counters_in(const std::map<std::string, std::uint64_t>& counters) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : counters) {
    if (!name.starts_with("executor.")) texts.push_back(fmt::format("{} = {}", name, count));
  }
  return texts;
}

}  // namespace

std::vector<Finding> check_witness(const Family& family, const Workload& workload, std::size_t route,
                                   const kernels::Witness& witness) {
  const ExpectedWitness expected = workload.expected_witness(route);
  const std::vector<std::string> ran = launches_in(witness);
  Finding finding;
  finding.code = Code::wrong_witness;
  if (ran != expected.launches) {
    finding.summary = fmt::format("the route has to launch [{}] for this case, the witness shows [{}]",
                                  fmt::join(expected.launches, ", "), fmt::join(ran, ", "));
    const std::vector<kernels::RouteInfo> routes = family.routes();
    for (std::size_t other = 0; other < routes.size(); ++other) {
      if (other == route || workload.expected_witness(other).launches != ran) continue;
      finding.patterns = {"route fell back"};
      finding.notes.push_back(fmt::format("these are the launches of route '{}'", routes[other].name));
    }
    if (finding.patterns.empty()) finding.patterns = {"other launches"};
    return {finding};
  }
  const auto wanted = counters_in(expected.counters), shown = counters_in(witness.counters);
  if (wanted == shown) return {};
  finding.summary = fmt::format("the route has to count [{}] for this case, the witness shows [{}]",
                                fmt::join(wanted, ", "), fmt::join(shown, ", "));
  finding.patterns = {"other counters"};
  return {finding};
}

std::vector<Finding> check_routes(const Family& family, kernels::DeviceKind device) {
  const auto describe = [](const auto& routes) {
    std::vector<std::string> texts;
    for (const auto& route : routes)
      texts.push_back(fmt::format("{} = [{}]", route.name, fmt::join(route.kernels, ", ")));
    return fmt::format("{}", fmt::join(texts, "; "));
  };
  const std::string required = describe(family.required_routes());
  const std::string listed = describe(family.routes_on(device));
  if (required == listed) return {};
  Finding finding;
  finding.code = Code::wrong_witness;
  finding.place = fmt::format("{} on {}", family.name(), to_string(device));
  finding.summary = "the routes of this device are not those the family requires";
  finding.notes = {"required: " + required, "listed: " + listed};
  return {finding};
}

}  // namespace assay::properties
