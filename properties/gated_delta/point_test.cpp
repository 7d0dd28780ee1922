// Tokens of points: what they print, and what they refuse. And the rules: what a route must say and show.
#include "properties/gated_delta/point.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/tensor/errors.hpp"
#include "kernels/gated_delta/delta.hpp"
#include "properties/gated_delta/benchmarks.hpp"
#include "properties/gated_delta/case_parts.hpp"
#include "properties/gated_delta/cases.hpp"
#include "properties/gated_delta/rules.hpp"
#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {
namespace {

using kernels::DeviceKind;

std::string reprinted(const std::string& pairs) { return print(parse("gated_delta:" + pairs)).substr(12); }

std::string refusal(const std::string& pairs) {
  try {
    parse("gated_delta:" + pairs);
  } catch (const BadInput& error) {
    const std::string text = error.what();
    return text.substr(text.find("': ") + 3);
  }
  return "";
}

TEST(Point, DefaultsArePrinted) {
  EXPECT_EQ(reprinted(""),
            "io=bf16,state=fp32,layout=kv,gates=precomputed,norm=division,eps=1e-6,beta=fp32,batch=1,steps=1,"
            "h=1,hv=1,k=64,v=64,slots=in_order,pattern=ordinary,seed=1");
  EXPECT_EQ(reprinted("gates=raw,scale=auto"),
            "io=bf16,state=fp32,layout=kv,gates=raw,norm=division,eps=1e-6,softplus=once,beta=fp32,batch=1,"
            "steps=1,h=1,hv=1,k=64,v=64,slots=in_order,pattern=ordinary,seed=1");
}

TEST(Point, EveryKeyIsPrintedAndReadBack) {
  const std::string contracts =
      "io=fp32,state=bf16,layout=vk,gates=raw,norm=rsqrt,eps=1e-12,softplus=log,beta=bf16,judge=bound,";
  const std::string shape = "batch=3,steps=5,pool=7,h=2,hv=6,k=128,v=256,astride=9,bstride=8,";
  const std::string buffers = "slots=holes,tuning=large,scale=0x3F000000,ialign=4,salign=2,";
  const std::string source = "pattern=ramps,vexp=-4,sequence=2,step=11,seed=9";
  for (const std::string more : {"", ",as=states,on=a,b:c=d", ",as=keys,on=x.npy"}) {
    const std::string all = contracts + shape + buffers + source + more;
    EXPECT_EQ(reprinted(all), all);
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
  EXPECT_EQ(refusal("gates=precomputed,softplus=log"), "softplus= is of gates=raw only");
  EXPECT_EQ(refusal("gates=precomputed,astride=4"), "astride= and bstride= are of gates=raw only");
  EXPECT_EQ(refusal("gates=raw,hv=4,astride=3"), "astride=3 is less than hv=4");
  EXPECT_EQ(refusal("gates=raw,hv=4,bstride=1"), "bstride=1 is less than hv=4");
  EXPECT_EQ(refusal("batch=3,pool=2"), "pool=2 has no slot for each of batch=3");
  EXPECT_EQ(refusal("slots=doubled"), "slots=doubled needs two sequences");
  EXPECT_EQ(refusal("io=fp32,ialign=2"), "ialign=2 is less than an element");
  EXPECT_EQ(refusal("salign=2"), "salign=2 is less than an element");
  EXPECT_EQ(refusal("salign=12"), "salign=12 is no power of two");
  EXPECT_EQ(refusal("as=keys"), "as= and on= are given together");
  EXPECT_EQ(refusal("on=a.npy"), "as= and on= are given together");
  EXPECT_EQ(refusal("steps=0"), "steps='0' is not a whole number from 1 to 1048576");
  EXPECT_EQ(refusal("hv=1025"), "hv='1025' is not a whole number from 1 to 1024");
  EXPECT_EQ(refusal("steps=1048576,step=1"), "step= and steps= are over 1048576 together");
  EXPECT_EQ(refusal("batch=2,sequence=16777215"), "sequence= and batch= are over 16777216 together");
  EXPECT_EQ(refusal("batch=16777216,steps=16,pool=16777216"), "q is over 2^32 elements");
  EXPECT_EQ(refusal("batch=1048576,pool=1048576,hv=128"), "v is over 2^32 elements");
  EXPECT_EQ(refusal("pool=16777216"), "the state is over 2^32 elements");
  EXPECT_EQ(refusal("gates=raw,steps=65536,astride=16777216"), "a is over 2^32 elements");
  EXPECT_EQ(refusal("layot=vk"), "unknown key 'layot'; the nearest is 'layout'");
  for (const std::string scale :
       {"1", "0x0", "0x00000000", "0x7F800000", "0xBF800000", "0x3f800000", "0x3F8000000"})
    EXPECT_EQ(refusal("scale=" + scale),
              "scale='" + scale + "' is not auto or the code of a positive fp32, like 0x3F800000");
}

/// 2^-3, the fp32 nearest 2^-3.5, 2^-4.
TEST(Point, ScaleOfItsOwn) {
  EXPECT_EQ(scale_of(parse("gated_delta:k=64")), 0x3E000000u);
  EXPECT_EQ(scale_of(parse("gated_delta:k=128")), 0x3DB504F3u);
  EXPECT_EQ(scale_of(parse("gated_delta:k=256")), 0x3D800000u);
  EXPECT_EQ(scale_of(parse("gated_delta:k=128,scale=0x42000000")), 0x42000000u);
}

// ---- the lists ----

TEST(Cases, TheContractsAreAllThereAre) {
  std::set<std::string> all;
  for (std::size_t i = 0; i < contracts_count; ++i) {
    Point point;
    point.contracts = contracts_of(i);
    EXPECT_TRUE(all.insert(print(point)).second);
  }
  // io, state, layout, norm, epsilon, beta; softplus or none.
  EXPECT_EQ(all.size(), 2u * 2 * 2 * 2 * 2 * 2 * (3 + 1));
  EXPECT_EQ(patterns, fixture::pattern_names().size());
}

TEST(Cases, GoldensHaveEveryContractInEveryRecord) {
  std::map<std::string, std::set<std::string>> choices;
  for (const Point& point : golden_cases()) {
    const std::string token = print(point);
    for (std::size_t begin = 12; begin < token.find(",batch"); begin = token.find(',', begin) + 1)
      choices[record_name(point)].insert(token.substr(begin, token.find(',', begin) - begin));
  }
  EXPECT_EQ(choices.size(), 4u);
  for (const auto& [record, found] : choices) {
    for (const char* choice :
         {"io=bf16", "io=fp32", "gates=raw", "gates=precomputed", "norm=division", "norm=rsqrt", "eps=1e-6",
          "eps=1e-12", "softplus=once", "softplus=log1p", "softplus=log", "beta=fp32", "beta=bf16"})
      EXPECT_TRUE(found.contains(choice)) << record << " lacks " << choice;
  }
}

// ---- the rules ----

std::string support(const std::string& pairs, std::size_t route) {
  const kernels::Support support = expected_support(parse("gated_delta:" + pairs), route, DeviceKind::cpu);
  return support.supported ? "" : support.reason;
}

TEST(Rules, RefuseInTheirOrder) {
  for (const std::size_t route : {register_route, two_pass_route}) {
    EXPECT_EQ(support("k=128,v=256,h=2,hv=6", route), "");
    EXPECT_EQ(support("k=32,v=32,hv=3,h=2", route), "key_dim is not 64, 128 or 256");
    EXPECT_EQ(support("v=512,hv=3,h=2", route), "value_dim is not 64, 128 or 256");
    EXPECT_EQ(support("hv=3,h=2,slots=past", route), "value_heads % key_heads != 0");
    EXPECT_EQ(support("hv=1,h=2", route), "value_heads % key_heads != 0");
    EXPECT_EQ(support("slots=past,layout=vk,salign=4", route), "slot past the pool");
    EXPECT_EQ(support("batch=2,slots=doubled,layout=vk,salign=4", route), "two sequences in one slot");
    EXPECT_EQ(support("batch=2,slots=holes", route), "");
  }
  EXPECT_EQ(support("layout=vk", register_route), "");
  EXPECT_EQ(support("layout=vk,tuning=large", register_route), "");
  EXPECT_EQ(support("layout=vk,tuning=large,salign=8", register_route), "state not 16-byte aligned");
  EXPECT_EQ(support("layout=vk", two_pass_route), "state layout is [V,K]");
  EXPECT_EQ(support("salign=8", register_route), "state not 16-byte aligned");
  EXPECT_EQ(support("salign=4,ialign=2", two_pass_route), "");
  EXPECT_EQ(support("ialign=2", register_route), "");
}

/// The slots are where the point's word for them meets the kernels' own count.
TEST(Rules, RoutesSayTheSameOfEverySlot) {
  for (const std::string slots : {"in_order", "permuted", "holes", "doubled", "past"}) {
    const DeltaWorkload workload(parse("gated_delta:batch=5,pool=7,slots=" + slots));
    for (const std::size_t route : {register_route, two_pass_route}) {
      const kernels::Support said = workload.supports(route, DeviceKind::cpu);
      EXPECT_EQ(said.supported, slots != "doubled" && slots != "past");
      EXPECT_EQ(said.reason, workload.expected_support(route, DeviceKind::cpu).reason) << slots;
    }
  }
}

/// 256 MiB of states are 4,096 heads of 128 x 128 in fp32.
TEST(Rules, LargeStatesAreStoredByBulkCopies) {
  const auto bulk_stores = [](const std::string& pairs) {
    return expected_witness(parse("gated_delta:layout=vk,k=128,v=128," + pairs), register_route)
        .counters.contains("bulk_stores");
  };
  EXPECT_FALSE(bulk_stores("batch=4095"));
  EXPECT_TRUE(bulk_stores("batch=4096"));
  EXPECT_FALSE(bulk_stores("batch=8192,state=bf16"));
  EXPECT_TRUE(bulk_stores("batch=128,h=16,hv=32"));
  EXPECT_FALSE(bulk_stores("batch=4096,tuning=small"));
  EXPECT_TRUE(bulk_stores("tuning=large"));
  EXPECT_TRUE(bulk_stores("tuning=large,state=bf16"));
}

TEST(Rules, KernelsGoByLayout) {
  using Launches = std::vector<std::string>;
  EXPECT_EQ(expected_witness(parse("gated_delta:"), register_route).launches,
            Launches{"recurrent_register_kv"});
  EXPECT_EQ(expected_witness(parse("gated_delta:layout=vk,steps=9"), register_route).launches,
            Launches{"recurrent_register_vk"});
  EXPECT_EQ(expected_witness(parse("gated_delta:steps=9"), two_pass_route).launches,
            Launches{"recurrent_two_pass"});
}

}  // namespace
}  // namespace assay::properties::gated_delta
