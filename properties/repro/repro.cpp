#include "properties/repro/repro.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/progress.hpp"
#include "properties/gate/recorder.hpp"
#include "properties/gate/report.hpp"
#include "properties/gate/token.hpp"

namespace assay::properties::repro {
namespace {

using kernels::Device;
using kernels::DeviceKind;

[[noreturn]] void refuse(const std::string& what, const std::string& reason) {
  throw BadInput(case_refusal(what, reason));
}

/// Those of the text that the options name, too.
std::vector<std::size_t> selected_routes(const CaseText& text, const Family& family,
                                         const std::vector<std::string>& asked) {
  std::vector<std::string> names, known;
  for (const auto& route : family.routes()) names.emplace_back(route.name);
  for (const std::string& name : names) {
    known.push_back(name);
    known.push_back(fmt::format("{}/{}", family.name(), name));
  }
  for (const std::string& name : asked) {
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    throw BadInput(fmt::format("{} has no route {}; the nearest is '{}'", family.name(),
                               fixtures::in_quotes(name), fixtures::nearest(name, known)));
  }
  std::vector<std::size_t> selected;
  for (const std::size_t route : routes_of(text)) {
    const bool named = asked.empty() || std::count(asked.begin(), asked.end(), known[2 * route]) > 0 ||
                       std::count(asked.begin(), asked.end(), known[2 * route + 1]) > 0;
    if (named) selected.push_back(route);
  }
  if (selected.empty()) refuse(print(text), "its route is not selected by --route");
  return selected;
}

std::vector<Device*> selected_devices(const CaseText& text, std::vector<DeviceKind> asked,
                                      std::vector<std::string>& notes) {
  if (!text.device.empty()) {
    if (text.device != "cpu" && text.device != "cuda")
      refuse(print(text), fmt::format("there is no device '{}'; devices are cpu and cuda", text.device));
    const DeviceKind kind = text.device == "cpu" ? DeviceKind::cpu : DeviceKind::cuda;
    if (!asked.empty() && std::count(asked.begin(), asked.end(), kind) == 0)
      refuse(print(text), "its device is not selected by --device");
    asked = {kind};
  }
  return select_devices(asked, {}, notes);
}

void shrink_run(const Family& family, Workload& workload, std::size_t route, Device& device,
                std::vector<Element> wrong, Run& run) {
  Progress progress("shrinking");
  ShrinkOptions options;
  progress.expect(options.most_judgements);
  options.progress = [&](const char* what, std::size_t elements) {
    progress.step();
    progress.work(what, elements);
  };
  const auto start = std::chrono::steady_clock::now();
  run.shrunk = shrink(family, workload, route, device, *run.failure, std::move(wrong), options);
  run.shrink_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One route of one device; returns its outputs where they are right.
Contents run_on(const Family& family, Source& source, std::size_t route, Device& device, bool shrinking,
                Recorder& recorder, Run& run) {
  Workload& workload = *source.workload;
  run.route = family.routes()[route].name;
  run.device = to_string(device.kind());
  Execution execution;
  CaseResult result = judge_case(family, workload, route, device, Detail::findings, &execution);
  for (Finding& finding : result.findings) {
    // The file says it in less.
    if (!source.file.empty() && finding.token.size() > longest_line) finding.token = source.file.string();
  }
  recorder.add(recorder.row(family.name(), run.route, run.device), result);
  run.verdict = result.verdict;
  run.findings = result.findings;
  run.failure = class_of(result.findings);
  if (!execution.second.empty()) {
    run.reports = mismatches(workload, execution);
    run.same = compare_with_theirs(source, execution.first);
  }
  std::vector<Element> wrong = first_wrong(workload, execution);
  execution = {};
  if (shrinking && run.failure) shrink_run(family, workload, route, device, std::move(wrong), run);
  return result.verdict == Verdict::pass ? std::move(result.outputs) : Contents{};
}

std::string shrunk_text(const Run& run, bool terminal) {
  const Shrunk& shrunk = *run.shrunk;
  std::string text = fmt::format(
      "The smallest case that fails in the same way ({}): {} of {} elements, {} of them not zero; {} "
      "judgements",
      to_string(*run.failure), grouped(shrunk.elements), grouped(shrunk.elements_before),
      grouped(shrunk.nonzero), grouped(shrunk.judgements));
  if (terminal) text += fmt::format(", {:.1f} s", run.shrink_seconds);
  text += shrunk.finished ? "\n" : ", stopped there: it may not be the smallest\n";
  const std::string line = print(shrunk.text);
  if (line.size() <= longest_line) return text + fmt::format("  repro: assay repro {}\n", shell_word(line));
  return text +
         fmt::format(
             "  its text has {} characters, too many for a line; --out FILE writes it, --json has it\n",
             grouped(line.size()));
}

/// What the file's outputs are, and which routes leave the same.
std::string theirs_text(const ReproResult& result) {
  if (result.theirs.empty()) return {};
  const bool wrong = any_wrong(result.theirs);
  std::string text =
      fmt::format("the outputs in {} are {}:\n", fixtures::printable(result.file), wrong ? "wrong" : "right");
  for (const OutputReport& report : result.theirs) text += repro::text(report) + "\n";
  for (const Run& run : result.runs) {
    if (run.same.empty()) continue;
    const std::string place = fmt::format("{} on {}", run.route, run.device);
    std::string names, others;
    for (const SameBits& one : run.same) {
      if (one.different == 0) {
        names += (names.empty() ? "" : ", ") + one.output;
      } else {
        others += fmt::format("  {}: {} of {} elements differ, first {}\n", one.output,
                              grouped(one.different), grouped(one.compared), one.first);
      }
    }
    if (others.empty()) {
      text +=
          fmt::format("{}: {} leaves the same bits ({})\n", wrong ? "reproduced" : "the same", place, names);
    } else {
      text += fmt::format("{}: {} leaves other bits\n{}", wrong ? "not reproduced" : "not the same", place,
                          others);
    }
  }
  return text + "\n";
}

nlohmann::ordered_json json_of(const Run& run) {
  nlohmann::ordered_json item = {
      {"route", run.route}, {"device", run.device}, {"verdict", to_string(run.verdict)}};
  item["outputs"] = nlohmann::ordered_json::array();
  for (const OutputReport& report : run.reports) item["outputs"].push_back(json(report));
  for (const SameBits& one : run.same) {
    nlohmann::ordered_json same = {
        {"output", one.output}, {"compared", one.compared}, {"different", one.different}};
    if (one.different > 0) same["first"] = one.first;
    item["beside_file"].push_back(std::move(same));
  }
  if (!run.shrunk) return item;
  item["shrunk"] = {{"case", print(run.shrunk->text)},      {"failure", to_string(*run.failure)},
                    {"judgements", run.shrunk->judgements}, {"elements_before", run.shrunk->elements_before},
                    {"elements", run.shrunk->elements},     {"not_zero", run.shrunk->nonzero},
                    {"finished", run.shrunk->finished}};
  return item;
}

}  // namespace

ReproResult reproduce(const ReproOptions& options) {
  Source source = source_of(options.what);
  const CaseText& text = source.text;
  const Family& family = family_of(text);
  const std::vector<std::size_t> routes = selected_routes(text, family, options.routes);
  Recorder recorder;
  const std::vector<Device*> devices = selected_devices(text, options.devices, recorder.result().notes);
  ReproResult result;
  result.text = print(text);
  result.file = source.file.string();
  result.origin = source.origin;
  for (const Device* device : devices) recorder.add(check_routes(family, device->kind()));
  for (const std::size_t route : routes) {
    std::vector<Contents> right;
    for (Device* device : devices) {
      Contents outputs =
          run_on(family, source, route, *device, options.shrink, recorder, result.runs.emplace_back());
      if (!outputs.empty()) right.push_back(std::move(outputs));
    }
    if (right.size() < 2) continue;
    const std::string name(family.routes()[route].name);
    if (auto finding = find_difference(family, *source.workload, name, right[0], right[1])) {
      ++recorder.row(family.name(), name, to_string(devices[1]->kind())).failed;
      recorder.add(std::move(*finding));
    } else {
      ++recorder.result().identical_across_devices;
    }
  }
  const bool taken = std::any_of(result.runs.begin(), result.runs.end(),
                                 [](const Run& run) { return run.verdict != Verdict::unsupported; });
  if (taken) result.theirs = mismatches_of_theirs(source);  // what no route takes has no right result
  result.gate = std::move(recorder.result());
  return result;
}

std::string text_report(const ReproResult& result, double seconds, bool terminal) {
  std::string text;
  if (!result.origin.empty()) text += fixtures::printable(result.origin) + "\n\n";
  text += theirs_text(result);
  for (const Run& run : result.runs) {
    for (const Finding& finding : run.findings) text += text_finding(finding) + "\n";
    if (any_wrong(run.reports)) {
      for (const OutputReport& report : run.reports) text += repro::text(report) + "\n";
    }
    if (run.shrunk) text += shrunk_text(run, terminal) + "\n";
  }
  for (const Finding& finding : result.gate.findings) {
    const bool told = finding.code != Code::devices_differ && !finding.token.empty();
    if (!told) text += text_finding(finding) + "\n";
  }
  return text + text_summary(result.gate, seconds);
}

std::string json_report(const ReproResult& result) {
  nlohmann::ordered_json document = json_document(result.gate, {});
  document["case"] = result.text;
  document["file"] = result.file;
  document["origin"] = result.origin;
  document["file_outputs"] = nlohmann::ordered_json::array();
  for (const OutputReport& report : result.theirs) document["file_outputs"].push_back(json(report));
  document["runs"] = nlohmann::ordered_json::array();
  for (const Run& run : result.runs) document["runs"].push_back(json_of(run));
  return dump(document);
}

std::vector<ReportedCase> reported_cases(const ReproResult& result) {
  std::vector<ReportedCase> cases;
  for (const Run& run : result.runs) {
    if (run.findings.empty()) continue;
    const Finding& finding = run.findings.front();
    const std::string smallest = run.shrunk ? print(run.shrunk->text) : "";
    cases.push_back(
        {finding.place, finding.token, run.reports, smallest.size() <= longest_line ? smallest : ""});
  }
  return cases;
}

}  // namespace assay::properties::repro
