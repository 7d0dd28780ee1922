// The program as a user meets it: exit codes, and the one line it says when it is used wrongly.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/program_testing.hpp"

namespace {

using namespace assay::cli::testing_program;

/// One case is enough where the exit code is the point.
const std::string one_case = "gate --case 'mxfp8_cast:rows=3,cols=128,fill=normal,seed=1' ";

TEST(Program, PassesACase) {
  const Ran ran = run(one_case);
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_NE(ran.text.find("mxfp8_cast/register"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("PASS"), std::string::npos) << ran.text;
}

TEST(Program, UnknownNamesNameTheNearest) {
  expect_usage_error("gate --family mxfp8cast", "nearest is 'mxfp8_cast'");
  expect_usage_error("gate --route registre", "nearest is 'register'");
  expect_usage_error("gate --devise cpu", "nearest is '--device'");
  expect_usage_error("gate --device gpu", "unknown device 'gpu'");
  expect_usage_error("gate --level quik", "nearest is 'quick'");
  expect_usage_error("gat", "unknown command 'gat'; the nearest is 'gate'");
  expect_usage_error("frob", "unknown command 'frob'; the nearest is 'gate'");
  expect_usage_error("gate --shrink", "unknown option '--shrink'; the nearest is '--shard'");
  expect_usage_error("--versoin", "unknown option '--versoin'; the nearest is '--version'");
  expect_usage_error("gate --seed x", "seed");
  expect_usage_error("explain e4m4", "nearest is 'e4m3'");
  expect_usage_error("explain e4m3 0x100", "does not fit");
  expect_usage_error("gate --case 'mxfp8_cast:rows=3,cols=100'", "not divisible");
  expect_usage_error("gate --case 'mxfp8_cast:rows=3,rule=rcel'", "nearest is 'rceil'");
  expect_usage_error("gate --case 'other:rows=3'", "there is no family 'other'; the nearest is");
  expect_usage_error("gate --family mxfp8_cast --case 'gated_delta:batch=1'",
                     "its family is not selected by --family");
  expect_usage_error("gate --case 'mxfp8_cast/registre:rows=3'", "the nearest is 'register'");
  expect_usage_error("gate --case 'mxfp8_cast@gpu:rows=3'", "there is no device 'gpu'");
}

TEST(Program, CasesAreOfAFamilyOrNamed) {
  const Folder folder("assay_cases_test");
  const std::string out = "cases --out " + folder.quoted("out") + " ",
                    named = out + "--case 'mxfp8_cast:rows=1,cols=32' ";
  expect_usage_error(out, "cases: it needs --family, for built-in cases, or --case");
  expect_usage_error(named + "--family mxfp8_cast",
                     "cases: --family, for built-in cases, and --case exclude each other");
  expect_usage_error(named + "--level full", "--level: it selects built-in cases; --case names its own");
  expect_usage_error(named + "--seed 5", "--seed: it is for built-in cases; --case names its own");
  EXPECT_EQ(folder.entries(), 0);
  EXPECT_EQ(run(named).exit_code, 0);
}

TEST(Program, BadFilesAreOneLine) {
  const std::string slice = "fixtures/mxfp8_cast/all-MiniLM-L6-v2.slice.safetensors";
  expect_usage_error("gate --on no-such-file", "no-such-file");
  expect_usage_error("gate --on README.md", "README.md");
  expect_usage_error("gate --on " + slice + ":no.such.tensor", "no.such.tensor");
}

TEST(Program, WrongArgumentsAreOneLine) {
  expect_usage_error("", "no command given; 'assay COMMAND' takes gate, repro, bench, list, explain, golden");
  expect_usage_error(one_case + "--seed=-1", "whole number");
  expect_usage_error(one_case + "--seed -1", "seed");
  expect_usage_error(one_case + "--seed 99999999999999999999", "'99999999999999999999'");
  expect_usage_error(one_case + "--seed ''", "whole number");
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "1/2/3", "a/b", "1/1001", "-1/2"}) {
    expect_usage_error(std::string("gate --shard ") + shard, "1 <= I <= N");
  }
  expect_usage_error(one_case + "--shard 1/2", "it divides the built-in cases");
  expect_usage_error(one_case + "--level full", "--level: it chooses built-in cases");
  expect_usage_error(one_case + "--seed 2", "--seed: it chooses built-in cases");
  expect_usage_error(one_case + "--levl full", "(see: assay gate --help)");
  expect_usage_error(one_case + "--require-device all", "only cpu or cuda can be required");
  expect_usage_error(one_case + "--json ''", "--json ''");
  expect_usage_error(one_case + "--on ''", "FILE or FILE:TENSOR");
  expect_usage_error(one_case + "--route ''", "--route ''");
  expect_usage_error(one_case + "--family ''", "--family ''");
  expect_usage_error("gate --case ''", "--case ''");
  expect_usage_error(one_case + "--until ''", "--until ''");
  expect_usage_error("gate --on \"$(printf 'a\\033b')\"", "a\\x1bb: no such file");
  expect_usage_error("gate --on \"$(printf 'a\\033b')\"", "a\\x1bb: no such file");
}

