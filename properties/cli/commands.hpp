// The commands of the program. Each returns an exit code and throws BadInput or EnvironmentError.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/gate/gate.hpp"

namespace CLI {
class App;
}

namespace assay::cli {

struct GateArguments {
  properties::GateOptions options;
  std::string
      json;  ///< file to write the JSON report to; empty: none; "-": standard output in place of the text
  std::string html;  ///< file to write the HTML report to; empty: none
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

/// Adds a command with its options to the program; parsing it sets `action` to what it does.
void add_repro(CLI::App& app, std::function<int()>& action);

int bench(const BenchArguments&);
int list();

/// `words` are: a format and codes or values ("e4m3 0x7E", "bf16 1.5"), a diagnostic ("A005"), a damage
/// pattern ("scale off by one") or a term ("captured fixture"). Without words: what can be explained.
int explain(const std::vector<std::string>& words);

/// Checks golden records: files given, or every approved one and all else that lies under goldens/.
int golden_verify(const std::vector<std::string>& files);

/// Recomputes all golden records from the oracle: into `folder`, or as pending records where they differ from
/// what is approved.
int golden_regen(const std::optional<std::string>& folder);

/// Shows what pending records would change; 0 when nothing is pending, 1 when something is.
int golden_review(const std::vector<std::string>& files);

/// Puts pending records in the place of the approved ones, or removes them; of `files`, or all of them.
int golden_accept(const std::vector<std::string>& files);
int golden_reject(const std::vector<std::string>& files);

/// Records what the routes leave on a device: into `folder`, or as pending records.
int golden_record(kernels::DeviceKind, const std::optional<std::string>& folder);

/// Adds the command `golden` to the command line; `action` becomes what is to be run.
void add_golden(CLI::App&, std::function<int()>& action);

/// Each adds its command, whose callback sets `action`.
void add_judge(CLI::App&, std::function<int()>& action);
void add_cases(CLI::App&, std::function<int()>& action);
void add_capture(CLI::App&, std::function<int()>& action);

/// Runs a command and flushes standard output. Every exception becomes one line on stderr and an exit code:
/// BadInput 2; an absent device, a file system or an output that refuses, no memory, and what nobody foresaw
/// ("internal error") 4.
int run_action(const std::function<int()>& action);

/// Parses the command line and runs it; every error becomes one line on stderr and its exit code.
int run(int argc, char** argv);

}  // namespace assay::cli
