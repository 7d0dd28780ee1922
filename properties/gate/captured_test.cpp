// Captured fixtures on a made-up family: what the reader refuses, what right codes are held to, and that a
// gate replays them before anything else.
#include "properties/gate/captured.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "fixtures/tensor/errors.hpp"
#include "properties/gate/gate.hpp"
#include "properties/gate/report.hpp"
#include "properties/gate/testing.hpp"

namespace assay::properties {
namespace {

using namespace copy_testing;
using Path = std::filesystem::path;
using Names = std::vector<std::string>;

/// The cases of which the family below ran something, in order.
Names& launched() {
  static Names names;
  return names;
}

/// A copy that is wrong in one element where the token says so; "replay:state" has a buffer updated in place.
class ReplayWorkload : public CopyWorkload {
 public:
  explicit ReplayWorkload(std::string token)
      : CopyWorkload([token](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
          record(context, "copy_fast");
          launched().push_back(token);
          copy_right(x, y);
          if (token.find("wrong") != token.npos) y[stride + 2] = 0x7E;
        }),
        token_(std::move(token)) {}
  std::string token() const override { return token_; }

 private:
  std::string token_;
};

class ReplayFamily : public CopyFamily {
 public:
  std::string_view name() const override { return "replay"; }
  std::vector<std::string> cases(Level, std::uint64_t) const override { return {"replay:built_in"}; }
  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    if (token == "replay:none") throw BadInput("there is no such case");
    if (token == "replay:state") return std::make_unique<StateWorkload>(step_right);
    auto workload = std::make_unique<ReplayWorkload>(std::string(token));
    if (token == "replay:refused") workload->refuse_first = true;
    if (token == "replay:wide") {  // an interval of three codes an element
      workload->acceptance_[0].hi = workload->acceptance_[0].lo;
      for (std::byte& code : workload->acceptance_[0].hi)
        code = static_cast<std::byte>(std::to_integer<int>(code) + 2);
    }
    return workload;
  }
};
const ReplayFamily replay_family;
const Register registered(&replay_family);

/// Other tests of this program have families of their own.
GateOptions of_replay() {
  GateOptions options;
  options.families = {"replay"};
  return options;
}

/// A home of its own, gone afterwards.
class Home {
 public:
  Home()
      : path_(std::filesystem::temp_directory_path() / ("assay_captured_test." + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    for (const char* folder : {"goldens", "fixtures/replay/captured", "fixtures/other/captured"})
      std::filesystem::create_directories(path_ / folder);
    write("README.md", "");
    setenv("ASSAY_HOME", path_.c_str(), 1);
  }
  ~Home() {
    unsetenv("ASSAY_HOME");
    std::filesystem::remove_all(path_);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  void write(const Path& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  Path fixtures() const { return path_ / "fixtures"; }

 private:
  Path path_;
};

std::string with_cases(const std::string& id, const std::string& cases) {
  return R"({"id": ")" + id +
         R"(", "title": "t", "class": "c", "source": "o/r#1", "shows": "s", "cases": [)" + cases + "]}";
}
std::string fixture(const std::string& id, const std::string& token, const std::string& right = "") {
  return with_cases(
      id, R"({"case": ")" + token + "\"" + (right.empty() ? "" : R"(, "right": [)" + right + "]") + "}");
}

std::string text_of(const BadInput& error) { return error.what(); }

/// What a gate that replays this file says of it; empty when it takes it.
std::string refusal(const std::string& text, const Path& name = "replay/captured/T1.json") {
  const Home home;
  home.write("fixtures" / name, text);
  try {
    (void)run_gate(of_replay());
  } catch (const BadInput& error) {
    return text_of(error);
  }
  return "";
}

GateResult gate(const Home& home, const GateOptions& options = of_replay()) {
  (void)home;
  launched().clear();
  return run_gate(options);
}

