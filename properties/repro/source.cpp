#include "properties/repro/source.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

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

/// "ID.json:N" of a file that is there.
struct NumberedFixture {
  Path file;
  std::size_t number = 0;
};

std::optional<NumberedFixture> numbered_fixture(const std::string& what) {
  const std::size_t colon = what.rfind(':');
  if (colon == what.npos) return std::nullopt;
  NumberedFixture found{what.substr(0, colon), 0};
  const char *first = what.data() + colon + 1, *last = what.data() + what.size();
  const auto [stop, error] = std::from_chars(first, last, found.number);
  if (error != std::errc{} || stop != last || found.file.extension() != ".json" || !is_file(found.file))
    return std::nullopt;
  return found;
}

/// `number` 0: the only case.
Source of_fixture(const Path& path, std::size_t number) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.good() && !stream.eof()) fixtures::bad_file(path, "it cannot be read");
  const Path family = std::filesystem::absolute(path).parent_path().parent_path().filename();
  const Captured fixture = parse_captured(path, bytes, family.string());
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

}  // namespace

Source source_of(const std::string& what) {
  if (const auto numbered = numbered_fixture(what)) {
    if (numbered->number == 0) fixtures::bad_file(numbered->file, "its cases are counted from 1");
    return of_fixture(numbered->file, numbered->number);
  }
  if (is_file(what)) return Path(what).extension() == ".json" ? of_fixture(what, 0) : of_case_file(what);
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
