// The life of a golden on a made-up family, whose generator, oracle and kernel can each be made to drift.
#include "properties/gate/golden.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "fixtures/tensor/errors.hpp"
#include "goldens/record/record.hpp"
#include "properties/gate/golden_hardware.hpp"
#include "properties/gate/golden_oracle.hpp"
#include "properties/gate/golden_review.hpp"
#include "properties/gate/testing.hpp"

namespace assay::properties {
namespace {

namespace fs = std::filesystem;
using namespace copy_testing;
using goldens::FileStep;

/// What each part of the family adds to the codes that it makes.
struct Drift {
  int generator = 0, oracle = 0, kernel = 0;
  char kernel_of = 0;  ///< only cases of this seed; 0: all
  std::vector<std::string> more_cases;
  bool loses_a_case = false;
} drift;

std::byte shifted(std::byte code, int by) { return static_cast<std::byte>(std::to_integer<int>(code) + by); }

/// Copies codes that depend on the seed, a digit.
class SeededWorkload : public CopyWorkload {
 public:
  explicit SeededWorkload(std::string token) : CopyWorkload(body(token.back())), token_(std::move(token)) {
    for (std::size_t i = 0; i < rows * cols; ++i)
      x_.push_back(static_cast<std::byte>(0x21 + i + static_cast<std::size_t>(token_.back() - '0')));
    for (std::byte& code : x_) code = shifted(code, drift.generator);
    for (std::size_t i = 0; i < x_.size(); ++i)
      acceptance_[0].lo[i / cols * stride + i % cols] = shifted(x_[i], drift.oracle);
  }
  std::string token() const override { return token_; }
  std::vector<InputBuffer> inputs() const override { return {{"x", formats::Format::e4m3, x_, 16}}; }

 private:
  static CopyBody body(char seed) {
    return [seed](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
      record(context, "copy_fast");
      const int shift = drift.kernel_of == 0 || drift.kernel_of == seed ? drift.kernel : 0;
      for (std::size_t i = 0; i < rows * cols; ++i)
        y[i / cols * stride + i % cols] = static_cast<std::uint8_t>(x[i] + shift);
    };
  }
  std::string token_;
  std::vector<std::byte> x_;
};

class SeededFamily : public CopyFamily {
 public:
  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    if (!token.starts_with("copy:seed=") || token.size() != 11)
      throw BadInput("case '" + std::string(token) + "': no seed");
    return std::make_unique<SeededWorkload>(std::string(token));
  }
  std::map<std::string, std::vector<std::string>> golden_cases() const override {
    std::map<std::string, std::vector<std::string>> cases = {{"one", {"copy:seed=1", "copy:seed=2"}},
                                                             {"two", {"copy:seed=3", "copy:seed=4"}}};
    for (const std::string& token : drift.more_cases) cases["one"].push_back(token);
    if (drift.loses_a_case) cases["one"].erase(cases["one"].begin());
    return cases;
  }
};
const SeededFamily family;
const Register registered(&family);

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const BadInput& error) {
    return error.what();
  }
  return {};
}

::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << part << "' in\n" << text;
}

/// A home of its own in which nothing is approved yet.
class GoldenLife : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-golden.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    home_ = name;
    put(home_ / "README.md", "");
    fs::create_directories(home_ / "fixtures");
    for (const Family* each : families())  // other tests of this program have some of their own
      fs::create_directories(home_ / "goldens" / each->name());
    setenv("ASSAY_HOME", name.c_str(), 1);
  }
  void TearDown() override {
    drift = {};
    unsetenv("ASSAY_HOME");
    fs::remove_all(home_);
  }

  fs::path folder() const { return home_ / "goldens" / "copy"; }
  fs::path file(const std::string& name) const { return folder() / name; }

  static void accept_all() { accept_goldens(pending_goldens({})); }
  static void approve_all() {
    regenerate_pending();
    accept_all();
  }
  static std::string review() {
    std::string text;
    for (const PendingGolden& pending : pending_goldens({})) text += review_pending(pending);
    return text;
  }
  /// Changes a record, whatever that makes of it, and seals it again.
  static void edit(const fs::path& path, const std::function<void(goldens::Record&)>& change) {
    goldens::Record record = goldens::read(path);
    change(record);
    for (goldens::Entry& entry : record.entries) {
      if (!entry.inputs.empty()) entry.input_digest = goldens::digest(entry.inputs);
      entry.output_digest = goldens::digest(entry.outputs);
    }
    goldens::write(path, record);
  }

  fs::path home_;
};

