#include "properties/exchange/judging.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "properties/comparator/comparator.hpp"
#include "properties/comparator/probe.hpp"
#include "properties/exchange/for_others.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/gate/buffers.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/runner.hpp"
#include "properties/gate/token.hpp"

namespace assay::properties {

namespace {

using arithmetic::Acceptance;
using arithmetic::ElementRange;

constexpr std::size_t longest_case_text = 400, most_text_bytes = 4096;

/// What was before nobody knows: a poison, but for the elements that keep what they held, which hold it now.
std::vector<std::byte> supposed_before(const OutputBuffer& output, const Acceptance& acceptance,
                                       const std::vector<std::byte>& actual, bool complement) {
  std::vector<std::byte> before = before_run(output, complement);
  if (!output.initial.empty()) return before;
  const auto width = static_cast<std::size_t>(formats::storage_bytes(output.format));
  for (const ElementRange& kept : acceptance.untouched)
    std::copy(actual.begin() + static_cast<std::ptrdiff_t>(kept.begin * width),
              actual.begin() + static_cast<std::ptrdiff_t>(kept.end * width),
              before.begin() + static_cast<std::ptrdiff_t>(kept.begin * width));
  return before;
}

/// What a right kernel leaves, for outputs that nobody offered.
std::vector<std::byte> right_output(const OutputBuffer& output, const Acceptance& acceptance) {
  std::vector<std::byte> contents = acceptance.best.empty() ? acceptance.lo : acceptance.best;
  const auto width = static_cast<std::size_t>(formats::storage_bytes(output.format));
  const std::vector<std::byte> before = before_run(output, false);
  for (const ElementRange& kept : acceptance.untouched)
    std::copy(before.begin() + static_cast<std::ptrdiff_t>(kept.begin * width),
              before.begin() + static_cast<std::ptrdiff_t>(kept.end * width),
              contents.begin() + static_cast<std::ptrdiff_t>(kept.begin * width));
  return contents;
}

/// A case with what was offered as its outputs.
struct Offered {
  std::unique_ptr<Workload> owned;
  std::unique_ptr<WorkloadForOthers> workload;
  std::vector<OutputBuffer> outputs;
  std::vector<bool> there;
  Execution execution;  ///< as if two runs had left the same, over two poisons
};

Offered offered_as(const CaseFile& file) {
  Offered offered;
  offered.owned = build(file);
  offered.workload = std::make_unique<WorkloadForOthers>(*offered.owned);
  auto tensors = outputs_in(file, *offered.workload);
  offered.outputs = offered.workload->outputs();
  const std::vector<Acceptance>& acceptance = offered.workload->acceptance();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const OutputBuffer& output = offered.outputs[i];
    offered.there.push_back(tensors[i].has_value());
    auto actual = tensors[i] ? std::move(*tensors[i]) : right_output(output, acceptance[i]);
    Execution& run = offered.execution;
    run.before_first.push_back(supposed_before(output, acceptance[i], actual, false));
    run.before_second.push_back(supposed_before(output, acceptance[i], actual, true));
    run.second.push_back(actual);
    run.first.push_back(std::move(actual));
  }
  return offered;
}

std::uint64_t untouched(const OutputBuffer& output, const Acceptance& acceptance) {
  std::uint64_t elements = 0;
  if (output.initial.empty())
    for (const ElementRange& kept : acceptance.untouched) elements += kept.end - kept.begin;
  return elements;
}

JudgedOutput judged(const Offered& offered, std::size_t i) {
  const Acceptance& acceptance = offered.workload->acceptance()[i];
  JudgedOutput result;
  result.name = offered.outputs[i].name;
  result.offered = offered.there[i];
  if (!result.offered) return result;
  const Comparison comparison =
      compare(acceptance, offered.execution.first[i], offered.execution.before_first[i], 0);
  result.not_judged = untouched(offered.outputs[i], acceptance);
  result.compared = comparison.compared - result.not_judged;
  result.wrong = comparison.failed;
  result.worst_codes_outside = comparison.worst_codes_outside;
  result.worst_bound_use = comparison.worst_bound_use;
  result.exact = acceptance.exact();
  if (const auto initial = offered.outputs[i].initial; !initial.empty() && result.wrong == 0) {
    const std::vector<std::byte> before(initial.begin(), initial.end());
    result.right_before = compare(acceptance, before, before, 0).failed == 0;
  }
  return result;
}

/// Injects faults into what was right: a check that takes them shows nothing.
void earn(const Offered& offered, JudgedReading& reading) {
  for (std::size_t i = 0; i < offered.outputs.size(); ++i) {
    if (!offered.there[i] || reading.outputs[i].compared == 0) continue;
    const OutputBuffer& output = offered.outputs[i];
    const ProbeReport report =
        probe(offered.workload->acceptance()[i], offered.execution.first[i],
              offered.execution.before_first[i], {output.rows, output.cols, output.stride});
    [[maybe_unused]] bool injected = false;
    for (const Probe& one : report.probes) {
      // Padding is not judged here, so that a fault there would be rejected says nothing.
      if (!one.applied || (one.name == "padding written" && output.initial.empty())) continue;
      injected = true;
      if (one.caught) {
        ++reading.probes;
      } else {
        reading.missed.push_back(
            fmt::format("{}: the injected fault '{}' was accepted", output.name, one.name));
      }
    }
    assert(injected && "a judged element can be made a NaN, or a number where it is one");
  }
}

CaseFile under(const CaseFile& file, std::string_view token) {
  CaseFile one = file;  // tensors are views
  one.text = parse_case(token);
  return one;
}

JudgedReading judge_reading(const Offered& offered, std::string token) {
  JudgedReading reading;
  reading.token = std::move(token);
  for (std::size_t i = 0; i < offered.outputs.size(); ++i) reading.outputs.push_back(judged(offered, i));
  if (reading.compared() > 0 && reading.wrong() == 0) earn(offered, reading);
  return reading;
}

std::vector<std::string> patterns_of(const Offered& offered) {
  std::vector<std::string> patterns;
  for (const Finding& finding : find_damage(*offered.workload, offered.execution))
    for (const std::string& pattern : finding.patterns)
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
  return patterns;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + fixtures::printable(name);
  return text;
}

/// What the inputs are as a line of text, where that is short.
std::string short_text(const Workload& workload) {
  std::size_t bytes = 0;
  for (const GivenBuffer& buffer : given(workload)) bytes += buffer.bytes.size();
  if (bytes > most_text_bytes) return {};
  std::string text = workload.token();
  return text.size() <= longest_case_text ? text : std::string();
}

/// The report of the one reading there is, as the gate's.
void judge_one(const CaseFile& file, const std::string& token, JudgeResult& result) {
  const Offered offered = offered_as(under(file, token));
  result.one = true;
  result.readings.push_back(judge_reading(offered, token));
  JudgedReading& reading = result.readings[0];
  if (reading.compared() == 0) return;
  result.case_text = short_text(*offered.workload);
  result.findings = find_damage(*offered.workload, offered.execution);
  for (const Finding& finding : result.findings)
    for (const std::string& pattern : finding.patterns)
      if (std::find(reading.patterns.begin(), reading.patterns.end(), pattern) == reading.patterns.end())
        reading.patterns.push_back(pattern);
  for (const std::string& missed : reading.missed) {
    Finding finding;
    finding.code = Code::probe_missed;
    finding.summary = missed;
    result.findings.push_back(std::move(finding));
  }
  for (Finding& finding : result.findings)
    finding.place = fmt::format("{}, offered by {}", result.family, listed(result.files));
}

bool by_bounds(const std::string& token) {
  return value_of(token.substr(token.find(':') + 1), "judge") == "bound";
}

std::vector<JudgedReading> judge_all(const CaseFile& file, const std::vector<std::string>& tokens) {
  std::vector<JudgedReading> readings;
  for (const std::string& token : tokens)
    readings.push_back(judge_reading(offered_as(under(file, token)), token));
  return readings;
}

bool any_consistent(const std::vector<JudgedReading>& readings) {
  return std::any_of(readings.begin(), readings.end(), [](const auto& one) { return one.consistent(); });
}

/// Says of every output that is right under some consistent reading had nobody written it.
void note_unwritten(JudgeResult& result) {
  std::set<std::string> names;
  for (const auto* readings : {&result.readings, &result.bounds})
    for (const JudgedReading& reading : *readings)
      for (const JudgedOutput& output : reading.outputs)
        if (reading.consistent() && output.right_before) names.insert(output.name);
  for (const std::string& name : names)
    result.notes.push_back(fmt::format("{} would be right had nobody written it", name));
}

/// Names the damage of the readings with the fewest wrong elements, one of each kind.
void name_nearest(const CaseFile& file, std::vector<JudgedReading>& readings) {
  std::vector<JudgedReading*> order;
  for (JudgedReading& reading : readings) order.push_back(&reading);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->wrong() < b->wrong(); });
  std::set<std::vector<std::uint64_t>> seen;
  for (JudgedReading* reading : order) {
    if (seen.size() == nearest_shown) return;
    if (reading->wrong() > 0 && seen.insert(reading->damage()).second)
      reading->patterns = patterns_of(offered_as(under(file, reading->token)));
  }
}

