#include "properties/gate/captured.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/reported_text.hpp"
#include "properties/comparator/comparator.hpp"
#include "properties/exchange/case_file.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/token.hpp"

namespace assay::properties {
namespace {

namespace text = fixtures::reported_text;
using Path = std::filesystem::path;
using text::Json;

constexpr std::string_view kind = "captured fixture";

/// "FAMILY/captured/ID.json", as short as it still says which.
std::string named(const Path& path) {
  Path short_name = path.filename();
  Path above = path.parent_path();
  for (int i = 0; i < 2 && above.has_filename(); ++i, above = above.parent_path())
    short_name = above.filename() / short_name;
  return fixtures::printable(short_name.string());
}

[[noreturn]] void refuse_file(const Path& path, const std::string& reason) {
  const std::string name = named(path);
  text::Where{name, "the file", kind}.refuse(reason);
}

std::string contents_of_file(const Path& path, const text::Where& where) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file.good() && !file.eof()) where.refuse("it cannot be read");
  return bytes;
}

/// The entries of a folder in name order, hidden ones aside (a file that is being written is one); none of a
/// folder that is not there.
std::vector<Path> entries_of(const Path& folder) {
  std::vector<Path> entries;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().front() != '.') entries.push_back(entry.path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    refuse_file(folder, fmt::format("it cannot be read: {}", error.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<RightCodes> parse_right(const Json& one, const text::Where& where) {
  std::vector<RightCodes> all;
  if (!one.contains("right")) return all;
  for (const Json& entry : text::list_of(one, "right", where)) {
    text::only_keys(entry, {"output", "first", "codes"}, where);
    const Json& first = text::member(entry, "first", where);
    if (!first.is_number_unsigned()) where.refuse("'first' is not the number of an element");
    all.push_back({text::text_of(entry, "output", where), first.get<std::size_t>(),
                   text::text_of(entry, "codes", where)});
  }
  return all;
}

/// The names in the text are those of a route and a device that there are.
void check_place(const CaseText& parts, const text::Where& where) {
  try {
    (void)routes_of(parts);
  } catch (const BadInput& reason) {
    where.refuse(reason.what());
  }
  if (!parts.device.empty() && parts.device != "cpu" && parts.device != "cuda")
    where.refuse(fmt::format("there is no device '{}'; devices are cpu and cuda", parts.device));
}

/// The case file `name` beside the fixture.
Path case_file_beside(const Path& fixture, const std::string& name, const text::Where& where) {
  if (Path(name).filename() != name || name.front() == '.')
    where.refuse(fmt::format("'{}' is not the name of a file beside it", fixtures::printable(name)));
  Path file = fixture.parent_path() / name;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    where.refuse(fmt::format("there is no file '{}' beside it", fixtures::printable(name)));
  return file;
}

/// Without a family of its folder a fixture is of the family of its first case, which every case has to be
/// of. `fixture` has the cases before this one.
void check_family(const CaseText& parts, std::string_view folder, Captured& fixture,
                  const text::Where& where) {
  if (fixture.family.empty()) fixture.family = parts.family;
  if (parts.family == fixture.family) return;
  where.refuse(fmt::format("it is a case of '{}', {} '{}'", parts.family,
                           folder.empty() ? "case 1 of" : "in the folder of", fixture.family));
}

CapturedCase parse_one(const Json& one, std::string_view folder, Captured& fixture,
                       const text::Where& where) {
  text::only_keys(one, {"case", "file", "right"}, where);
  if (one.contains("case") == one.contains("file")) where.refuse("it needs 'case' or 'file', one of them");
  CapturedCase result;
  try {
    if (one.contains("case")) {
      result.text = parse_case(text::text_of(one, "case", where));
    } else {
      result.file = case_file_beside(fixture.path, text::text_of(one, "file", where), where);
      result.text = read_case_file(result.file).text;
      if (result.text.family.empty()) where.refuse("its case file names no case");
    }
  } catch (const BadInput& reason) {
    const std::string start = fmt::format("{} {}: ", kind, where.file);
    if (std::string_view(reason.what()).starts_with(start)) throw;
    where.refuse(reason.what());
  }
  check_family(result.text, folder, fixture, where);
  check_place(result.text, where);
  result.right = parse_right(one, where);
  return result;
}

/// The reason without the text that it names first: the fixture and the number of the case say which it is,
/// and a text may be longer than a line.
std::string without_text(const std::string& reason, CaseText text) {
  text.route.clear();
  text.device.clear();
  for (const std::string& named : {print(text), text.token})
    if (const std::string start = case_refusal(named, ""); reason.starts_with(start))
      return reason.substr(start.size());
  return reason;
}

/// What is wrong with one right code, for the message.
std::string difference(const OutputBuffer& output, const Mismatch& wrong) {
  const auto code = [&](std::uint32_t value) { return describe_code(output.format, value); };
  const std::string place = describe_place(output, wrong.index);
  if (wrong.untouched)
    return fmt::format("{}: right is said to be {}, but the element keeps what it holds, {}", place,
                       code(wrong.actual), code(wrong.lo));
  const std::string wanted =
      wrong.lo == wrong.hi ? code(wrong.lo) : fmt::format("{} to {}", code(wrong.lo), code(wrong.hi));
  return fmt::format("{}: right is said to be {}, by the oracle it is {}", place, code(wrong.actual), wanted);
}

/// An output that is right, but for the codes of `right`.
void check_output(const OutputBuffer& output, const arithmetic::Acceptance& acceptance,
                  const RightCodes& right) {
  const auto refuse = [&](const std::string& reason) {
    throw BadInput(fmt::format("right codes of {}[{}]: {}", right.output, right.first, reason));
  };
  const int width = formats::storage_bytes(output.format);
  const std::string place = fmt::format("{}[{}]", right.output, right.first);
  const text::Codes codes = text::codes_of(right.codes, "codes", 2 * static_cast<std::size_t>(width),
                                           text::Where{place, "right", "codes"});
  const std::size_t elements = acceptance.size();
  if (codes.empty()) refuse("it names no code");
  if (right.first >= elements || codes.size() > elements - right.first)
    refuse(fmt::format("element {} is past the end: '{}' has {}", right.first + codes.size() - 1,
                       right.output, elements));
  std::vector<std::byte> before(output.initial.begin(), output.initial.end());
  const std::size_t last = right.first + codes.size();
  for (const arithmetic::ElementRange& kept : acceptance.untouched)
    if (before.empty() && kept.begin < last && right.first < kept.end)
      refuse(fmt::format("element {} is padding, which keeps what it happens to hold",
                         std::max(kept.begin, right.first)));
  if (before.empty()) before = acceptance.lo;
  std::vector<std::byte> said = acceptance.lo;
  for (const arithmetic::ElementRange& kept : acceptance.untouched)
    for (std::size_t i = kept.begin; i < kept.end; ++i)
      arithmetic::store_code(said, width, i, arithmetic::load_code(before, width, i));
  for (std::size_t i = 0; i < codes.size(); ++i)
    arithmetic::store_code(said, width, right.first + i, codes[i]);
  const Comparison comparison = compare(acceptance, said, before, 1);
  if (!comparison.first.empty()) throw BadInput(difference(output, comparison.first.front()));
}

/// By the family's rule; the oracle has nothing to say of a case that all have to refuse.
bool any_route_takes(const Family& family, const Workload& workload) {
  for (std::size_t route = 0; route < family.routes().size(); ++route)
    for (const auto device : {kernels::DeviceKind::cpu, kernels::DeviceKind::cuda})
      if (workload.expected_support(route, device).supported) return true;
  return false;
}

/// The folder's files are fixtures and their case files.
void check_no_stray_file(const std::vector<Path>& entries, const std::vector<Captured>& fixtures) {
  std::set<Path> known;
  for (const Captured& fixture : fixtures) {
    known.insert(fixture.path);
    for (const CapturedCase& one : fixture.cases) known.insert(one.file);
  }
  for (const Path& entry : entries)
    if (!known.count(entry)) refuse_file(entry, "it is neither a fixture ID.json nor the case file of one");
}

}  // namespace

bool is_fixture_id(std::string_view id) {
  constexpr std::size_t longest = 40;
  constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (id.empty() || id.size() > longest || id.find_first_not_of(characters) != id.npos) return false;
  return id.front() != '-' && id.front() != '_';  // else it reads like an option
}

Captured parse_captured(const Path& path, std::string_view bytes, std::string_view family) {
  const std::string name = family.empty() ? fixtures::path_text(path) : named(path);
  text::Where where{name, "the file", kind};
  const Json document = text::parse(bytes, where);
  const text::Head head = text::head_of(document, path.filename().string(), where);
  if (!is_fixture_id(head.id) || path.filename() != head.id + ".json")
    where.refuse(fmt::format("its id is '{}'", head.id));
  Captured result{head.id,
                  head.title,
                  head.fault_class,
                  head.source,
                  text::text_of(document, "shows", where),
                  std::string(family),
                  path,
                  name,
                  {}};
  for (const Json& one : text::list_of(document, "cases", where)) {
    where.item = fmt::format("case {}", result.cases.size() + 1);
    result.cases.push_back(parse_one(one, family, result, where));
  }
  return result;
}

std::map<std::string, Path> fixture_files(const Path& fixtures) {
  std::map<std::string, Path> files;
  for (const Path& family : entries_of(fixtures)) {
    for (const char* folder : {"captured", "reported"}) {
      for (const Path& path : entries_of(family / folder)) {
        if (path.extension() != ".json") continue;
        const auto [other, is_new] = files.insert({path.stem().string(), path});
        if (!is_new) refuse_file(path, fmt::format("{} has the same id", named(other->second)));
      }
    }
  }
  return files;
}

std::vector<Captured> read_captured(const Path& fixtures) {
  (void)fixture_files(fixtures);
  std::vector<Captured> all;
  for (const Path& family : entries_of(fixtures)) {
    const std::vector<Path> entries = entries_of(family / "captured");
    std::vector<Captured> here;
    for (const Path& path : entries) {
      if (path.extension() != ".json") continue;
      const std::string name = named(path);
      const std::string bytes = contents_of_file(path, {name, "the file", kind});
      here.push_back(parse_captured(path, bytes, family.filename().string()));
    }
    check_no_stray_file(entries, here);
    std::move(here.begin(), here.end(), std::back_inserter(all));
  }
  return all;
}

void check_right(const Family& family, Workload& workload, const std::vector<RightCodes>& right) {
  if (right.empty()) return;
  if (!any_route_takes(family, workload))
    throw BadInput("no route takes the case, so no code of it is right");
  const auto outputs = workload.outputs();
  std::vector<std::string> names;
  for (const OutputBuffer& output : outputs) names.push_back(output.name);
  for (const RightCodes& one : right) {
    const auto found = std::find(names.begin(), names.end(), one.output);
    if (found == names.end())
      throw BadInput(fmt::format("it has no output {}; the nearest is '{}'", fixtures::in_quotes(one.output),
                                 fixtures::nearest(one.output, names)));
    const auto i = static_cast<std::size_t>(found - names.begin());
    check_output(outputs[i], workload.acceptance()[i], one);
  }
}

std::unique_ptr<Workload> build(const Captured& fixture, std::size_t index) {
  const CapturedCase& one = fixture.cases.at(index);
  try {
    auto workload = one.file.empty() ? build(one.text) : build(read_case_file(one.file));
    check_right(family_of(one.text), *workload, one.right);
    return workload;
  } catch (const BadInput& reason) {
    text::Where{fixture.named, fmt::format("case {}", index + 1), kind}.refuse(
        without_text(reason.what(), one.text));
  }
}

std::string origin(const Captured& fixture, std::size_t index) {
  return fmt::format("captured fixture {}, case {} ({}): {}", fixture.id, index + 1, fixture.source,
                     fixture.title);
}

std::string json_text(const Captured& fixture) {
  Json document = {{"id", fixture.id},         {"title", fixture.title}, {"class", fixture.fault_class},
                   {"source", fixture.source}, {"shows", fixture.shows}, {"cases", Json::array()}};
  for (const CapturedCase& one : fixture.cases) {
    Json entry;
    if (one.file.empty()) {
      entry["case"] = print(one.text);
    } else {
      entry["file"] = one.file.filename().string();
    }
    for (const RightCodes& right : one.right)
      entry["right"].push_back({{"output", right.output}, {"first", right.first}, {"codes", right.codes}});
    document["cases"].push_back(std::move(entry));
  }
  return document.dump(2) + "\n";
}

}  // namespace assay::properties