TEST_F(GoldenLife, RegenerationLeavesPendingRecordsOnlyWhereTheContentDiffers) {
  auto results = regenerate_pending();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].file, file("one.h5"));
  EXPECT_EQ(results[0].why_pending, "nothing is approved");
  EXPECT_FALSE(fs::exists(file("one.h5"))) << "only a person approves";
  accept_all();
  EXPECT_EQ(results[0].digest, goldens::content_digest(goldens::read(file("one.h5"))));
  EXPECT_TRUE(pending_goldens({}).empty());

  results = regenerate_pending();
  EXPECT_EQ(results[0].why_pending + results[1].why_pending, "");
  EXPECT_TRUE(pending_goldens({}).empty());

  // Computed by other sources, but the same: nothing for a person to look at.
  edit(file("one.h5"), [](auto& record) { record.provenance["source_revision"] = "another"; });
  EXPECT_EQ(regenerate_pending()[0].why_pending, "");

  const std::string approved = bytes_of(file("two.h5"));
  drift.oracle = 1;
  results = regenerate_pending();
  EXPECT_TRUE(has(results[1].why_pending, "is approved"));
  EXPECT_EQ(bytes_of(file("two.h5")), approved);
  EXPECT_EQ(pending_goldens({}).size(), 2u);
  drift.oracle = 0;
  regenerate_pending();
  EXPECT_TRUE(pending_goldens({}).empty()) << "of no use any more";

  put(file("two.h5"), "torn");
  EXPECT_TRUE(has(regenerate_pending()[1].why_pending, "cannot be read"));
  accept_all();
  EXPECT_EQ(bytes_of(file("two.h5")), approved);
}

TEST_F(GoldenLife, AReviewSaysWhatMovedAndWhy) {
  approve_all();
  EXPECT_EQ(review(), "");
  drift.oracle = 3;
  regenerate_pending();
  std::string text = review();
  EXPECT_TRUE(has(text, "entries: 0 added, 0 removed, 2 changed, 0 equal"));
  EXPECT_TRUE(
      has(text, "why: its inputs are the same, its outputs differ: the oracle or a contract changed"));
  EXPECT_TRUE(has(text, "y: 24 of 32 codes moved: 24 by 2 to 3, the largest 3"));
  EXPECT_TRUE(has(text, "y[0, 0]: 0x22 = 0.15625 (0x1.4p-3) -> 0x25 = 0.203125 (0x1.ap-3)"));
  EXPECT_TRUE(has(text, "and 16 more"));
  EXPECT_TRUE(has(text, "provenance: the same"));

  drift = {};
  drift.generator = 1;
  drift.more_cases = {"copy:seed=7"};
  regenerate_pending();
  text = review();
  EXPECT_TRUE(has(text, "entries: 1 added, 0 removed, 2 changed, 0 equal"));
  EXPECT_TRUE(
      has(text, "why: its inputs differ: the generator changed\n    x: 24 of 24 codes moved: 24 by 1"));
  EXPECT_TRUE(has(text, "added   copy:seed=7"));
  EXPECT_TRUE(has(text, "provenance inputs: '"));

  drift = {};
  drift.loses_a_case = true;
  regenerate_pending();
  EXPECT_TRUE(has(review(), "entries: 0 added, 1 removed, 0 changed, 1 equal"));
  EXPECT_TRUE(has(review(), "removed copy:seed=1"));

  fs::remove(file("one.h5"));
  EXPECT_TRUE(has(review(), "approved nothing yet"));
  put(file("one.h5"), "torn");
  EXPECT_TRUE(has(review(), "approved cannot be read"));
}

TEST_F(GoldenLife, NaNsAndOtherShapesAreTold) {
  approve_all();
  goldens::Record from = goldens::read(file("one.h5")), to = from;
  to.entries[0].outputs[0].bytes[1] = std::byte{0x7F};
  to.entries[0].output_digest = goldens::digest(to.entries[0].outputs);
  to.entries[1].outputs[0].shape = {8, 4};
  to.entries[1].output_digest = goldens::digest(to.entries[1].outputs);
  std::string text = describe_difference(from, to);
  EXPECT_TRUE(has(text, "y: 1 of 32 codes moved: 1 to or from NaN"));
  EXPECT_TRUE(has(text, "y: e4m3 [4, 8] became e4m3 [8, 4]"));
  to = from;
  std::swap(to.entries[0], to.entries[1]);
  EXPECT_TRUE(has(describe_difference(from, to), "the entries stand in another order"));
}

