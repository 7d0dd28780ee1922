// The commands of the program. Each returns an exit code and throws BadInput or EnvironmentError.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/gate/gate.hpp"

namespace assay::cli {

struct GateArguments {
  properties::GateOptions options;
  std::string
      json;  ///< file to write the JSON report to; empty: none; "-": standard output in place of the text
};

struct BenchArguments {
  std::vector<std::string> families;  ///< empty: all
  std::string filter;                 ///< part of a benchmark's name; empty: all
  unsigned runs = 0;
  std::string peers;  ///< file of other implementations' times; empty: none
  std::string json;   ///< as for the gate
  bool list = false;  ///< only print the names, which needs no device
};

int gate(const GateArguments&);
int bench(const BenchArguments&);
int list();

/// `words` are: a format and codes or values ("e4m3 0x7E", "bf16 1.5"), a diagnostic ("A005") or a damage
/// pattern
/// ("scale off by one"). Without words: what can be explained.
int explain(const std::vector<std::string>& words);

/// Checks golden records: files given, or every approved one.
int golden_verify(const std::vector<std::string>& files);

/// Recomputes the golden records of the built-in golden cases from the oracle into `folder`.
int golden_regen(const std::string& folder);

/// Runs a command and flushes standard output. Every exception becomes one line on stderr and an exit code:
/// BadInput 2; an absent device, a file system or an output that refuses, no memory, and what nobody foresaw
/// ("internal error") 4.
int run_action(const std::function<int()>& action);

/// Parses the command line and runs it; every error becomes one line on stderr and its exit code.
int run(int argc, char** argv);

}  // namespace assay::cli
