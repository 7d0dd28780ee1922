#include "properties/gate/golden.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "goldens/record/record.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/delegating.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/golden_hardware.hpp"
#include "properties/gate/golden_oracle.hpp"
#include "properties/gate/home.hpp"
#include "properties/gate/judge.hpp"
#include "properties/gate/recorder.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;

/// A workload whose acceptance is the approved bits, so that a golden is judged as strictly as any other
/// case.
class ApprovedWorkload : public DelegatingWorkload {
 public:
  ApprovedWorkload(Workload& base, const goldens::Entry& entry)
      : DelegatingWorkload(base), acceptance_(base.acceptance()) {
    for (std::size_t i = 0; i < acceptance_.size(); ++i) acceptance_[i].lo = entry.outputs[i].bytes;
  }
  const std::vector<Acceptance>& acceptance() override { return acceptance_; }

 private:
  std::vector<Acceptance> acceptance_;
};

Finding finding_about(const std::string& place, const std::string& summary, const std::string& token = "") {
  Finding finding;
  finding.code = Code::golden_differs;
  finding.place = place;
  finding.summary = summary;
  finding.token = token;
  return finding;
}

/// Verifies the entries of one record.
class RecordCheck {
 public:
  RecordCheck(const std::filesystem::path& file, const Family& family, Recorder& recorder)
      : file_(file), family_(family), recorder_(recorder) {}

  void check(const goldens::Entry& entry) {
    const auto workload = family_.materialise(entry.token);
    Row& row = recorder_.row(family_.name(), "golden " + file_.stem().string(), "oracle");
    ++row.cases;
    if (differs_from_oracle(entry, *workload, row)) {
      ++row.failed;
      return;
    }
    const auto routes = family_.routes();
    for (std::size_t route = 0; route < routes.size(); ++route) {
      for (const auto kind : {kernels::DeviceKind::cpu, kernels::DeviceKind::cuda}) {
        if (kernels::Device* device = kernels::device(kind)) check_route(entry, *workload, route, *device);
      }
    }
  }

 private:
  Finding finding(const goldens::Entry& entry, const std::string& place, const std::string& summary) const {
    return finding_about(fmt::format("{} ({})", file_.filename().string(), place), summary, entry.token);
  }

  bool differs_from_oracle(const goldens::Entry& entry, Workload& workload, Row& row) {
    if (goldens::digest(input_arrays(workload)) != entry.input_digest) {
      recorder_.add(finding(entry, "generator", "the token generates other inputs than the record holds"));
      return true;
    }
    const auto outputs = workload.outputs();
    if (outputs.size() != entry.outputs.size()) {
      recorder_.add(finding(
          entry, "oracle",
          fmt::format("the record holds {} outputs, the case has {}", entry.outputs.size(), outputs.size())));
      return true;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const arithmetic::Acceptance& acceptance = workload.acceptance()[i];
      const goldens::CodeArray now = output_array(outputs[i], acceptance, acceptance.lo);
      const goldens::CodeArray& approved = entry.outputs[i];
      row.elements += outputs[i].elements;
      if (approved.name == now.name && approved.format == now.format && approved.shape == now.shape &&
          approved.bytes == now.bytes)
        continue;
      Finding what =
          finding(entry, "oracle",
                  fmt::format("{}: the oracle computes other bits than were approved", approved.name));
      note_first_difference(what, outputs[i], now, approved);
      recorder_.add(what);
      return true;
    }
    return false;
  }

  static void note_first_difference(Finding& what, const OutputBuffer& output, const goldens::CodeArray& now,
                                    const goldens::CodeArray& approved) {
    if (now.bytes.size() != approved.bytes.size() || now.format != approved.format) return;
    const auto at =
        std::mismatch(now.bytes.begin(), now.bytes.end(), approved.bytes.begin()).first - now.bytes.begin();
    const int width = formats::storage_bytes(output.format);
    const std::size_t index = static_cast<std::size_t>(at) / static_cast<std::size_t>(width);
    what.notes.push_back(
        fmt::format("{}: approved {}, computed {}", describe_place(output, index),
                    describe_code(output.format, arithmetic::load_code(approved.bytes, width, index)),
                    describe_code(output.format, arithmetic::load_code(now.bytes, width, index))));
  }

  void check_route(const goldens::Entry& entry, Workload& workload, std::size_t route,
                   kernels::Device& device) {
    ApprovedWorkload approved(workload, entry);
    Row& row = recorder_.row(family_.name(), family_.routes()[route].name, to_string(device.kind()));
    CaseResult result = judge_case(family_, approved, route, device);
    for (Finding& finding : result.findings) {
      finding.place = fmt::format("{}, {}", file_.filename().string(), finding.place);
    }
    recorder_.add(row, result);
  }

