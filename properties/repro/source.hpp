// What `assay repro` is asked to run: the text of a case, a case file, or a captured fixture; and the outputs
// that somebody left in the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "properties/gate/case_text.hpp"
#include "properties/gate/family.hpp"
#include "properties/repro/mismatch.hpp"

namespace assay::properties::repro {

struct Source {
  CaseText text;  ///< with the route and device that it names; of a file: its case with the file's contents
  std::unique_ptr<Workload> workload;
  std::filesystem::path file;  ///< empty: a text
  std::string origin;          ///< of a captured fixture, as properties::origin; else empty
  /// Outputs that the file holds, in the order of outputs(); empty when it holds none.
  std::vector<std::optional<std::vector<std::byte>>> theirs;
};

/// "TEXT", "FILE" (a case file), "ID.json" (a captured fixture of one case) or "ID.json:N" (its case N, from
/// 1). Whatever names a file is one. A fixture may lie in any folder. Throws BadInput naming the text or file
/// and the reason: as parse_case, build, read_case_file and parse_captured; a fixture of several cases of
/// which none is named, and one that has no case N.
Source source_of(const std::string& what);

/// Throws BadInput, as readers of files do, for a text that has not the form of a case and names a file
/// rather, when it is none that can be read: a path, or a folder.
void refuse_no_file(const std::string& what);

/// How an output of a run here compares with theirs. What had to stay as it was is left out: what they began
/// with is not known.
struct SameBits {
  std::string output;
  std::size_t compared = 0, different = 0;
  std::string first;  ///< "data[0, 5]: theirs 0x39 = 1.125 (0x1.2p+0), here 0x38 = 1 (0x1p+0)"
};

/// Of every output that the file holds.
std::vector<SameBits> compare_with_theirs(Source&, const Contents& here);

/// What is wrong with theirs, of the outputs that the file holds.
std::vector<OutputReport> mismatches_of_theirs(Source&);

}  // namespace assay::properties::repro
