// The commands of the program. Each returns an exit code and throws BadInput or EnvironmentError.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/gate.hpp"

namespace assay::cli {

struct GateArguments {
  properties::GateOptions options;
  std::string
      json;  ///< file to write the JSON report to; empty: none; "-": standard output in place of the text
};

int gate(const GateArguments&);
int list();

/// `words` are: a format and codes or values ("e4m3 0x7E", "bf16 1.5"), a diagnostic ("A005") or a damage
/// pattern
/// ("scale off by one"). Without words: what can be explained.
int explain(const std::vector<std::string>& words);

/// Checks golden records: files given, or every approved one.
int golden_verify(const std::vector<std::string>& files);

/// Recomputes the golden records of the built-in golden cases from the oracle into `folder`.
int golden_regen(const std::string& folder);

/// Writes `text` to `path` whole or not at all. Throws BadInput naming the path.
void write_file(const std::string& path, const std::string& text);

/// Parses the command line and runs it; every error becomes one line on stderr and its exit code.
int run(int argc, char** argv);

}  // namespace assay::cli
