// `judge` and `cases` as a user meets them: exit codes, files, and the one line that is said of a file that
// lies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fixtures/files/hdf5_writer.hpp"
#include "fixtures/files/safetensors_writer.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "properties/cli/program_testing.hpp"

namespace {

namespace fs = std::filesystem;
using assay::cli::testing_program::Ran;
using assay::fixtures::DType;
using assay::fixtures::Tensor;

/// One block of zeros, for which every contract has the same right result.
class JudgeProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-judge.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    add("x", DType::bf16, {2, 32});
    add("data", DType::f8_e4m3, {2, 32});
    add("scales", DType::u8, {2, 1});
  }
  void TearDown() override { fs::remove_all(folder_); }

  void add(const std::string& name, DType dtype, const std::vector<std::size_t>& shape) {
    tensors_[name] = {name, dtype, shape,
                      std::span<const std::byte>(zeros_).first(*assay::fixtures::byte_count(shape, dtype)),
                      nullptr};
  }
  /// The tensors named, in a file of the folder.
  std::string put(const std::string& file, const std::vector<std::string>& names,
                  const std::map<std::string, std::string>& metadata = {}) const {
    std::vector<Tensor> chosen;
    for (const std::string& name : names) chosen.push_back(tensors_.at(name));
    return put_bytes(file, file.ends_with(".h5") ? assay::fixtures::hdf5_bytes(chosen, metadata)
                                                 : assay::fixtures::safetensors_bytes(chosen, metadata));
  }
  std::string put_bytes(const std::string& file, const std::vector<std::byte>& bytes) const {
    const fs::path path = folder_ / file;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }

  Ran run(const std::string& arguments) const {
    return assay::cli::testing_program::run(arguments, "2>&1", "", folder_.string());
  }
  void expect(int code, const std::string& arguments, const std::string& says) const {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.exit_code, code) << arguments << "\n" << ran.text;
    EXPECT_NE(ran.text.find(says), std::string::npos) << arguments << "\n" << ran.text;
    if (code == 2) {
      EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << "one line, not\n" << ran.text;
    }
  }

  fs::path folder_;
  std::vector<std::byte> zeros_ = std::vector<std::byte>(4096);
  std::map<std::string, Tensor> tensors_;
};

const std::string named = "--contract rule=floor,specials=poison,padding=untouched";

TEST_F(JudgeProgramTest, JudgesFilesOfEveryKind) {
  put("all.safetensors", {"x", "data", "scales"});
  put("all.h5", {"x", "data", "scales"});
  put("in.safetensors", {"x"});
  put("out.h5", {"data", "scales"});
  for (const std::string files : {"all.safetensors", "all.h5", "in.safetensors out.h5"}) {
    expect(0, "judge " + files, "PASS: 66 elements compared, 24 of 24 readings consistent");
    expect(0, "judge " + files + " " + named, "data: 64 elements compared, 0 wrong");
  }
  expect(0, "judge --tensor x=in.safetensors --tensor data=out.h5:data --contract any", "PASS: 64 elements");
}

TEST_F(JudgeProgramTest, AWrongCodeFails) {
  std::vector<std::byte> one(64);
  one[33] = std::byte{0x01};
  tensors_["data"].bytes = one;
  put("all.safetensors", {"x", "data", "scales"});
  expect(1, "judge all.safetensors " + named,
         "A001 mxfp8_cast, offered by all.safetensors: data: 1 of 64 elements are outside their interval");
  expect(
      1, "judge all.safetensors " + named,
      "data[1, 1] (block 0, lane 1): expected 0x00 = 0, actual 0x01 = 0.001953125 (0x1p-9), 1 code outside");
  expect(1, "judge all.safetensors", "wrong: 1 of 64 of data, 0 of 2 of scales");
  // Minus zero is another code.
  one[33] = std::byte{0x80};
  put("all.safetensors", {"x", "data", "scales"});
  expect(1, "judge all.safetensors " + named, "actual 0x80 = -0");
}

