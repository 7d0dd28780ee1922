// Tensors of every family judged as somebody else's: right ones are consistent, each small fault is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "properties/across/judging_testing.hpp"

namespace assay::properties {
namespace {

using namespace judging_testing;

TEST(Judging, RightOutputsOfANamedCasePass) {
  for (const std::string& text : texts) {
    const JudgeResult result = named(offer(text), text);
    EXPECT_EQ(result.exit_code(), exit_pass) << text << text_report(result);
    EXPECT_TRUE(result.one);
    EXPECT_GT(result.readings[0].probes, 0u);
  }
}

TEST(Judging, OneCodeIsFoundInTheOutputThatHasIt) {
  for (const std::string& text : texts) {
    const auto workload = build_case(text);
    const std::vector<OutputBuffer> outputs = workload->outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool exact = workload->acceptance()[i].exact();
      const auto width = static_cast<std::size_t>(formats::storage_bytes(outputs[i].format));
      const auto file = changed(offer(text), outputs[i].name, [&](std::vector<std::byte>& bytes) {
        // The neighbouring code; where an interval may hold that, another exponent.
        bytes[exact ? 0 : width - 1] ^= exact ? std::byte{0x01} : std::byte{0x40};
      });
      const JudgeResult result = named(file, text);
      EXPECT_EQ(result.exit_code(), exit_fail) << text << " " << outputs[i].name << text_report(result);
      ASSERT_FALSE(result.findings.empty()) << text;
      for (const Finding& finding : result.findings)
        EXPECT_TRUE(finding.summary.starts_with(outputs[i].name + ": ")) << finding.summary;
    }
  }
}

TEST(Judging, AStateThatNobodyWroteIsCalledSo) {
  const CaseFile right = offer(delta);
  const auto before = right.tensors.at("state before").bytes;
  const JudgeResult result = named(
      changed(right, "state",
              [&](std::vector<std::byte>& bytes) { std::copy(before.begin(), before.end(), bytes.begin()); }),
      delta);
  EXPECT_EQ(result.exit_code(), exit_fail);
  const auto& patterns = result.readings[0].patterns;
  EXPECT_TRUE(std::find(patterns.begin(), patterns.end(), "rows stale") != patterns.end())
      << text_report(result);
  EXPECT_TRUE(std::find(patterns.begin(), patterns.end(), "state not written") != patterns.end())
      << text_report(result);
}

TEST(Judging, PaddingIsJudgedWhereTheContractSaysWhatItHolds) {
  // 0x5A stands in the padding: right where it is untouched, which nobody can tell, wrong where it is zeroed.
  const CaseFile file = offer(cast);
  const JudgeResult untouched = open(file, "padding=untouched,rule=rceil,specials=poison");
  EXPECT_EQ(untouched.exit_code(), exit_pass) << text_report(untouched);
  EXPECT_EQ(untouched.readings[0].outputs[1].compared, 6u);
  EXPECT_EQ(untouched.readings[0].outputs[1].not_judged, 9u);
  const JudgeResult zero = open(file, "padding=zero,rule=rceil,specials=poison");
  EXPECT_EQ(zero.exit_code(), exit_fail);
  EXPECT_EQ(zero.readings[0].outputs[1].wrong, 9u) << text_report(zero);
}

TEST(Judging, SlotsOfNoSequenceAreJudged) {
  const CaseFile right = offer(delta);
  const auto workload = build_case(delta);
  const std::size_t kept = workload->acceptance()[1].untouched.at(0).begin * 4;
  const JudgeResult result = named(
      changed(right, "state", [&](std::vector<std::byte>& bytes) { bytes[kept] ^= std::byte{1}; }), delta);
  EXPECT_EQ(result.exit_code(), exit_fail);
  EXPECT_EQ(result.findings.at(0).code, Code::padding_written) << text_report(result);
}

TEST(Judging, TheContractsOfRightOutputsAreAmongTheConsistentOnes) {
  for (const std::string& text : texts) {
    const CaseFile file = offer(text);
    const JudgeResult result = open(file, text.find("judge=bound") == text.npos ? "" : "judge=bound");
    EXPECT_EQ(result.exit_code(), exit_pass) << text << text_report(result);
    // Some consistent reading accepts what the case's own contracts accept.
    const auto source = build_case(text);
    bool found = false;
    for (const auto* readings : {&result.readings, &result.bounds})
      for (const JudgedReading& reading : *readings) {
        if (!reading.consistent()) continue;
        CaseFile one = file;
        one.text = parse_case(reading.token);
        const auto workload = build(one);
        const auto& acceptance = workload->acceptance();
        bool same = true;
        for (std::size_t i = 0; i < acceptance.size(); ++i)
          same = same && acceptance[i].lo == source->acceptance()[i].lo &&
                 acceptance[i].hi == source->acceptance()[i].hi;
        found = found || same;
      }
    EXPECT_TRUE(found) << text << text_report(result);
  }
}

TEST(Judging, AnotherContractIsNotConsistent) {
  const CaseFile file = offer(cast);
  EXPECT_EQ(open(file, "rule=floor").exit_code(), exit_fail);
  EXPECT_EQ(open(file, "rule=ceil").exit_code(), exit_fail);
  EXPECT_EQ(open(file, "rule=rceil").exit_code(), exit_pass);
  const JudgeResult wrong = open(file, "rule=floor,specials=poison,padding=untouched");
  EXPECT_EQ(wrong.exit_code(), exit_fail);
  EXPECT_TRUE(wrong.one);
  EXPECT_FALSE(wrong.findings.empty());
}

TEST(Judging, WhatTheTensorsCannotTellIsSaid) {
  // Without NaN and Inf, and with whole scales, neither specials nor padding shows.
  const std::string text = "mxfp8_cast:in=bf16,rule=floor,rows=4,cols=64,fill=normal,seed=1";
  const JudgeResult result = open(offer(text));
  EXPECT_EQ(result.readings.size(), 24u);
  const Family& family = family_of(parse_case(text));
  std::vector<std::string> all;
  for (const JudgedReading& reading : result.readings) all.push_back(reading.token);
  EXPECT_EQ(grouped_choices(family, right_tokens(result), all),
            std::vector<std::string>{"rule=floor, specials=any, padding=any"})
      << text_report(result);
  const std::string said = text_report(result);
  EXPECT_NE(said.find("by the tensors: in=bf16, fp8=e4m3, dir=rowwise, scales=linear\n"), said.npos) << said;
  EXPECT_NE(said.find("    specials: blocks with a NaN, and blocks with an Inf\n"), said.npos) << said;
  EXPECT_EQ(said.find("    rule: "), said.npos) << said;
  EXPECT_NE(said.find("PASS: 264 elements compared, 6 of 24 readings consistent, "), said.npos) << said;
}

TEST(Judging, TheNearestReadingsAreNamedWhenNoneIsConsistent) {
  const std::string text = "mxfp8_cast:in=bf16,rule=floor,rows=4,cols=64,fill=normal,seed=1";
  const JudgeResult result =
      open(changed(offer(text), "data", [](std::vector<std::byte>& bytes) { bytes[5] ^= std::byte{1}; }));
  EXPECT_EQ(result.exit_code(), exit_fail);
  const std::string said = text_report(result);
  EXPECT_NE(
      said.find(
          "none is consistent; the nearest:\n  rule=floor, specials=any, padding=any\n    wrong: 1 of 256 "
          "of data, 0 of 8 of scales\n    where: --contract rule=floor,specials=poison,padding=untouched\n"),
      said.npos)
      << said;
}

TEST(Judging, GroupsAreSetsOfChoices) {
  const Family& family = family_of(parse_case("matmul_nbits:"));
  const std::vector<std::string> all = {"matmul_nbits:schedule=split_k,split=2,bias=once",
                                        "matmul_nbits:schedule=split_k,split=2,bias=twice",
                                        "matmul_nbits:schedule=split_k,split=8,bias=once",
                                        "matmul_nbits:schedule=split_k,split=8,bias=twice",
                                        "matmul_nbits:schedule=tile,bias=once",
                                        "matmul_nbits:schedule=tile,bias=twice"};
  EXPECT_EQ(grouped_choices(family, all, all),
            (std::vector<std::string>{"schedule=split_k, split=any, bias=any", "schedule=tile, bias=any"}));
  EXPECT_EQ(grouped_choices(family, {all[0], all[3], all[5]}, all),
            (std::vector<std::string>{"schedule=split_k, split=2, bias=once",
                                      "schedule=split_k, split=8, bias=twice", "schedule=tile, bias=twice"}));
}

TEST(Judging, IntegersCanBeCodesOfSeveralFormats) {
  CaseFile file = offer("mxfp8_cast:in=bf16,rule=floor,rows=4,cols=64,fill=normal,seed=1");
  file.tensors.at("x").dtype = DType::i16;
  file.tensors.at("data").dtype = DType::u8;
  const JudgeResult result = open(file);
  EXPECT_EQ(result.readings.size(), 4u * 24u);
  for (const std::string& token : right_tokens(result))
    EXPECT_NE(token.find("in=bf16,fp8=e4m3,rule=floor"), token.npos) << token;
  EXPECT_EQ(open(file, "in=bf16,fp8=e4m3").readings.size(), 24u);
}

TEST(Judging, NothingOfferedIsVacuous) {
  CaseFile file = offer(cast);
  file.tensors.erase("data");
  EXPECT_EQ(open(file).exit_code(), exit_pass) << "scales alone can be judged";
  file.tensors.erase("scales");
  EXPECT_EQ(open(file).exit_code(), exit_vacuous);
  EXPECT_EQ(named(file, cast).exit_code(), exit_vacuous);
}

TEST(Judging, InputsOfANamedCaseMayBeMissing) {
  CaseFile file = offer(cast);
  file.tensors.erase("x");
  EXPECT_EQ(named(file, cast).exit_code(), exit_pass);
  EXPECT_EQ(refusal(file, "", "mxfp8_cast"), "tensor 'x': it is an input of mxfp8_cast and is missing");
}

TEST(Judging, ReadingsAreCountedAndInOrder) {
  const std::vector<std::size_t> counts = {24, 48, 1, 10, 1, 24, 16};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const JudgeResult once = open(offer(texts[i])), again = open(offer(texts[i]));
    EXPECT_EQ(once.readings.size(), counts[i]) << texts[i];
    EXPECT_EQ(json_report(once), json_report(again));
  }
}

