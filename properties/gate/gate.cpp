#include "properties/gate/gate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "fixtures/files/tensor_file.hpp"
#include "properties/gate/battery.hpp"
#include "properties/gate/captured.hpp"
#include "properties/gate/case_text.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/devices.hpp"
#include "properties/gate/home.hpp"
#include "properties/gate/progress.hpp"
#include "properties/gate/recorder.hpp"
#include "properties/gate/selection.hpp"
#include "properties/gate/token.hpp"

namespace assay::properties {
namespace {

using kernels::Device;
using kernels::DeviceKind;

int property_tries(Level level) { return level == Level::quick ? 200 : level == Level::full ? 1000 : 10000; }

/// Failing cases of one row that are looked into; the others are counted.
constexpr std::uint64_t cases_with_findings = 32;

/// Judges workloads of one family on every selected route and device.
class FamilyRun : public Bench {
 public:
  FamilyRun(const Family& family, const std::vector<Device*>& devices, const Selection& selection,
            const GateOptions& options, Recorder& recorder, Progress& progress)
      : family_(family), devices_(devices), options_(options), recorder_(recorder), progress_(progress) {
    const auto routes = family.routes();
    for (std::size_t i = 0; i < routes.size(); ++i) {
      if (!selection.route(family.name(), routes[i].name)) continue;
      routes_.push_back(i);
      names_.emplace_back(routes[i].name);
    }
  }

  /// Shows every selected route and device in the table, also where nothing comes to be compared.
  void show_rows() {
    const auto required = family_.required_routes();
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      for (const Device* device : devices_) row(i, *device).kernels = required[routes_[i]].kernels;
    }
  }

  bool any_route() const { return !routes_.empty(); }

  /// Records a finding where a device's routes are not those the family requires; then nothing of it is
  /// judged.
  bool has_required_routes() {
    bool all = true;
    for (const Device* device : devices_) all = recorder_.add(check_routes(family_, device->kind())) && all;
    return all;
  }

  /// Judges a case where its text says, else on everything that is selected. False when that is nowhere.
  bool judge_case_of(const CaseText& text, Workload& workload) {
    const std::vector<std::size_t> routes = routes_of(text);
    bool anywhere = false;
    judge_recorded(workload, [&](std::size_t route, const Device& device) {
      const bool here = std::count(routes.begin(), routes.end(), route) > 0 &&
                        (text.device.empty() || text.device == to_string(device.kind()));
      anywhere = anywhere || here;
      return here;
    });
    return anywhere;
  }

  /// The same for a captured case; what is found says where it comes from.
  void replay(const Captured& fixture, std::size_t index, Workload& workload) {
    origin_ = origin(fixture, index);
    if (judge_case_of(fixture.cases[index].text, workload)) {
      ++recorder_.result().replayed;
    } else {
      recorder_.result().notes.push_back("not replayed, its route or device is absent or not selected: " +
                                         origin_);
    }
    origin_.clear();
  }

  using Place = std::function<bool(std::size_t route, const Device&)>;

  /// Judges, records everything, and checks that devices agree to the bit.
  void judge_recorded(
      Workload& workload, const Place& wanted = [](std::size_t, const Device&) { return true; }) {
    show_rows();
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      std::vector<Contents> outputs;
      for (Device* device : devices_) {
        if (!wanted(routes_[i], *device)) continue;
        // A captured case is always looked into, and takes nothing from the others' share.
        std::uint64_t& replays = failed_replays_[{i, device->kind()}];
        const bool enough = origin_.empty() && row(i, *device).failed - replays >= cases_with_findings;
        Execution ran;
        CaseResult result =
            judge_case(family_, workload, routes_[i], *device, enough ? Detail::verdict : Detail::findings,
                       options_.on_failure ? &ran : nullptr);
        if (!origin_.empty()) {
          if (!result.findings.empty()) ++replays;
          for (Finding& finding : result.findings) finding.notes.insert(finding.notes.begin(), origin_);
        }
        if (options_.on_failure && !result.findings.empty()) options_.on_failure(workload, result, ran);
        elements += result.elements;
        recorder_.add(row(i, *device), result);
        if (result.verdict == Verdict::pass) outputs.push_back(std::move(result.outputs));
      }
      if (outputs.size() > 1) compare_devices(workload, i, outputs);
    }
    progress_.work(std::string(family_.name()), elements);
  }

  bool judge(Workload& workload) override { return judge(workload, {}); }