TEST(Program, AllDevicesAreThoseThatArePresent) {
  EXPECT_EQ(run(one_case + "--device all").exit_code, 0);
  const Ran named_too = run(one_case + "--device cpu --device all");
  EXPECT_EQ(named_too.exit_code, 0) << named_too.text;
  EXPECT_NE(named_too.text.find("cuda"), std::string::npos)
      << "judged, or said to be absent: " << named_too.text;
}

TEST(Program, VacuousIsThree) {
  // The register route takes no 96 columns: all of what was selected is unsupported, so nothing was compared.
  const Ran ran = run("gate --route register --case 'mxfp8_cast:rows=3,cols=96'");
  EXPECT_EQ(ran.exit_code, 3) << ran.text;
  EXPECT_NE(ran.text.find("cols % 128 != 0"), std::string::npos) << ran.text;
}

/// Of the built-in cases of one family, from the JSON of a run.
struct Amount {
  std::uint64_t cases = 0, properties = 0;  ///< refused cases included
  std::uint64_t captured = 0;               ///< of the cases, those that every shard replays
};
Amount amount_of(const std::string& arguments) {
  const Ran ran = run("gate --family mxfp8_dequant --route vector --json - " + arguments);
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  const auto document = nlohmann::json::parse(ran.text);
  Amount amount{0, document["properties_held"], 0};
  amount.captured = document["captured_cases"].get<std::uint64_t>() * document["rows"].size();
  for (const auto& row : document["rows"]) {
    amount.cases += row["cases"].get<std::uint64_t>();
    for (const auto& refused : row["unsupported"].items())
      amount.cases += refused.value().get<std::uint64_t>();
  }
  return amount;
}

TEST(Program, ShardsTogetherAreTheWhole) {
  Amount parts;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const Amount part = amount_of(std::string("--shard ") + shard);
    EXPECT_GT(part.cases, 0u);
    EXPECT_GT(part.captured, 0u);
    parts.cases += part.cases - part.captured;
    parts.properties += part.properties;
  }
  const Amount whole = amount_of("");
  EXPECT_EQ(parts.properties, whole.properties);
  EXPECT_EQ(parts.cases, whole.cases - whole.captured);
}

/// A case that names its route has nothing to say of the others, and a small part of the built-in cases
/// cannot lead to every kernel.
TEST(Program, WhatWasNotAskedIsNotVacuous) {
  const Ran one = run("gate --device cpu --case 'mxfp8_cast/register@cpu:rows=3,cols=128,fill=normal'");
  EXPECT_EQ(one.exit_code, 0) << one.text;
  EXPECT_EQ(one.text.find("mxfp8_cast/staged"), std::string::npos) << one.text;
  const Ran missed =
      run("gate --device cpu --route staged --route register "
          "--case 'mxfp8_cast/register@cpu:rows=3,cols=128,fill=normal'");
  EXPECT_EQ(missed.exit_code, 3) << "asked for by name, and not judged\n" << missed.text;
  const Ran refused = run("gate --device cpu --case 'mxfp8_cast/register@cpu:rows=3,cols=96'");
  EXPECT_EQ(refused.exit_code, 3) << "no route of it took the case\n" << refused.text;
  const Ran part = run("gate --device cpu --family matmul_nbits --shard 1000/1000");
  EXPECT_EQ(part.exit_code, 0) << part.text;
  EXPECT_NE(part.text.find("never launched its kernel"), std::string::npos) << part.text;
  EXPECT_EQ(part.text.find("vacuous: "), std::string::npos) << part.text;
}

