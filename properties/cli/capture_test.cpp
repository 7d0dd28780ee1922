// assay capture as a user meets it: a fixture is written whole or not at all, and gates replay it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "properties/cli/program_testing.hpp"

namespace {

using namespace assay::cli::testing_program;

/// A checkout's folders without its fixtures. Where the tests run in CI, capture would refuse.
class Home {
 public:
  Home() : folder_("assay_capture_test") {
    for (const char* name : {"goldens", "fixtures/mxfp8_dequant", "fixtures/gated_delta"})
      std::filesystem::create_directories(folder_ / name);
    write(folder_ / "README.md", "");
    setenv("ASSAY_HOME", (folder_ / "").c_str(), 1);
    unsetenv("CI");
  }
  ~Home() { unsetenv("ASSAY_HOME"); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

const std::string dequant =
    "mxfp8_dequant:fp8=e4m3,out=bf16,rows=1,cols=32;zeros;data[0]=38 7E 81;scales[0]=80";
const std::string where = "fixtures/mxfp8_dequant/captured/T1.json";

std::string capture(const std::string& text, const std::string& more, const std::string& id = "T1") {
  return "capture '" + text + "' --id '" + id + "' " + more;
}
const std::string words = "--class 'wrong codes' --source 'owner/repository#1' ";

TEST(Capture, WritesAFixtureThatGatesReplay) {
  const Home home;
  const Ran ran = run(capture(dequant, words + "--title 'Twice the value' --shows 'Three codes.' "
                                               "--right 'y[0]=4000 4460 BB80' --right 'y[3]=0000*29'"));
  ASSERT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_EQ(ran.text, "wrote " + (home / where).string() +
                          "\nevery gate of mxfp8_dequant replays it first from now on\n"
                          "passes now on every route here that takes it\n");
  const auto fixture = nlohmann::json::parse(contents(home / where));
  EXPECT_EQ(fixture["id"], "T1");
  EXPECT_EQ(fixture["title"], "Twice the value");
  EXPECT_EQ(fixture["class"], "wrong codes");
  EXPECT_EQ(fixture["source"], "owner/repository#1");
  EXPECT_EQ(fixture["cases"][0]["case"], dequant);
  EXPECT_EQ(fixture["cases"][0]["right"][0]["codes"], "4000 4460 BB80");
  EXPECT_EQ(fixture["cases"][0]["right"][1]["first"], 3);

  const Ran gate = run("gate --family mxfp8_dequant --route scalar --device cpu --shard 1000/1000 --json -");
  const auto result = nlohmann::json::parse(gate.text);
  EXPECT_EQ(result["captured_cases"], 1) << gate.text;

  // The id is taken, here and in every other family, and the fixture stays what it is.
  const std::string before = contents(home / where);
  for (const std::string& text : {dequant, std::string("gated_delta:io=fp32")})
    expect_usage_error(capture(text, words), "--id T1: " + (home / where).string() + " has it");
  EXPECT_EQ(contents(home / where), before);
  EXPECT_FALSE(std::filesystem::exists(home / "fixtures/gated_delta/captured"));
}

TEST(Capture, RefusesWhatNoGateCouldReplayAndWritesNothing) {
  const Home home;
  for (const char* id : {"", "a b", "../T1", "T.1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "_x"})
    expect_usage_error(capture(dequant, words, id),
                       "an id is 1 to 40 letters, digits, '-' and '_', and begins with a letter or digit");
  expect_usage_error("capture '" + dequant + "' --id=-x " + words, "--id '-x': an id is 1 to 40 letters");
  expect_usage_error(capture(dequant, "--class '' --source o/r#1"), "--class '': it needs");
  expect_usage_error(capture(dequant, "--class c --source ' '"), "--source ' ': it needs");
  expect_usage_error(capture(dequant, "--class c"), "--source is required");
  expect_usage_error(capture("", words), "it does not start with 'FAMILY:'");
  expect_usage_error(capture("nonsense", words), "it does not start with 'FAMILY:'");
  expect_usage_error(capture("nope.h5", words), "assay: nope.h5: no such file\n");
  expect_usage_error(capture("goldens", words), "assay: goldens: is a directory\n");
  expect_usage_error(capture("mxfp8_dequent:rows=1", words), "the nearest is 'mxfp8_dequant'");
  expect_usage_error(capture("mxfp8_dequant/vectr:rows=1", words), "the nearest is 'vector'");
  expect_usage_error(capture("mxfp8_dequant@gpu:rows=1", words), "there is no device 'gpu'");
  expect_usage_error(capture("mxfp8_dequant:rows=x", words), "rows");
  expect_usage_error(capture(dequant + ";data[32]=00", words), "element 32 is past the end");
  expect_usage_error(capture(dequant, words + "--right 'y[0]=4001'"), "by the oracle it is 0x4000 = 2");
  expect_usage_error(capture(dequant, words + "--right 'z[0]=4000'"), "it has no output 'z'");
  expect_usage_error(capture(dequant, words + "--right 'y=4000'"), "it is not OUTPUT[ELEMENT]=CODES");
  expect_usage_error(capture(dequant, words + "--right 'y[0]=4000;y[1]=4460'"), "it is not OUTPUT");
  setenv("CI", "true", 1);
  expect_usage_error(capture(dequant, words), "capture: refused, because CI is set");
  unsetenv("CI");
  EXPECT_FALSE(std::filesystem::exists(home / "fixtures/mxfp8_dequant/captured"));
}

TEST(Capture, ADiskThatTakesNothingLeavesNothing) {
  const Home home;
  // No file may have a byte: what a full disk says, wherever the test runs and whoever runs it.
  const Ran ran = run(capture(dequant, words), "2>&1", "trap '' XFSZ && ulimit -f 0 && ");
  EXPECT_EQ(ran.exit_code, 4) << ran.text;
  EXPECT_NE(ran.text.find("T1.json: it cannot be written"), std::string::npos) << ran.text;
  EXPECT_FALSE(std::filesystem::exists(home / "fixtures/mxfp8_dequant/captured"));
  std::filesystem::create_directory(home / "fixtures/mxfp8_dequant/captured");
  (void)run(capture(dequant, words), "2>&1", "trap '' XFSZ && ulimit -f 0 && ");
  EXPECT_TRUE(std::filesystem::is_empty(home / "fixtures/mxfp8_dequant/captured"));
}

TEST(Capture, AnotherFolderIsAFolderThatGatesDoNotReadYet) {
  const Home home;
  const std::string out = "--out " + home.folder().quoted("goldens") + " ";
  const Ran ran = run(capture(dequant, words + out));
  EXPECT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_NE(
      ran.text.find("gates replay it once it lies in " + (home / "fixtures/mxfp8_dequant/captured").string()),
      std::string::npos)
      << ran.text;
  EXPECT_TRUE(std::filesystem::exists(home / "goldens/T1.json"));
  expect_usage_error(capture(dequant, words + out), "goldens/T1.json exists");
  expect_usage_error(capture(dequant, words + "--out " + home.folder().quoted("missing")), "does not exist");
  expect_usage_error(capture(dequant, words + "--out " + home.folder().quoted("README.md")),
                     "--out " + (home / "README.md").string() + ": it is not a folder");
}

TEST(Capture, ACaseOfAFileNeedsTheFileNoMore) {
  const Home home;
  const std::string header = R"({"t":{"dtype":"F8_E4M3","shape":[1,32],"data_offsets":[0,32]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write(home / "x.safetensors", bytes + header + std::string(32, '\x39'));
  const std::string text = "mxfp8_dequant:fp8=e4m3,out=fp32,rows=1,cols=32,scales=realistic,seed=1,on=" +
                           (home / "x.safetensors").string() + ":t";
  const Ran ran = run(capture(text, words));
  ASSERT_EQ(ran.exit_code, 0) << ran.text;
  const std::string kept = nlohmann::json::parse(contents(home / where))["cases"][0]["case"];
  EXPECT_NE(kept.find(";zeros;data[0]=39*32;scales[0]="), std::string::npos) << kept;
  std::filesystem::remove(home / "x.safetensors");
  const Ran gate = run("gate --family mxfp8_dequant --route scalar --device cpu --shard 1000/1000 --json -");
  EXPECT_EQ(nlohmann::json::parse(gate.text)["captured_cases"], 1) << gate.text;
}

/// Of 2,048 codes of which no two neighbours are equal.
std::string long_case() {
  std::string text = "mxfp8_dequant:fp8=e4m3,out=bf16,rows=64,cols=32;zeros;data[0]=38";
  for (int i = 1; i < 2048; ++i) text += i % 2 == 0 ? " 38" : " 39";
  return text + ";scales[0]=7F*64";
}

int gate_replays(const std::string& says) {
  const Ran gate = run("gate --family mxfp8_dequant --route scalar --device cpu --shard 1000/1000 --json -");
  EXPECT_NE(gate.text.find(says), std::string::npos) << gate.text;
  return gate.exit_code;
}

TEST(Capture, ALongCaseLiesInAFileBesideIt) {
  const Home home;
  const auto folder = home / "fixtures/mxfp8_dequant/captured";
  const Ran ran = run(capture(long_case(), words + "--right 'y[0]=3F80 3F90'"));
  ASSERT_EQ(ran.exit_code, 0) << ran.text;
  EXPECT_EQ(ran.text.find("wrote " + (folder / "T1-1.safetensors").string() + "\nwrote " +
                          (folder / "T1.json").string() + "\n"),
            0u)
      << ran.text;
  const auto fixture = nlohmann::json::parse(contents(folder / "T1.json"));
  EXPECT_EQ(fixture["cases"][0]["file"], "T1-1.safetensors");
  EXPECT_FALSE(fixture["cases"][0].contains("case"));
  EXPECT_EQ(gate_replays("\"captured_cases\": 1"), 0);

  // A case file is captured as well, in either form.
  const std::string file = (folder / "T1-1.safetensors").string();
  ASSERT_EQ(run(capture(file, words, "T2")).exit_code, 0);
  EXPECT_EQ(contents(folder / "T2-1.safetensors"), contents(file));
  EXPECT_EQ(gate_replays("\"captured_cases\": 2"), 0);

  // One that is gone, was cut, or is nobody's stops the gate.
  const std::string bytes = contents(file),
                    fault = "assay: captured fixture mxfp8_dequant/captured/T1.json: case 1: ";
  std::filesystem::remove(file);
  EXPECT_EQ(gate_replays(fault + "there is no file 'T1-1.safetensors' beside it"), 2);
  write(file, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(gate_replays(fault + file), 2);
  write(file, bytes);
  write(folder / "T3-1.safetensors", bytes);
  EXPECT_EQ(gate_replays("mxfp8_dequant/captured/T3-1.safetensors: the file: it is neither a fixture"), 2);
  expect_usage_error(capture(long_case(), words, "T3"), "T3-1.safetensors exists");
}

TEST(Capture, ADiskThatTakesTheCaseFileAloneIsLeftEmpty) {
  const Home home;
  // 4,096 bytes a file: enough for the tensors, too few for what is said of them.
  const std::string title(8000, 't');
  const Ran ran =
      run(capture(long_case(), words + "--title " + title), "2>&1", "trap '' XFSZ && ulimit -f 8 && ");
  EXPECT_EQ(ran.exit_code, 4) << ran.text;
  EXPECT_NE(ran.text.find("T1.json: it cannot be written"), std::string::npos) << ran.text;
  EXPECT_FALSE(std::filesystem::exists(home / "fixtures/mxfp8_dequant/captured"));
}

}  // namespace