  bool judge(Workload& workload, const std::function<void(std::size_t, const Contents&)>& use) override {
    bool right = true;
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      for (Device* device : devices_) {
        const CaseResult result = judge_case(family_, workload, routes_[i], *device, Detail::verdict);
        recorder_.count(row(i, *device), result);
        right = right && (result.verdict == Verdict::pass || result.verdict == Verdict::unsupported);
        if (use && result.verdict == Verdict::pass) use(routes_[i], result.outputs);
      }
    }
    return right;
  }

  /// Whether the next piece of built-in work is this shard's; pieces are dealt out in turn.
  bool in_shard() { return dealt_++ % options_.shard.count == options_.shard.index; }

  std::uint64_t seed() const override { return options_.seed; }
  int tries() const override { return property_tries(options_.level); }

  void check_properties() {
    const std::vector<Property> properties = family_.properties();
    progress_.expect(properties.size());
    for (const Property& property : properties) {
      if (!in_shard()) continue;
      const std::string counter_example = property.check(*this);
      progress_.step();
      if (counter_example.empty()) {
        ++recorder_.result().properties_held;
        continue;
      }
      if (counter_example == compared_nothing && routes_.size() < family_.routes().size()) {
        // Only --route brings this about: the property is about routes that were left out.
        recorder_.result().notes.push_back(fmt::format(
            "property '{}' was not checked: the selected routes leave nothing to compare", property.name));
        continue;
      }
      ++recorder_.result().properties_failed;
      recorder_.add(describe_counter_example(property, counter_example));
    }
  }

 private:
  /// The shrunk case once more, so that the finding says what is wrong with it and the table shows whose it
  /// is.
  Finding describe_counter_example(const Property& property, const std::string& tokens) {
    Finding finding;
    finding.code = Code::property_failed;
    finding.place = fmt::format("{}, property '{}'", family_.name(), property.name);
    finding.summary = "does not hold: " + property.sentence;
    if (tokens == compared_nothing) {
      finding.summary = "nothing was compared in all its tries, so it did not hold: " + property.sentence;
      return finding;
    }
    finding.token = tokens;
    const auto workload = family_.materialise(tokens.substr(0, tokens.find('\n')));
    for (std::size_t i = 0; i < routes_.size(); ++i) {
      for (Device* device : devices_) {
        const CaseResult result = judge_case(family_, *workload, routes_[i], *device);
        recorder_.add_counts(row(i, *device), result);
        for (const Finding& wrong : result.findings) {
          if (finding.patterns.empty()) finding.patterns = wrong.patterns;
          finding.notes.push_back(
              fmt::format("{} {}: {}", code_text(wrong.code), wrong.place, wrong.summary));
          finding.notes.insert(finding.notes.end(), wrong.notes.begin(), wrong.notes.end());
        }
      }
    }
    return finding;
  }

  Row& row(std::size_t selected, const Device& device) {
    return recorder_.row(family_.name(), names_[selected], to_string(device.kind()));
  }

  void compare_devices(const Workload& workload, std::size_t selected, const std::vector<Contents>& outputs) {
    auto finding = find_difference(family_, workload, names_[selected], outputs[0], outputs[1]);
    if (!finding) {
      ++recorder_.result().identical_across_devices;
      return;
    }
    ++row(selected, *devices_[1]).failed;
    recorder_.add(std::move(*finding));
  }

  const Family& family_;
  const std::vector<Device*>& devices_;
  const GateOptions& options_;
  Recorder& recorder_;
  Progress& progress_;
  std::vector<std::size_t> routes_;
  std::vector<std::string> names_;
  std::string origin_;  ///< of the captured case that is judged; empty: it is another
  std::map<std::pair<std::size_t, DeviceKind>, std::uint64_t> failed_replays_;  ///< by selected route
  std::uint64_t dealt_ = 0;
};

/// A captured case that was built, and whose right codes agree with the oracle.
struct Replayed {
  const Captured* fixture = nullptr;
  std::size_t index = 0;
  std::unique_ptr<Workload> workload;
};

/// The captured cases of the selected families, all of them built before anything runs.
std::vector<Replayed> build_captured(const std::vector<Captured>& fixtures, const Selection& selection) {
  std::vector<Replayed> cases;
  for (const Captured& fixture : fixtures) {
    if (!selection.family(fixture.family)) continue;
    for (std::size_t i = 0; i < fixture.cases.size(); ++i) cases.push_back({&fixture, i, build(fixture, i)});
  }
  return cases;
}

/// What became of the tensors that one FILE or FILE:TENSOR names, over every family that was offered them.
struct FileUse {
  bool offered = false;
  std::size_t judged = 0;
  std::set<std::string> refused;  ///< names of tensors, by one family or another
  std::string first_refusal;

