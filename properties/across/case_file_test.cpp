// Case files of every family: what is written is the case that is read.
#include "properties/exchange/case_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fixtures/files/safetensors_writer.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "goldens/record/atomic_file.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "properties/exchange/buffers_in_files.hpp"

namespace assay::properties {
namespace {

using fixtures::DType;
using fixtures::Tensor;

/// Every kind of buffer of every family: padded, swizzled, packed, in place, structural.
const std::vector<std::string> texts = {
    "mxfp8_cast:in=fp16,fp8=e5m2,rows=3,cols=64,stride=5,dir=bidimensional,fill=any_bits,seed=2",
    "mxfp8_cast/register@cpu:in=bf16,scales=swizzled,rows=2,cols=128;zeros;x[5]=3F81 7F80*2",
    "mxfp8_dequant:fp8=e5m2,out=fp32,rows=3,cols=96,stride=5,pad=nan,seed=3",
    "matmul_nbits:model=bf16,schedule=split_k,split=2,bias=once,m=2,n=8,k=96,pattern=specials",
    "matmul_nbits:model=fp32,schedule=tile,bits=2,block=64,bias=none,zp=none,m=1,n=8,k=96",
    "gated_delta:io=bf16,state=fp32,gates=raw,batch=3,steps=2,pool=5,slots=holes,astride=3,v=128",
    "gated_delta:gates=precomputed,layout=vk,state=bf16,batch=2,slots=permuted,v=128"};

class CaseFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-cases.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path put(const std::vector<Tensor>& tensors, const std::string& text) const {
    const auto path = folder_ / "made.safetensors";
    std::map<std::string, std::string> metadata;
    if (!text.empty()) metadata.emplace(case_key, text);
    goldens::replace_file(path, fixtures::safetensors_bytes(tensors, metadata));
    return path;
  }

  /// What reading and building such a file is refused with, without the file's name.
  std::string refusal(const std::vector<Tensor>& tensors, const std::string& text) const {
    const auto path = put(tensors, text);
    try {
      (void)build(read_case_file(path));
    } catch (const BadInput& error) {
      const std::string said = error.what(), start = path.string() + ": ";
      EXPECT_TRUE(said.starts_with(start)) << said;
      return said.substr(std::min(start.size(), said.size()));
    }
    return "accepted";
  }

  std::filesystem::path folder_;
};

std::string without_place(const std::string& text) {
  CaseText parts = parse_case(text);
  parts.route.clear();
  parts.device.clear();
  return print(parts);
}

TEST_F(CaseFileTest, EveryFamilyIsReadAgain) {
  for (const FileKind kind : {FileKind::safetensors, FileKind::hdf5}) {
    for (const std::string& text : texts) {
      const auto source = build_case(text);
      Contents outputs;
      for (const auto& one : source->acceptance()) outputs.push_back(one.lo);
      const auto path = folder_ / ("case." + std::string(extension_of(kind)));
      write_case_file(path, kind, *source, text, &outputs);
      const CaseFile file = read_case_file(path);
      EXPECT_EQ(print(file.text), text);
      const auto again = build(file);
      EXPECT_EQ(again->token(), without_place(text));
      EXPECT_EQ(contents_of(given(*again)), contents_of(given(*source))) << text;
      for (std::size_t i = 0; i < outputs.size(); ++i)
        EXPECT_EQ(again->acceptance()[i].lo, source->acceptance()[i].lo) << text;
      const auto read = outputs_in(file, *again);
      ASSERT_EQ(read.size(), outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(read[i], outputs[i]) << text;
      EXPECT_EQ(case_file_bytes(kind, *source, text, &outputs),
                case_file_bytes(kind, *again, text, &outputs));
    }
  }
}

TEST_F(CaseFileTest, BuffersStandAsFrameworksSeeThem) {
  struct Seen {
    std::string text, name;
    DType dtype;
    std::vector<std::size_t> shape;
  };
  const Seen seen[] = {
      {texts[0], "x", DType::f16, {3, 64}},
      {texts[0], "data", DType::f8_e5m2, {3, 64}},
      {texts[0], "scales", DType::u8, {3, 5}},
      {texts[0], "scales colwise", DType::u8, {1, 64}},
      {texts[1], "scales", DType::u8, {128, 4}},
      {texts[2], "data", DType::f8_e5m2, {3, 96}},
      {texts[2], "scales", DType::u8, {3, 5}},
      {texts[2], "y", DType::f32, {3, 96}},
      {texts[3], "a", DType::bf16, {2, 96}},
      {texts[3], "b", DType::u8, {8, 3, 16}},
      {texts[3], "scales", DType::bf16, {8, 3}},
      {texts[3], "zero_points", DType::u8, {8, 2}},
      {texts[3], "bias", DType::bf16, {8}},
      {texts[4], "b", DType::u8, {8, 2, 16}},
      {texts[5], "q", DType::bf16, {3, 2, 1, 64}},
      {texts[5], "v", DType::bf16, {3, 2, 1, 128}},
      {texts[5], "a", DType::bf16, {3, 2, 3}},
      {texts[5], "a_log", DType::f32, {1}},
      {texts[5], "slots", DType::i32, {3}},
      {texts[5], "state before", DType::f32, {5, 1, 64, 128}},
      {texts[5], "o", DType::bf16, {3, 2, 1, 128}},
      {texts[6], "g", DType::f32, {2, 1, 1}},
      {texts[6], "state", DType::bf16, {2, 1, 128, 64}},
  };
  for (const Seen& one : seen) {
    bool found = false;
    for (const BufferInFile& buffer : buffers_in_files(*build_case(one.text))) {
      if (buffer.name != one.name) continue;
      found = true;
      EXPECT_EQ(buffer.dtype, one.dtype) << one.text << " " << one.name;
      EXPECT_EQ(buffer.shape, one.shape) << one.text << " " << one.name;
    }
    EXPECT_TRUE(found) << one.text << " " << one.name;
  }
}

TEST_F(CaseFileTest, SaysWhatOutputsAreExpected) {
  const auto path = folder_ / "case.safetensors";
  write_case_file(path, FileKind::safetensors, *build_case(texts[5]), texts[5], nullptr);
  EXPECT_EQ(fixtures::open_tensor_file(path)->metadata().at(std::string(outputs_key)),
            R"({"o":{"dtype":"bf16","shape":[3,2,1,128]},"state":{"dtype":"f32","shape":[5,1,64,128]}})");
  EXPECT_FALSE(read_case_file(path).tensors.contains("o"));
}

TEST_F(CaseFileTest, WhatIsNotInTheFileIsGenerated) {
  const std::string text = texts[3];
  const auto source = build_case(text);
  EXPECT_EQ(contents_of(given(*build(read_case_file(put({}, text))))), contents_of(given(*source)));

  const std::vector<std::byte> bias(16, std::byte{0x3F});
  const auto path = put({{"bias", DType::bf16, {8}, bias, nullptr}}, text);
  const auto changed = build(read_case_file(path));
  Contents expected = contents_of(given(*source));
  expected.back() = bias;
  EXPECT_EQ(contents_of(given(*changed)), expected);
  // Its name gives these contents, not those of the text it came with.
  EXPECT_NE(changed->token(), text);
  EXPECT_EQ(contents_of(given(*build_case(changed->token()))), expected);
}

TEST_F(CaseFileTest, IntegersOfTheWidthAreCodesAndLeadingDimensionsAreRows) {
  const std::string text = "mxfp8_cast:in=bf16,rows=4,cols=32";
  const auto source = build_case(text);
  const auto x = given(*source)[0].bytes;
  for (const DType dtype : {DType::bf16, DType::u16, DType::i16})
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{4, 32}, {2, 2, 32}, {128}})
      EXPECT_EQ(contents_of(given(*build(read_case_file(put({{"x", dtype, shape, x, nullptr}}, text))))),
                contents_of(given(*source)));
}

