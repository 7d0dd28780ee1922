// What judging somebody else's tensors has to have seen before it passes them, and what it must not mind.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "properties/across/judging_testing.hpp"

namespace assay::properties {
namespace {

using namespace judging_testing;

/// 2^60 + 1 - 2^60 times -8: the error bound is so wide that it takes a zero for -8, so nothing is shown.
TEST(Judging, ABoundThatTakesInjectedFaultsEarnsNothing) {
  const std::string text =
      "matmul_nbits:model=fp32,schedule=tile,bits=4,block=32,bias=none,zp=none,m=1,n=8,k=32,judge=bound;"
      "zeros;"
      "a[0]=5D800000 3F800000 DD800000;scales[0]=3F800000*8";
  const JudgeResult result = named(offer(text), text);
  ASSERT_EQ(result.readings.size(), 1u);
  EXPECT_EQ(result.readings[0].wrong(), 0u);
  EXPECT_FALSE(result.readings[0].consistent());
  EXPECT_EQ(result.exit_code(), exit_fail) << text_report(result);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].code, Code::probe_missed);
  EXPECT_EQ(result.findings[0].summary, "y: the injected fault 'element zeroed' was accepted");
}

/// Exact sums, rounded once, are those of no schedule and within the bound of each.
TEST(Judging, ABoundIsAPassOnlyWhereItIsNamed) {
  for (const std::string text :
       {"matmul_nbits:model=fp32,schedule=tile,bits=4,block=32,bias=none,zp=none,m=1,n=8,k=96,judge=bound",
        "matmul_nbits:model=bf16,schedule=tile,bits=4,block=32,bias=none,zp=none,m=9,n=8,k=960,judge="
        "bound"}) {
    const CaseFile file = offer(text);
    const JudgeResult open_ones = open(file);
    EXPECT_EQ(open_ones.exit_code(), exit_vacuous) << text_report(open_ones);
    EXPECT_FALSE(open_ones.one);
    EXPECT_TRUE(open_ones.findings.empty());
    EXPECT_NE(text_report(open_ones).find("\nUNDECIDED: "), std::string::npos) << text_report(open_ones);
    EXPECT_NE(text_report(open_ones).find("of the bound used"), std::string::npos) << text_report(open_ones);
    EXPECT_EQ(open(file, "judge=bound").exit_code(), exit_pass);
    EXPECT_EQ(open(file, "judge=bits").exit_code(), exit_fail);
    EXPECT_EQ(named(file, text).exit_code(), exit_pass);
    const CaseFile wrong = changed(file, "y", [](std::vector<std::byte>& bytes) {
      bytes[bytes.size() - 1] ^= std::byte{0x20};  // the exponent
    });
    EXPECT_EQ(open(wrong).exit_code(), exit_fail) << text_report(open(wrong));
    // The damage is that of the readings by bounds; those to the bit have other sums all over.
    const std::string said = text_report(open(wrong));
    EXPECT_NE(said.find(fmt::format("wrong: 1 of {} of y\n", wrong.tensors.at("y").shape[0] * 8)), said.npos)
        << said;
    EXPECT_NE(said.find("    where: --contract "), said.npos) << said;
    EXPECT_NE(said.find("judge=bound\n"), said.npos) << said;
    EXPECT_NE(said.find(" within error bounds, exit 1\n"), said.npos) << said;
    EXPECT_EQ(open(wrong, "judge=bound").exit_code(), exit_fail);
  }
}

/// A state whose update is nothing, and nothing else: whoever wrote nothing has it right.
TEST(Judging, WhatWasRightBeforeEarnsNothing) {
  const std::string text =
      "gated_delta:io=fp32,gates=precomputed,state=fp32,batch=1,h=1,hv=1,k=64,v=64;zeros;"
      "state before[0]=3F800000*4096";
  CaseFile file = offer(text);
  EXPECT_EQ(named(file, text).exit_code(), exit_pass) << "o is right, and had to be written";
  file.tensors.erase("o");
  for (const JudgeResult& result : {named(file, text), open(file)}) {
    EXPECT_EQ(result.exit_code(), exit_vacuous) << text_report(result);
    EXPECT_TRUE(result.readings[0].outputs[1].right_before);
    EXPECT_EQ(result.notes, std::vector<std::string>{"state would be right had nobody written it"});
    EXPECT_NE(text_report(result).find(
                  "\nVACUOUS: 4,096 elements compared, all of them right had nobody written them"),
              std::string::npos)
        << text_report(result);
  }
  const CaseFile wrong =
      changed(file, "state", [](std::vector<std::byte>& bytes) { bytes[5] ^= std::byte{1}; });
  EXPECT_EQ(named(wrong, text).exit_code(), exit_fail);
  EXPECT_EQ(open(wrong).exit_code(), exit_fail);
}

