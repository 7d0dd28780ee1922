#include "properties/gate/golden_hardware.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "goldens/record/store.hpp"
#include "properties/comparator/comparator.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/golden_oracle.hpp"
#include "properties/gate/judge.hpp"

namespace assay::properties {
namespace {

constexpr std::string_view between_routes = ", ", between_tokens = "\n";

struct Line {
  std::size_t number = 0;
  std::string text;
};

std::filesystem::path list_file(const Family& family, const char* name) {
  return golden_store().folder(family.name()) / goldens::hardware_folder / name;
}

/// The lines that say something, each once. No file, no lines.
std::vector<Line> lines_of(const std::filesystem::path& file) {
  std::vector<Line> lines;
  std::ifstream in(file);
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (text.empty() || text[0] == '#') continue;
    const auto twice = std::ranges::find(lines, text, &Line::text);
    if (twice != lines.end())
      throw BadInput(fmt::format("{}:{}: {} stands in line {} already", file.string(), number,
                                 fixtures::in_quotes(text), twice->number));
    lines.push_back({number, text});
  }
  if (in.bad() || (!in.is_open() && std::filesystem::exists(file)))
    throw BadInput(fmt::format("{}: it cannot be read", file.string()));
  return lines;
}

std::vector<goldens::CodeArray> arrays_of(Workload& workload, const Contents& contents) {
  std::vector<goldens::CodeArray> arrays;
  const auto outputs = workload.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    arrays.push_back(output_array(outputs[i], workload.acceptance()[i], contents[i]));
  return arrays;
}

/// Adds what a route left: to the entry of those that left the same, or as one more.
void add_outputs(std::vector<goldens::Entry>& entries, Workload& workload, std::string_view route,
                 const Contents& contents) {
  const auto outputs = arrays_of(workload, contents);
  const std::string output_digest = goldens::digest(outputs);
  const auto same = std::ranges::find(entries, output_digest, &goldens::Entry::output_digest);
  if (same != entries.end()) {
    same->route += std::string(between_routes) + std::string(route);
    return;
  }
  // The token makes the inputs again; their digest is enough.
  entries.push_back({workload.token(),
                     {},
                     outputs,
                     goldens::digest(input_arrays(workload)),
                     output_digest,
                     std::string(route)});
}

std::vector<std::string> split(const std::string& text, std::string_view between) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(between, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + between.size();
  }
  return parts;
}

/// Checks the entries of one device's record.
class HardwareCheck {
 public:
  HardwareCheck(const Family& family, const std::filesystem::path& file, Recorder& recorder)
      : family_(family), file_(file), recorder_(recorder) {}

  void check(const goldens::Entry& entry) {
    const auto workload = family_.materialise(entry.token);
    Row& row = recorder_.row(family_.name(), "golden hardware/" + file_.stem().string(), "oracle");
    ++row.cases;
    if (!is_acceptable(entry, *workload, row)) {
      ++row.failed;
      return;
    }
    for (const std::string& route : split(entry.route, between_routes)) check_route(entry, *workload, route);
  }

  void complain(const std::string& token, const std::string& place, const std::string& summary,
                const std::string& note = "") {
    Finding finding;
    finding.code = Code::golden_differs;
    finding.place = fmt::format("{}/{}/{} ({})", family_.name(), goldens::hardware_folder,
                                file_.filename().string(), place);
    finding.summary = summary;
    finding.token = token;
    if (!note.empty()) finding.notes.push_back(note);
    recorder_.add(finding);
  }

