#include "properties/repro/source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

#include "fixtures/files/mapped_file.hpp"
#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "properties/exchange/case_file.hpp"
#include "properties/exchange/for_others.hpp"
#include "properties/gate/captured.hpp"
#include "properties/gate/describe.hpp"

namespace assay::properties::repro {
namespace {

using arithmetic::Acceptance;
using Path = std::filesystem::path;

bool is_file(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// "FAMILY/ROUTE" of a family that there is.
bool names_a_route(const std::string& what) {
  const std::size_t slash = what.find('/');
  return slash != what.npos && std::ranges::any_of(families(), [&](const Family* family) {
           return family->name() == what.substr(0, slash);
         });
}

/// "ID.json:N".
struct NumberedFixture {
  Path file;
  std::size_t number = 0;
};

/// Of a file that is there. Where none is, a text with one ':' is still taken for one: no family's name ends
/// so.
std::optional<NumberedFixture> numbered_fixture(const std::string& what) {
  const std::size_t colon = what.rfind(':');
  if (colon == what.npos) return std::nullopt;
  NumberedFixture found{what.substr(0, colon), 0};
  if (found.file.extension() != ".json") return std::nullopt;
  if (!is_file(found.file)) {
    if (what.find(':') != colon || names_a_route(found.file.string())) return std::nullopt;
    (void)fixtures::MappedFile::open(found.file);  // says why it is none
  }
  const char *first = what.data() + colon + 1, *last = what.data() + what.size();
  const auto [stop, error] = std::from_chars(first, last, found.number);
  if (error != std::errc{} || stop != last)
    fixtures::bad_file(found.file, fmt::format("its cases are numbered, the first is {}:1",
                                               fixtures::path_text(found.file)));
  return found;
}

/// `number` 0: the only case.
Source of_fixture(const Path& path, std::size_t number) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.good() && !stream.eof()) fixtures::bad_file(path, "it cannot be read");
  const Captured fixture = parse_captured(path, bytes, "");
  if (number == 0 && fixture.cases.size() > 1)
    fixtures::bad_file(path, fmt::format("it has {} cases; say which: {}:1", fixture.cases.size(),
                                         fixtures::printable(path.string())));
  const std::size_t index = std::max<std::size_t>(number, 1) - 1;
  if (index >= fixture.cases.size())
    fixtures::bad_file(path, fmt::format("it has no case {}, but {}", number, fixture.cases.size()));
  Source source;
  source.text = fixture.cases[index].text;
  source.workload = build(fixture, index);
  source.file = path;
  source.origin = origin(fixture, index);
  return source;
}

Source of_case_file(const Path& path) {
  const CaseFile file = read_case_file(path);
  if (file.text.family.empty())
    fixtures::bad_file(path,
                       "it names no case (metadata 'assay.case'), so there is nothing to run; "
                       "assay judge asks which contracts its tensors fit");
  Source source;
  source.file = path;
  source.workload = build(file);
  source.text = parse_case(source.workload->token());
  source.text.route = file.text.route;
  source.text.device = file.text.device;
  auto theirs = outputs_in(file, *source.workload);
  const bool any = std::any_of(theirs.begin(), theirs.end(), [](const auto& one) { return one.has_value(); });
  if (any) source.theirs = std::move(theirs);
  return source;
}

bool kept(const OutputBuffer& output, const Acceptance& acceptance, std::size_t index) {
  if (!output.initial.empty()) return false;  // what it held before is an input
  return std::any_of(
      acceptance.untouched.begin(), acceptance.untouched.end(),
      [&](const arithmetic::ElementRange& range) { return range.begin <= index && index < range.end; });
}

SameBits compare_output(const OutputBuffer& output, const Acceptance& acceptance,
                        const std::vector<std::byte>& theirs, const std::vector<std::byte>& here) {
  SameBits same;
  same.output = output.name;
  const int width = formats::storage_bytes(output.format);
  for (std::size_t i = 0; i < acceptance.size(); ++i) {
    if (!acceptance.untouched.empty() && kept(output, acceptance, i)) continue;
    ++same.compared;
    const std::uint32_t left = arithmetic::load_code(theirs, width, i);
    const std::uint32_t right = arithmetic::load_code(here, width, i);
    if (left == right) continue;
    if (same.different++ == 0)
      same.first = fmt::format("{}: theirs {}, here {}", describe_place(output, i),
                               describe_code(output.format, left), describe_code(output.format, right));
  }
  return same;
}

bool has_form_of_case(const std::string& what) {
  try {
    (void)parse_case(what);
    return true;
  } catch (const BadInput&) {
    return false;
  }
}

bool looks_like_path(const std::string& what) {
  constexpr std::array<std::string_view, 5> endings = {".h5", ".hdf5", ".npy", ".safetensors", ".json"};
  const std::string ending = Path(what).extension().string();
  std::error_code ignored;
  return std::find(endings.begin(), endings.end(), ending) != endings.end() ||
         (what.find('/') != what.npos && !names_a_route(what)) || std::filesystem::exists(what, ignored);
}

}  // namespace

void refuse_no_file(const std::string& what) {
  if (!has_form_of_case(what) && looks_like_path(what)) (void)fixtures::MappedFile::open(what);
}

Source source_of(const std::string& what) {
  if (const auto numbered = numbered_fixture(what)) {
    if (numbered->number == 0) fixtures::bad_file(numbered->file, "its cases are counted from 1");
    return of_fixture(numbered->file, numbered->number);
  }
  if (is_file(what)) return Path(what).extension() == ".json" ? of_fixture(what, 0) : of_case_file(what);
  refuse_no_file(what);
  Source source;
  source.text = parse_case(what);
  source.workload = build(source.text);
  return source;
}

std::vector<SameBits> compare_with_theirs(Source& source, const Contents& here) {
  std::vector<SameBits> all;
  const auto outputs = source.workload->outputs();
  for (std::size_t i = 0; i < source.theirs.size(); ++i) {
    if (!source.theirs[i]) continue;
    all.push_back(
        compare_output(outputs[i], source.workload->acceptance()[i], *source.theirs[i], here.at(i)));
  }
  return all;
}

std::vector<OutputReport> mismatches_of_theirs(Source& source) {
  if (source.theirs.empty()) return {};
  WorkloadForOthers workload(*source.workload);
  const auto& acceptance = workload.acceptance();
  Contents actual;
  for (std::size_t i = 0; i < source.theirs.size(); ++i)
    actual.push_back(source.theirs[i] ? *source.theirs[i] : acceptance[i].lo);
  std::vector<OutputReport> reports = mismatches(workload, actual), offered;
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (source.theirs[i]) offered.push_back(std::move(reports[i]));
  return offered;
}

}  // namespace assay::properties::repro
