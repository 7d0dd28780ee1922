// The program as a user meets it: exit codes, and the one line it says when it is used wrongly.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "goldens/record/record.hpp"

namespace {

struct Ran {
  int exit_code = -1;
  std::string text;  ///< standard output and standard error
};

Ran run(const std::string& arguments) {
  const std::string command = "cd '" ASSAY_SOURCE_DIR "' && '" ASSAY_PROGRAM "' " + arguments + " 2>&1";
  Ran ran;
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::array<char, 4096> buffer;
  std::size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) ran.text.append(buffer.data(), count);
  const int status = pclose(pipe);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

/// One case is enough where the exit code is the point.
const std::string one_case = "gate --case 'mxfp8_cast:rows=3,cols=128,fill=normal,seed=1' ";

void expect_usage_error(const std::string& arguments, const std::string& says) {
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.exit_code, 2) << arguments << "\n" << ran.text;
  EXPECT_NE(ran.text.find(says), std::string::npos) << arguments << "\n" << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << "one line, not\n" << ran.text;
}

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
  expect_usage_error("gat", "nearest is 'gate'");
  expect_usage_error("gate --seed x", "seed");
  expect_usage_error("explain e4m4", "nearest is 'e4m3'");
  expect_usage_error("explain e4m3 0x100", "does not fit");
  expect_usage_error("gate --case 'mxfp8_cast:rows=3,cols=100'", "not divisible");
  expect_usage_error("gate --case 'mxfp8_cast:rows=3,rule=rcel'", "nearest is 'rceil'");
  expect_usage_error("gate --case 'other:rows=3'", "names no selected family");
}

TEST(Program, BadFilesAreOneLine) {
  const std::string slice = "fixtures/mxfp8_cast/all-MiniLM-L6-v2.slice.safetensors";
  expect_usage_error("gate --on no-such-file", "no-such-file");
  expect_usage_error("gate --on README.md", "README.md");
  expect_usage_error("gate --on " + slice + ":no.such.tensor", "no.such.tensor");
  expect_usage_error("golden verify README.md", "README.md");
}

TEST(Program, VacuousIsThree) {
  // The register route takes no 96 columns: all of what was selected is unsupported, so nothing was compared.
  const Ran ran = run("gate --route register --case 'mxfp8_cast:rows=3,cols=96'");
  EXPECT_EQ(ran.exit_code, 3) << ran.text;
  EXPECT_NE(ran.text.find("cols % 128 != 0"), std::string::npos) << ran.text;
}

TEST(Program, AbsentDeviceIsFour) {
  if (run("gate --device cuda --case 'mxfp8_cast:rows=3,cols=128'").exit_code == 0) {
    EXPECT_EQ(run(one_case + "--require-device cuda").exit_code, 0);
    return;  // this machine has the device, so there is no absence to show
  }
  EXPECT_EQ(run(one_case + "--require-device cuda").exit_code, 4);
  EXPECT_EQ(run(one_case + "--device cuda").exit_code, 4);
}

TEST(Program, JsonIsDeterministicAndWrittenWhole) {
  const auto folder = std::filesystem::temp_directory_path() / "assay_program_test";
  std::filesystem::create_directories(folder);
  const auto read = [&](const char* name) {
    std::ifstream file(folder / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  ASSERT_EQ(run(one_case + "--json '" + (folder / "a").string() + "'").exit_code, 0);
  ASSERT_EQ(run(one_case + "--json '" + (folder / "b").string() + "'").exit_code, 0);
  EXPECT_EQ(read("a"), read("b"));
  EXPECT_NE(read("a").find("\"verdict\": \"pass\""), std::string::npos);
  expect_usage_error(one_case + "--json '" + (folder / "missing/c").string() + "'", "does not exist");
  EXPECT_FALSE(std::filesystem::exists(folder / "missing"));
  std::filesystem::remove_all(folder);
}

/// A copy of an approved record with `change` made to it and sealed again, as a wrong acceptance would leave
/// it.
std::string changed_golden(const std::function<void(assay::goldens::Record&)>& change) {
  auto record = assay::goldens::read(ASSAY_SOURCE_DIR "/goldens/mxfp8_cast/bf16.h5");
  change(record);
  for (auto& entry : record.entries) {
    entry.input_digest = assay::goldens::digest(entry.inputs);
    entry.output_digest = assay::goldens::digest(entry.outputs);
  }
  const auto path = std::filesystem::temp_directory_path() / "bf16.h5";
  assay::goldens::write(path, record);
  return "golden verify '" + path.string() + "'";
}

TEST(Program, GoldensHoldAndAChangedOneIsRed) {
  const Ran approved = run("golden verify");
  EXPECT_EQ(approved.exit_code, 0) << approved.text;
  EXPECT_EQ(run(changed_golden([](auto&) {})).exit_code, 0);

  const Ran one_code =
      run(changed_golden([](auto& record) { record.entries[3].outputs[0].bytes[7] ^= std::byte{1}; }));
  EXPECT_EQ(one_code.exit_code, 1) << one_code.text;
  EXPECT_NE(one_code.text.find("A013"), std::string::npos) << one_code.text;
  EXPECT_NE(one_code.text.find("approved 0x"), std::string::npos) << one_code.text;

  const Ran input =
      run(changed_golden([](auto& record) { record.entries[3].inputs[0].bytes[0] ^= std::byte{1}; }));
  EXPECT_EQ(input.exit_code, 1) << input.text;
  EXPECT_NE(input.text.find("other inputs"), std::string::npos) << input.text;

  const Ran missing = run(changed_golden([](auto& record) { record.entries.pop_back(); }));
  EXPECT_EQ(missing.exit_code, 1) << missing.text;
  EXPECT_NE(missing.text.find("missing from the record"), std::string::npos) << missing.text;
}

TEST(Program, RegeneratedGoldensAreTheApprovedBytes) {
  const auto folder = std::filesystem::temp_directory_path() / "assay_golden_test";
  ASSERT_EQ(run("golden regen --out '" + folder.string() + "'").exit_code, 0);
  const auto bytes = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const char* name : {"bf16.h5", "fp16.h5", "fp32.h5"}) {
    EXPECT_EQ(bytes(folder / "mxfp8_cast" / name),
              bytes(std::filesystem::path(ASSAY_SOURCE_DIR) / "goldens/mxfp8_cast" / name))
        << name;
  }
  std::filesystem::remove_all(folder);
}

TEST(Program, Explains) {
  EXPECT_NE(run("explain e4m3 0x7E").text.find("448"), std::string::npos);
  EXPECT_NE(run("explain A005").text.find("witness"), std::string::npos);
  EXPECT_NE(run("explain scale off by one").text.find("e8m0"), std::string::npos);
  EXPECT_NE(run("--version").text.find("(build "), std::string::npos);
  EXPECT_NE(run("list").text.find("register"), std::string::npos);
}

}  // namespace
