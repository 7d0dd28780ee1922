// `assay golden` as a user meets it, in a home of its own: a copy of the approved records.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "goldens/record/record.hpp"
#include "properties/cli/program_testing.hpp"

namespace {

namespace fs = std::filesystem;
using namespace assay::cli::testing_program;
using assay::goldens::Record;

const fs::path approved_here = ASSAY_SOURCE_DIR "/goldens";
/// The smallest record: what is computed again for it takes no time.
const std::string small = "matmul_nbits/multicol";

class GoldenProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(home_ / "goldens");
    fs::create_directory_symlink(ASSAY_SOURCE_DIR "/fixtures", home_ / "fixtures");
    write(home_ / "README.md", "");
    for (const auto& entry : fs::directory_iterator(approved_here)) {
      // A writable copy, whatever the permissions of the checkout, and without what waits there.
      if (entry.is_directory())
        fs::copy(entry, home_ / "goldens" / entry.path().filename(), fs::copy_options::recursive);
    }
    if (const char* ci = std::getenv("CI")) ci_ = ci;
    setenv("CI", "", 1);
    setenv("ASSAY_HOME", (home_ / "").c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ASSAY_HOME");
    ci_.empty() ? unsetenv("CI") : setenv("CI", ci_.c_str(), 1);
  }

  fs::path file(const std::string& name, const std::string& ending = ".h5") const {
    return home_ / ("goldens/" + name + ending);
  }
  std::string quoted(const std::string& name, const std::string& ending = ".h5") const {
    return " '" + file(name, ending).string() + "'";
  }
  /// A record changed, sealed again, and put somewhere, as a wrong acceptance would leave it.
  static void change(const fs::path& from, const fs::path& to, const std::function<void(Record&)>& edit) {
    Record record = assay::goldens::read(from);
    edit(record);
    for (auto& entry : record.entries) {
      if (!entry.inputs.empty()) entry.input_digest = assay::goldens::digest(entry.inputs);
      entry.output_digest = assay::goldens::digest(entry.outputs);
    }
    assay::goldens::write(to, record);
  }
  static void flip_a_code(Record& record) { record.entries[0].outputs[0].bytes[0] ^= std::byte{1}; }

  const Folder home_{"assay_golden_home"};
  std::string ci_;
};

void expect_text(const Ran& ran, int exit_code, const std::vector<std::string>& parts) {
  EXPECT_EQ(ran.exit_code, exit_code) << ran.text;
  for (const std::string& part : parts)
    EXPECT_NE(ran.text.find(part), std::string::npos) << "no '" << part << "' in\n" << ran.text;
}

/// From lines "WORD DIGEST PATH": the digest of each "<family>/<record>.h5".
std::map<std::string, std::string> digests(const std::string& text) {
  std::map<std::string, std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word, digest, path;
    words >> word >> digest >> path;
    if (digest.size() == 64)
      found[(fs::path(path).parent_path().filename() / fs::path(path).filename()).string()] = digest;
  }
  return found;
}

TEST_F(GoldenProgram, TheLifeOfARecord) {
  const std::string original = contents(file(small));
  change(file(small), file(small), flip_a_code);
  const std::string wrong = contents(file(small));
  const auto regen = run("golden regen");
  expect_text(regen, 0, {"unchanged ", "pending   ", "multicol.h5 ("});
  EXPECT_EQ(contents(file(small)), wrong) << "an approved file is not touched";
  expect_text(run("golden review"), 1,
              {"entries: 0 added, 0 removed, 1 changed, 2 equal", "why: its inputs are the same",
               "1 of 9 codes moved: 1 by 1, the largest 1", " -> 0x"});
  expect_text(run("golden verify" + quoted(small)), 1, {"A013", "approved 0x"});
  expect_text(run("golden accept" + quoted(small)), 0, {"accepted " + file(small).string()});
  expect_text(run("golden verify" + quoted(small)), 0, {"PASS"});
  expect_text(run("golden review"), 0, {"nothing is pending"});
  expect_text(run("golden accept"), 0, {"nothing is pending"});
  EXPECT_EQ(assay::goldens::content_digest(assay::goldens::read(file(small))),
            assay::goldens::content_digest(assay::goldens::read(approved_here / (small + ".h5"))));
  const std::string idle = "nothing is pending for " + file(small).string() + "\n";
  EXPECT_EQ(run("golden review" + quoted(small)).text, idle);
  expect_text(run("golden review" + quoted(small)), 0, {idle});

  fs::copy_file(file(small), file(small, ".pending.h5"));
  const std::string other = "mxfp8_cast/bf16";
  expect_text(run("golden review" + quoted(other) + quoted(small)), 1,
              {"nothing is pending for " + file(other).string() + "\n", "entries: 0 added"});
  expect_text(run("golden reject" + quoted(small, ".pending.h5")), 0, {"rejected "});
  EXPECT_FALSE(fs::exists(file(small, ".pending.h5")));
}