  /// Nothing of what was asked for could be judged: bad input, not a note.
  void require_judged(const fixtures::TensorPath& path) const {
    if (judged > 0 || !offered) return;
    if (refused.empty()) throw BadInput(fmt::format("{}: it holds no tensors", path.file.string()));
    const std::size_t more = refused.size() - 1;
    throw BadInput(more == 0 ? first_refusal
                             : fmt::format("{} ({} more tensor{} cannot be judged either)", first_refusal,
                                           more, more == 1 ? "" : "s"));
  }
};

/// Workloads over a file's tensors. What the family cannot take is listed in the notes by name.
void judge_file(FamilyRun& run, const Family& family, const fixtures::TensorPath& path, Level level,
                FileUse& use, GateResult& result, Progress& progress) {
  const auto file = fixtures::open_tensor_file(path.file);
  std::vector<std::string> names;
  if (path.tensor.empty()) {
    for (const auto& info : file->tensors()) names.push_back(info.name);
  } else {
    names.push_back(path.tensor);
  }
  use.offered = true;
  progress.expect(names.size());
  for (const std::string& name : names) {
    std::vector<std::unique_ptr<Workload>> workloads;
    try {
      workloads = family.on_tensor(file->read(name), path.file, level);
      ++use.judged;
    } catch (const BadInput& reason) {
      if (use.refused.empty()) use.first_refusal = reason.what();
      use.refused.insert(name);
      result.notes.push_back(fmt::format("unsupported, not judged by {}: {}", family.name(), reason.what()));
    }
    for (auto& workload : workloads) {
      run.judge_recorded(*workload);
      workload.reset();  // a large tensor's buffers are gone before the next is built
    }
    progress.step();
  }
}

void judge_tokens(FamilyRun& run, const Family& family, const std::vector<std::string>& tokens,
                  Progress& progress) {
  progress.expect(tokens.size());
  for (const std::string& token : tokens) {
    const CaseText text = parse_case(token);
    if (text.family == family.name()) run.judge_case_of(text, *build(text));
    progress.step();
  }
}

/// Those of a family; every shard replays all of them, so that none of its verdicts is without.
void replay_captured(FamilyRun& run, const Family& family, const std::vector<Replayed>& captured,
                     Progress& progress) {
  progress.expect(captured.size());
  for (const Replayed& one : captured) {
    if (one.fixture->family == family.name()) run.replay(*one.fixture, one.index, *one.workload);
    progress.step();
  }
}

void judge_built_in(FamilyRun& run, const Family& family, const GateOptions& options, Recorder& recorder,
                    Progress& progress) {
  run.show_rows();
  std::vector<std::string> tokens = family.cases(options.level, options.seed);
  std::erase_if(tokens, [&](const std::string&) { return !run.in_shard(); });
  judge_tokens(run, family, tokens, progress);
  for (const std::string& name : family.real_inputs()) {
    if (!run.in_shard()) continue;
    const fixtures::TensorPath path{(home() / "fixtures" / family.name() / name).lexically_normal(), ""};
    FileUse use;
    judge_file(run, family, path, options.level, use, recorder.result(), progress);
    use.require_judged(path);
  }
  run.check_properties();
}

/// Opens every file before anything runs; a tensor that is asked for by name must be in its file.
std::vector<fixtures::TensorPath> check_files(const GateOptions& options) {
  std::vector<fixtures::TensorPath> paths;
  for (const std::string& text : options.on) {
    const fixtures::TensorPath path = fixtures::parse_tensor_path(text);
    std::error_code ignored;
    if (std::filesystem::status(path.file, ignored).type() == std::filesystem::file_type::not_found)
      throw BadInput(fmt::format("{}: no such file", text));  // whole: where a ':' would split it is a guess
    const auto file = fixtures::open_tensor_file(path.file);
    const auto& tensors = file->tensors();
    const bool listed = std::any_of(tensors.begin(), tensors.end(),
                                    [&](const auto& info) { return info.name == path.tensor; });
    if (!path.tensor.empty() && !listed) file->read(path.tensor);  // throws, naming the nearest
    paths.push_back(path);
  }
  return paths;
}