std::vector<OfferedTensor> offers_of(const CaseFile& file) {
  std::vector<OfferedTensor> offers;
  for (const auto& [name, tensor] : file.tensors) offers.push_back({name, tensor.dtype, tensor.shape});
  return offers;
}

const Family& family_named(const std::string& name) {
  CaseText text;
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (family->name() == name) return *family;
    names.emplace_back(family->name());
  }
  throw BadInput(fmt::format("unknown family {}; the nearest is '{}'", fixtures::in_quotes(name),
                             fixtures::nearest(name, names)));
}

/// The contracts that are named. A number cannot be one of several choices: `scale` is that of the case which
/// the files name, unless it is named.
std::string contracts_named(const CaseFile& file, const std::string& contracts) {
  const auto scale = value_of(file.text.token.substr(file.text.token.find(':') + 1), "scale");
  if (file.text.family != "gated_delta" || !scale || value_of(contracts, "scale")) return contracts;
  return fmt::format("{}{}scale={}", contracts, contracts.empty() ? "" : ",", *scale);
}

/// What a family has against the tensors, naming the file where one is refused.
std::string said(const BadInput& refusal, const CaseFile& file) {
  const auto* refused = dynamic_cast<const RefusedTensor*>(&refusal);
  const auto origin = refused == nullptr ? file.origins.end() : file.origins.find(refused->name);
  if (origin == file.origins.end()) return refusal.what();
  return fmt::format("{}: {}", fixtures::path_text(origin->second), refusal.what());
}