TEST(Judging, LiesAreNamed) {
  const CaseFile right = offer("mxfp8_cast:in=bf16,rows=4,cols=64");
  const auto with = [&](const std::string& name, const std::function<void(Tensor&)>& how) {
    CaseFile file = right;
    how(file.tensors.at(name));
    return refusal(file, "", "mxfp8_cast");
  };
  EXPECT_EQ(with("x", [](Tensor& t) { t.dtype = DType::f8_e4m3; }),
            "tensor 'x': its dtype is f8_e4m3; here it has to hold fp32 or fp16 or bf16");
  EXPECT_EQ(with("x",
                 [](Tensor& t) {
                   t.shape = {64, 4};
                 }),
            "tensor 'x': its last dimension 4 is not divisible by 32");
  EXPECT_EQ(with("data",
                 [](Tensor& t) {
                   t.shape = {64, 4};
                 }),
            "tensor 'data': its shape is [64, 4]; by the other tensors it has to be [4, 64]");
  EXPECT_EQ(with("data", [](Tensor& t) { t.dtype = DType::bf16; }),
            "tensor 'data': its dtype is bf16; here it has to hold e4m3 or e5m2");
  EXPECT_EQ(
      with("scales",
           [](Tensor& t) {
             t.shape = {2, 4};
           }),
      "tensor 'scales': its shape is [2, 4]; linear scales of 4 x 64 are [4, 2] or wider, swizzled ones "
      "[128, 4]");
  CaseFile file = right;
  file.tensors.emplace("scale", file.tensors.at("scales"));
  EXPECT_EQ(refusal(file, "", "mxfp8_cast"),
            "tensor 'scale': mxfp8_cast has no buffer of this name; the nearest is 'scales'");
  const auto contract = [&](const std::string& contracts) { return refusal(right, contracts, "mxfp8_cast"); };
  EXPECT_EQ(contract("rule"), "contract 'rule': it is not key=value");
  EXPECT_EQ(contract("rule=flor"),
            "contract rule='flor': with these tensors it is rceil or floor or ceil or even");
  EXPECT_EQ(contract("in=fp16"), "contract in='fp16': with these tensors it is bf16");
  EXPECT_EQ(contract("rule=floor,rule=floor"), "contract 'rule': it is given twice");
  EXPECT_EQ(refusal(right, "", "mxfp8cast"), "unknown family 'mxfp8cast'; the nearest is 'mxfp8_cast'");
}