TEST(Program, TwoResultsDoNotGoToOneFile) {
  const std::string file = std::filesystem::temp_directory_path() / "assay_two_results";
  expect_usage_error(one_case + "--json " + file + " --html " + file, "--json and --html name the same file");
  expect_usage_error(one_case + "--json " + file + " --html /tmp/../" + file,
                     "--json and --html name the same file");
  EXPECT_FALSE(std::filesystem::exists(file));
  expect_usage_error(one_case + "--html -", "only --json takes standard output");
}

TEST(Program, AbsentDeviceIsFour) {
  if (run("gate --device cuda --case 'mxfp8_cast:rows=3,cols=128'").exit_code == 0) {
    EXPECT_EQ(run(one_case + "--require-device cuda").exit_code, 0);
    return;  // this machine has the device, so there is no absence to show
  }
  EXPECT_EQ(run(one_case + "--require-device cuda").exit_code, 4);
  EXPECT_EQ(run(one_case + "--device cuda").exit_code, 4);
}

TEST(Program, BenchSaysWhatItCannotDo) {
  expect_usage_error("bench --filter 'no such name'", "no benchmark's name contains 'no such name'");
  expect_usage_error("bench --filter ''", "--filter ''");
  expect_usage_error("bench --family mxfp8cast", "nearest is 'mxfp8_cast'");
  expect_usage_error("bench --runs 19", "whole number from 20 to");
  expect_usage_error("bench --runs 1e3", "'1e3'");
  expect_usage_error("bench --peers no-such-file", "no-such-file: ");
  expect_usage_error("bench --peers README.md", "README.md: it is not JSON");
  expect_usage_error("bench --peers ''", "--peers ''");
  expect_usage_error("bench --list --json b.json", "--list: nothing is measured");
  expect_usage_error("bench --list --peers no-such-file", "--list: nothing is measured");
  expect_usage_error("bench --json missing/file", "does not exist");
  const Ran list = run("bench --list");
  EXPECT_EQ(list.exit_code, 0) << list.text;
  EXPECT_EQ(run("bench --list").text, list.text);
  if (run("gate --device cuda --case 'mxfp8_cast:rows=3,cols=128'").exit_code == 0)
    return;  // it would measure
  const Ran absent = run("bench");
  EXPECT_EQ(absent.exit_code, 4) << absent.text;
  EXPECT_EQ(absent.text.find("assay: bench measures on the cuda device, which is absent: "), 0u)
      << absent.text;
  EXPECT_EQ(std::count(absent.text.begin(), absent.text.end(), '\n'), 1) << absent.text;
}

const std::string passed = "\"verdict\": \"pass\"";

TEST(Program, JsonIsDeterministicAndWrittenWhole) {
  const Folder folder("assay_program_test");
  ASSERT_EQ(run(one_case + "--json " + folder.quoted("a")).exit_code, 0);
  ASSERT_EQ(run(one_case + "--json " + folder.quoted("b")).exit_code, 0);
  EXPECT_EQ(contents(folder / "a"), contents(folder / "b"));
  EXPECT_NE(contents(folder / "a").find(passed), std::string::npos);
  EXPECT_EQ(folder.entries(), 2) << "nothing is left beside them";
  expect_usage_error(one_case + "--json " + folder.quoted("missing/c"), "does not exist");
  EXPECT_FALSE(std::filesystem::exists(folder / "missing"));
}

