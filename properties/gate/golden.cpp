#include "properties/gate/golden.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

#include "fixtures/tensor/errors.hpp"
#include "goldens/record/record.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/home.hpp"
#include "properties/gate/judge.hpp"
#include "properties/gate/recorder.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;

const Family& family_of(const std::filesystem::path& file, const std::string& name) {
  for (const Family* family : families()) {
    if (family->name() == name) return *family;
  }
  throw BadInput(
      fmt::format("{}: it is of family '{}', which this program does not have", file.string(), name));
}

goldens::CodeArray input_array(const InputBuffer& input) {
  const auto width = static_cast<std::size_t>(formats::storage_bytes(input.format));
  return {input.name, input.format, {input.bytes.size() / width}, {input.bytes.begin(), input.bytes.end()}};
}

/// All that a case begins with: its inputs, and behind them what buffers hold that are updated in place.
std::vector<goldens::CodeArray> input_arrays(const Workload& workload) {
  std::vector<goldens::CodeArray> arrays;
  for (const InputBuffer& input : workload.inputs()) arrays.push_back(input_array(input));
  for (const OutputBuffer& output : workload.outputs()) {
    if (output.initial.empty()) continue;
    arrays.push_back(input_array({output.name + " before", output.format, output.initial}));
  }
  return arrays;
}

/// The output a golden keeps: the expected codes, with zero where the contract leaves padding untouched.
goldens::CodeArray output_array(const OutputBuffer& output, const Acceptance& acceptance) {
  assert(acceptance.exact() && "only exact outputs are kept as goldens");
  goldens::CodeArray array{
      output.name, output.format, {output.elements / output.stride, output.stride}, acceptance.lo};
  const auto width = static_cast<std::size_t>(formats::storage_bytes(output.format));
  for (const auto& range : acceptance.untouched) {
    std::fill(array.bytes.begin() + static_cast<std::ptrdiff_t>(range.begin * width),
              array.bytes.begin() + static_cast<std::ptrdiff_t>(range.end * width), std::byte{0});
  }
  return array;
}

goldens::Entry make_entry(const Family& family, const std::string& token) {
  const auto workload = family.materialise(token);
  goldens::Entry entry;
  entry.token = token;
  entry.inputs = input_arrays(*workload);
  const auto outputs = workload->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    entry.outputs.push_back(output_array(outputs[i], workload->acceptance()[i]));
  entry.input_digest = goldens::digest(entry.inputs);
  entry.output_digest = goldens::digest(entry.outputs);
  return entry;
}

/// A workload whose acceptance is the approved bits, so that a golden is judged as strictly as any other
/// case.
class ApprovedWorkload : public Workload {
 public:
  ApprovedWorkload(Workload& base, const goldens::Entry& entry)
      : base_(base), acceptance_(base.acceptance()) {
    for (std::size_t i = 0; i < acceptance_.size(); ++i) acceptance_[i].lo = entry.outputs[i].bytes;
  }
  std::string token() const override { return base_.token(); }
  std::vector<InputBuffer> inputs() const override { return base_.inputs(); }
  std::vector<OutputBuffer> outputs() const override { return base_.outputs(); }
  const std::vector<Acceptance>& acceptance() override { return acceptance_; }
  kernels::Support supports(std::size_t route, kernels::DeviceKind device) const override {
    return base_.supports(route, device);
  }
  std::vector<ScratchBuffer> scratch() const override { return base_.scratch(); }
  kernels::Support expected_support(std::size_t route, kernels::DeviceKind device) const override {
    return base_.expected_support(route, device);
  }
  ExpectedWitness expected_witness(std::size_t route) const override { return base_.expected_witness(route); }
  void launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> in,
              std::span<void* const> out) const override {
    base_.launch(route, context, in, out);
  }
  std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) override {
    return base_.diagnose(actual, before);
  }

 private:
  Workload& base_;
  std::vector<Acceptance> acceptance_;
};

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
    Finding result;
    result.code = Code::golden_differs;
    result.place = fmt::format("{} ({})", file_.filename().string(), place);
    result.summary = summary;
    result.token = entry.token;
    return result;
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
      const goldens::CodeArray now = output_array(outputs[i], workload.acceptance()[i]);
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
  const auto found = named.find(file.stem().string());
  std::set<std::string> wanted, held;
  if (found != named.end()) wanted.insert(found->second.begin(), found->second.end());
  for (const auto& entry : record.entries) held.insert(entry.token);
  const auto complain = [&](const std::string& token, const char* what) {
    Finding finding;
    finding.code = Code::golden_differs;
    finding.place = file.filename().string();
    finding.summary = what;
    finding.token = token;
    recorder.add(finding);
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

}  // namespace

std::vector<std::filesystem::path> approved_goldens() {
  std::vector<std::filesystem::path> files;
  for (const Family* family : families()) {
    for (const auto& [stem, tokens] : family->golden_cases()) {
      files.push_back(home() / "goldens" / family->name() / (stem + ".h5"));
    }
    const auto folder = home() / "goldens" / family->name();
    if (!std::filesystem::is_directory(folder)) {
      throw BadInput(fmt::format("{}: the folder of the approved records is missing", folder.string()));
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".h5" && !std::count(files.begin(), files.end(), entry.path()))
        files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

GateResult verify_goldens(const std::vector<std::filesystem::path>& files) {
  Recorder recorder;
  for (const auto& file : files) {
    const goldens::Record record = goldens::read(file);
    const Family& family = family_of(file, record.family);
    if (!has_required_routes(family, recorder)) continue;
    check_completeness(family, file, record, recorder);
    RecordCheck check(file, family, recorder);
    for (const goldens::Entry& entry : record.entries) check.check(entry);
  }
  return std::move(recorder.result());
}

std::vector<std::filesystem::path> regenerate_goldens(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> written;
  for (const Family* family : families()) {
    for (const auto& [stem, tokens] : family->golden_cases()) {
      goldens::Record record;
      record.family = family->name();
      record.provenance = {{"computed_by", "the family's oracle, exact arithmetic, one rounding an element"},
                           {"inputs", "generated from the token of each entry, counter-based"},
                           {"untouched_padding", "stored as zero"}};
      for (const std::string& token : tokens) record.entries.push_back(make_entry(*family, token));
      const auto path = folder / family->name() / (stem + ".h5");
      std::error_code error;
      std::filesystem::create_directories(path.parent_path(), error);
      if (error)
        throw BadInput(
            fmt::format("{}: it cannot be created: {}", path.parent_path().string(), error.message()));
      goldens::write(path, record);
      written.push_back(path);
    }
  }
  return written;
}

}  // namespace assay::properties
