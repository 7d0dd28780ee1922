// Every known fault's output is given its name, and what no fault explains is described by what it has in
// common.
#include "properties/gated_delta/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {
namespace {

using oracle::Fault;
using Names = std::vector<std::string>;

/// What the buffers hold before a launch: o a poison, the state its own contents.
Contents before(const DeltaWorkload& workload) {
  const std::size_t o = workload.operands().v.size();
  return {std::vector<std::byte>(o, std::byte{0xA5}), workload.operands().state};
}

Names patterns(DeltaWorkload& workload, const Contents& actual) {
  Names names;
  for (const Diagnosis& diagnosis : workload.diagnose(actual, before(workload)))
    names.push_back(diagnosis.pattern);
  return names;
}

struct Planted {
  Fault fault;
  const char *pattern, *token;
};

/// A case in which the fault shows and no other gives the same output.
constexpr Planted planted[] = {
    {Fault::error_before_decay, "error before decay", ""},
    {Fault::output_before_update, "output before update", ""},
    {Fault::state_transposed, "state transposed", ""},
    {Fault::head_modulo, "key head modulo", ""},
    {Fault::decay_twice, "decay exponentiated twice", ""},
    {Fault::decay_ignored, "decay ignored", ""},
    {Fault::beta_rounded, "beta rounded", ""},
    {Fault::beta_unrounded, "beta not rounded", "beta=bf16,"},
    {Fault::beta_ignored, "beta ignored", ""},
    {Fault::scale_ignored, "scale of q ignored", ""},
    {Fault::norm_ignored, "norms ignored", ""},
    {Fault::epsilon_ignored, "epsilon ignored", "pattern=tiny_norms,"},
    {Fault::epsilon_other, "epsilon of the other contract", "pattern=tiny_norms,"},
    {Fault::epsilon_outside, "epsilon outside the root", "pattern=tiny_norms,"},
    {Fault::softplus_linear, "softplus linear", ""},
    {Fault::dt_bias_ignored, "dt_bias ignored", ""},
    {Fault::sign_of_g, "sign of g lost", ""},
    {Fault::slots_ignored, "slots ignored", "slots=permuted,"},
    {Fault::state_not_written, "state not written", ""},
    {Fault::state_rounded_early, "output of the rounded state", "state=bf16,"},
    {Fault::state_never_rounded, "state not rounded between steps", "state=bf16,"},
    {Fault::last_slice_dropped, "last slice dropped", ""},
    {Fault::not_fused, "not fused", ""},
    {Fault::first_step_only, "first step alone", ""},
};

/// Later steps hold what was there before, which the oracle cannot know.
void leave_later_steps(const DeltaWorkload& workload, std::vector<std::byte>& out) {
  const oracle::Shape shape = shape_of(workload.point());
  const std::size_t token = out.size() / shape.tokens();
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i / token % shape.steps > 0) out[i] = std::byte{0xA5};
}

TEST(Diagnosis, EveryFaultIsNamedAlone) {
  ASSERT_EQ(std::size(planted), oracle::fault_count);
  for (std::size_t i = 0; i < std::size(planted); ++i) {
    const Planted& one = planted[i];
    ASSERT_EQ(static_cast<std::size_t>(one.fault), i);
    DeltaWorkload workload(
        parse(std::string("gated_delta:gates=raw,batch=3,pool=4,steps=3,h=2,hv=4,") + one.token + "seed=3"));
    oracle::Faulty faulty = oracle::faulty(one.fault, workload.point().contracts, shape_of(workload.point()),
                                           view(workload.point(), workload.operands()));
    ASSERT_FALSE(faulty.out.empty()) << one.pattern;
    if (one.fault == Fault::first_step_only) leave_later_steps(workload, faulty.out);
    EXPECT_EQ(patterns(workload, {faulty.out, faulty.state}), Names{one.pattern}) << to_string(one.fault);
  }
}