TEST(Captured, AGateReplaysThemBeforeItsOwnCases) {
  const Home home;
  home.write("fixtures/replay/captured/T2.json", fixture("T2", "replay:second"));
  home.write("fixtures/replay/captured/T1.json",
             with_cases("T1", R"({"case": "replay:first"}, {"case": "replay:other"})"));
  const Names captured = {"replay:first", "replay:first",  "replay:other",
                          "replay:other", "replay:second", "replay:second"};  // each case runs twice
  Names all = captured;
  all.insert(all.end(), {"replay:built_in", "replay:built_in"});
  GateResult result = gate(home);
  EXPECT_EQ(launched(), all);
  EXPECT_EQ(result.replayed, 3u);
  EXPECT_EQ(result.rows[0].cases, 4u) << "they count";
  EXPECT_NE(text_report(result, std::nullopt).find(", 3 captured cases replayed first"), std::string::npos);
  GateOptions options = of_replay();
  options.level = Level::exhaustive;
  gate(home, options);
  EXPECT_EQ(launched(), all);
  options.shard = {1, 2};  // the built-in case is the other shard's
  gate(home, options);
  EXPECT_EQ(launched(), captured);
  options.shard = {};
  options.cases = {"replay:named"};
  gate(home, options);
  EXPECT_EQ(launched(), (Names{"replay:named", "replay:named"})) << "a case that is named is judged alone";
}

TEST(Captured, AFindingSaysWhereItsCaseIsFrom) {
  const Home home;
  home.write("fixtures/replay/captured/T1.json", fixture("T1", "replay:wrong"));
  const GateResult result = gate(home);
  EXPECT_EQ(result.exit_code(), exit_fail);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].notes.front(), "captured fixture T1, case 1 (o/r#1): t");
  EXPECT_EQ(result.findings[0].token, "replay/fast@cpu:wrong");
}

TEST(Captured, ACaseOfARouteAndADeviceRunsThereAlone) {
  const Home home;
  home.write("fixtures/replay/captured/T1.json", fixture("T1", "replay/fast@cpu:here"));
  home.write("fixtures/replay/captured/T2.json", fixture("T2", "replay/slow:there"));
  home.write("fixtures/replay/captured/T3.json", fixture("T3", "replay@cuda:elsewhere"));
  GateOptions options = of_replay();
  options.devices = {kernels::DeviceKind::cpu};
  const GateResult result = gate(home, options);
  EXPECT_EQ(launched(), (Names{"replay:here", "replay:here", "replay:built_in", "replay:built_in"}));
  EXPECT_EQ(result.replayed, 2u);
  EXPECT_EQ(result.rows[1].unsupported, 2u) << "the slow route refused T2 and the built-in case";
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_EQ(
      result.notes[0],
      "not replayed, its route or device is absent or not selected: captured fixture T3, case 1 (o/r#1): t");
}