TEST(Program, JsonReplacesNothingButTheFileItNames) {
  const Folder folder("assay_json_test");
  // A name that a temporary might have is a stranger's file; the permissions of the old file stay.
  write(folder / "a.part", "a stranger's");
  write(folder / "a", "old");
  std::filesystem::permissions(folder / "a",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_EQ(run(one_case + "--json " + folder.quoted("a")).exit_code, 0);
  EXPECT_EQ(contents(folder / "a.part"), "a stranger's");
  EXPECT_NE(contents(folder / "a").find(passed), std::string::npos);
  EXPECT_EQ(std::filesystem::status(folder / "a").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  // Symbolic links are followed, to a file that exists and to one that does not yet.
  write(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  std::filesystem::create_symlink("later", folder / "dangling");
  ASSERT_EQ(run(one_case + "--json " + folder.quoted("link")).exit_code, 0);
  ASSERT_EQ(run(one_case + "--json " + folder.quoted("dangling")).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "dangling"));
  EXPECT_NE(contents(folder / "target").find(passed), std::string::npos);
  EXPECT_NE(contents(folder / "later").find(passed), std::string::npos);
  std::filesystem::create_symlink("loop", folder / "loop");
  expect_usage_error(one_case + "--json " + folder.quoted("loop"), "loop: it cannot be written");

  // A pipe is written, not replaced.
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string reader = " timeout 60 cat " + folder.quoted("pipe") + " > " + folder.quoted("read");
  ASSERT_EQ(run(one_case + "--json " + folder.quoted("pipe") + " &" + reader).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_NE(contents(folder / "read").find(passed), std::string::npos);

  const auto before = folder.entries();
  expect_usage_error(one_case + "--json .", "it is a folder");
  expect_usage_error(one_case + "--json " + folder.quoted(""), "it is a folder");
  expect_usage_error(one_case + "--json " + folder.quoted("none/"), "cannot be written");
  EXPECT_EQ(folder.entries(), before);
}

TEST(Program, UnwritableOutputIsFour) {
  for (const std::string& arguments :
       {one_case, one_case + "--json -", std::string("list"), std::string("explain"), std::string("--help"),
        std::string("--version")}) {
    const Ran ran = run(arguments, "2>&1 >/dev/full");
    EXPECT_EQ(ran.exit_code, 4) << arguments << ran.text;
    EXPECT_EQ(ran.text.find("assay: standard output cannot be written"), 0u) << ran.text;
    EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << ran.text;
  }
  EXPECT_EQ(run("list", "2>/dev/full >/dev/full").exit_code, 4) << "with nowhere left to say it";
  EXPECT_EQ(run("gat", "2>/dev/full").exit_code, 2);
  const Folder folder("assay_full_test");
  std::filesystem::create_symlink("/dev/full", folder / "full");
  const Ran ran = run(one_case + "--json " + folder.quoted("full"));
  EXPECT_EQ(ran.exit_code, 4) << ran.text;
  EXPECT_NE(ran.text.find("full: it cannot be written"), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("PASS"), std::string::npos) << "the text is shown all the same: " << ran.text;
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "full"));
}

/// A safetensors file of the JSON header `tensors` and `size` zero bytes.
void write_safetensors(const std::filesystem::path& path, const std::string& tensors, std::size_t size) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>((tensors.size() >> (8 * i)) & 0xFF);
  write(path, length + tensors + std::string(size, '\0'));
}