TEST_F(JudgeProgramTest, ACaseOfTheFileIsUsed) {
  const std::string text = "mxfp8_cast:in=bf16,rows=2,cols=32,fill=normal,seed=1";
  put("outputs.safetensors", {"data", "scales"}, {{"assay.case", text}});
  // Its x is what the text generates, which the zeros are not the cast of.
  expect(1, "judge outputs.safetensors", "repro: assay repro 'outputs.safetensors'\n");
  put("case.safetensors", {"x", "data", "scales"}, {{"assay.case", text}});
  expect(0, "judge case.safetensors", "case: " + text);
  expect(0, "judge case.safetensors --contract any", "24 of 24 readings consistent");
  expect(2, "judge case.safetensors --case 'mxfp8_cast:in=bf16,rows=2,cols=32,seed=2'", "names another case");
}

TEST_F(JudgeProgramTest, NothingOfferedIsVacuous) {
  put("in.safetensors", {"x"});
  expect(3, "judge in.safetensors --family mxfp8_cast",
         "VACUOUS: no output of mxfp8_cast was offered, exit 3");
}

TEST_F(JudgeProgramTest, LiesAreOneLine) {
  put("all.safetensors", {"x", "data", "scales"});
  put("in.safetensors", {"x"});
  put("out.safetensors", {"data", "scales"});
  expect(2, "judge", "it needs a file of tensors");
  expect(2, "judge ''", "it needs the name of a file");
  expect(2, "judge no.safetensors", "no.safetensors: no such file");
  expect(2, "judge all.safetensors --family mxfp8", "unknown family 'mxfp8'; the nearest is 'mxfp8_cast'");
  expect(2, "judge all.safetensors --contract rule=flor --family mxfp8_cast", "contract rule='flor'");
  expect(2, "judge all.safetensors --contract ''", "--contract ''");
  expect(2, "judge all.safetensors --contract any --case mxfp8_cast:rows=1", "give one of the two");
  expect(2, "judge all.safetensors --tensor x", "--tensor 'x': it is not NAME=FILE:TENSOR");
  expect(2, "judge all.safetensors --tensor x=in.safetensors",
         "tensor 'x': it is offered by all.safetensors too");
  expect(2, "judge out.safetensors --tensor x=all.safetensors",
         "it holds 3 tensors; say which is 'x': FILE:TENSOR");
  expect(2, "judge out.safetensors --tensor x=all.safetensors:y",
         "all.safetensors: tensor 'y': no such tensor");
  expect(2, "judge out.safetensors --family mxfp8_cast",
         "tensor 'x': it is an input of mxfp8_cast and is missing");
  expect(2, "judge all.safetensors --case mxfp8_cast:in=bf16,rows=3,cols=32",
         "all.safetensors: tensor 'data': its shape is [2, 32], that of the case is [3, 32]");
  expect(2, "judge all.safetensors --case mxfp8_cast:in=fp16,rows=2,cols=32",
         "tensor 'x': its dtype is bf16, that of the case is f16");
  expect(2, "judge all.safetensors --json ''", "--json ''");

  expect(2, "judge all.safetensors --contract rule=flor",
         "assay: contract rule='flor': with these tensors it is");
  expect(2, "judge all.safetensors --contract bogus=1", "assay: contract 'bogus': there is no such key");
  expect(2, "judge out.safetensors --tensor x=all.safetensors:scales --family mxfp8_cast",
         "assay: all.safetensors: tensor 'x': its last dimension 1 is not divisible by 32");
  put("bad-case.safetensors", {"x"}, {{"assay.case", "nonsense"}});
  expect(2, "judge bad-case.safetensors", "case 'nonsense': it does not start with 'FAMILY:'");
  put("other.safetensors", {"x"}, {{"assay.case", "mxfp8_cast:rows=9"}});
  put("another.safetensors", {"data"}, {{"assay.case", "mxfp8_cast:rows=8"}});
  expect(2, "judge other.safetensors another.safetensors", "it names another case than other.safetensors");
  auto bytes = assay::fixtures::safetensors_bytes(std::vector<Tensor>{tensors_["x"]}, {});
  bytes.pop_back();
  put_bytes("short.safetensors", bytes);
  expect(2, "judge short.safetensors", "short.safetensors: tensor 'x': data_offsets");
}