TEST(Captured, WhatIsNoFixtureStopsTheGate) {
  ASSERT_EQ(refusal(fixture("T1", "replay:any")), "");
  const std::string file = "captured fixture replay/captured/T1.json: the file: ";
  const std::string one = "captured fixture replay/captured/T1.json: case 1: ";
  EXPECT_EQ(refusal("").substr(0, file.size() + 7), file + "no JSON");
  EXPECT_EQ(refusal(fixture("T1", "replay:any").substr(0, 60)).substr(0, file.size() + 7), file + "no JSON");
  EXPECT_EQ(refusal(R"({"id": "T1", "id": "T1"})"), file + "the key 'id' twice in one object");
  EXPECT_EQ(refusal(R"({"id": "T1", "name": "t"})"), file + "unknown key 'name'");
  EXPECT_EQ(refusal(R"({"id": "T1", "title": ""})"), file + "'title' is not a text");
  EXPECT_EQ(refusal(fixture("T2", "replay:any")), file + "its id is 'T2'");
  EXPECT_EQ(refusal(fixture("T1", "replay:any"), "replay/captured/T1.old.json"),
            "captured fixture replay/captured/T1.old.json: the file: its id is 'T1'");
  EXPECT_EQ(refusal(with_cases("T1", "")), file + "'cases' is not a list with entries");
  EXPECT_EQ(refusal(with_cases("T1", R"({"right": []})")), one + "it needs 'case' or 'file', one of them");
  EXPECT_EQ(refusal(with_cases("T1", R"({"case": "replay:any", "file": "T1-1.safetensors"})")),
            one + "it needs 'case' or 'file', one of them");
  EXPECT_EQ(refusal(with_cases("T1", R"({"file": "T1-1.safetensors"})")),
            one + "there is no file 'T1-1.safetensors' beside it");
  EXPECT_EQ(refusal(with_cases("T1", R"({"file": "../captured/T1.json"})")),
            one + "'../captured/T1.json' is not the name of a file beside it");
  EXPECT_EQ(refusal(with_cases("T1", R"({"file": "T1.json"})")).find(one), 0u) << "no file of tensors";
  EXPECT_EQ(refusal(with_cases("T1", R"({"case": "replay:any", "right": []})")),
            one + "'right' is not a list with entries");
  EXPECT_EQ(refusal(with_cases("T1", R"({"case": "replay:any", "expected": 1})")),
            one + "unknown key 'expected'");
  EXPECT_EQ(refusal(fixture("T1", "nonsense")), one + "case 'nonsense': it does not start with 'FAMILY:'");
  EXPECT_EQ(refusal(fixture("T1", "other:any")), one + "it is a case of 'other', in the folder of 'replay'");
  EXPECT_EQ(refusal(fixture("T1", "replay/fest:any")),
            one + "case 'replay/fest:any': replay has no route 'fest'; the nearest is 'fast'");
  EXPECT_EQ(refusal(fixture("T1", "replay@gpu:any")),
            one + "there is no device 'gpu'; devices are cpu and cuda");
  EXPECT_EQ(refusal(fixture("T1", "replay:none")), one + "there is no such case");
  EXPECT_EQ(
      refusal("", "replay/captured/T1.json.orig"),
      "captured fixture replay/captured/T1.json.orig: the file: it is neither a fixture ID.json nor the case "
      "file of one");
}

TEST(Captured, TwoFixturesOfOneIdStopTheGate) {
  for (const char* other : {"fixtures/other/captured/T1.json", "fixtures/other/reported/T1.json",
                            "fixtures/replay/reported/T1.json"}) {
    const Home home;
    home.write("fixtures/replay/captured/T1.json", fixture("T1", "replay:any"));
    home.write(other, "{}");
    try {
      (void)run_gate(of_replay());
      ADD_FAILURE() << other;
    } catch (const BadInput& error) {
      EXPECT_NE(text_of(error).find("has the same id"), std::string::npos) << error.what();
      EXPECT_NE(text_of(error).find(Path(other).lexically_relative("fixtures").string()), std::string::npos);
      EXPECT_NE(text_of(error).find("replay/captured/T1.json"), std::string::npos) << error.what();
    }
  }
}

/// `right` as {"output": ..., "first": ..., "codes": ...}.
std::string right_of(const std::string& output, const std::string& first, const std::string& codes) {
  return R"({"output": ")" + output + R"(", "first": )" + first + R"(, "codes": ")" + codes + R"("})";
}
std::string right_refusal(const std::string& token, const std::string& right) {
  const std::string text = refusal(fixture("T1", token, right));
  const std::string head = "captured fixture replay/captured/T1.json: case 1: ";
  return text.empty() ? "" : text.substr(text.find(head) + head.size());
}

TEST(Captured, RightCodesAreThoseOfTheOracle) {
  // x is 0x21.. in rows of 6, y has rows of 8; rows 0 and 1 hold 21..26 and 27..2C.
  EXPECT_EQ(right_refusal("replay:any", right_of("y", "0", "21 22 23")), "");
  EXPECT_EQ(right_refusal("replay:any", right_of("y", "8", "27 28")), "");
  EXPECT_EQ(
      right_refusal("replay:any", right_of("y", "8", "27 29")),
      "y[1, 1]: right is said to be 0x29 = 0.28125 (0x1.2p-2), by the oracle it is 0x28 = 0.25 (0x1p-2)");
  EXPECT_EQ(right_refusal("replay:any", right_of("y", "0", "7F")).find("y[0, 0]"), 0u)
      << "a NaN is no number";
  EXPECT_EQ(right_refusal("replay:any", right_of("z", "0", "21")),
            "it has no output 'z'; the nearest is 'y'");
  EXPECT_EQ(right_refusal("replay:any", right_of("y", "31", "21 22")),
            "right codes of y[31]: element 32 is past the end: 'y' has 32");
  EXPECT_EQ(right_refusal("replay:any", right_of("y", "5", "26 00")),
            "right codes of y[5]: element 6 is padding, which keeps what it happens to hold");
  EXPECT_EQ(right_refusal("replay:any", right_of("y", "-1", "21")),
            "'first' is not the number of an element");
  EXPECT_NE(right_refusal("replay:any", right_of("y", "0", "2")).find("hexadecimal digits"),
            std::string::npos);
  EXPECT_EQ(right_refusal("replay:refused", right_of("y", "0", "21")), "")
      << "the family's rule has it taken, whatever the route says";
}

