// What the commands' options have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/runtime/device.hpp"
#include "properties/gate/family.hpp"

namespace assay::cli {

extern const char* const exit_codes;  ///< the footer of every command
inline constexpr const char* json_wanted = "the name of a file, or '-' for standard output";
inline constexpr const char* html_wanted = "the name of a file";

/// Throw BadInput for an option that is given an empty text, saying what it needs.
void refuse_empty(const char* option, const std::vector<std::string>& values, const char* wanted);
void refuse_empty_text(const char* option, const CLI::Option* given, const std::string& value,
                       const char* wanted);

/// Throws BadInput naming the nearest.
kernels::DeviceKind parse_device(const std::string& name);
/// Those of --device; "all", whatever is named beside it, and nothing are none: every device that is present.
std::vector<kernels::DeviceKind> parse_devices(const std::vector<std::string>& names);

/// Throw BadInput naming the text and what it has to be.
properties::Level parse_level(const std::string& name);
std::uint64_t parse_seed(const std::string& text);
/// A whole number of at least 1.
std::size_t parse_limit(const std::string& text);

}  // namespace assay::cli