TEST(Judging, OfSeveralFamiliesOnlyThoseThatCanBeMeantAreHeard) {
  CaseFile file = offer("mxfp8_cast:in=bf16,rows=4,cols=64");
  EXPECT_EQ(refusal(file, "rul=floor"), "contract 'rul': there is no such key; the nearest is 'rule'");
  EXPECT_EQ(refusal(file, "rule=flor"),
            "contract rule='flor': with these tensors it is rceil or floor or ceil or even");
  EXPECT_EQ(refusal(file, "rule"), "contract 'rule': it is not key=value");
  EXPECT_EQ(refusal(file, "rule=floor,rule=ceil"), "contract 'rule': it is given twice");
  file.tensors.emplace("scale", file.tensors.at("scales"));
  EXPECT_EQ(refusal(file), "tensor 'scale': mxfp8_cast has no buffer of this name; the nearest is 'scales'");
  // What its names do not tell is told of both; and what has the wrong form is asked of none.
  CaseFile two = offer("mxfp8_dequant:rows=4,cols=64");
  two.tensors.erase("y");
  EXPECT_EQ(refusal(two, "out=fp64"),
            "the tensors fit no family (--family asks one alone): mxfp8_cast: tensor 'x': it is an input of "
            "mxfp8_cast and is missing; mxfp8_dequant: contract out='fp64': with these tensors it is fp32 or "
            "fp16 or bf16");
  EXPECT_EQ(refusal(two, "out"), "contract 'out': it is not key=value");
  EXPECT_EQ(refusal(two, "out=fp32,out=fp32"), "contract 'out': it is given twice");
}

