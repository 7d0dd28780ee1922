// Tokens of points: what they print, and what they refuse. And the rules: what a route must say and show.
#include "properties/matmul_nbits/point.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/tensor/errors.hpp"
#include "properties/matmul_nbits/benchmarks.hpp"
#include "properties/matmul_nbits/cases.hpp"
#include "properties/matmul_nbits/rules.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using kernels::DeviceKind;

std::string reprinted(const std::string& pairs) { return print(parse("matmul_nbits:" + pairs)).substr(13); }

std::string refusal(const std::string& pairs) {
  try {
    parse("matmul_nbits:" + pairs);
  } catch (const BadInput& error) {
    const std::string text = error.what();
    return text.substr(text.find("': ") + 3);
  }
  return "";
}

TEST(Point, DefaultsArePrinted) {
  EXPECT_EQ(reprinted(""),
            "model=bf16,schedule=split_k,split=2,bias=none,zp=packed,bits=4,block=32,m=1,n=8,k=32,pad=zero,"
            "pattern=ordinary,seed=1");
  EXPECT_EQ(reprinted("schedule=mma,m=9"),
            "model=bf16,schedule=mma,cores=hopper,bias=none,zp=packed,bits=4,block=32,m=9,n=8,k=32,pad=zero,"
            "pattern=ordinary,seed=1");
}

TEST(Point, EveryKeyIsPrintedAndReadBack) {
  for (const std::string schedule : {"split_k,split=8", "mma,cores=ampere", "tile"}) {
    const std::string head =
        "model=fp16,schedule=" + schedule + ",bias=twice,zp=packed,bits=8,block=64,m=3,n=5,k=130,";
    const std::string prefetch = schedule[0] == 's' ? "prefetch=4," : "";
    const std::string buffers = "judge=bound,aalign=2,balign=1,salign=256,yalign=4,";
    for (const std::string source : {"pad=noise,pattern=specials,row=3,turn=2,exp=-4,from=4,seed=9",
                                     "reported=B24.1", "pad=ones,pattern=ramps,seed=9,on=a,b:c=d"})
      EXPECT_EQ(reprinted(head + prefetch + buffers + source), head + prefetch + buffers + source);
  }
}

TEST(Point, EveryCaseIsReadBackAndIsNoOther) {
  std::vector<Point> points = cases(Level::exhaustive, 5);
  for (const Point& point : golden_cases()) points.push_back(point);
  std::set<std::string> tokens;
  for (const Point& point : points) {
    EXPECT_EQ(print(parse(print(point))), print(point));
    EXPECT_TRUE(tokens.insert(print(point)).second) << print(point);
  }
  for (const Benchmark& benchmark : benchmarks()) EXPECT_EQ(print(parse(benchmark.token)), benchmark.token);
}

TEST(Point, RefusesWhatNoCaseCanBe) {
  EXPECT_EQ(refusal("schedule=tile,split=2"), "split= is of schedule=split_k only");
  EXPECT_EQ(refusal("cores=ampere"), "cores= is of schedule=mma only");
  EXPECT_EQ(refusal("schedule=multicol,interleaved=1"),
            "interleaved=1 is of schedule=natural with bits=4 and block=32 only");
  EXPECT_EQ(refusal("schedule=mma,prefetch=2"), "prefetch= is of schedule=split_k only");
  EXPECT_EQ(refusal("split=4"), "split='4' is unknown; the nearest is '2'");
  EXPECT_EQ(refusal("block=48"), "block=48 is no power of two");
  EXPECT_EQ(refusal("k=0"), "k='0' is not a whole number from 1 to 16777216");
  EXPECT_EQ(refusal("n=16777216,k=16777216"), "the weights are over 2^32 elements");
  EXPECT_EQ(refusal("m=16777216,k=16777216"), "A is over 2^32 elements");
  EXPECT_EQ(refusal("model=fp32,schedule=tile,aalign=2"), "aalign=2 is less than an element");
  EXPECT_EQ(refusal("salign=1"), "salign=1 is less than an element");
  EXPECT_EQ(refusal("yalign=1"), "yalign=1 is less than an element");
  EXPECT_EQ(refusal("from=8"), "from=8 is more than bits=4");
  EXPECT_EQ(refusal("bits=8,from=4,zp=none"), "from= needs zp=packed");
  EXPECT_EQ(refusal("patern=ramps"), "unknown key 'patern'; the nearest is 'pattern'");
}

