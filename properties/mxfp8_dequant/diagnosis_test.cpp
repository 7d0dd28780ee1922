// Every known fault's output is given its name, in both directions, and what no fault explains is given none.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "properties/mxfp8_dequant/workload.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

Contents with_poison(const arithmetic::Acceptance& faulty, const Contents& before) {
  Contents actual{faulty.lo};
  const auto width = static_cast<std::size_t>(formats::storage_bytes(faulty.format));
  for (const auto& range : faulty.untouched)
    for (std::size_t i = range.begin * width; i < range.end * width; ++i) actual[0][i] = before[0][i];
  return actual;
}

std::vector<std::string> patterns(DequantWorkload& workload, const Contents& actual, const Contents& before) {
  std::vector<std::string> names;
  for (const Diagnosis& diagnosis : workload.diagnose(actual, before)) names.push_back(diagnosis.pattern);
  return names;
}

struct Planted {
  oracle::Fault fault;
  const char *pattern, *token;
};

/// A case in which the fault shows and no other gives the same output.
constexpr Planted planted[] = {
    {oracle::Fault::scale_0_flushed, "scale 0 flushed", "out=fp32"},
    {oracle::Fault::scale_0_is_one, "scale 0 taken as 1", "out=fp32"},
    {oracle::Fault::scale_254_infinite, "scale 254 taken as Inf", "out=fp32"},
    {oracle::Fault::scale_254_flushed, "scale 254 flushed", "out=fp32"},
    {oracle::Fault::scale_255_infinite, "scale 255 taken as Inf", "out=fp32,scales=extremes"},
    {oracle::Fault::scale_255_power, "scale 255 taken as a number", "out=fp32,scales=extremes"},
    {oracle::Fault::scale_one_up, "scale off by one", ""},
    {oracle::Fault::scale_one_down, "scale off by one", ""},
    {oracle::Fault::element_specials_as_numbers, "NaN or Inf decoded as a number", "fp8=e5m2"},
    {oracle::Fault::element_subnormal_flushed, "subnormal flushed", "data=subnormals,scales=realistic"},
    {oracle::Fault::element_pairs_swapped, "pairs swapped", ""},
    {oracle::Fault::product_sign_of_zero_lost, "sign of zero lost", ""},
    {oracle::Fault::product_subnormal_flushed, "subnormal output flushed", "out=fp16,scales=rounding"},
    {oracle::Fault::product_truncated, "truncation", "out=fp16,scales=rounding"},
    {oracle::Fault::product_overflow_saturated, "overflow saturated", "out=fp16"},
    {oracle::Fault::product_through_fp16, "double rounding", ""},
    {oracle::Fault::last_partial_block_stale, "last partial block dropped", ""},
};

TEST(Diagnosis, EveryFaultIsNamedAlone) {
  ASSERT_EQ(std::size(planted), static_cast<std::size_t>(oracle::last_fault));
  for (const char* shape : {"dir=rowwise,rows=70,cols=109,", "dir=colwise,rows=109,cols=70,"})
    for (std::size_t i = 0; i < std::size(planted); ++i) {
      const Planted& one = planted[i];
      ASSERT_EQ(static_cast<std::size_t>(one.fault), i + 1);
      DequantWorkload workload(parse(std::string("mxfp8_dequant:") + shape + one.token));
      const auto in = workload.inputs();
      const auto faulty = oracle::accept(in[0].bytes, in[1].bytes, workload.point().shape,
                                         workload.point().contracts, one.fault);
      const Contents before{std::vector<std::byte>(faulty.lo.size(), std::byte{0xA5})};
      EXPECT_EQ(patterns(workload, with_poison(faulty, before), before),
                std::vector<std::string>{one.pattern})
          << shape << one.token;
    }
}

/// Where something is wrong in the last rows alone, they decide; nothing that explains the rows before is
/// said.
TEST(Diagnosis, AFaultThatShowsInTheLastRowsAloneIsNamed) {
  for (const char* direction : {"rowwise", "colwise"})
    for (const std::size_t row : {0u, 33u, 127u, 150u}) {
      const Point point =
          parse(std::string("mxfp8_dequant:rows=160,cols=192,layout=swizzled,dir=") + direction);
      Codes codes;
      auto data = std::make_shared<std::vector<std::byte>>(160 * 192, std::byte{0x38});  // e4m3 ones
      (*data)[row * 192 + 100] = std::byte{0x01};                                        // and its smallest
      codes.data = *data;
      codes.owner = data;
      codes.scales.assign(160 * 192 / 32, std::byte{127});
      DequantWorkload workload(point, std::move(codes));
      const auto in = workload.inputs();
      const auto faulty = oracle::accept(in[0].bytes, in[1].bytes, point.shape, point.contracts,
                                         oracle::Fault::element_subnormal_flushed);
      EXPECT_EQ(patterns(workload, {faulty.lo}, {faulty.lo}), std::vector<std::string>{"subnormal flushed"})
          << direction << row;
    }
}

TEST(Diagnosis, EveryMisplacementIsNamedAlone) {
  constexpr const char* names[] = {"logical stride", "scales transposed", "swizzle ignored",
                                   "swizzle transposed", "swizzle transposed"};
  for (const char* direction : {"rowwise", "colwise"})
    for (std::size_t i = 0; i < oracle::misplacements; ++i) {
      const bool linear = i < 2;
      DequantWorkload workload(parse(std::string("mxfp8_dequant:data=ordinary,scales=realistic,rows=330,") +
                                     "cols=320,dir=" + direction +
                                     (linear ? ",srows=340,stride=330" : ",layout=swizzled")));
      const auto in = workload.inputs();
      const auto faulty = oracle::accept_misplaced(in[0].bytes, in[1].bytes, workload.point().shape,
                                                   workload.point().contracts,
                                                   oracle::Misplacement{static_cast<std::uint8_t>(i)});
      EXPECT_EQ(patterns(workload, {faulty.lo}, {faulty.lo}), std::vector<std::string>{names[i]})
          << direction;
    }
}

TEST(Diagnosis, WhatNoFaultExplainsHasNoName) {
  DequantWorkload workload(parse("mxfp8_dequant:rows=33,cols=96"));
  Contents actual{workload.acceptance()[0].lo};
  actual[0][100] ^= std::byte{0x10};
  EXPECT_TRUE(patterns(workload, actual, actual).empty());
}

}  // namespace
}  // namespace assay::properties::mxfp8_dequant
