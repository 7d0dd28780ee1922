// Tokens of points: what they print, and what they refuse.
#include "properties/mxfp8_dequant/point.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/tensor/errors.hpp"
#include "properties/mxfp8_dequant/cases.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

std::string reprinted(const std::string& pairs) { return print(parse("mxfp8_dequant:" + pairs)).substr(14); }

std::string refusal(const std::string& pairs) {
  try {
    parse("mxfp8_dequant:" + pairs);
  } catch (const BadInput& error) {
    const std::string text = error.what();
    return text.substr(text.find("': ") + 3);
  }
  return "";
}

TEST(Point, DefaultsAreTightOrSwizzledExtents) {
  EXPECT_EQ(reprinted("rows=33,cols=40"),
            "fp8=e4m3,out=bf16,dir=rowwise,layout=linear,rows=33,cols=40,srows=33,stride=2,pad=nan,"
            "data=every_code,scales=every_code,seed=1");
  EXPECT_EQ(reprinted("layout=swizzled,dir=colwise,cols=40,rows=133"),
            "fp8=e4m3,out=bf16,dir=colwise,layout=swizzled,rows=133,cols=40,srows=8,stride=128,pad=nan,"
            "data=every_code,scales=every_code,seed=1");
}

TEST(Point, EveryKeyIsPrintedAndReadBack) {
  const std::string shape =
      "fp8=e5m2,out=fp32,dir=colwise,layout=linear,rows=33,cols=64,srows=3,stride=65,dalign=1,yalign=4,"
      "salign=256,pad=largest,";
  for (const std::string source :
       {"data=specials,scales=rounding,exp=-1,transpose=1,seed=9",
        "quantised=nan_lanes,in=fp16,rule=even,seed=9", "rule=floor,scales=any,seed=9,on=a,b:c=d"})
    EXPECT_EQ(reprinted(shape + source), shape + source);
}

TEST(Point, EveryCaseIsReadBackAndIsNoOther) {
  std::vector<Point> points = cases(Level::exhaustive, 5);
  for (const Point& point : golden_cases()) points.push_back(point);
  std::set<std::string> tokens;
  for (const Point& point : points) {
    EXPECT_EQ(print(parse(print(point))), print(point));
    EXPECT_TRUE(tokens.insert(print(point)).second) << print(point);
  }
}

TEST(Point, RefusesWhatNoBufferCanBe) {
  EXPECT_EQ(refusal("rows=33,cols=96,srows=32"), "srows=32 is less than the 33 rows of blocks");
  EXPECT_EQ(refusal("rows=33,cols=97,stride=3"), "stride=3 is less than the 4 blocks of a row");
  EXPECT_EQ(refusal("rows=33,cols=96,dir=colwise,srows=1"), "srows=1 is less than the 2 rows of blocks");
  EXPECT_EQ(refusal("rows=33,cols=96,dir=colwise,stride=95"),
            "stride=95 is less than the 96 blocks of a row");
  EXPECT_EQ(refusal("rows=33,cols=96,layout=swizzled,stride=8"),
            "swizzled scales of 33 x 96 are srows=128,stride=4");
  EXPECT_EQ(refusal("rows=1,cols=32,srows=16777216,stride=257"), "srows*stride is over 2^32 bytes");
  EXPECT_EQ(refusal("dir=colwise,rows=1,cols=32,srows=16777216,stride=256"), "");
  EXPECT_EQ(refusal("salign=3"), "salign=3 is no power of two");
  EXPECT_EQ(refusal("out=fp32,yalign=2"), "yalign=2 is less than an output element");
  EXPECT_EQ(refusal("cols=40,quantised=normal"), "cols=40 is not divisible by 32, so X is not quantised");
  EXPECT_EQ(refusal("paddin=nan"), "unknown key 'paddin'; the nearest is 'pad'");
}

}  // namespace
}  // namespace assay::properties::mxfp8_dequant
