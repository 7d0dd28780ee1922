// Tokens of points: what they print, and what they refuse.
#include "properties/mxfp8_cast/point.hpp"

#include <gtest/gtest.h>

#include "fixtures/tensor/errors.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

std::string reprinted(const std::string& pairs) { return print(parse("mxfp8_cast:" + pairs)).substr(11); }

std::string refusal(const std::string& pairs) {
  try {
    parse("mxfp8_cast:" + pairs);
  } catch (const BadInput& error) {
    const std::string text = error.what();
    return text.substr(text.find("': ") + 3);
  }
  return "";
}

constexpr const char* contracts = "in=bf16,fp8=e4m3,rule=rceil,specials=poison,padding=untouched";

TEST(Point, RowwiseLinearTokensSayNothingOfDirections) {
  const std::string old =
      std::string(contracts) + ",rows=5,cols=96,srows=8,stride=4,offset=3,fill=ramps,seed=3";
  EXPECT_EQ(reprinted(old), old);
}

TEST(Point, DefaultsAreTightOrSwizzledExtents) {
  EXPECT_EQ(reprinted("rows=33,cols=96"),
            std::string(contracts) + ",rows=33,cols=96,srows=33,stride=3,fill=normal,seed=1");
  EXPECT_EQ(reprinted("rows=33,cols=96,dir=bidimensional"),
            std::string(contracts) +
                ",dir=bidimensional,rows=33,cols=96,srows=33,stride=3,csrows=2,cstride=96,"
                "fill=normal,seed=1");
  EXPECT_EQ(reprinted("scales=swizzled,dir=colwise,cols=96,rows=133"),
            std::string(contracts) +
                ",dir=colwise,scales=swizzled,rows=133,cols=96,csrows=8,cstride=128,"
                "fill=normal,seed=1");
}

TEST(Point, EveryKeyIsPrintedAndReadBack) {
  const std::string all =
      "in=fp32,fp8=e5m2,rule=even,specials=te-staged,padding=zero,dir=bidimensional,rows=33,cols=64,srows=34,"
      "stride=5,csrows=3,cstride=70,offset=1,doffset=2,cdoffset=3,exp=-4,rotate=6,transpose=1,fill=zeros,"
      "seed=9";
  EXPECT_EQ(reprinted(all), all);
}

TEST(Point, RefusesExtentsThatDoNotHoldTheScales) {
  EXPECT_EQ(refusal("rows=33,cols=96,srows=32"), "srows=32 is less than rows=33");
  EXPECT_EQ(refusal("rows=33,cols=96,stride=2"), "stride=2 is less than the 3 blocks of a row");
  EXPECT_EQ(refusal("rows=33,cols=96,dir=colwise,csrows=1"),
            "csrows=1 is less than the 2 blocks of a column");
  EXPECT_EQ(refusal("rows=33,cols=96,dir=colwise,cstride=95"), "cstride=95 is less than cols=96");
  EXPECT_EQ(refusal("rows=33,cols=96,dir=colwise,srows=1"), "") << "there are no rowwise scales";
  EXPECT_EQ(refusal("rows=33,cols=96,scales=swizzled,stride=8"),
            "srows=128, stride=8 is not the 128 x 4 of swizzled scales");
  EXPECT_EQ(refusal("dir=colwise,scales=swizzled,csrows=5"),
            "csrows=5, cstride=128 is not the 4 x 128 of swizzled scales");
  EXPECT_EQ(refusal("rows=33,cols=48,dir=colwise"), "cols=48 is not divisible by the block size 32");
  EXPECT_EQ(refusal("rows=1,cols=32,srows=16777216,stride=16777216"), "srows*stride is over 2^32 bytes");
  EXPECT_EQ(refusal("rows=1,cols=32,srows=16777216,stride=256"), "");
  EXPECT_EQ(refusal("rows=1,cols=32,srows=16777216,stride=257"), "srows*stride is over 2^32 bytes");
  EXPECT_EQ(refusal("dir=colwise,rows=1,cols=32,csrows=16777216,cstride=257"),
            "csrows*cstride is over 2^32 bytes");
  EXPECT_EQ(refusal("dir=down"), "dir='down' is unknown; the nearest is 'rowwise'");
  EXPECT_EQ(refusal("transpose=1,reported=B07.1"), "transpose=1 is of a fill= only");
}

TEST(Point, AlignmentsAreExact) {
  const Point point = parse("mxfp8_cast:in=bf16,offset=12,doffset=4,cdoffset=48");
  EXPECT_EQ(point.x_alignment(), 8u);
  EXPECT_EQ(point.data_alignment(oracle::Direction::rowwise), 4u);
  EXPECT_EQ(point.data_alignment(oracle::Direction::colwise), 16u);
  EXPECT_EQ(parse("mxfp8_cast:in=fp32").x_alignment(), 256u);
}

}  // namespace
}  // namespace assay::properties::mxfp8_cast