 private:
  bool is_acceptable(const goldens::Entry& entry, Workload& workload, Row& row) {
    if (goldens::digest(input_arrays(workload)) != entry.input_digest) {
      complain(entry.token, "generator", "the token generates other inputs than the device was given");
      return false;
    }
    const auto outputs = workload.outputs();
    if (outputs.size() != entry.outputs.size()) {
      complain(
          entry.token, "outputs",
          fmt::format("the record holds {} outputs, the case has {}", entry.outputs.size(), outputs.size()));
      return false;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const goldens::CodeArray& held = entry.outputs[i];
      const arithmetic::Acceptance& acceptance = workload.acceptance()[i];
      if (held.name != outputs[i].name || held.format != outputs[i].format ||
          held.bytes.size() != acceptance.lo.size()) {
        complain(entry.token, "outputs",
                 fmt::format("output {} is not the case's {} any more", held.name, outputs[i].name));
        return false;
      }
      const Comparison comparison = compare(acceptance, held.bytes, held.bytes, 1);
      row.elements += comparison.compared;
      row.exact = row.exact && acceptance.exact();
      row.worst_bound_use = std::max(row.worst_bound_use, comparison.worst_bound_use);
      if (comparison.passed()) continue;
      complain(entry.token, "oracle",
               fmt::format("{}: {} recorded elements are outside what the oracle accepts", held.name,
                           grouped(comparison.failed)),
               comparison.first.empty() ? "nothing was compared"
                                        : describe_mismatch(outputs[i], comparison.first[0]));
      return false;
    }
    return true;
  }

  void check_route(const goldens::Entry& entry, Workload& workload, const std::string& name) {
    const auto routes = family_.routes();
    const auto found = std::ranges::find(routes, name, &kernels::RouteInfo::name);
    if (found == routes.end()) {
      complain(entry.token, "route " + name, "the record names a route that the family has not");
      return;
    }
    const auto route = static_cast<std::size_t>(found - routes.begin());
    std::string refusals;
    bool ran = false;
    for (const auto kind : {kernels::DeviceKind::cpu, kernels::DeviceKind::cuda}) {
      kernels::Device* device = kernels::device(kind);
      if (!device) continue;
      CaseResult result = judge_case(family_, workload, route, *device);
      Row& row = recorder_.row(family_.name(), name, to_string(kind));
      if (result.verdict == Verdict::unsupported) {
        refusals +=
            fmt::format("{}{}: {}", refusals.empty() ? "" : ", ", to_string(kind), result.unsupported_reason);
      } else if (result.verdict == Verdict::pass) {
        ran = true;
        if (!same_bits(entry, workload, result, name, kind)) ++row.failed;
      } else {
        ran = true;
      }
      recorder_.add(row, result);
    }
    if (!ran)
      recorder_.result().notes.push_back(fmt::format("{}: {} of {} ran on no device here ({})",
                                                     file_.string(), name, entry.token, refusals));
  }

  bool same_bits(const goldens::Entry& entry, Workload& workload, const CaseResult& result,
                 const std::string& name, kernels::DeviceKind kind) {
    const auto outputs = workload.outputs();
    const auto now = arrays_of(workload, result.outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& held = entry.outputs[i].bytes;
      if (held == now[i].bytes) continue;
      const int width = formats::storage_bytes(outputs[i].format);
      const auto at = std::ranges::mismatch(held, now[i].bytes).in1 - held.begin();
      const std::size_t index = static_cast<std::size_t>(at) / static_cast<std::size_t>(width);
      complain(
          entry.token, fmt::format("{} on {}", name, to_string(kind)),
          fmt::format("{}: other bits than were recorded on the device", outputs[i].name),
          fmt::format("{}: recorded {}, now {}", describe_place(outputs[i], index),
                      describe_code(outputs[i].format, arithmetic::load_code(held, width, index)),
                      describe_code(outputs[i].format, arithmetic::load_code(now[i].bytes, width, index))));
      return false;
    }
    return true;
  }

  const Family& family_;
  std::filesystem::path file_;
  Recorder& recorder_;
};

}  // namespace

std::string hardware_record_name(const kernels::Device& device) {
  std::string name = device.kind() == kernels::DeviceKind::cpu ? "cpu" : device.name();
  constexpr std::string_view vendor = "NVIDIA ";
  if (name.starts_with(vendor)) name.erase(0, vendor.size());
  for (char& c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    c = upper ? static_cast<char>(c - 'A' + 'a') : kept ? c : '-';
  }
  return std::string(goldens::hardware_folder) + "/" + name;
}

bool is_hardware_record(std::string_view name) {
  return name.starts_with(std::string(goldens::hardware_folder) + "/");
}