TEST_F(GoldenLife, OnlyWhatTheOracleComputesIsAccepted) {
  approve_all();
  const std::string one = bytes_of(file("one.h5")), two = bytes_of(file("two.h5"));
  drift.oracle = 1;
  regenerate_pending();
  drift.oracle = 2;
  EXPECT_TRUE(has(refusal(accept_all), "it is stale"));
  drift.oracle = 1;

  // One that does not stand keeps all from being accepted.
  const auto refused = [&](const std::string& reason) {
    EXPECT_TRUE(has(refusal(accept_all), reason));
    EXPECT_EQ(bytes_of(file("one.h5")), one);
    EXPECT_EQ(bytes_of(file("two.h5")), two);
  };
  std::string torn = bytes_of(file("two.pending.h5"));
  torn[torn.size() / 2] ^= 1;
  put(file("two.pending.h5"), torn);
  refused("is changed: SHA-256");
  regenerate_pending();
  edit(file("two.pending.h5"), [](auto& record) { record.entries[1].outputs[0].bytes[3] ^= std::byte{1}; });
  refused("it is stale");
  edit(file("two.pending.h5"), [](auto& record) { record.family = "other"; });
  refused("it is of family other, not of copy");
  regenerate_pending();
  fs::copy_file(file("two.pending.h5"), file("three.pending.h5"));
  refused("names no record 'three'");
  fs::remove(file("three.pending.h5"));
  accept_all();
  EXPECT_NE(bytes_of(file("one.h5")), one);
}

TEST_F(GoldenLife, NamesOfPendingRecords) {
  approve_all();
  drift.oracle = 1;
  regenerate_pending();
  EXPECT_EQ(pending_goldens({file("one.h5")}).at(0).pending, file("one.pending.h5"));
  EXPECT_EQ(pending_goldens({file("one.pending.h5"), file("two.h5")}).size(), 2u);
  const auto refused = [](const std::vector<fs::path>& files) {
    return refusal([&] { pending_goldens(files); });
  };
  EXPECT_TRUE(has(refused({file("one.h5"), file("one.pending.h5")}), "it is named twice"));
  EXPECT_TRUE(has(refused({file("three.h5")}), "it has no pending record"));
  EXPECT_TRUE(has(refused({"/none/one.h5"}), "it has no pending record"));
  put(home_ / "elsewhere" / "one.pending.h5", "");
  EXPECT_TRUE(has(refused({home_ / "elsewhere" / "one.pending.h5"}), "it has no pending record"));

  reject_goldens(pending_goldens({file("one.h5")}));
  EXPECT_FALSE(fs::exists(file("one.pending.h5")));
  EXPECT_TRUE(fs::exists(file("one.h5")));
  EXPECT_TRUE(has(refused({file("one.h5")}), "it has no pending record"));
}

/// Runs `action` in a process that is killed at its step number `last`; false when it came to its end before.
bool killed_at(int last, const std::function<void(const goldens::AtStep&)>& action) {
  const pid_t pid = fork();
  if (pid == 0) {
    int steps = 0;
    action([&](FileStep) {
      if (++steps == last) raise(SIGKILL);
    });
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST_F(GoldenLife, AKillAtAnyStepLosesNothing) {
  approve_all();
  const std::string old[] = {bytes_of(file("one.h5")), bytes_of(file("two.h5"))};
  drift.oracle = 1;
  regenerate_pending();
  const std::string made[] = {bytes_of(file("one.pending.h5")), bytes_of(file("two.pending.h5"))};
  const fs::path approved[] = {file("one.h5"), file("two.h5")};
  const fs::path pending[] = {file("one.pending.h5"), file("two.pending.h5")};

  int steps = 1;
  for (bool killed = true; killed; ++steps) {
    for (const fs::path& path : pending) fs::remove(path);
    killed = killed_at(steps, [](const auto& at_step) { regenerate_pending(at_step); });
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(bytes_of(approved[i]), old[i]) << steps;
      EXPECT_TRUE(!fs::exists(pending[i]) || bytes_of(pending[i]) == made[i]) << steps;
    }
    for (const auto& path : survey_goldens().findings) ADD_FAILURE() << path.place << path.summary;
  }
  EXPECT_GT(steps, 10);
  regenerate_pending();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 4) << "nothing is left of what was killed";

  for (steps = 1;; ++steps) {
    for (int i = 0; i < 2; ++i) put(approved[i], old[i]), put(pending[i], made[i]);
    const bool killed =
        killed_at(steps, [](const auto& at_step) { accept_goldens(pending_goldens({}), at_step); });
    for (int i = 0; i < 2; ++i) {
      const bool accepted = !fs::exists(pending[i]);
      EXPECT_EQ(bytes_of(approved[i]), accepted ? made[i] : old[i]) << steps;
      EXPECT_TRUE(accepted || bytes_of(pending[i]) == made[i]) << steps;
    }
    if (!killed) break;
  }
  EXPECT_EQ(steps, 3);
}