TEST_F(GoldenProgram, WrongPendingFilesAreOneLine) {
  const std::string original = contents(file(small));
  const auto pend = [&](const std::string& bytes) { write(file(small, ".pending.h5"), bytes); };
  expect_usage_error("golden accept" + quoted(small), "it has no pending record");
  expect_usage_error("golden reject README.md", "README.md: it has no pending record");
  expect_usage_error("golden review ''", "golden review ''");
  expect_usage_error("golden review missing.h5", "assay: missing.h5: no such file\n");
  expect_usage_error("golden review" + quoted(small, ".pending.h5"), "multicol.pending.h5: no such file");
  expect_usage_error("golden review README.md", "README.md: it has no pending record");
  pend("hello");
  expect_usage_error("golden accept", "is not a golden record");
  expect_usage_error("golden review", "is not a golden record");
  pend(original.substr(0, original.size() / 2));
  expect_usage_error("golden accept", "is truncated or changed");
  change(file(small), file(small, ".pending.h5"), flip_a_code);
  expect_usage_error("golden accept", "it is stale");
  pend(original);
  expect_usage_error("golden accept" + quoted(small) + quoted(small, ".pending.h5"), "it is named twice");
  fs::rename(file(small, ".pending.h5"), file("matmul_nbits/other", ".pending.h5"));
  expect_usage_error("golden accept", "names no record 'other'");
  EXPECT_EQ(run("golden reject").exit_code, 0);
  EXPECT_EQ(contents(file(small)), original);
}

TEST_F(GoldenProgram, WrongArgumentsAreOneLine) {
  expect_usage_error("golden", "'assay golden COMMAND' takes verify, regen, review, accept, reject, record");
  expect_usage_error("golden acept", "unknown command 'acept'; the nearest is 'accept'");
  expect_usage_error("golden verfy", "unknown command 'verfy'; the nearest is 'verify'");
  expect_usage_error("golden gate", "unknown command 'gate'; the nearest is 're");
  expect_usage_error("golden verify ''", "golden verify ''");
  expect_usage_error("golden verify README.md", "README.md: is not a golden record");
  expect_usage_error("golden verify missing.h5", "missing.h5: no such file");
  expect_usage_error("golden regen --out ''", "--out ''");
  expect_usage_error("golden regen --out README.md/folder",
                     "README.md/folder/gated_delta: it cannot be created");
  expect_usage_error("golden regen --out /proc/none", "/proc/none/gated_delta: it cannot be created");
  expect_usage_error("golden record", "--device");
  expect_usage_error("golden record --device gpu", "unknown device 'gpu'");
  expect_usage_error("golden record --device cpu", "the executor is no hardware");
  expect_usage_error("golden record --device cpu --out ''", "--out ''");
}

TEST_F(GoldenProgram, ContinuousIntegrationWritesNothing) {
  const std::string original = contents(file(small));
  fs::copy_file(file(small), file(small, ".pending.h5"));
  setenv("CI", "true", 1);
  for (const std::string& command : {std::string("regen"), std::string("accept"), std::string("reject"),
                                     "record --device cpu --out " + home_.quoted("out")})
    expect_usage_error("golden " + command, "refused, because CI is set");
  EXPECT_EQ(run("golden review").exit_code, 1);
  EXPECT_TRUE(fs::exists(file(small, ".pending.h5")));
}

