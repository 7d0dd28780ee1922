// A gate's result for people (text) and for machines (JSON).
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/gate/gate.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// Findings first, then notes, the table, and one closing line with the verdict (and the time, where one is
/// given).
std::string text_report(const GateResult&, std::optional<double> seconds);

/// What follows the findings: notes, the table, the closing line.
std::string text_summary(const GateResult&, std::optional<double> seconds);

/// The table's cells as text, its heading first.
using TableCells = std::array<std::string, 8>;
std::vector<TableCells> table_cells(const GateResult&);

/// The verdict, what it rests on, and the exit code, in one line that ends with a newline.
std::string closing_line(const GateResult&, std::optional<double> seconds);

/// The same content; keys are stable and documented in README. No time in it: equal results are equal bytes.
std::string json_report(const GateResult&, const GateOptions&);
/// As a document, for reports that have more to say; and a document as text.
nlohmann::ordered_json json_document(const GateResult&, const GateOptions&);
std::string dump(const nlohmann::ordered_json&);

/// `text` as one word of a shell's command line: in single quotes, or as $'...' (bash, zsh, POSIX 2024) where
/// it holds what a terminal would act on.
std::string shell_word(std::string_view text);

/// One finding as text. Names come from files, so what a terminal would act on is escaped.
std::string text_finding(const Finding&);

}  // namespace assay::properties
