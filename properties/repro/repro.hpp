// One case on the routes and devices it names: the verdict as in the gate, what is wrong with the outputs,
// and the smallest case that fails in the same way.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "properties/gate/gate.hpp"
#include "properties/repro/html.hpp"
#include "properties/repro/mismatch.hpp"
#include "properties/repro/shrink.hpp"
#include "properties/repro/source.hpp"

namespace assay::properties::repro {

struct ReproOptions {
  std::string what;                          ///< a case, a file of one or a fixture, as source_of takes it
  std::vector<std::string> routes;           ///< "ROUTE" or "FAMILY/ROUTE"; empty: those of the text
  std::vector<kernels::DeviceKind> devices;  ///< empty: that of the text, or every one that is present
  bool shrink = false;
};

/// What became of the case on one route and device.
struct Run {
  std::string route, device;
  Verdict verdict{};
  std::vector<Finding> findings;
  std::vector<OutputReport> reports;  ///< of every output; none unless it ran
  std::vector<SameBits> same;         ///< beside the outputs of the file, where it holds some and this ran
  std::optional<FailureClass> failure;
  std::optional<Shrunk> shrunk;
  double shrink_seconds = 0;  ///< for a terminal alone: no result depends on it
};

struct ReproResult {
  std::string text;                  ///< of the case
  std::string file;                  ///< that it comes from, and what fixture it is; empty: a text
  std::string origin;                //
  std::vector<OutputReport> theirs;  ///< of the outputs that the file holds
  std::vector<Run> runs;
  GateResult gate;  ///< rows, findings and the exit code
};

/// Throws BadInput as source_of, for names that do not exist (with the nearest) and a route that the case or
/// the options rule out; EnvironmentError for an absent device. The exit code is of what ran here: what is
/// wrong with outputs of a file is told, and is no failure of these kernels.
ReproResult reproduce(const ReproOptions&);

/// For people. `seconds` that the whole command took; on a terminal those of shrinking are told too.
std::string text_report(const ReproResult&, double seconds, bool terminal);

/// Longer texts of cases are no line any more.
inline constexpr std::size_t longest_line = 4000;

/// For machines: the gate's document with "case" and "runs" (`route`, `device`, `verdict`, `outputs`,
/// `shrunk`).
std::string json_report(const ReproResult&);

/// The mismatches of the runs, for the HTML report.
std::vector<ReportedCase> reported_cases(const ReproResult&);

}  // namespace assay::properties::repro