TEST_F(CaseFileTest, LiesAreNamed) {
  const std::string text = "mxfp8_cast:in=bf16,rows=4,cols=32";
  const std::vector<std::byte> bytes(512);
  const auto all = std::span<const std::byte>(bytes);
  EXPECT_EQ(refusal({{"x", DType::bf16, {4, 32}, all.first(256), nullptr}}, ""),
            "it names no case: its metadata has no 'assay.case'");
  EXPECT_EQ(refusal({{"x", DType::f16, {4, 32}, all.first(256), nullptr}}, text),
            "tensor 'x': its dtype is f16, that of the case is bf16");
  EXPECT_EQ(refusal({{"x", DType::bf16, {32, 4}, all.first(256), nullptr}}, text),
            "tensor 'x': its shape is [32, 4], that of the case is [4, 32]");
  EXPECT_EQ(refusal({{"x", DType::f32, {4, 32}, all, nullptr}}, text),
            "tensor 'x': its dtype is f32, that of the case is bf16");
  EXPECT_EQ(refusal({{"scale", DType::u8, {4, 1}, all.first(4), nullptr}}, text),
            "tensor 'scale': the case has no buffer of this name; the nearest is 'scales'");
  EXPECT_EQ(refusal({}, "nonsense"), "case 'nonsense': it does not start with 'FAMILY:'");
  EXPECT_EQ(refusal({}, "mxfp8_cats:rows=1"),
            "case 'mxfp8_cats:rows=1': there is no family 'mxfp8_cats'; the nearest is 'mxfp8_cast'");
  const std::vector<std::byte> twice(8);
  EXPECT_NE(refusal({{"slots", DType::i32, {2}, twice, nullptr}}, "gated_delta:batch=2")
                .find("slots[0] and slots[1] are both 0"),
            std::string::npos);
  EXPECT_NE(refusal({}, "gated_delta:batch=2,slots=doubled").find("slots[0] and slots[1] are both 0"),
            std::string::npos);
}

TEST_F(CaseFileTest, ATextThatAFileCannotHoldIsRefused) {
  const auto source = build_case("mxfp8_cast:rows=1,cols=32");
  EXPECT_THROW((void)case_file_bytes(FileKind::hdf5, *source, std::string(60'001, 'a'), nullptr), BadInput);
  EXPECT_NO_THROW((void)case_file_bytes(FileKind::hdf5, *source, std::string(60'000, 'a'), nullptr));
  EXPECT_NO_THROW((void)case_file_bytes(FileKind::safetensors, *source, std::string(60'001, 'a'), nullptr));
  EXPECT_THROW((void)case_file_bytes(FileKind::safetensors, *source, "on=\xFF", nullptr), BadInput);
}

}  // namespace
}  // namespace assay::properties