std::vector<std::string> hardware_cases(const Family& family) {
  const auto file = list_file(family, "cases.txt");
  std::vector<std::string> tokens;
  for (const Line& line : lines_of(file)) {
    std::string printed;
    try {
      printed = family.materialise(line.text)->token();
    } catch (const BadInput& error) {
      throw BadInput(fmt::format("{}:{}: {}", file.string(), line.number, error.what()));
    }
    if (printed != line.text)
      throw BadInput(fmt::format("{}:{}: the family prints this case as {}", file.string(), line.number,
                                 fixtures::in_quotes(printed)));
    tokens.push_back(line.text);
  }
  return tokens;
}

std::vector<std::string> expected_hardware(const Family& family) {
  std::vector<std::string> names;
  for (const Line& line : lines_of(list_file(family, "expected.txt"))) names.push_back(line.text);
  return names;
}

goldens::Record record_hardware(const Family& family, kernels::Device& device, Recorder& recorder) {
  goldens::Record record;
  record.family = family.name();
  record.provenance = device.provenance();
  record.provenance["build"] = kernels::binary_hash();
  std::string digests;
  std::vector<std::string> refused;
  const auto routes = family.routes();
  for (const std::string& token : hardware_cases(family)) {
    const auto workload = family.materialise(token);
    std::vector<goldens::Entry> entries;
    for (std::size_t route = 0; route < routes.size(); ++route) {
      const CaseResult result = judge_case(family, *workload, route, device);
      recorder.add(recorder.row(family.name(), routes[route].name, to_string(device.kind())), result);
      if (result.verdict == Verdict::pass)
        add_outputs(entries, *workload, routes[route].name, result.outputs);
    }
    if (entries.empty()) refused.push_back(token);
    for (goldens::Entry& entry : entries) {
      digests += entry.input_digest;
      record.entries.push_back(std::move(entry));
    }
  }
  record.provenance["inputs"] = goldens::sha256(std::as_bytes(std::span(digests)));
  record.provenance["refused"] = fmt::format("{}", fmt::join(refused, between_tokens));
  return record;
}

RecordedHardware record_hardware_goldens(kernels::Device& device, const std::optional<std::string>& folder) {
  Recorder recorder;
  const goldens::Store store = folder ? goldens::Store{*folder} : golden_store();
  const std::string name = hardware_record_name(device);
  std::vector<std::pair<std::filesystem::path, goldens::Record>> records;
  for (const Family* family : families()) {
    if (!recorder.add(check_routes(*family, device.kind()))) continue;
    goldens::Record record = record_hardware(*family, device, recorder);
    const auto path = folder ? store.approved(family->name(), name) : store.pending(family->name(), name);
    if (!record.entries.empty()) records.emplace_back(path, std::move(record));
  }
  RecordedHardware recorded{std::move(recorder.result()), {}};
  if (recorded.result.exit_code() != exit_pass) return recorded;
  for (const auto& [path, record] : records) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      throw BadInput(
          fmt::format("{}: it cannot be created: {}", path.parent_path().string(), error.message()));
    goldens::write(path, record);
    recorded.written.push_back({path, goldens::content_digest(record), ""});
  }
  return recorded;
}

void check_hardware_record(const Family& family, const goldens::Record& record,
                           const std::filesystem::path& file, Recorder& recorder) {
  HardwareCheck check(family, file, recorder);
  const auto cases = hardware_cases(family);
  const auto refused_text = record.provenance.find("refused");
  std::set<std::string> held;
  if (refused_text != record.provenance.end()) {
    for (const std::string& token : split(refused_text->second, between_tokens)) {
      held.insert(token);
      recorder.result().notes.push_back(
          fmt::format("{}: no route of the device took {}", file.string(), token));
    }
  }
  for (const goldens::Entry& entry : record.entries) {
    held.insert(entry.token);
    if (std::ranges::find(cases, entry.token) == cases.end())
      check.complain(entry.token, "cases", "the record holds a case that cases.txt does not name");
    else if (entry.route.empty())
      check.complain(entry.token, "routes", "the entry names no route");
    else
      check.check(entry);
  }
  for (const std::string& token : cases) {
    if (!held.contains(token))
      check.complain(token, "cases", "a case of cases.txt is missing from the record");
  }
}

}  // namespace assay::properties