TEST_F(GoldenLife, WhatNothingNamesIsFoundAndWhatIsMissing) {
  approve_all();
  GoldenSurvey survey = survey_goldens();
  EXPECT_TRUE(survey.findings.empty());
  EXPECT_EQ(survey.records, (std::vector<fs::path>{file("one.h5"), file("two.h5")}));
  put(file("CMakeLists.txt"), ""), put(file(".gitkeep"), "");
  put(file(".one.h5.abcdef"), ""), put(file("one.pending.h5"), "");
  survey = survey_goldens();
  EXPECT_TRUE(survey.findings.empty());
  EXPECT_EQ(survey.notes.size(), 2u);
  for (const char* name : {"three.h5", "notes.md", "deep/one.h5", ".hidden", "three.pending.h5",
                           "hardware/h200.h5", "hardware/deep/cases.txt"}) {
    put(file(name), "");
    survey = survey_goldens();
    ASSERT_EQ(survey.findings.size(), 1u) << name;
    EXPECT_EQ(survey.findings[0].place, file(name).string());
    fs::remove(file(name));
  }
  fs::remove(file("two.h5"));
  survey = survey_goldens();
  ASSERT_EQ(survey.findings.size(), 1u);
  EXPECT_TRUE(has(survey.findings[0].summary, "missing"));
  EXPECT_EQ(survey.records.size(), 1u);
}

TEST_F(GoldenLife, NothingIsWrittenInContinuousIntegration) {
  const char* old = std::getenv("CI");
  const std::string kept = old ? old : "";
  setenv("CI", "", 1);
  EXPECT_EQ(refusal([] { refuse_in_ci("golden accept"); }), "");
  setenv("CI", "false", 1);
  EXPECT_EQ(refusal([] { refuse_in_ci("golden accept"); }),
            "golden accept: refused, because CI is set: a person decides what is kept");
  old ? setenv("CI", kept.c_str(), 1) : unsetenv("CI");
}

/// A record of the executor, kept as if it had come from hardware.
class HardwareGolden : public GoldenLife {
 protected:
  void SetUp() override {
    GoldenLife::SetUp();
    put(file("hardware/cases.txt"), "# what is recorded\n\ncopy:seed=1\ncopy:seed=5\n");
  }
  RecordedHardware record_all() { return record_hardware_goldens(cpu(), std::nullopt); }
  static kernels::Device& cpu() { return *kernels::device(kernels::DeviceKind::cpu); }
  /// The findings on the record, in words.
  std::string check(const std::function<void(goldens::Record&)>& change = {}) {
    goldens::Record record = goldens::read(file("hardware/cpu.pending.h5"));
    if (change) change(record);
    Recorder recorder;
    check_hardware_record(family, record, file("hardware/cpu.h5"), recorder);
    std::string text;
    for (const Finding& finding : recorder.result().findings)
      text += finding.place + ": " + finding.summary + " " + finding.token + "\n";
    return text;
  }
};