TEST(Program, AFileWithoutAUsableTensorIsBadInput) {
  const Folder folder("assay on: test");
  const std::string narrow = R"("narrow":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";
  const std::string scalar = R"("scalar":{"dtype":"F32","shape":[],"data_offsets":[24,28]})";
  const std::string integer = R"("integer":{"dtype":"I32","shape":[32],"data_offsets":[28,156]})";
  const std::string usable = R"("usable":{"dtype":"BF16","shape":[32],"data_offsets":[156,220]})";
  write_safetensors(folder / "none", "{}", 0);
  write_safetensors(folder / "one", "{" + narrow + "}", 24);
  write_safetensors(folder / "three", "{" + narrow + "," + scalar + "," + integer + "}", 156);
  write_safetensors(folder / "some", "{" + narrow + "," + scalar + "," + integer + "," + usable + "}", 220);
  write_safetensors(folder / "odd", R"({"odd":{"dtype":"F6","shape":[4],"data_offsets":[0,3]}})", 3);
  write(folder / "empty", "");
  write(folder / "cut", contents(folder / "some").substr(0, 300));
  expect_usage_error("gate --on " + folder.quoted("none"), "it holds no tensors");
  expect_usage_error("gate --on " + folder.quoted("one"), "one: tensor 'narrow': its last dimension 3");
  expect_usage_error("gate --on " + folder.quoted("three"), "(2 more tensors cannot be judged either)");
  expect_usage_error("gate --on " + folder.quoted("odd"), "'F6' is not supported");
  expect_usage_error("gate --on " + folder.quoted("empty"), "is empty");
  expect_usage_error("gate --on " + folder.quoted("cut"), "truncated");
  expect_usage_error("gate --on " + folder.quoted("missing"),
                     (folder / "missing").string() + ": no such file");
  expect_usage_error("gate --on " + folder.quoted("") + " --on " + folder.quoted("some"), "is a directory");
  expect_usage_error("gate --on " + folder.quoted("some:scalar"), "it is a scalar");
  expect_usage_error("gate --on " + folder.quoted("some:usible"), "usable");
  const Ran some = run("gate --on " + folder.quoted("some"));
  EXPECT_EQ(some.exit_code, 0) << some.text;
  for (const char* name : {"'narrow'", "'scalar'", "'integer'"})
    EXPECT_NE(some.text.find(name), std::string::npos) << name << " is to be named in\n" << some.text;
  EXPECT_EQ(run("gate --on " + folder.quoted("some:usable")).exit_code, 0);
}

TEST(Program, NamesFromFilesAreEscaped) {
  const Folder folder("assay_names_test");
  write_safetensors(folder / "f",
                    R"({"a\n\u001b[31mb":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                    R"("ok":{"dtype":"BF16","shape":[32],"data_offsets":[12,76]}})",
                    76);
  const Ran ran = run("gate --on " + folder.quoted("f"));
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_EQ(ran.text.find('\033'), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("a\\x0a\\x1b[31mb"), std::string::npos) << ran.text;
  expect_usage_error("gate --on " + folder.quoted("f") + ":\"$(printf 'a\\n\\033[31mb')\"",
                     "a\\x0a\\x1b[31mb");
}

TEST(Program, StopsAtTheFindingThatIsAskedFor) {
  setenv("ASSAY_RESTORE_STAGING", "1", 1);  // makes every case of the route red
  const std::string cases =
      "gate --device cpu --route dispatch --case 'matmul_nbits:model=bf16,schedule=split_k,m=1,n=8,k=64' "
      "--case 'matmul_nbits:model=bf16,schedule=split_k,m=1,n=8,k=96' --json - ";
  const Ran found = run(cases + "--until 'fell back'"), not_found = run(cases + "--until 'tail dropped'");
  unsetenv("ASSAY_RESTORE_STAGING");
  const auto of = [](const Ran& ran) { return nlohmann::json::parse(ran.text, nullptr, false); };
  const auto stopped = of(found), whole = of(not_found);
  EXPECT_EQ(found.exit_code, 1) << found.text;
  EXPECT_EQ(stopped["rows"][0]["cases"], 1) << found.text;
  EXPECT_EQ(stopped["stopped_at"], "fell back");
  EXPECT_EQ(not_found.exit_code, 1) << not_found.text;
  EXPECT_EQ(whole["rows"][0]["cases"], 2) << not_found.text;
  EXPECT_EQ(whole["stopped_at"], "");
  EXPECT_EQ(run(one_case + "--until truncation").exit_code, 0) << "nothing was wrong";
}

TEST(Program, ARouteThatIsSwitchedOffIsNotGreen) {
  const std::string gemv = "gate --case 'matmul_nbits:model=bf16,schedule=split_k,m=1,n=8,k=64' ";
  EXPECT_EQ(run(gemv + "--route dispatch").exit_code, 0);
  setenv("ASSAY_RESTORE_STAGING", "1", 1);  // the lever by which a user goes back to the legacy path
  const Ran staged = run(gemv + "--route dispatch");
  setenv("ASSAY_RESTORE_STAGING", "0", 1);
  EXPECT_EQ(run(gemv + "--route dispatch").exit_code, 0) << "0 is as good as not set";
  unsetenv("ASSAY_RESTORE_STAGING");
  EXPECT_EQ(staged.exit_code, 1) << "the bytes are right, the path is not\n" << staged.text;
  EXPECT_NE(staged.text.find("pattern: route fell back"), std::string::npos) << staged.text;
  EXPECT_EQ(run(gemv + "--route multicol").exit_code, 3) << "no route took it";
}