  std::filesystem::path file_;
  const Family& family_;
  Recorder& recorder_;
};

/// Every case the family names must be in its record, and the record must hold nothing else.
void check_completeness(const Family& family, const std::filesystem::path& file,
                        const goldens::Record& record, Recorder& recorder) {
  const auto named = family.golden_cases();
  std::filesystem::path name = file.stem();
  if (name.extension() == ".pending") name = name.stem();  // to look at before it is accepted
  const auto found = named.find(name.string());
  std::set<std::string> wanted, held;
  if (found != named.end()) wanted.insert(found->second.begin(), found->second.end());
  for (const auto& entry : record.entries) held.insert(entry.token);
  const auto complain = [&](const std::string& token, const char* what) {
    recorder.add(finding_about(file.filename().string(), what, token));
  };
  for (const auto& token : wanted) {
    if (!held.count(token)) complain(token, "a golden case of the family is missing from the record");
  }
  for (const auto& token : held) {
    if (!wanted.count(token)) complain(token, "the record holds a case that the family does not name");
  }
}

bool has_required_routes(const Family& family, Recorder& recorder) {
  bool all = true;
  for (const auto kind : {kernels::DeviceKind::cpu, kernels::DeviceKind::cuda}) {
    if (kernels::device(kind)) all = recorder.add(check_routes(family, kind)) && all;
  }
  return all;
}

/// The records a family names, the devices' included.
std::vector<std::string> named_records(const Family& family) {
  std::vector<std::string> names;
  for (const auto& [name, tokens] : family.golden_cases()) names.push_back(name);
  for (const std::string& device : expected_hardware(family))
    names.push_back(fmt::format("{}/{}", goldens::hardware_folder, device));
  return names;
}

void survey_family(const Family& family, GoldenSurvey& survey) {
  const goldens::Store store = golden_store();
  if (!std::filesystem::is_directory(store.folder(family.name())))
    throw BadInput(fmt::format("{}: the folder of approved records of {} is missing",
                               store.folder(family.name()).string(), family.name()));
  const auto named = family.golden_cases();
  std::vector<std::string> missing = named_records(family);
  for (const goldens::StoredFile& file : store.files(family.name())) {
    const std::string path = file.path.string();
    if (file.kind == goldens::FileKind::approved) {
      const auto wanted = std::ranges::find(missing, file.record);
      if (wanted == missing.end()) {
        survey.findings.push_back(finding_about(path, "the family names no record of this name"));
      } else {
        survey.records.push_back(file.path);
        missing.erase(wanted);
      }
    } else if (file.kind == goldens::FileKind::pending && !is_hardware_record(file.record) &&
               !named.contains(file.record)) {
      survey.findings.push_back(finding_about(path, "it is pending, but the family names no such record"));
    } else if (file.kind == goldens::FileKind::pending) {
      survey.notes.push_back(fmt::format("{}: pending, see: assay golden review", path));
    } else if (file.kind == goldens::FileKind::temporary) {
      survey.notes.push_back(
          fmt::format("{}: left by an interrupted write; the next assay golden regen removes it", path));
    } else if (file.kind == goldens::FileKind::other) {
      survey.findings.push_back(finding_about(path, "nothing refers to this file"));
    }
  }
  for (const std::string& name : missing)
    survey.findings.push_back(
        finding_about(store.approved(family.name(), name).string(), "the approved record is missing"));
  if (!hardware_cases(family).empty() && expected_hardware(family).empty())
    survey.notes.push_back(fmt::format("{}: no record of a device is expected yet", family.name()));
}

}  // namespace

goldens::Store golden_store() { return {home() / "goldens"}; }

GoldenSurvey survey_goldens() {
  GoldenSurvey survey;
  for (const Family* family : families()) survey_family(*family, survey);
  std::ranges::sort(survey.records);
  return survey;
}

GateResult verify_goldens(const std::vector<std::filesystem::path>& files) {
  Recorder recorder;
  for (const auto& file : files) {
    const goldens::Record record = goldens::read(file);
    const Family* family = find_family(record.family);
    if (!family)
      throw BadInput(fmt::format("{}: it is of family {}, which this program does not have", file.string(),
                                 fixtures::in_quotes(record.family)));
    if (!has_required_routes(*family, recorder)) continue;
    // Only a device's record says which routes gave its bits.
    if (std::ranges::any_of(record.entries, [](const auto& entry) { return !entry.route.empty(); })) {
      check_hardware_record(*family, record, file, recorder);
      continue;
    }
    check_completeness(*family, file, record, recorder);
    RecordCheck check(file, *family, recorder);
    for (const goldens::Entry& entry : record.entries) check.check(entry);
  }
  return std::move(recorder.result());
}

}  // namespace assay::properties
