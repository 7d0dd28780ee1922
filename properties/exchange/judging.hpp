// Tensors that somebody else computed against what the oracle accepts. No kernel runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "properties/exchange/case_file.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// "NAME=FILE:TENSOR": the tensor of a file that is offered as the buffer NAME; without ":TENSOR" the only
/// one of the file.
struct Mapping {
  std::string name, place;
};
/// Throws BadInput for a text of another form.
Mapping parse_mapping(std::string_view text);

/// The tensors of all files, by name, and the mapped ones; and the case that a file names. Throws BadInput
/// naming file, tensor and reason: as read_case_file; a name that two of them have; two cases.
CaseFile collect(const std::vector<std::filesystem::path>& files, const std::vector<Mapping>& mappings);

struct JudgeOptions {
  std::string family;     ///< empty: the one family that the tensors fit
  std::string contracts;  ///< "key=value,..." that are named
  std::string text;       ///< of the case, in place of one that files name
  /// The contracts are those of `contracts`, whatever case the files name; all inputs must be there.
  bool contracts_given = false;
};

/// An output under one reading.
struct JudgedOutput {
  std::string name;
  bool offered = false;
  std::uint64_t compared = 0, wrong = 0;
  std::uint64_t not_judged = 0;  ///< padding that keeps what it held, which nobody knows
  std::uint64_t worst_codes_outside = 0;
  double worst_bound_use = 0;
  bool exact = true;          ///< every interval is one code
  bool right_before = false;  ///< updated in place, and right had nobody written it
};

/// What the offered tensors are when the contracts are these.
struct JudgedReading {
  std::string token;  ///< of the case, every contract in it
  std::vector<JudgedOutput> outputs;
  std::uint64_t probes = 0;           ///< injected faults that were rejected
  std::vector<std::string> missed;    ///< those that were not, or why none could be: then it is no pass
  std::vector<std::string> patterns;  ///< that the family names the damage by; of the nearest readings only
  std::uint64_t compared() const;
  std::uint64_t wrong() const;
  /// Wrong elements by output: readings in which they are equal are told as one.
  std::vector<std::uint64_t> damage() const;
  bool consistent() const { return compared() > 0 && wrong() == 0 && missed.empty(); }
  /// Something was compared that is not right in what was never written.
  bool shown() const;
};

struct JudgeResult {
  std::string family;
  std::vector<std::string> files;
  std::string case_file;  ///< the only file, where it names the case
  std::string case_text;  ///< of the one reading, where it is short: runs kernels on the same inputs
  /// The contracts leave no choice, or a case is named: `findings` say what is wrong.
  bool one = false;
  std::vector<JudgedReading> readings;  ///< as Family::readings orders them, judged to the bit
  std::vector<JudgedReading> bounds;    ///< those judged by bounds; only where none to the bit is consistent
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  /// 0 some reading is consistent, 1 none is, 3 nothing was shown: nothing was compared, or all of it was
  /// right before anybody wrote it, or readings are consistent by error bounds alone and judge=bound was not
  /// named. With contracts open the widest bound would decide, so that nothing is earned.
  int exit_code() const;
};

/// Judges. Throws BadInput naming file or tensor and the reason for what is no case: as Family::readings and
/// build; tensors that fit no family or several.
JudgeResult judge_tensors(const CaseFile&, const JudgeOptions&);

inline constexpr std::size_t nearest_shown = 3;  ///< kinds of damage told when no reading is consistent

/// Readings as sets of choices, "rule=rceil|ceil, specials=any": keys in which no two of `all` differ are
/// left out, `any` is all that the key can be. Each of `some` is in exactly one.
std::vector<std::string> grouped_choices(const Family&, const std::vector<std::string>& some,
                                         const std::vector<std::string>& all);

std::string text_report(const JudgeResult&);
/// Keys are stable and documented in README.
std::string json_report(const JudgeResult&);

}  // namespace assay::properties
