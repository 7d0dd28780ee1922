// Captured fixtures: reports that became permanent cases. Every gate of a family replays those of the folder
// fixtures/<family>/captured before its built-in cases. They are read where they lie, so that one more needs
// no build. Each is a file ID.json, strict (a key not listed here is an error):
//
//   {"id": "B47", "title": ..., "class": ..., "source": "owner/repository#number, ..." or where it came from,
//    "shows": what the input is for,
//    "cases": [{"case": a case as case_text.hpp has it, of all routes and devices or of those it names
//               or
//               "file": name of a case file in the same folder (properties/exchange/case_file.hpp),
//               "right": [{"output": a buffer, "first": element, "codes": CODES}]   (optional)}]}
//
// `right` is what the report says the right codes are. It is not what a kernel is judged by, that is the
// oracle's acceptance: the acceptance has to agree with it, else one of the two is wrong and nothing is
// judged.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "properties/gate/case_text.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

/// Codes of an output that the report says are right, from element `first` on; hexadecimal, parted by spaces,
/// CODE*n standing for n of the same.
struct RightCodes {
  std::string output;
  std::size_t first = 0;
  std::string codes;
};

struct CapturedCase {
  CaseText text;               ///< of a case in a file too
  std::filesystem::path file;  ///< the case file; empty: the text is all
  std::vector<RightCodes> right;
};

struct Captured {
  std::string id, title, fault_class, source, shows;
  std::string family;
  std::filesystem::path path;
  std::string named;                ///< how messages name the file
  std::vector<CapturedCase> cases;  ///< at least one
};

/// 1 to 40 letters, digits, '-' and '_', the first a letter or digit.
bool is_fixture_id(std::string_view);

/// Reads `text`, the contents of `path`, which lies in the folder of `family`. Without a family the file is
/// one that a user names: it may lie anywhere, is of the family of its cases, and messages have its path as
/// given, not only the end of it. Throws BadInput naming the file, the case and the reason: what is no such
/// JSON, an id that is not the file's name, a case of another family, route or device, a case file that is
/// not there.
Captured parse_captured(const std::filesystem::path& path, std::string_view text, std::string_view family);

/// All captured fixtures below `fixtures` (home() / "fixtures"), families and files in name order. Throws
/// BadInput as parse_captured; for an id that another fixture has too, captured or reported, of whichever
/// family; and for a file among them that is neither a fixture nor the case file of one.
std::vector<Captured> read_captured(const std::filesystem::path& fixtures);

/// The files of all fixtures below `fixtures` by their ids: FAMILY/captured/ID.json, FAMILY/reported/ID.json.
/// Throws BadInput when two have one id.
std::map<std::string, std::filesystem::path> fixture_files(const std::filesystem::path& fixtures);

/// The case with its buffers filled. Throws BadInput naming file, case and reason: as the family refuses it,
/// and where its right codes are not those of the acceptance, with output and element.
std::unique_ptr<Workload> build(const Captured&, std::size_t index);

/// Holds the acceptance of the workload to these codes: every one has to lie inside its interval, which for
/// an exact output is one code. Throws BadInput naming output, element and what is wrong.
void check_right(const Family&, Workload&, const std::vector<RightCodes>&);

/// "captured fixture B47, case 1 (owner/repository#1): title": where a finding comes from.
std::string origin(const Captured&, std::size_t index);

/// The text of the file ID.json.
std::string json_text(const Captured&);

}  // namespace assay::properties