TEST_F(JudgeProgramTest, ResultsAreAlsoJson) {
  put("all.safetensors", {"x", "data", "scales"});
  const Ran ran = run("judge all.safetensors --json - " + named);
  const auto document = nlohmann::json::parse(ran.text);
  EXPECT_EQ(document["exit_code"], 0);
  EXPECT_EQ(document["family"], "mxfp8_cast");
  EXPECT_EQ(document["named"], true);
  EXPECT_EQ(document["readings"][0]["outputs"][0]["compared"], 64);
  EXPECT_GT(document["readings"][0]["probes_rejected"], 0);
}

TEST_F(JudgeProgramTest, CasesAreWrittenWholeOrNotAtAll) {
  const std::string cases = "cases --family mxfp8_dequant --limit 3 --out ";
  expect(0, cases + "one", "wrote 3 case files and index.tsv, ");
  expect(0, cases + "two", "wrote 3 case files and index.tsv, ");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_ / "one")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 4u);
  EXPECT_TRUE(names[0].starts_with("0001-mxfp8_dequant-")) << names[0];
  EXPECT_TRUE(names[0].ends_with(".safetensors")) << names[0];
  for (const std::string& name : names) {
    std::ifstream one(folder_ / "one" / name, std::ios::binary),
        two(folder_ / "two" / name, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(one), {}),
              std::string(std::istreambuf_iterator<char>(two), {}));
  }
  std::ifstream index(folder_ / "one" / "index.tsv");
  std::string line;
  std::getline(index, line);
  const auto file = assay::fixtures::open_tensor_file(folder_ / "one" / names[0]);
  EXPECT_EQ(line, names[0] + "\t" + file->metadata().at("assay.case"));

  expect(2, cases + "one", "one: it is not empty; name a folder that is not there yet");
  expect(2, "cases --case mxfp8_cast:rows=1,cols=32 --case mxfp8_cast:rows=1,cols=33 --out three",
         "not divisible");
  expect(2, cases + "no/such", "it cannot be made: No such file or directory");
  std::ofstream(folder_ / "file") << "x";
  expect(2, cases + "file", "it is there and is no folder");
  expect(2, cases + "''", "--out ''");
  expect(2, "cases --out four", "it needs --family, for built-in cases, or --case");
  expect(2, "cases --family mxfp8cast --out four", "the nearest is 'mxfp8_cast'");
  expect(2, "cases --family mxfp8_cast --format hdf --out four",
         "unknown format 'hdf'; the nearest is 'hdf5'");
  expect(2, "cases --family mxfp8_cast --limit 0 --out four", "--limit '0'");
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_TRUE(entry.path().filename() == "one" || entry.path().filename() == "two" ||
                entry.path().filename() == "file")
        << "left behind: " << entry.path();
}

TEST_F(JudgeProgramTest, CasesThatEveryRouteRefusesAreLeftOut) {
  expect(0, "cases --case gated_delta:batch=2,slots=doubled --case gated_delta:batch=2 --out some",
         "1 cases that every route refuses are left out");
  expect(0, "cases --format hdf5 --case gated_delta:batch=2 --out hdf5", "wrote 1 case file and");
  expect(3, "judge hdf5/0001-*.h5", "VACUOUS");
  const Ran nowhere =
      assay::cli::testing_program::run("cases --format hdf5 --case gated_delta:batch=2 --out nowhere", "2>&1",
                                       "TMPDIR=/nonexist ", folder_.string());
  EXPECT_EQ(nowhere.exit_code, 4) << nowhere.text;
  EXPECT_EQ(nowhere.text, "assay: TMPDIR=/nonexist: No such file or directory\n");
}

}  // namespace
