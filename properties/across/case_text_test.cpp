#include "properties/gate/case_text.hpp"

#include <gtest/gtest.h>

#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"

namespace assay::properties {
namespace {

const std::string cast = "mxfp8_cast:in=bf16,rows=2,cols=64";

std::string refusal(const std::string& text) {
  try {
    (void)build_case(text);
    (void)routes_of(parse_case(text));
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

std::vector<std::byte> buffer(const Workload& workload, std::string_view name) {
  for (const GivenBuffer& one : given(workload)) {
    if (one.name == name) return {one.bytes.begin(), one.bytes.end()};
  }
  ADD_FAILURE() << "no buffer " << name;
  return {};
}

TEST(CaseText, PartsAreReadAndPrintedAgain) {
  const std::string text = "mxfp8_cast/register@cpu:in=bf16,rows=2;zeros;x[5]=3F81;y before[64]=7F80 0000*3";
  const CaseText parts = parse_case(text);
  EXPECT_EQ(parts.family, "mxfp8_cast");
  EXPECT_EQ(parts.route, "register");
  EXPECT_EQ(parts.device, "cpu");
  EXPECT_EQ(parts.token, "mxfp8_cast:in=bf16,rows=2");
  EXPECT_TRUE(parts.zeros);
  ASSERT_EQ(parts.overrides.size(), 2u);
  EXPECT_EQ(parts.overrides[1].buffer, "y before");
  EXPECT_EQ(parts.overrides[1].first, 64u);
  EXPECT_EQ(parts.overrides[1].codes, "7F80 0000*3");
  EXPECT_EQ(print(parts), text);
  for (const std::string other : {"f:", "f/r:a=1", "f@cuda:a=1", "f:a=1;zeros", "f:a=1;x[0]=00"})
    EXPECT_EQ(print(parse_case(other)), other);
}

TEST(CaseText, APathMayHoldWhatEndsATokenElsewhere) {
  const CaseText parts = parse_case("f:on=a;b[1]=c;zeros.npy:t;x[3]=7F80");
  EXPECT_EQ(parts.token, "f:on=a;b[1]=c;zeros.npy:t");
  EXPECT_FALSE(parts.zeros);
  ASSERT_EQ(parts.overrides.size(), 1u);
  EXPECT_EQ(parts.overrides[0].buffer, "x");
}

/// Read part by part from every ';' on, or quoted for every override, a text of this length takes hours.
TEST(CaseText, ALongTextIsReadInOnePass) {
  constexpr std::size_t many = 100'000;
  std::string overrides;
  for (std::size_t i = 0; i < many; ++i) overrides += ";x[127]=3F80";
  EXPECT_EQ(build_case(cast + overrides)->token(), cast + overrides);
  const std::string path = cast + ",on=a" + overrides + ";b:t";
  EXPECT_EQ(parse_case(path).token, path);
}

TEST(CaseText, ARefusalOfALongTextIsShort) {
  const std::string long_name(100'000, '\x01');
  for (const std::string& text : {long_name, long_name + ":", cast + ";" + long_name + "[0]=0000",
                                  cast + ";x[0]=" + std::string(100'000, '0'), cast + ",on=" + long_name,
                                  cast + ";x[0]=" + std::string(100'000, 'G'), cast + ";" + long_name,
                                  cast + ";" + long_name + "[0]=G", cast + "," + long_name + "=1",
                                  "mxfp8_cast/" + long_name + ":rows=1", cast + ",reported=" + long_name}) {
    const std::string said = refusal(text);
    EXPECT_GT(said.size(), 100u) << text.substr(0, 100);
    EXPECT_LT(said.size(), 1100u) << text.substr(0, 100);
    EXPECT_EQ(said.find('\x01'), std::string::npos);
  }
}

TEST(CaseText, CodesStandWhereTheTextSays) {
  const auto workload = build_case(cast + ";zeros;x[5]=3F81 7F80*2;x[127]=FFFF");
  std::vector<std::byte> expected(256);
  for (const auto& [at, code] : {std::pair(5, 0x3F81u), {6, 0x7F80u}, {7, 0x7F80u}, {127, 0xFFFFu}})
    arithmetic::store_code(expected, 2, static_cast<std::size_t>(at), code);
  EXPECT_EQ(buffer(*workload, "x"), expected);
}

TEST(CaseText, WithoutZerosTheSourceGivesTheRest) {
  const auto source = build_case(cast + ",fill=ramps,seed=3");
  const auto changed = build_case(cast + ",fill=ramps,seed=3;x[64]=1234");
  auto expected = buffer(*source, "x");
  arithmetic::store_code(expected, 2, 64, 0x1234);
  EXPECT_EQ(buffer(*changed, "x"), expected);
  EXPECT_EQ(changed->token(), cast + ",fill=ramps,seed=3;x[64]=1234");
}

/// Every kind of buffer of every family: what is read back is what stood there, and the text of it gives it
/// again.
TEST(CaseText, ContentsOfEveryFamilyGiveTheirTextAndBack) {
  for (const std::string token :
       {"mxfp8_cast:in=fp32,rows=2,cols=64,dir=bidimensional,fill=any_bits",
        "mxfp8_dequant:rows=3,cols=96,stride=5,pad=nan",
        "mxfp8_dequant:rows=33,cols=40,dir=colwise,layout=swizzled",
        "matmul_nbits:model=bf16,schedule=split_k,split=2,bias=once,m=2,n=8,k=96,pattern=specials",
        "matmul_nbits:model=fp16,schedule=natural,bias=none,m=1,n=8,k=1024,interleaved=1",
        "gated_delta:io=bf16,state=bf16,gates=raw,batch=3,steps=2,pool=5,slots=holes,astride=3",
        "gated_delta:gates=precomputed,layout=vk,batch=2,slots=permuted,pattern=specials"}) {
    const CaseText parts = parse_case(token);
    const Family& family = family_of(parts);
    const auto source = family.materialise(token);
    const Contents contents = contents_of(given(*source));
    const CaseText text = text_of(family, token, contents);
    EXPECT_TRUE(text.zeros);
    EXPECT_FALSE(text.overrides.empty()) << token;
    const auto again = build_case(print(text));
    EXPECT_EQ(contents_of(given(*again)), contents) << token;
    // The oracle sees the same operands in both.
    const auto& expected = source->acceptance();
    const auto& actual = again->acceptance();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i].lo, expected[i].lo) << token;
  }
}

TEST(CaseText, WhatIsWrongIsSaid) {
  EXPECT_EQ(refusal("nonsense"), "case 'nonsense': it does not start with 'FAMILY:'");
  EXPECT_EQ(refusal("mxfp8_casts:rows=1"),
            "case 'mxfp8_casts:rows=1': there is no family 'mxfp8_casts'; the nearest is 'mxfp8_cast'");
  EXPECT_EQ(refusal(cast + ";zeros;z[0]=0000"),
            "case '" + cast + ";zeros;z[0]=0000': it has no buffer 'z'; the nearest is 'x'");
  EXPECT_EQ(refusal(cast + ";x[127]=0000 0000"), "case '" + cast +
                                                     ";x[127]=0000 0000': x[127]: element 128 is "
                                                     "past the end: 'x' has 128");
  EXPECT_NE(refusal(cast + ";x[1]=00").find("x[1]"), std::string::npos);
  EXPECT_NE(refusal(cast + ";x[1]=").find("it names no code"), std::string::npos);
  const auto behind = [](const std::string& contents) {
    const std::string said = refusal(cast + contents), start = "case '" + cast + contents + "': ";
    return said.starts_with(start) ? said.substr(start.size()) : said;
  };
  EXPECT_EQ(behind(";x[1]=0000;rows=3"), "'rows=3' is neither 'zeros' nor BUFFER[ELEMENT]=CODES");
  EXPECT_EQ(behind(";x[y]=0000"), "'x[y]=0000' is neither 'zeros' nor BUFFER[ELEMENT]=CODES");
  EXPECT_EQ(behind(";"), "'' is neither 'zeros' nor BUFFER[ELEMENT]=CODES");
  EXPECT_EQ(behind(";x[5]=GGGG"), "x[5]: 'GGGG' is no hexadecimal code");
  EXPECT_EQ(behind(";zeros;x[5]=0000 3F8O*2 1111;x[6]=0000"), "x[5]: '3F8O*2' is no hexadecimal code");
  const std::string order =
      "'zeros' stands once, right behind the token and before every BUFFER[ELEMENT]=CODES";
  EXPECT_EQ(behind(";x[1]=0000;zeros"), order);
  EXPECT_EQ(behind(";zeros;zeros;x[1]=0000"), order);
  EXPECT_EQ(parse_case(cast + ",on=a;x[5]=GGGG:t").token, cast + ",on=a;x[5]=GGGG:t");
  EXPECT_EQ(
      refusal("mxfp8_cast/registre:rows=1"),
      "case 'mxfp8_cast/registre:rows=1': mxfp8_cast has no route 'registre'; the nearest is 'register'");
  EXPECT_NE(refusal("gated_delta:batch=2;slots[0]=05").find("slots[0] is 5, past the pool of 2"),
            std::string::npos);
  EXPECT_NE(refusal("gated_delta:batch=2;slots[4]=00").find("slots[0] and slots[1] are both 0"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::properties
