// `assay repro` as a user meets it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "properties/cli/program_testing.hpp"

namespace {

using namespace assay::cli::testing_program;

const std::string right_case = "repro 'mxfp8_cast:in=bf16,rows=3,cols=128,fill=ramps' ";

TEST(Repro, ARightCaseIsZero) {
  const Ran ran = run(right_case);
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  for (const char* route : {"register", "staged", "dispatch", "register-sm100"})
    EXPECT_NE(ran.text.find(std::string("mxfp8_cast/") + route), std::string::npos) << ran.text;
  EXPECT_EQ(ran.text.find("repro:"), std::string::npos) << ran.text;
  const Ran one = run("repro 'mxfp8_cast/staged@cpu:in=bf16,rows=3,cols=128' --shrink");
  EXPECT_EQ(one.exit_code, 0) << one.text;
  EXPECT_EQ(one.text.find("mxfp8_cast/register"), std::string::npos) << one.text;
  EXPECT_EQ(run("repro 'mxfp8_cast:rows=3,cols=96' --route register").exit_code, 3) << "no route took it";
  EXPECT_EQ(run(right_case + "--route mxfp8_cast/staged --device all").exit_code, 0);
}

TEST(Repro, WhatIsWrongWithTheArgumentsIsOneLine) {
  expect_usage_error("repro", "case");
  expect_usage_error("repro ''", "repro ''");
  expect_usage_error(right_case + "--shrink --out /tmp/assay_q --json /tmp/assay_q",
                     "--json and --out name the same file");
  const std::string fixture = "fixtures/gated_delta/captured/B47.json";
  expect_usage_error("repro " + fixture + " --json " + fixture,
                     "the file of the case and --json name the same file");
  expect_usage_error("repro nonsense", "does not start with 'FAMILY:'");
  expect_usage_error("repro nope.h5", "assay: nope.h5: no such file\n");
  expect_usage_error("repro fixtures", "assay: fixtures: is a directory\n");
  expect_usage_error("repro fixtures/public_faults.json",
                     "captured fixture fixtures/public_faults.json: the file: ");
  expect_usage_error("repro 'mxfp8_casts:rows=1'", "nearest is 'mxfp8_cast'");
  expect_usage_error("repro 'mxfp8_cast/registre:rows=1'", "nearest is 'register'");
  expect_usage_error("repro 'mxfp8_cast@gpu:rows=1'", "there is no device 'gpu'");
  expect_usage_error("repro 'mxfp8_cast:rows=3,cols=100'", "not divisible");
  expect_usage_error("repro 'mxfp8_cast:rows=1,cols=32;zeros;y[0]=00'", "no buffer 'y'");
  expect_usage_error("repro 'mxfp8_cast:rows=1,cols=32;zeros;x[32]=0000'", "past the end");
  expect_usage_error("repro 'gated_delta:batch=2;slots[4]=00'", "both 0");
  expect_usage_error(right_case + "--route registre", "nearest is 'register'");
  expect_usage_error("repro 'mxfp8_cast/staged:rows=1' --route register", "not selected by --route");
  expect_usage_error("repro 'mxfp8_cast@cuda:rows=1' --device cpu", "not selected by --device");
  expect_usage_error(right_case + "--device gpu", "unknown device 'gpu'");
  expect_usage_error(right_case + "--html ''", "--html ''");
  expect_usage_error(right_case + "--html .", "it is a folder");
  expect_usage_error(right_case + "--json missing/file", "does not exist");
  expect_usage_error(right_case + "--shrnk", "nearest is '--shrink'");
  expect_usage_error("repro \"$(printf 'a\\033b:')\"", "a\\x1bb");
}

TEST(Repro, FilesAreCasesToo) {
  const Folder folder("assay_repro_file");
  ASSERT_EQ(run("cases --case 'mxfp8_dequant:rows=3,cols=64' --out " + folder.quoted("cases")).exit_code, 0);
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cases"))
    if (entry.path().extension() == ".safetensors") file = "'" + entry.path().string() + "'";
  const Ran ran = run("repro " + file + " --device cpu");
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_NE(ran.text.find("mxfp8_dequant/vector"), std::string::npos) << ran.text;
  const Ran whole = run("repro " + file + " --shrink --out " + folder.quoted("small.h5"));
  EXPECT_EQ(whole.exit_code, 0) << whole.text;
  EXPECT_NE(whole.text.find("nothing failed, so "), std::string::npos) << whole.text;
  EXPECT_FALSE(std::filesystem::exists(folder / "small.h5"));
  expect_usage_error("repro README.md", "README.md");
  expect_usage_error("repro fixtures/gated_delta/captured/B47.json:x",
                     "its cases are numbered, the first is fixtures/gated_delta/captured/B47.json:1");
  expect_usage_error("repro fixtures/gated_delta/captured/B47.json:99", "it has no case 99");
  expect_usage_error(right_case + "--out " + folder.quoted("x"), "which --shrink finds");
  expect_usage_error(right_case + "--shrink --out ''", "--out ''");
}

TEST(Repro, AnAbsentDeviceIsFour) {
  if (run("repro 'mxfp8_cast@cuda:rows=3,cols=128'").exit_code == 0) return;  // it is there
  EXPECT_EQ(run("repro 'mxfp8_cast@cuda:rows=3,cols=128'").exit_code, 4);
  EXPECT_EQ(run(right_case + "--device cuda").exit_code, 4);
}

/// A route that is switched off is the one failure that a right program can show: its path is another, its
/// bits are right.
class SwitchedOff : public ::testing::Test {
 protected:
  SwitchedOff() { setenv("ASSAY_RESTORE_STAGING", "1", 1); }
  ~SwitchedOff() override { unsetenv("ASSAY_RESTORE_STAGING"); }
  const std::string text =
      "repro 'matmul_nbits/dispatch@cpu:model=bf16,schedule=split_k,m=1,n=24,k=160,pattern=ordinary' ";
};

TEST_F(SwitchedOff, AFailureIsShrunkToALineThatFailsInTheSameWay) {
  const Ran ran = run(text + "--shrink");
  EXPECT_EQ(ran.exit_code, 1) << ran.text;
  EXPECT_NE(ran.text.find("pattern: route fell back"), std::string::npos) << ran.text;
  const std::string head = "The smallest case that fails in the same way (A005 route fell back): ";
  const std::size_t at = ran.text.find(head);
  ASSERT_NE(at, std::string::npos) << ran.text;
  EXPECT_EQ(ran.text.find(" s\n", at) < ran.text.find('\n', at), false) << "no time outside a terminal";
  const std::string lead = "  repro: assay repro ";
  const std::size_t line = ran.text.find(lead, at);
  ASSERT_NE(line, std::string::npos) << ran.text;
  const std::string smallest =
      ran.text.substr(line + lead.size(), ran.text.find('\n', line) - line - lead.size());
  EXPECT_NE(smallest.find(",m=1,n=1,k=32"), std::string::npos) << smallest;
  EXPECT_NE(smallest.find(";zeros'"), std::string::npos) << smallest;
  const Ran again = run("repro " + smallest);
  EXPECT_EQ(again.exit_code, 1) << again.text;
  EXPECT_NE(again.text.find("pattern: route fell back"), std::string::npos) << again.text;
  // Without the switch the same line is right.
  unsetenv("ASSAY_RESTORE_STAGING");
  EXPECT_EQ(run("repro " + smallest).exit_code, 0);
}

TEST_F(SwitchedOff, TheSmallestCaseIsAFileThatFailsInTheSameWay) {
  const Folder folder("assay_repro_out");
  for (const char* name : {"small.safetensors", "small.h5"}) {
    const Ran ran = run(text + "--shrink --out " + folder.quoted(name));
    EXPECT_EQ(ran.exit_code, 1) << ran.text;
    EXPECT_NE(ran.text.find("the smallest case of dispatch on cpu\n"), std::string::npos) << ran.text;
    const Ran again = run("repro " + folder.quoted(name));
    EXPECT_EQ(again.exit_code, 1) << again.text;
    EXPECT_NE(again.text.find("pattern: route fell back"), std::string::npos) << again.text;
    EXPECT_NE(again.text.find(",m=1,n=1,k=32"), std::string::npos) << again.text;
    EXPECT_EQ(again.text.find("matmul_nbits/direct"), std::string::npos) << "its route alone\n" << again.text;
  }
}

TEST_F(SwitchedOff, JsonAndHtmlAreTheSameBytesEveryTime) {
  const Folder folder("assay_repro_test");
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(run(text + "--shrink --json " + folder.quoted(name + std::string(".json")) + " --html " +
                  folder.quoted(name + std::string(".html")))
                  .exit_code,
              1);
  }
  EXPECT_EQ(contents(folder / "a.json"), contents(folder / "b.json"));
  const std::string html = contents(folder / "a.html");
  EXPECT_EQ(html, contents(folder / "b.html"));
  EXPECT_EQ(folder.entries(), 4) << "nothing is left beside them";
  const auto document = nlohmann::json::parse(contents(folder / "a.json"));
  EXPECT_EQ(document["exit_code"], 1);
  ASSERT_EQ(document["runs"].size(), 1u);
  EXPECT_EQ(document["runs"][0]["outputs"][0]["wrong"], 0);
  EXPECT_EQ(document["runs"][0]["shrunk"]["failure"], "A005 route fell back");
  EXPECT_EQ(html.find("<!doctype html>"), 0u);
  for (const char* outside : {"<script", "http://", "https://", "src=", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("route fell back"), std::string::npos) << html;
  const Ran gate =
      run("gate --route dispatch --case 'matmul_nbits:model=bf16,schedule=split_k,m=1,n=8,k=64' --html " +
          folder.quoted("gate.html"));
  EXPECT_EQ(gate.exit_code, 1) << gate.text;
  EXPECT_NE(contents(folder / "gate.html").find("route fell back"), std::string::npos);
}

TEST(Repro, TheLineThatIsPrintedIsACommand) {
  setenv("ASSAY_RESTORE_STAGING", "1", 1);
  const Ran ran = run("gate --route dispatch --case 'matmul_nbits:model=bf16,schedule=split_k,m=1,n=8,k=64'");
  const std::string lead = "  repro: assay ";
  const std::size_t line = ran.text.find(lead);
  ASSERT_NE(line, std::string::npos) << ran.text;
  const std::string command =
      ran.text.substr(line + lead.size(), ran.text.find('\n', line) - line - lead.size());
  EXPECT_EQ(command.find("repro 'matmul_nbits/dispatch@cpu:"), 0u) << command;
  EXPECT_EQ(run(command).exit_code, 1);
  unsetenv("ASSAY_RESTORE_STAGING");
  EXPECT_EQ(run(command).exit_code, 0);
}

}  // namespace
