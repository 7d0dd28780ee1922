// Codes and places in words: hex bits, exact values, rows, columns, blocks and lanes. Never "%f".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracles/formats/format.hpp"
#include "properties/comparator/comparator.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

/// "0x39 = 1.125 (0x1.2p+0)", "0x7F = NaN", "0x80 = -0".
std::string describe_code(formats::Format, std::uint32_t code);

/// "data[3, 49] (block 1, lane 17)"; "scales[3, 5] (padding)"; of a permuted buffer "scales[3, 5] (byte
/// 561)".
std::string describe_place(const OutputBuffer&, std::size_t index);

/// "data[3, 49] (block 1, lane 17): expected 0x39 = 1.125 (0x1.2p+0), actual 0x38 = 1 (0x1p+0), 1 code
/// outside".
std::string describe_mismatch(const OutputBuffer&, const Mismatch&);

/// Ascending numbers as ranges: "0..3, 7, 9..". The last range is open when it ends at `end` - 1.
std::string describe_ranges(const std::vector<std::size_t>& ascending, std::size_t end);

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t);

}  // namespace assay::properties
