// `assay repro` of files: case files with and without somebody's outputs, and captured fixtures.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "properties/exchange/case_file.hpp"
#include "properties/repro/repro.hpp"

namespace assay::properties::repro {
namespace {

namespace fs = std::filesystem;

const std::string cast = "mxfp8_cast@cpu:in=bf16,rows=2,cols=64,stride=4,fill=ramps,seed=2";
const std::string delta = "gated_delta@cpu:io=fp32,state=fp32,batch=2,pool=3,h=1,hv=1,slots=permuted";

class ReproFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("assay_repro_file_test." + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "mxfp8_cast" / "captured");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  /// A case file with the right outputs, of which `change` may make others.
  std::string with_outputs(const std::string& text, const std::function<void(Contents&)>& change = {}) {
    const auto workload = build_case(text);
    Contents outputs;
    for (const auto& acceptance : workload->acceptance()) outputs.push_back(acceptance.lo);
    if (change) change(outputs);
    const std::string path = file("case.safetensors");
    write_case_file(path, FileKind::safetensors, *workload, text, &outputs);
    return path;
  }

  static ReproResult of(const std::string& what, std::vector<std::string> routes = {}) {
    ReproOptions options;
    options.what = what;
    options.routes = std::move(routes);
    return reproduce(options);
  }
  static std::string told(const ReproResult& result) { return text_report(result, 0, false); }
  static std::string refusal(const std::string& what) {
    try {
      (void)of(what);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  fs::path folder_;
};

::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "no '" << part << "' in\n" << text;
}

TEST_F(ReproFile, ACaseFileIsRunWithItsOwnContents) {
  // Other contents than the text generates: x is what the file says.
  const auto generated = build_case(cast);
  const auto other = build_case(cast + ";x[5]=7FC0");
  write_case_file(file("a.h5"), FileKind::hdf5, *other, cast, nullptr);
  const ReproResult result = of(file("a.h5"));
  EXPECT_EQ(result.gate.exit_code(), 0) << told(result);
  EXPECT_EQ(result.file, file("a.h5"));
  EXPECT_TRUE(result.theirs.empty());
  EXPECT_TRUE(has(result.text, " 7FC0 ")) << "the text gives what the file holds";
  for (const auto& run : result.runs) EXPECT_EQ(run.device, "cpu");
  EXPECT_EQ(contents_of(given(*source_of(file("a.h5")).workload)), contents_of(given(*other)));
  EXPECT_NE(contents_of(given(*other)), contents_of(given(*generated)));
}

TEST_F(ReproFile, OutputsThatAreRightAreThoseOfEveryRoute) {
  for (const std::string& text : {cast, delta}) {
    const ReproResult result = of(with_outputs(text));
    EXPECT_EQ(result.gate.exit_code(), 0) << told(result);
    EXPECT_TRUE(has(told(result), "case.safetensors are right:"));
    EXPECT_TRUE(has(told(result), "the same: "));
    EXPECT_FALSE(has(told(result), "not the same"));
    EXPECT_EQ(result.theirs.size(), 2u);
  }
}

/// The scales are padded: what padding held before is not known and is not compared.
TEST_F(ReproFile, PaddingThatHadToStayIsNotCompared) {
  const ReproResult result =
      of(with_outputs(cast, [](Contents& outputs) { outputs[1][3] = std::byte{0x77}; }));
  EXPECT_TRUE(has(told(result), "are right:"));
  ASSERT_EQ(result.theirs.size(), 2u);
  EXPECT_EQ(result.theirs[1].not_judged, 4u);
  ASSERT_EQ(result.runs[1].same.size(), 2u);
  EXPECT_EQ(result.runs[1].same[1].compared, 4u);
}

TEST_F(ReproFile, OutputsThatAreWrongAreNotReproducedByRightKernels) {
  const std::string path = with_outputs(cast, [](Contents& outputs) { outputs[0][69] ^= std::byte{1}; });
  const ReproResult result = of(path, {"staged"});
  EXPECT_EQ(result.gate.exit_code(), 0) << "the kernel here is right";
  const std::string text = told(result);
  EXPECT_TRUE(has(text, "case.safetensors are wrong:"));
  EXPECT_TRUE(has(text, "data (e4m3): 128 elements judged, 1 wrong"));
  EXPECT_TRUE(has(text,
                  "not reproduced: staged on cpu leaves other bits\n  data: 1 of 128 elements differ, first "
                  "data[1, 5] (block 0, lane 5): theirs 0x"));
  const auto document = nlohmann::json::parse(json_report(result));
  EXPECT_EQ(document["file"], path);
  EXPECT_EQ(document["file_outputs"][0]["wrong"], 1);
  EXPECT_EQ(document["runs"][0]["beside_file"][0]["different"], 1);
  EXPECT_EQ(document["runs"][0]["beside_file"][1]["different"], 0);
  // Had a kernel left these bits, it would be said so.
  ReproResult same = of(path, {"staged"});
  for (SameBits& one : same.runs[0].same) one.different = 0;
  EXPECT_TRUE(has(told(same), "reproduced: staged on cpu leaves the same bits (data, scales)"));
  EXPECT_FALSE(has(told(same), "not reproduced"));
}

TEST_F(ReproFile, AnotherNaNIsRightAndNotTheSame) {
  const std::string text = "mxfp8_dequant@cpu:out=fp32,rows=1,cols=32;zeros;scales[0]=FF";
  const ReproResult result =
      of(with_outputs(text, [](Contents& outputs) { arithmetic::store_code(outputs[0], 4, 3, 0x7FC00000); }));
  EXPECT_EQ(result.gate.exit_code(), 0) << told(result);
  EXPECT_TRUE(has(told(result), "case.safetensors are right:"));
  EXPECT_TRUE(has(told(result), "not the same"));
}

TEST_F(ReproFile, OneOutputAloneIsEnough) {
  const auto workload = build_case(delta);
  CaseFile whole = read_case_file(with_outputs(delta));
  whole.tensors.erase("o");
  EXPECT_EQ(outputs_in(whole, *workload)[0].has_value(), false);
  Source source = source_of(with_outputs(delta));
  source.theirs[0].reset();
  EXPECT_EQ(mismatches_of_theirs(source).size(), 1u);
  EXPECT_EQ(mismatches_of_theirs(source)[0].name, "state");
}

TEST_F(ReproFile, AFixtureIsRunByItsNameAndNumber) {
  const std::string path = file("mxfp8_cast/captured/R1.json");
  std::ofstream(path) << R"({"id": "R1", "title": "t", "class": "c", "source": "s/r#1", "shows": "w",
    "cases": [{"case": "mxfp8_cast/staged@cpu:in=bf16,rows=1,cols=32;zeros;x[3]=3F80"},
              {"case": "mxfp8_cast/dispatch@cpu:in=bf16,rows=1,cols=64"}]})";
  const ReproResult second = of(path + ":2");
  ASSERT_EQ(second.runs.size(), 1u);
  EXPECT_EQ(second.runs[0].route, "dispatch");
  EXPECT_TRUE(has(told(second), "captured fixture R1, case 2 (s/r#1): t\n"));
  EXPECT_EQ(of(path + ":1").runs[0].route, "staged");
  EXPECT_TRUE(has(refusal(path), "it has 2 cases; say which: " + path + ":1"));
  EXPECT_TRUE(has(refusal(path + ":3"), "it has no case 3, but 2"));
  EXPECT_TRUE(has(refusal(path + ":0"), "its cases are counted from 1"));
}