/// What families have against the tensors, by how many of their names are no buffers of the family.
using Refusals = std::map<std::size_t, std::vector<std::pair<const Family*, std::string>>>;

/// Those with the fewest such names are heard: the others were hardly meant.
[[noreturn]] void refuse_all(const Refusals& refusals) {
  const auto& nearest = refusals.begin()->second;
  if (nearest.size() == 1) throw BadInput(nearest[0].second);
  std::string reasons;
  for (const auto& [family, reason] : nearest)
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", family->name(), reason);
  throw BadInput("the tensors fit no family (--family asks one alone): " + reasons);
}

/// The family whose buffers these tensors are, and its readings of them.
std::pair<const Family*, std::vector<std::string>> read(const CaseFile& file, const JudgeOptions& options) {
  const std::vector<OfferedTensor> offers = offers_of(file);
  std::vector<const Family*> asked = families();
  if (!options.family.empty()) asked = {&family_named(options.family)};
  std::vector<std::pair<const Family*, std::vector<std::string>>> fitting;
  Refusals refusals;
  for (const Family* family : asked) {
    try {
      fitting.emplace_back(family, family->readings(offers, options.contracts));
    } catch (const BadInput& refusal) {
      const auto* tensor = dynamic_cast<const RefusedTensor*>(&refusal);
      refusals[tensor == nullptr ? 0 : tensor->unknown_names].emplace_back(family, said(refusal, file));
    }
  }
  if (fitting.size() == 1) return fitting[0];
  if (fitting.empty()) refuse_all(refusals);
  throw BadInput(fmt::format("the tensors fit {} and {}; name one with --family", fitting[0].first->name(),
                             fitting[1].first->name()));
}

/// Keys may be left out where they have their default, and stand in any order.
bool same_case(CaseText one, CaseText other) {
  if (print(one) == print(other)) return true;
  if (one.family != other.family) return false;
  for (CaseText* text : {&one, &other}) text->token = family_of(*text).blank(text->token)->token();
  return print(one) == print(other);
}

bool nothing_offered(const CaseFile& file, const Workload& workload) {
  const auto outputs = workload.outputs();
  return std::none_of(outputs.begin(), outputs.end(),
                      [&](const OutputBuffer& output) { return file.tensors.contains(output.name); });
}

/// What the oracle cannot be asked has no right result.
void refuse_undefined(const CaseFile& file, const Workload& workload) {
  const Family& family = family_of(file.text);
  std::string reason;
  for (std::size_t route = 0; route < family.routes().size(); ++route) {
    const kernels::Support support = workload.expected_support(route, kernels::DeviceKind::cpu);
    if (support.supported) return;
    reason = support.reason;
  }
  throw BadInput(case_refusal(print(file.text), fmt::format("no route takes it: {}", reason)));
}

}  // namespace

std::uint64_t JudgedReading::compared() const {
  std::uint64_t sum = 0;
  for (const JudgedOutput& output : outputs) sum += output.compared;
  return sum;
}

std::uint64_t JudgedReading::wrong() const {
  std::uint64_t sum = 0;
  for (const JudgedOutput& output : outputs) sum += output.wrong;
  return sum;
}

bool JudgedReading::shown() const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const JudgedOutput& output) { return output.compared > 0 && !output.right_before; });
}

