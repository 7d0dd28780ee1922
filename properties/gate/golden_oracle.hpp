// What a golden record holds, computed by today's oracle.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "goldens/record/record.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

/// The family of that name; nullptr when this program has none.
const Family* find_family(std::string_view name);

/// All that a case begins with: its inputs, and behind them what buffers hold that are updated in place.
std::vector<goldens::CodeArray> input_arrays(const Workload&);

/// An output as a golden keeps it: `codes` as [rows, stride], with zero where the contract leaves what was
/// there untouched.
goldens::CodeArray output_array(const OutputBuffer&, const arithmetic::Acceptance&,
                                std::span<const std::byte> codes);

/// The record of that name as the oracle computes it; no kernel has a part in it. Its provenance:
///   oracle           the folder of the algorithm, and how it computes
///   contracts        the keys of the entries' tokens: what is chosen there is part of what was approved
///   generator        where the inputs come from
///   inputs           SHA-256 over the entries' input digests in order
///   source_revision  goldens::source_revision() of the family
///   untouched        what stands for elements that a contract leaves untouched
/// The name must be one of golden_cases() (programmer error otherwise).
goldens::Record oracle_record(const Family&, const std::string& name);

}  // namespace assay::properties