TEST_F(HardwareGolden, IsRecordedAndChecked) {
  const RecordedHardware recorded = record_all();
  EXPECT_EQ(recorded.result.exit_code(), exit_pass);
  ASSERT_EQ(recorded.written.size(), 1u);
  const goldens::Record record = goldens::read(recorded.written[0].file);
  ASSERT_EQ(record.entries.size(), 2u);
  EXPECT_EQ(record.entries[1].token, "copy:seed=5");
  EXPECT_EQ(record.entries[1].route, "fast") << "the other one refuses it";
  EXPECT_TRUE(record.entries[1].inputs.empty());
  EXPECT_EQ(record.provenance.at("device"), "executor");
  EXPECT_EQ(record.provenance.at("build"), kernels::binary_hash());
  EXPECT_EQ(check(), "");

  EXPECT_TRUE(has(check([](auto& r) { r.entries[0].outputs[0].bytes[2] ^= std::byte{1}; }),
                  "cpu.h5 (oracle): y: 1 recorded elements are outside what the oracle accepts copy:seed=1"));
  EXPECT_TRUE(has(check([](auto& r) { r.entries[0].route = "fats"; }), "a route that the family has not"));
  EXPECT_TRUE(has(check([](auto& r) { r.entries[0].route = ""; }), "the entry names no route"));
  EXPECT_TRUE(has(check([](auto& r) { r.entries.pop_back(); }), "is missing from the record copy:seed=5"));
  EXPECT_TRUE(has(check([](auto& r) { r.entries[0].token = "copy:seed=2"; }), "cases.txt does not name"));
  EXPECT_TRUE(
      has(check([](auto& r) { r.entries[0].outputs[0].name = "z"; }), "is not the case's y any more"));
  drift.generator = 1;
  EXPECT_TRUE(has(check(), "other inputs than the device was given"));
  drift = {};
  drift.kernel = 1;
  EXPECT_TRUE(has(check(), "copy/fast on cpu"));
}

TEST_F(HardwareGolden, OfTwoRightResultsOneIsTheDevices) {
  record_all();
  // An interval that holds both: only the recorded bits can tell.
  class Wide : public SeededFamily {
   public:
    std::unique_ptr<Workload> materialise(std::string_view token) const override {
      auto workload = std::make_unique<SeededWorkload>(std::string(token));
      arithmetic::Acceptance& acceptance = workload->acceptance_[0];
      acceptance.hi = acceptance.lo;
      for (std::byte& code : acceptance.hi) code = shifted(code, 1);
      return workload;
    }
  };
  drift.kernel = 1;
  Recorder recorder;
  check_hardware_record(Wide{}, goldens::read(file("hardware/cpu.pending.h5")), "cpu.h5", recorder);
  ASSERT_FALSE(recorder.result().findings.empty());
  EXPECT_EQ(recorder.result().findings[0].summary, "y: other bits than were recorded on the device");
}

TEST_F(HardwareGolden, OneWrongResultKeepsAllFromBeingRecorded) {
  drift.kernel = 1;
  drift.kernel_of = '5';
  const RecordedHardware recorded = record_all();
  EXPECT_EQ(recorded.result.exit_code(), exit_fail);
  EXPECT_TRUE(recorded.written.empty());
  EXPECT_FALSE(fs::exists(file("hardware/cpu.pending.h5")));
}

TEST_F(HardwareGolden, IsAcceptedWhenItStandsAndThenExpected) {
  approve_all();
  EXPECT_TRUE(has(survey_goldens().notes.at(0), "no record of a device is expected yet"));
  put(file("hardware/expected.txt"), "cpu\n");
  EXPECT_TRUE(has(survey_goldens().findings.at(0).summary, "missing"));
  record_all();
  drift.kernel = 1;
  EXPECT_TRUE(has(refusal(accept_all), "it does not stand"));
  drift = {};
  accept_all();
  EXPECT_TRUE(survey_goldens().findings.empty());
  EXPECT_EQ(survey_goldens().records.size(), 3u);
  EXPECT_EQ(verify_goldens(survey_goldens().records).exit_code(), exit_pass);
  drift.kernel = 1;
  EXPECT_EQ(verify_goldens({file("hardware/cpu.h5")}).exit_code(), exit_fail);
}

TEST_F(HardwareGolden, ListsAreChecked) {
  const auto refused = [&](const std::string& text) {
    put(file("hardware/cases.txt"), text);
    return refusal([] { hardware_cases(family); });
  };
  EXPECT_TRUE(has(refused("copy:seed=1\n\ncopy:sed=1\n"), "cases.txt:3: case 'copy:sed=1': no seed"));
  EXPECT_TRUE(has(refused("copy:seed=1\ncopy:seed=1\n"), "cases.txt:2: 'copy:seed=1' stands in line 1"));
  fs::remove(file("hardware/cases.txt"));
  EXPECT_TRUE(hardware_cases(family).empty());
  EXPECT_TRUE(record_all().written.empty());
}

}  // namespace
}  // namespace assay::properties
