// A report as one file of HTML: no script, nothing fetched from anywhere.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/verdict.hpp"
#include "properties/repro/mismatch.hpp"

namespace assay::properties::repro {

/// The outputs of one failing case, for the finding of that place and token.
struct ReportedCase {
  std::string place, token;
  std::vector<OutputReport> reports;
  std::string smallest;  ///< text of the case that it shrank to; empty where it did not shrink
};

/// The table of verdicts, the findings in their order and, under the finding they belong to, the mismatches:
/// worst elements, histogram as bars, map as an image. Everything from outside is escaped, whatever bytes it
/// holds. Equal results are equal bytes.
std::string html_report(const std::string& title, const GateResult&, const std::vector<ReportedCase>&);

/// `text` as it may stand in HTML, in an element or between quotes: what a terminal would act on as \xNN, and
/// no character with a meaning in HTML.
std::string html_text(std::string_view text);

}  // namespace assay::properties::repro
