// Goldens against today's oracle and today's routes.
#pragma once

#include <filesystem>
#include <vector>

#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// Approved records: goldens/<family>/*.h5 under home(), in name order. A family with none, or a file that no
/// family's golden_cases() names, is a finding of verify_goldens.
std::vector<std::filesystem::path> approved_goldens();

/// Checks each record: the file itself (digests, checksums), that its inputs are what its tokens generate
/// today, that its outputs are what the oracle accepts, and that every route on every present device gives
/// these bits. Throws BadInput for a file that cannot be read.
GateResult verify_goldens(const std::vector<std::filesystem::path>& files);

/// Recomputes every family's golden records from the oracle (never from a kernel) into
/// folder/<family>/<record>.h5, each written whole or not at all. Returns the files written.
std::vector<std::filesystem::path> regenerate_goldens(const std::filesystem::path& folder);

}  // namespace assay::properties