TEST_F(GoldenProgram, WhatIsMissingOrUnknownIsRed) {
  // Few records, so that little is judged: the others' absence is told as well.
  std::vector<fs::path> others;
  for (const auto& entry : fs::recursive_directory_iterator(home_ / "goldens")) {
    if (entry.path().extension() == ".h5" && entry.path() != file(small)) others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove(path);
  for (const auto& list : {"gated_delta", "matmul_nbits", "mxfp8_cast", "mxfp8_dequant"})
    fs::remove_all(file(list, "/hardware"));
  write(file("matmul_nbits/notes", ".md"), "");
  fs::create_directories(file("mxfp8_cast/deep", ""));
  write(file("mxfp8_cast/deep/bf16"), "");
  fs::copy_file(file(small), file(small, ".pending.h5"));
  expect_text(run("golden verify"), 1,
              {"notes.md: nothing refers to this file", "deep/bf16.h5: nothing refers to this file",
               "mxfp8_dequant/bf16.h5: the approved record is missing", "multicol.pending.h5: pending"});
}

TEST_F(GoldenProgram, ACheckoutWithoutAFolderIsBadInput) {
  setenv("ASSAY_HOME", "/no/such\nfolder", 1);
  expect_usage_error("golden verify", "ASSAY_HOME='/no/such\\x0afolder'");
  setenv("ASSAY_HOME", (home_ / "").c_str(), 1);
  fs::remove_all(home_ / "goldens");
  expect_usage_error("golden verify", "ASSAY_HOME");
  fs::create_directories(home_ / "goldens");
  expect_usage_error("golden verify", "the folder of approved records of gated_delta is missing");
  expect_usage_error("golden regen", "gated_delta: cannot be listed: No such file or directory");
}

TEST(Golden, ApprovedRecordsHoldFromAnyFolder) {
  setenv("ASSAY_HOME", "", 1);  // as good as not set
  const Ran ran = run("list >/dev/null; cd / && '" ASSAY_PROGRAM "' golden verify");
  unsetenv("ASSAY_HOME");
  expect_text(ran, 0, {"PASS"});
}

TEST_F(GoldenProgram, AChangedRecordIsRed) {
  const std::string bf16 = "mxfp8_dequant/bf16";
  const auto verify = [&](const std::function<void(Record&)>& edit) {
    change(approved_here / (bf16 + ".h5"), file(bf16), edit);
    return run("golden verify" + quoted(bf16));
  };
  expect_text(verify([](Record&) {}), 0, {"PASS"});
  expect_text(verify(flip_a_code), 1, {"A013", "approved 0x"});
  expect_text(verify([](Record& r) { r.entries[3].inputs[0].bytes[0] ^= std::byte{1}; }), 1,
              {"other inputs"});
  expect_text(verify([](Record& r) { r.entries.pop_back(); }), 1, {"missing from the record"});
  const auto add = [](Record& r) {
    r.entries.push_back(r.entries[0]);
    r.entries.back().token = "mxfp8_dequant:fp8=e4m3,rows=1,cols=32";
  };
  expect_text(verify(add), 1, {"the record holds a case that the family does not name"});
  std::string torn = contents(approved_here / (bf16 + ".h5"));
  torn[torn.size() / 3] ^= 1;
  write(file(bf16), torn);
  expect_usage_error("golden verify" + quoted(bf16), "is changed: SHA-256");
}

// The approved content comes out of every build, on one core as on all; .ci/run compares the bytes between
// compilers.
TEST(Golden, RegenerationGivesTheApprovedContentOnAnyNumberOfCores) {
  const Folder folder("assay_golden_regen");
  const Ran one = run("golden regen --out " + folder.quoted("one"), "2>&1", "taskset --cpu-list 0 ");
  const Ran all = run("golden regen --out " + folder.quoted("all"));
  ASSERT_EQ(one.exit_code, 0) << one.text;
  ASSERT_EQ(all.exit_code, 0) << all.text;
  const auto found = digests(one.text);
  EXPECT_GT(found.size(), 10u);
  EXPECT_EQ(digests(all.text), found);
  for (const auto& [name, digest] : found) {
    EXPECT_EQ(assay::goldens::content_digest(assay::goldens::read(approved_here / name)), digest) << name;
    EXPECT_EQ(contents(folder / ("one/" + name)), contents(folder / ("all/" + name))) << name;
  }
}

// The executor in the place of hardware: what it records stands the check, and stays small.
TEST_F(GoldenProgram, ADevicesRecordStandsTheCheck) {
  const Folder folder("assay_golden_device");
  const Ran recorded = run("golden record --device cpu --out " + folder.quoted(""));
  expect_text(recorded, 0, {"wrote "});
  std::string files;
  std::uintmax_t bytes = 0, count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(entry.path().filename(), "cpu.h5");
    files += " '" + entry.path().string() + "'";
    bytes += entry.file_size(), ++count;
  }
  EXPECT_EQ(count, 4u) << recorded.text;
  EXPECT_LT(bytes, 600'000u) << "these files are in every clone";
  expect_text(run("golden verify" + files), 0, {"PASS", "golden hardware/cpu"});
  change(folder / "matmul_nbits/hardware/cpu.h5", folder / "cpu.h5", flip_a_code);
  EXPECT_EQ(run("golden verify " + folder.quoted("cpu.h5")).exit_code, 1);
}

}  // namespace
