// From which sources a record was computed.
#pragma once

#include <string_view>

namespace assay::goldens {

/// A SHA-256 over the sources that decide the bits of a family's records: oracles/formats,
/// oracles/arithmetic, oracles/<family>, fixtures/tensor and fixtures/<family>, their tests and benchmarks
/// aside. It depends on the names and the content of these files alone, and is what
///   sha256sum FILES... | sha256sum
/// prints in the source folder for the names in the order of their bytes. Empty for a name that is no
/// family's.
std::string_view source_revision(std::string_view family);

}  // namespace assay::goldens
