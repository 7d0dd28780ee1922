// Where the project's data files (fixtures, goldens) are.
#pragma once

#include <filesystem>

namespace assay::properties {

/// The folder that holds fixtures/ and goldens/: $ASSAY_HOME if set and not empty; else the nearest parent of
/// the running program that has them; else the source folder this program was built from. Throws BadInput
/// when none of them has them.
std::filesystem::path home();

}  // namespace assay::properties