/// Refuses a case that no selected family, route and device is named by, before anything runs.
void check_cases(const GateOptions& options, const Selection& selection,
                 const std::vector<Device*>& devices) {
  for (const std::string& whole : options.cases) {
    const CaseText text = parse_case(whole);
    const auto refuse = [&](const std::string& reason) { throw BadInput(case_refusal(whole, reason)); };
    const Family& family = family_of(text);
    if (!selection.family(family.name())) refuse("its family is not selected by --family");
    const auto known = family.routes();
    const auto routes = routes_of(text);
    if (std::none_of(routes.begin(), routes.end(),
                     [&](std::size_t i) { return selection.route(family.name(), known[i].name); }))
      refuse("its route is not selected by --route");
    if (text.device.empty()) continue;
    if (text.device != "cpu" && text.device != "cuda")
      refuse(fmt::format("there is no device '{}'; devices are cpu and cuda", text.device));
    if (std::none_of(devices.begin(), devices.end(),
                     [&](const Device* device) { return to_string(device->kind()) == text.device; }))
      throw EnvironmentError(
          case_refusal(whole, fmt::format("device {} is absent or not selected", text.device)));
  }
}

/// A row in which every element written in place was right before makes the run vacuous; this says which.
void note_shows_no_write(GateResult& result) {
  for (const Row& row : result.rows) {
    if (!row.shows_no_write()) continue;
    result.notes.push_back(fmt::format(
        "vacuous: {}/{} on {}: all {} elements that were to be written in place were right before the run",
        row.family, row.route, row.device, grouped(row.in_place)));
  }
}

/// A kernel that no built-in case led to makes the run vacuous; this says which. Of a shard it is said alone.
void note_never_launched(GateResult& result) {
  for (const Row& row : result.rows) {
    for (const std::string& kernel : row.never_launched()) {
      result.notes.push_back(fmt::format("{}{}/{} on {} never launched its kernel {}",
                                         result.every_row_must_compare ? "vacuous: " : "", row.family,
                                         row.route, row.device, kernel));
    }
  }
}

void judge_all(const GateOptions& options, const Selection& selection,
               const std::vector<fixtures::TensorPath>& files, const std::vector<Replayed>& captured,
               const std::vector<Device*>& devices, bool built_in, Recorder& recorder) {
  std::vector<FileUse> uses(files.size());
  Progress progress("gate");
  for (const Family* family : families()) {
    if (!selection.family(family->name())) continue;
    FamilyRun run(*family, devices, selection, options, recorder, progress);
    if (!run.any_route() || !run.has_required_routes()) continue;
    if (built_in) {
      replay_captured(run, *family, captured, progress);
      judge_built_in(run, *family, options, recorder, progress);
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      judge_file(run, *family, files[i], options.level, uses[i], recorder.result(), progress);
    }
    judge_tokens(run, *family, options.cases, progress);
  }
  for (std::size_t i = 0; i < files.size(); ++i) uses[i].require_judged(files[i]);
  for (const Battery* battery : batteries()) {
    if (!built_in || options.shard.index != 0 || !selection.family(battery->name)) continue;
    for (Device* device : devices) {
      battery->run(
          *device, options.level,
          [&](std::string_view route) { return selection.route(battery->name, route); }, recorder);
    }
  }
  if (!recorder.result().every_row_must_compare) {
    std::vector<std::string> devices_named;
    for (const auto* kinds : {&options.devices, &options.required})
      for (const kernels::DeviceKind kind : *kinds) devices_named.emplace_back(to_string(kind));
    leave_out_unasked(recorder.result(), !options.routes.empty(), devices_named);
  }
  if (built_in) note_never_launched(recorder.result());
  note_shows_no_write(recorder.result());
}

}  // namespace

GateResult run_gate(const GateOptions& options) {
  const Selection selection(options);
  const std::vector<fixtures::TensorPath> files = check_files(options);
  Recorder recorder(options.until);
  const std::vector<Device*> devices =
      select_devices(options.devices, options.required, recorder.result().notes);
  check_cases(options, selection, devices);
  const bool built_in = options.on.empty() && options.cases.empty();
  const std::vector<Captured> fixtures =
      built_in ? read_captured(home() / "fixtures") : std::vector<Captured>{};
  const std::vector<Replayed> captured = build_captured(fixtures, selection);
  recorder.result().every_row_must_compare = built_in && options.shard.count == 1;
  if (options.shard.count > 1) {
    recorder.result().notes.push_back(fmt::format("shard {} of {}: the other cases were not judged",
                                                  options.shard.index + 1, options.shard.count));
  }

  try {
    judge_all(options, selection, files, captured, devices, built_in, recorder);
  } catch (const StoppedEarly&) {  // the result says so
  }
  return std::move(recorder.result());
}

}  // namespace assay::properties
