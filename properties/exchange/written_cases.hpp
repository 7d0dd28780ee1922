// Cases written as files, for others to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "properties/exchange/case_file.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

struct CasesRequest {
  std::vector<std::string> texts;     ///< these cases; else
  std::vector<std::string> families;  ///< the built-in ones of these families
  Level level = Level::quick;
  std::uint64_t seed = 1;
  FileKind kind = FileKind::safetensors;
  std::size_t limit = ~std::size_t{0};  ///< only the first so many
};

struct WrittenCases {
  std::uint64_t files = 0;    ///< of cases
  std::uint64_t bytes = 0;    ///< of all files
  std::uint64_t refused = 0;  ///< cases that every route refuses, which have no right result
};

/// Writes one case file a case, "0001-FAMILY-DIGEST.safetensors" (the first eight digits of the text's
/// SHA-256), and index.tsv with a line "FILE<tab>TEXT" for each. The folder appears whole or not at all;
/// equal requests are equal bytes. Throws BadInput: a folder that is there and not empty, or cannot be made;
/// as build for a case.
WrittenCases write_cases(const std::filesystem::path& folder, const CasesRequest&);

}  // namespace assay::properties