TEST(Captured, RightCodesMayLieAnywhereInAnInterval) {
  for (const char* code : {"21", "22", "23"})
    EXPECT_EQ(right_refusal("replay:wide", right_of("y", "0", code)), "");
  for (const char* code : {"20", "24"})
    EXPECT_NE(right_refusal("replay:wide", right_of("y", "0", code)).find("by the oracle it is 0x21"),
              std::string::npos);
}

TEST(Captured, WhatStaysInPlaceIsRightToo) {
  // Slot 1 is nobody's and keeps 29..30; slot 2 is of sequence 0 and gains 3.
  EXPECT_EQ(right_refusal("replay:state", right_of("state", "8", "29 2A")), "");
  EXPECT_EQ(right_refusal("replay:state", right_of("state", "16", "34")), "");
  EXPECT_EQ(right_refusal("replay:state", right_of("state", "8", "2C")),
            "state[1, 0]: right is said to be 0x2C = 0.375 (0x1.8p-2), but the element keeps what it holds, "
            "0x29 = 0.28125 (0x1.2p-2)");
}

TEST(Captured, AFixtureIsReadAsItIsWritten) {
  const std::string text =
      with_cases("T1", R"({"case": "replay/fast@cpu:any"}, {"case": "replay:any", "right": [)" +
                           right_of("y", "0", "21 22") + "]}");
  const Captured read = parse_captured("fixtures/replay/captured/T1.json", text, "replay");
  const Captured again = parse_captured("fixtures/replay/captured/T1.json", json_text(read), "replay");
  EXPECT_EQ(json_text(again), json_text(read));
  EXPECT_EQ(again.cases[1].right[0].codes, "21 22");
  EXPECT_EQ(print(again.cases[0].text), "replay/fast@cpu:any");
}

TEST(Captured, AFixtureThatAUserNamesIsOfTheFamilyOfItsCases) {
  const Path path = "/a/far/away/folder/T1.json";
  const auto refused = [&](const std::string& text) -> std::string {
    try {
      (void)build(parse_captured(path, text, ""), 0);
    } catch (const BadInput& error) {
      return text_of(error);
    }
    return "";
  };
  EXPECT_EQ(parse_captured(path, fixture("T1", "replay:any"), "").family, "replay");
  EXPECT_EQ(refused(fixture("T1", "replay:any")), "");
  const std::string one = "captured fixture " + path.string() + ": case 1: ";
  EXPECT_EQ(refused(fixture("T1", "replay:none")), one + "there is no such case");
  EXPECT_EQ(refused(fixture("T1", "replay/fest:any")),
            one + "case 'replay/fest:any': replay has no route 'fest'; the nearest is 'fast'");
  EXPECT_EQ(refused(with_cases("T1", R"({"case": "replay:any"}, {"case": "other:any"})")),
            "captured fixture " + path.string() + ": case 2: it is a case of 'other', case 1 of 'replay'");
}

TEST(Captured, AnIdIsNoOptionAndNoHiddenFile) {
  for (const char* id : {"T1", "1", "t-1_", "9-"}) EXPECT_TRUE(is_fixture_id(id)) << id;
  for (const char* id : {"", "-x", "--", "_x", ".x", "x.y"}) EXPECT_FALSE(is_fixture_id(id)) << id;
}

}  // namespace
}  // namespace assay::properties