/// As `assay capture --out` leaves it: in any folder, of the family that its cases name.
TEST_F(ReproFile, AFixtureMayLieInAnyFolder) {
  const auto with = [](const std::string& second) {
    return R"({"id": "R1", "title": "t", "class": "c", "source": "s/r#1", "shows": "w", "cases": [)"
           R"({"case": "mxfp8_cast/staged@cpu:in=bf16,rows=1,cols=32"})" +
           second + "]}";
  };
  fs::create_directories(folder_ / "gated_delta" / "captured");
  for (const std::string name : {"R1.json", "gated_delta/captured/R1.json"}) {
    std::ofstream(file(name)) << with("");
    for (const char* number : {"", ":1"}) {
      const ReproResult result = of(file(name) + number);
      EXPECT_EQ(result.gate.exit_code(), 0) << told(result);
      EXPECT_TRUE(has(told(result), "captured fixture R1, case 1 (s/r#1): t\n"));
    }
  }
  std::ofstream(file("R1.json")) << with(R"(, {"case": "mxfp8_dequant:rows=1,cols=32"})");
  EXPECT_EQ(refusal(file("R1.json")), "captured fixture " + file("R1.json") +
                                          ": case 2: it is a case of 'mxfp8_dequant', case 1 of " +
                                          "'mxfp8_cast'");
  std::ofstream(file("R1.json")) << with(R"(, {"case": "mxfp8_cast:rows=1,cols=x"})");
  EXPECT_TRUE(has(refusal(file("R1.json") + ":2"), "captured fixture " + file("R1.json") + ": case 2: "));
}

TEST_F(ReproFile, WhatIsNoCaseIsSaid) {
  std::ofstream(file("text")) << "mxfp8_cast:rows=1";
  EXPECT_TRUE(has(refusal(file("text")), file("text")));
  std::ofstream(file("mxfp8_cast/captured/R2.json")) << "{";
  EXPECT_TRUE(has(refusal(file("mxfp8_cast/captured/R2.json")),
                  "captured fixture " + file("mxfp8_cast/captured/R2.json") + ": the file: no JSON"));
  for (const std::string& name : {file("missing"), std::string("missing.h5"), std::string("missing.json"),
                                  std::string("missing.npy"), std::string("missing.safetensors")})
    EXPECT_EQ(refusal(name), name + ": no such file");
  EXPECT_EQ(refusal(file("missing.json") + ":1"), file("missing.json") + ": no such file");
  EXPECT_EQ(refusal("missing.json:1"), "missing.json: no such file");
  EXPECT_EQ(refusal(folder_.string()), folder_.string() + ": is a directory");
  for (const char* number : {"x", "", "1x", "-1", "99999999999999999999"}) {
    const std::string json = file("mxfp8_cast/captured/R2.json");
    EXPECT_EQ(refusal(json + ":" + number), json + ": its cases are numbered, the first is " + json + ":1");
  }
  for (const char* text : {"missing", "mxfp8_cast", "mxfp8_cast/staged"})
    EXPECT_TRUE(has(refusal(text), "does not start with 'FAMILY:'"));
  EXPECT_TRUE(has(refusal("mxfp8_casts/staged:rows=1"), "the nearest is 'mxfp8_cast'"));
  const std::string path = with_outputs(cast);
  const CaseFile whole = read_case_file(path);
  EXPECT_EQ(whole.text.family, "mxfp8_cast");
  EXPECT_TRUE(has(refusal(ASSAY_SOURCE_DIR "/fixtures/mxfp8_cast/all-MiniLM-L6-v2.slice.safetensors"),
                  "it names no case (metadata 'assay.case')"));
}

}  // namespace
}  // namespace assay::properties::repro
