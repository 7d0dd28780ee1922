// What a pending record would change, for the person who is to accept or reject it.
#pragma once

#include <string>

#include "goldens/record/record.hpp"
#include "properties/gate/golden.hpp"

namespace assay::properties {

/// The difference of two records in words: provenance that differs; entries added, removed and changed; of a
/// changed one whether its inputs differ (the generator changed) or not (the oracle or a contract did), and
/// of every array how many codes moved, by how many codes each (the distance of their ordered keys, in powers
/// of two), and the first of them with place, old and new code and value.
std::string describe_difference(const goldens::Record& approved, const goldens::Record& pending);

/// The same with the names of the files. Throws BadInput when the pending file cannot be read; an approved
/// one that is missing or cannot be read is told, and all entries are then shown as added.
std::string review_pending(const PendingGolden&);

}  // namespace assay::properties
