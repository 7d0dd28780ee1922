// A gate's result for people (text) and for machines (JSON).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "properties/gate/gate.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// Findings first, then notes, the table, and one closing line with the verdict (and the time, where one is
/// given).
std::string text_report(const GateResult&, std::optional<double> seconds);

/// The same content; keys are stable and documented in README. No time in it: equal results are equal bytes.
std::string json_report(const GateResult&, const GateOptions&);

/// `text` as one word of a shell's command line: in single quotes, or as $'...' (bash, zsh, POSIX 2024) where
/// it holds what a terminal would act on.
std::string shell_word(std::string_view text);

/// One finding as text. Names come from files, so what a terminal would act on is escaped.
std::string text_finding(const Finding&);

}  // namespace assay::properties