std::vector<std::uint64_t> JudgedReading::damage() const {
  std::vector<std::uint64_t> wrong_elements;
  for (const JudgedOutput& output : outputs) wrong_elements.push_back(output.wrong);
  return wrong_elements;
}

int JudgeResult::exit_code() const {
  const auto compared = [](const JudgedReading& reading) { return reading.compared() > 0; };
  if (std::none_of(readings.begin(), readings.end(), compared)) return exit_vacuous;
  const auto earned = [](const auto& reading) { return reading.consistent() && reading.shown(); };
  if (std::any_of(readings.begin(), readings.end(), earned)) return exit_pass;
  return any_consistent(readings) || any_consistent(bounds) ? exit_vacuous : exit_fail;
}

Mapping parse_mapping(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw BadInput(fmt::format("--tensor {}: it is not NAME=FILE:TENSOR", fixtures::in_quotes(text)));
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

CaseFile collect(const std::vector<std::filesystem::path>& files, const std::vector<Mapping>& mappings) {
  CaseFile all;
  const auto add = [&](const std::string& name, fixtures::Tensor tensor, const std::filesystem::path& path) {
    const auto [other, fresh] = all.origins.emplace(name, path);
    if (!fresh)
      fixtures::bad_tensor(path, name,
                           fmt::format("it is offered by {} too", fixtures::path_text(other->second)));
    all.tensors.emplace(name, std::move(tensor));
  };
  for (const std::filesystem::path& path : files) {
    CaseFile one = read_case_file(path);
    for (auto& [name, tensor] : one.tensors) add(name, std::move(tensor), path);
    if (one.text.family.empty()) continue;
    if (!all.text.family.empty() && !same_case(all.text, one.text))
      fixtures::bad_file(path, fmt::format("it names another case than {}", fixtures::path_text(all.path)));
    all.text = std::move(one.text);
    all.path = path;
  }
  for (const Mapping& mapping : mappings) {
    const auto place = fixtures::parse_tensor_path(mapping.place);
    const auto file = fixtures::open_tensor_file(place.file);
    if (place.tensor.empty() && file->tensors().size() != 1)
      fixtures::bad_file(place.file, fmt::format("it holds {} tensors; say which is {}: FILE:TENSOR",
                                                 file->tensors().size(), fixtures::in_quotes(mapping.name)));
    add(mapping.name, file->read(place.tensor.empty() ? file->tensors()[0].name : place.tensor), place.file);
  }
  if (all.path.empty() && !files.empty()) all.path = files[0];
  return all;
}

JudgeResult judge_tensors(const CaseFile& offered, const JudgeOptions& options) {
  CaseFile file = offered;
  JudgeResult result;
  for (const auto& [name, path] : file.origins) {
    const std::string text = path.string();
    if (std::find(result.files.begin(), result.files.end(), text) == result.files.end())
      result.files.push_back(text);
  }
  if (!options.text.empty()) {
    const CaseText text = parse_case(options.text);
    if (!file.text.family.empty() && !same_case(text, file.text))
      throw BadInput(fmt::format("--case {}: {} names another case", fixtures::in_quotes(options.text),
                                 fixtures::path_text(file.path)));
    file.text = text;
  }
  if (!options.contracts_given && !file.text.family.empty()) {
    if (!options.family.empty() && file.text.family != options.family)
      throw BadInput(fmt::format("--family {}: the case is of {}", fixtures::in_quotes(options.family),
                                 fixtures::in_quotes(file.text.family)));
    refuse_undefined(file, *build(file));
    result.family = file.text.family;
    if (result.files.size() == 1 && options.text.empty()) result.case_file = result.files[0];
    judge_one(file, print(file.text), result);
    note_unwritten(result);
    return result;
  }
  check_contracts(options.contracts);
  JudgeOptions named = options;
  named.contracts = contracts_named(file, options.contracts);
  const auto [family, tokens] = read(file, named);
  result.family = family->name();
  if (const auto workload = build(under(file, tokens.at(0))); nothing_offered(file, *workload)) return result;
  std::vector<std::string> bits, bounds;
  for (const std::string& token : tokens) (by_bounds(token) ? bounds : bits).push_back(token);
  if (bits.empty()) std::swap(bits, bounds);
  if (bits.size() == 1) {
    judge_one(file, bits[0], result);
  } else {
    result.readings = judge_all(file, bits);
  }
  if (any_consistent(result.readings)) {
    note_unwritten(result);
    return result;
  }
  result.bounds = judge_all(file, bounds);
  if (!result.bounds.empty()) {  // how it is judged was open
    result.one = false;
    result.findings.clear();
  }
  if (any_consistent(result.bounds)) {
    note_unwritten(result);
  } else if (!result.one) {
    name_nearest(file, result.readings);
    name_nearest(file, result.bounds);
  }
  return result;
}

}  // namespace assay::properties
