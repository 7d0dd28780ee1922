// Numbers as people write them, read without rounding.
#pragma once

#include <optional>
#include <string_view>

#include "oracles/formats/exact.hpp"

namespace assay::cli {

/// "1.5", "-0", "3e-45", "0x1.8p+3", "inf", "nan". The value is exact: digits beyond 64 bits become the
/// sticky bit, so that one rounding follows. Nothing when it is not a number.
std::optional<formats::Exact> parse_exact(std::string_view text);

}  // namespace assay::cli