// ---- the rules ----

std::string support(const std::string& pairs, std::size_t route) {
  const kernels::Support support = expected_support(parse("matmul_nbits:" + pairs), route, DeviceKind::cpu);
  return support.supported ? "" : support.reason;
}

TEST(Rules, RefuseInTheirOrder) {
  EXPECT_EQ(support("m=8,k=64", direct_route), "");
  EXPECT_EQ(support("m=9,k=64", direct_route), "m not built");
  EXPECT_EQ(support("m=2,k=60", direct_route), "k % 8 != 0 in a row loop");
  EXPECT_EQ(support("m=1,k=61", direct_route), "");
  EXPECT_EQ(support("model=fp32,m=9,bits=8", direct_route), "bits or block not built");
  EXPECT_EQ(support("model=fp32,m=9", direct_route), "model not built");
  EXPECT_EQ(support("aalign=8,balign=8", direct_route), "a not 16-byte aligned");
  EXPECT_EQ(support("balign=8", direct_route), "b not 16-byte aligned");
  EXPECT_EQ(support("schedule=tile", direct_route), "another schedule");
  EXPECT_EQ(support("model=fp16", staged_route), "model not built");
  EXPECT_EQ(support("m=9", dispatch_route), "another schedule");
  EXPECT_EQ(support("m=2,k=60", dispatch_route), "another schedule");
  EXPECT_EQ(support("schedule=mma,m=2,k=60", dispatch_route), "");
  EXPECT_EQ(support("schedule=mma,m=2,k=64", dispatch_route), "another schedule");
  EXPECT_EQ(support("schedule=mma,m=1,bits=8", dispatch_route), "");
  EXPECT_EQ(support("schedule=mma,m=1,block=8", mma_route), "bits or block not built");
  EXPECT_EQ(support("schedule=mma,model=fp32", mma_route), "model not built");
  EXPECT_EQ(support("schedule=tile,model=fp32,aalign=4,balign=1", tile_route), "");
  EXPECT_EQ(support("schedule=multicol", multicol_route), "model not built");
  EXPECT_EQ(support("schedule=multicol,model=fp16,m=2,k=40", multicol_route), "m not built");
  EXPECT_EQ(support("schedule=natural,model=fp16,k=40,aalign=2", natural_route), "k % 32 != 0");
  EXPECT_EQ(support("schedule=natural,model=fp16", multicol_route), "another schedule");
}

using Counters = std::map<std::string, std::uint64_t>;

TEST(Rules, OneRowStoresDirectly) {
  const Point one = parse("matmul_nbits:m=1");
  EXPECT_EQ(expected_witness(one, direct_route).launches, std::vector<std::string>{"gemv_split_k"});
  EXPECT_EQ(expected_witness(one, direct_route).counters, (Counters{{"direct_store.accepted", 1}}));
  EXPECT_EQ(expected_witness(one, staged_route).counters,
            (Counters{{"direct_store.withheld", 1}, {"cast.launches", 1}}));
  EXPECT_TRUE(stores_directly(one));
  EXPECT_TRUE(expected_witness(parse("matmul_nbits:model=fp16"), direct_route).counters.empty());
}

TEST(Rules, SeveralRowsAreStagedForTwoReasons) {
  const ExpectedWitness three = expected_witness(parse("matmul_nbits:m=3"), dispatch_route);
  EXPECT_EQ(three.launches,
            (std::vector<std::string>{"gemv_split_k", "gemv_split_k", "gemv_split_k", "narrow_staging"}));
  EXPECT_EQ(three.counters, (Counters{{"direct_store.declined: not the whole result", 1},
                                      {"direct_store.declined: another pointer", 2},
                                      {"cast.launches", 1}}));
  EXPECT_FALSE(stores_directly(parse("matmul_nbits:m=3")));
}

TEST(Rules, PrefillNeverStoresDirectly) {
  const ExpectedWitness prefill = expected_witness(parse("matmul_nbits:schedule=mma,m=9"), dispatch_route);
  EXPECT_EQ(prefill.launches, (std::vector<std::string>{"dequantize_fp16", "gemm_mma", "narrow_staging"}));
  EXPECT_EQ(prefill.counters,
            (Counters{{"direct_store.declined: no narrowing store", 1}, {"cast.launches", 1}}));
}

}  // namespace
}  // namespace assay::properties::matmul_nbits
