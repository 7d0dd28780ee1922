// What tensors that somebody offers can be, and what would tell such readings apart.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::mxfp8_cast {

/// As Family::readings.
std::vector<std::string> readings(std::span<const OfferedTensor>, std::string_view fixed);

/// As Family::tells_apart.
std::string tells_apart(std::string_view key);

}  // namespace assay::properties::mxfp8_cast
