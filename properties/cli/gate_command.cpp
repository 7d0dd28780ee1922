#include <chrono>
#include <set>
#include <tuple>

#include "properties/cli/commands.hpp"
#include "properties/cli/output_file.hpp"
#include "properties/gate/report.hpp"
#include "properties/repro/html.hpp"

namespace assay::cli {
namespace {

/// Keeps the mismatches of the first case of every kind of finding, which is the one that a report shows.
class Mismatches {
 public:
  void add(properties::Workload& workload, const properties::CaseResult& result,
           const properties::Execution& ran) {
    const properties::Finding& finding = result.findings.front();
    if (ran.second.empty() || !kinds_.insert({finding.place, finding.code, finding.patterns}).second) return;
    cases_.push_back({finding.place, finding.token, properties::repro::mismatches(workload, ran), ""});
  }
  const std::vector<properties::repro::ReportedCase>& cases() const { return cases_; }

 private:
  std::set<std::tuple<std::string, properties::Code, std::vector<std::string>>> kinds_;
  std::vector<properties::repro::ReportedCase> cases_;
};

}  // namespace

int gate(const GateArguments& arguments) {
  if (!arguments.json.empty() && arguments.json != "-") check_writable(arguments.json);
  if (!arguments.html.empty()) check_writable(arguments.html);
  check_apart({{"--json", arguments.json}, {"--html", arguments.html}});
  properties::GateOptions options = arguments.options;
  Mismatches mismatches;
  if (!arguments.html.empty()) {
    options.on_failure = [&](properties::Workload& workload, const properties::CaseResult& result,
                             const properties::Execution& ran) { mismatches.add(workload, result, ran); };
  }
  const auto start = std::chrono::steady_clock::now();
  const properties::GateResult result = properties::run_gate(options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  show_result(
      arguments.json, [&] { return properties::json_report(result, options); },
      properties::text_report(result, seconds));
  if (!arguments.html.empty())
    write_file(arguments.html, properties::repro::html_report("assay gate", result, mismatches.cases()));
  return result.exit_code();
}

}  // namespace assay::cli