TEST(Judging, TheFileOfATensorIsNamed) {
  CaseFile file = offer("mxfp8_cast:in=bf16,rows=4,cols=64");
  file.origins = {{"x", "x.npy"}, {"data", "outputs.h5"}, {"scales", "outputs.h5"}};
  file.tensors.at("x").dtype = DType::f64;
  const std::string said = "x.npy: tensor 'x': its dtype is f64; here it has to hold fp32 or fp16 or bf16";
  EXPECT_EQ(refusal(file), said);
  EXPECT_EQ(refusal(file, "", "mxfp8_cast"), said);
  file.tensors.erase("x");
  EXPECT_EQ(refusal(file, "", "mxfp8_cast"), "tensor 'x': it is an input of mxfp8_cast and is missing");
  file.tensors.emplace("scale", file.tensors.at("scales"));
  file.origins.emplace("scale", "more.npy");
  EXPECT_EQ(refusal(file, "", "mxfp8_cast"),
            "more.npy: tensor 'scale': mxfp8_cast has no buffer of this name; the nearest is 'scales'");
}

TEST(Judging, AMissingTensorIsAskedForWhereItWouldTell) {
  CaseFile file = offer("mxfp8_cast:in=bf16,rule=floor,rows=4,cols=64,fill=normal,seed=1");
  file.tensors.erase("scales");
  const std::string said = text_report(open(file));
  EXPECT_NE(said.find("    scales: the tensor 'scales' or 'scales colwise', of more than one block with "
                      "different scales\n"),
            said.npos)
      << said;
}

TEST(Judging, LiesOfTheOtherFamiliesAreNamed) {
  const auto with = [](const std::string& text, const std::string& name,
                       const std::function<void(Tensor&)>& how) {
    CaseFile file = offer(text);
    how(file.tensors.at(name));
    return refusal(file, "", text.substr(0, text.find(':')));
  };
  EXPECT_EQ(
      with("mxfp8_dequant:rows=3,cols=64", "scales",
           [](Tensor& t) {
             t.shape = {2, 3};
           }),
      "tensor 'scales': its shape is [2, 3]; of 3 x 64 it would be rowwise linear [3, 2] or wider, rowwise "
      "swizzled [128, 4], colwise linear [1, 64] or wider, colwise swizzled [4, 128]");
  EXPECT_EQ(with(texts[3], "b",
                 [](Tensor& t) {
                   t.shape = {8, 2, 24};
                 }),
            "tensor 'scales': its shape is [8, 3]; by the other tensors it has to be [8, 2]");
  EXPECT_EQ(with(texts[3], "y",
                 [](Tensor& t) {
                   t.shape = {8, 2};
                 }),
            "tensor 'y': its shape is [8, 2]; by the other tensors it has to be [2, 8]");
  EXPECT_EQ(with(texts[3], "y", [](Tensor& t) { t.dtype = DType::f16; }),
            "tensor 'y': its dtype is f16; here it has to hold bf16");
  CaseFile shorter = offer(texts[3]);
  shorter.tensors.at("a").shape = {6, 32};
  shorter.tensors.at("y").shape = {6, 8};
  EXPECT_EQ(
      refusal(shorter, "", "matmul_nbits"),
      "tensor 'b': 3 blocks of 16 bytes are no packing of rows of 32 codes of 2, 4 or 8 bits in blocks of "
      "16 to 256");
  EXPECT_EQ(with(delta, "v",
                 [](Tensor& t) {
                   t.shape = {2, 2, 128, 1};
                 }),
            "tensor 'o': its shape is [2, 2, 1, 128]; by the other tensors it has to be [2, 2, 128, 1]");
  EXPECT_EQ(with(delta, "state before",
                 [](Tensor& t) {
                   t.shape = {4, 64, 1, 128};
                 }),
            "tensor 'state': its shape is [4, 1, 64, 128], that of 'state before' is [4, 64, 1, 128]");
  EXPECT_EQ(with(delta, "slots", [](Tensor& t) { t.dtype = DType::f32; }),
            "tensor 'slots': its dtype is f32; slots are i32");
  CaseFile both = offer(delta);
  both.tensors.emplace("g", both.tensors.at("a_log"));
  EXPECT_EQ(refusal(both, "", "gated_delta"),
            "tensor 'g': it is of precomputed gates, beside 'a', 'b', 'a_log' or 'dt_bias' of raw ones");
  EXPECT_EQ(with(delta, "slots",
                 [](Tensor& t) {
                   t = tensor_of({"slots", DType::i32, {2}, true}, std::vector<std::byte>(8));
                 }),
            "offered: slots[0] and slots[1] are both 0");
}

}  // namespace
}  // namespace assay::properties