TEST(Program, EveryExceptionIsOneLine) {
  const auto thrown = [](const std::function<int()>& action) {
    testing::internal::CaptureStderr();
    Ran ran;
    ran.exit_code = assay::cli::run_action(action);
    ran.text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << ran.text;
    return ran;
  };
  const Ran file = thrown([]() -> int {
    throw std::filesystem::filesystem_error("opening", "some/path",
                                            std::make_error_code(std::errc::permission_denied));
  });
  EXPECT_EQ(file.exit_code, 4);
  EXPECT_EQ(file.text.find("assay: some/path: "), 0u) << file.text;
  const Ran internal = thrown([]() -> int { throw std::logic_error("no\nidea"); });
  EXPECT_EQ(internal.exit_code, 4);
  EXPECT_EQ(internal.text, "assay: internal error: no\\x0aidea\n");
  EXPECT_EQ(thrown([]() -> int { throw assay::BadInput("bad"); }).exit_code, 2);
  EXPECT_EQ(thrown([]() -> int { throw std::bad_alloc(); }).exit_code, 4);
}

TEST(Program, ExplainsWordsThatBeginLikeOptions) {
  for (const auto& [words, says] : {std::pair("bf16 -inf", "bf16 of -inf\n"),
                                    {"bf16 -nan", "bf16 of -nan\n"},
                                    {"bf16 -.5", "bf16 of -.5\n"},
                                    {"bf16 -1.5", "bf16 of -1.5\n"},
                                    {"bf16 -0x1p-3", "bf16 of -0x1p-3\n"},
                                    {"bf16 -inf 1.5 -.5 0x7F80", "bf16 of 1.5\n"},
                                    {"bf16 -- -inf", "bf16 of -inf\n"},
                                    {"-- bf16 -inf", "bf16 of -inf\n"}}) {
    const Ran ran = run(std::string("explain ") + words);
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_NE(ran.text.find(says), std::string::npos) << words << "\n" << ran.text;
  }
  const std::string all = run("explain bf16 -inf 1.5 -.5").text;
  EXPECT_LT(all.find("of -inf"), all.find("of 1.5")) << "in the order given";
  EXPECT_LT(all.find("of 1.5"), all.find("of -.5"));
  for (const char* help : {"-h", "--help", "bf16 -h", "bf16 --help"})
    EXPECT_NE(run(std::string("explain ") + help).text.find("Usage: "), std::string::npos) << help;
  expect_usage_error("explain -- -h", "nothing is called '-h'");
  expect_usage_error("explain bf16 -x", "'-x' is neither a code (0x7E) nor a number");
  expect_usage_error("explain --a001", "nothing is called '--a001'; the nearest is 'A001'");
}

TEST(Program, Explains) {
  EXPECT_NE(run("explain e4m3 0x7E").text.find("448"), std::string::npos);
  EXPECT_NE(run("explain A005").text.find("witness"), std::string::npos);
  EXPECT_NE(run("explain scale off by one").text.find("e8m0"), std::string::npos);
  EXPECT_NE(run("explain captured fixture").text.find("replays"), std::string::npos);
  EXPECT_EQ(run("explain a001").text, run("explain A001").text);
  for (const char* term : {"vacuous", "contract", "witness", "injected fault", "route"}) {
    const Ran ran = run(std::string("explain ") + term);
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_EQ(ran.text.find(std::string(term) + ": "), 0u) << ran.text;
    EXPECT_LE(std::count(ran.text.begin(), ran.text.end(), '\n'), 5) << ran.text;
  }
  EXPECT_NE(run("--version").text.find("(build "), std::string::npos);
  EXPECT_NE(run("list").text.find("register"), std::string::npos);
}

}  // namespace