TEST(Judging, NaNIsAClassWhereNoContractPinsIt) {
  for (const auto& [out, nan] : {std::pair("fp32", "7FC00000"), {"fp16", "FE00"}, {"bf16", "7FC0"}}) {
    const std::string text =
        fmt::format("mxfp8_dequant:out={},rows=2,cols=32;zeros;data[0]=38*63;scales[0]=FF 7F", out);
    const std::size_t width = std::string(nan).size() / 2;
    const auto with = [&](std::uint32_t code, std::size_t element) {
      return changed(offer(text), "y", [&](std::vector<std::byte>& bytes) {
        arithmetic::store_code(bytes, static_cast<int>(width), element, code);
      });
    };
    const auto code = static_cast<std::uint32_t>(std::stoul(nan, nullptr, 16));
    EXPECT_EQ(named(with(code, 3), text).exit_code(), exit_pass) << out;
    EXPECT_EQ(named(with(code, 40), text).exit_code(), exit_fail) << out << ": of a block that has a scale";
    EXPECT_EQ(named(with(0, 3), text).exit_code(), exit_fail) << out << ": a number for a NaN";
  }
  // Of fp8 the cast itself says which code it has.
  const std::string text = "mxfp8_cast:in=fp32,specials=poison,rows=1,cols=32;zeros;x[0]=7FC00000";
  EXPECT_EQ(named(offer(text), text).exit_code(), exit_pass);
  const auto other =
      changed(offer(text), "data", [](std::vector<std::byte>& bytes) { bytes[1] = std::byte{0xFF}; });
  EXPECT_EQ(named(other, text).exit_code(), exit_fail);
}

/// Damage is named whatever the code of NaN beside it.
TEST(Judging, DamageBesideAnotherNaNHasItsName) {
  const std::string text = "mxfp8_dequant:out=fp32,rows=2,cols=32;zeros;data[0]=38*63 01;scales[0]=FF 7F";
  const JudgeResult result = named(changed(offer(text), "y",
                                           [](std::vector<std::byte>& bytes) {
                                             arithmetic::store_code(bytes, 4, 3, 0x7FC00000);
                                             arithmetic::store_code(bytes, 4, 63, 0);
                                           }),
                                   text);
  EXPECT_EQ(result.exit_code(), exit_fail);
  EXPECT_EQ(result.readings[0].patterns, std::vector<std::string>{"subnormal flushed"})
      << text_report(result);
}

TEST(Judging, AScaleThatIsANumberIsThatOfTheCase) {
  const std::string text = "gated_delta:io=fp32,gates=precomputed,batch=1,h=1,hv=1,k=4,v=8,scale=0x3F800000";
  CaseFile file = offer(text);
  EXPECT_EQ(open(file).exit_code(), exit_fail) << "of no case, so that q is scaled by 1/sqrt(K)";
  file.text = parse_case(text);
  EXPECT_EQ(open(file).exit_code(), exit_pass) << text_report(open(file));
}

TEST(Judging, WeightsMayComeAsRowsOfBytes) {
  const std::string text = texts[3];
  CaseFile file = offer(text);
  Tensor& b = file.tensors.at("b");
  ASSERT_EQ(b.shape.size(), 3u);
  b.shape = {b.shape[0], b.shape[1] * b.shape[2]};
  EXPECT_EQ(named(file, text).exit_code(), exit_pass);
  EXPECT_EQ(open(file).exit_code(), exit_pass);
  b.shape = {b.shape[0] * 2, b.shape[1] / 2};
  EXPECT_NE(refusal(file), "accepted");
  EXPECT_THROW((void)named(file, text), BadInput);
}

TEST(Judging, OutputsThatAreMissingAreNamedInTheLastLine) {
  CaseFile file = offer(cast);
  file.tensors.erase("data");
  const std::string said = text_report(named(file, cast));
  EXPECT_NE(said.find("\nPASS: 6 elements compared, data not offered, "), said.npos) << said;
}

TEST(Judging, ACaseMayBeSpelledOtherwise) {
  CaseFile file = offer(cast);
  file.text = parse_case(cast);
  JudgeOptions options;
  options.text = "mxfp8_cast:fill=any_bits,seed=2,stride=5,cols=64,rows=3";
  EXPECT_EQ(judge_tensors(file, options).exit_code(), exit_pass);
  options.text = "mxfp8_cast:fill=any_bits,seed=3,stride=5,cols=64,rows=3";
  EXPECT_THROW((void)judge_tensors(file, options), BadInput);
}

}  // namespace
}  // namespace assay::properties
