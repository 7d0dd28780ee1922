#include "properties/gate/verdict.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

namespace assay::properties {

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 5> names = {"pass", "unsupported", "vacuous", "error", "fail"};
  return names[static_cast<std::size_t>(verdict)];
}

std::string_view code_text(Code code) {
  constexpr std::array<std::string_view, 15> texts = {"A001", "A002", "A003", "A004", "A005",
                                                      "A006", "A007", "A008", "A009", "A010",
                                                      "A011", "A012", "A013", "A014", "A015"};
  return texts[static_cast<std::size_t>(code)];
}

std::string text_of_patterns(const Finding& finding) {
  return fmt::format("{}", fmt::join(finding.patterns, "; "));
}

Verdict Row::verdict() const {
  if (failed > 0) return Verdict::fail;
  if (elements == 0) return unsupported > 0 ? Verdict::unsupported : Verdict::vacuous;
  if (shows_no_write()) return Verdict::vacuous;
  return Verdict::pass;
}

std::vector<std::string> Row::never_launched() const {
  std::vector<std::string> missing;
  for (const std::string& kernel : kernels) {
    if (!launches.count(kernel)) missing.push_back(kernel);
  }
  return missing;
}

int GateResult::exit_code() const {
  bool compared = false, vacuous = false;
  for (const Row& row : rows) {
    if (row.verdict() == Verdict::fail) return exit_fail;
    compared |= row.verdict() == Verdict::pass;
    vacuous |=
        row.verdict() == Verdict::vacuous ||
        (every_row_must_compare && (row.verdict() == Verdict::unsupported || !row.never_launched().empty()));
  }
  // A finding without a failed row (a property, a golden) is a failure all the same.
  if (!findings.empty() || properties_failed > 0) return exit_fail;
  return compared && !vacuous ? exit_pass : exit_vacuous;
}

void leave_out_unasked(GateResult& result, bool routes_named, const std::vector<std::string>& devices_named) {
  const auto asked = [](const Row& row) { return row.cases + row.unsupported + row.failed > 0; };
  std::set<std::pair<std::string, std::string>> routes;
  std::set<std::string> devices;
  for (const Row& row : result.rows) {
    if (!asked(row)) continue;
    routes.emplace(row.family, row.route);
    devices.insert(row.device);
  }
  if (devices.empty()) return;
  std::erase_if(result.rows, [&](const Row& row) {
    const bool missed_route = routes_named && !routes.contains({row.family, row.route});
    const bool missed_device =
        !devices.contains(row.device) &&
        std::find(devices_named.begin(), devices_named.end(), row.device) != devices_named.end();
    return !asked(row) && !missed_route && !missed_device;
  });
}

}  // namespace assay::properties