/// The right output, to be damaged; 3 steps of 2 sequences of 2 heads, fp32 throughout.
class Damaged {
 public:
  explicit Damaged(const std::string& layout = "kv")
      : workload_(parse("gated_delta:io=fp32,batch=2,pool=3,steps=3,hv=2,layout=" + layout)),
        actual_({workload_.acceptance()[0].lo, workload_.acceptance()[1].lo}) {
    // The slot of nobody holds what it held.
    const std::size_t slot = actual_[1].size() / 3;
    std::copy_n(workload_.operands().state.begin() + 2 * static_cast<std::ptrdiff_t>(slot), slot,
                actual_[1].begin() + 2 * static_cast<std::ptrdiff_t>(slot));
  }
  void flip_o(std::size_t sequence, std::size_t step, std::size_t head, std::size_t value) {
    flip(0, ((sequence * 3 + step) * 2 + head) * 64 + value);
  }
  void flip_state(std::size_t slot, std::size_t head, std::size_t slow, std::size_t fast) {
    flip(1, ((slot * 2 + head) * 64 + slow) * 64 + fast);
  }
  Names names() { return patterns(workload_, actual_); }

 private:
  void flip(std::size_t buffer, std::size_t element) { actual_[buffer][4 * element] ^= std::byte{0x15}; }
  DeltaWorkload workload_;
  Contents actual_;
};

TEST(Diagnosis, NothingIsNamedOfWhatIsRight) { EXPECT_EQ(Damaged().names(), Names{}); }

TEST(Diagnosis, OutputAlone) {
  Damaged d;
  for (std::size_t value = 0; value < 64; ++value) d.flip_o(1, 0, value % 2, value);
  EXPECT_EQ(d.names(), Names{"output alone wrong"});
  d.flip_state(0, 0, 1, 2);
  EXPECT_EQ(d.names(), Names{}) << "both are wrong, everywhere";
}

TEST(Diagnosis, StateAlone) {
  Damaged d;
  for (std::size_t i = 0; i < 64; ++i) d.flip_state(i % 2, i % 2, i, i);
  EXPECT_EQ(d.names(), Names{"state alone wrong"});
}

TEST(Diagnosis, LaterSteps) {
  Damaged d;
  for (std::size_t value = 0; value < 64; ++value) {
    d.flip_o(0, 1 + value % 2, value / 2 % 2, value);
    d.flip_state(0, value % 2, value, 63 - value);
  }
  EXPECT_EQ(d.names(), Names{"first step right"});
  d.flip_o(1, 0, 0, 0);
  EXPECT_EQ(d.names(), Names{});
}

TEST(Diagnosis, SomeHeads) {
  Damaged d;
  for (std::size_t value = 0; value < 64; ++value) d.flip_o(0, 0, 1, value);
  d.flip_state(0, 1, 0, 0);
  EXPECT_EQ(d.names(), Names{"some value heads wrong"});
  d.flip_o(0, 0, 0, 0);
  EXPECT_EQ(d.names(), Names{});
}

/// v is the fast index of one layout and the slow one of the other.
TEST(Diagnosis, SomeColumns) {
  for (const bool kv : {true, false}) {
    Damaged d(kv ? "kv" : "vk");
    for (const std::size_t head : {0u, 1u}) {
      d.flip_o(1, 0, head, 62);
      for (std::size_t k = 0; k < 64; ++k) d.flip_state(1, head, kv ? k : 62, kv ? 62 : k);
    }
    EXPECT_EQ(d.names(), Names{"some columns of V wrong"}) << kv;
  }
}

TEST(Diagnosis, SomeRows) {
  for (const bool kv : {true, false}) {
    Damaged d(kv ? "kv" : "vk");
    for (const std::size_t head : {0u, 1u})
      for (std::size_t v = 0; v < 64; ++v) d.flip_state(1, head, kv ? 17 : v, kv ? v : 17);
    EXPECT_EQ(d.names(), (Names{"state alone wrong", "some rows of K wrong"})) << kv;
  }
}

}  // namespace
}  // namespace assay::properties::gated_delta
