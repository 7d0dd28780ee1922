// The rule of the direct store, the lever, and which schedule and slices a node takes.
#include "kernels/matmul_nbits/node.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

namespace assay::kernels::matmul_nbits {
namespace {

/// A staging buffer of three rows of four results.
struct Offered {
  std::array<std::uint16_t, 12> staging{}, destination{};
  DirectStoreOffer offer{staging.data(), destination.data(), 12, false};
};

TEST(DirectStore, IsAcceptedByOneLaunchThatNarrowsTheWholeResult) {
  // Every combination of: it narrows, at the staging pointer, all elements, not yet taken.
  for (unsigned bits = 0; bits < 16; ++bits) {
    const bool narrows = bits & 1, pointer = bits & 2, elements = bits & 4, free = bits & 8;
    Offered that;
    that.offer.taken = !free;
    const DirectStoreOffer before = that.offer;
    const LaunchOutput output{pointer ? that.staging.data() : that.staging.data() + 4,
                              elements ? std::int64_t{12} : std::int64_t{4}, narrows};
    const Decline decline = accept(that.offer, output);
    const bool accepted = narrows && pointer && elements && free;
    EXPECT_EQ(decline == Decline::none, accepted) << bits;
    EXPECT_EQ(that.offer.taken, accepted || !free) << bits << ": taken by an acceptance and nothing else";
    EXPECT_EQ(that.offer.staging, before.staging);
    EXPECT_EQ(that.offer.destination, before.destination);
    EXPECT_EQ(that.offer.elements, before.elements);
    if (narrows + pointer + elements + free != 3) continue;  // of several reasons any may be given
    EXPECT_EQ(decline, !narrows    ? Decline::no_narrowing_store
                       : !pointer  ? Decline::pointer
                       : !elements ? Decline::elements
                                   : Decline::taken);
  }
}

TEST(DirectStore, NeitherFewerNorMoreElementsAreTheWholeResult) {
  for (const std::int64_t elements : {0, 1, 4, 11, 13, 24}) {
    Offered that;
    EXPECT_EQ(accept(that.offer, {that.staging.data(), elements, true}), Decline::elements) << elements;
    EXPECT_FALSE(that.offer.taken);
  }
}

TEST(DirectStore, IsAcceptedOnce) {
  Offered that;
  const LaunchOutput whole{that.staging.data(), 12, true};
  EXPECT_EQ(accept(that.offer, whole), Decline::none);
  EXPECT_EQ(accept(that.offer, whole), Decline::taken);
  EXPECT_EQ(accept(that.offer, whole), Decline::taken);
}

/// The loop that launches one GEMV a row: no row may claim the result of all.
TEST(DirectStore, NoRowOfSeveralIsAccepted) {
  Offered that;
  for (std::size_t row = 0; row < 3; ++row) {
    const LaunchOutput one{that.staging.data() + 4 * row, 4, true};
    EXPECT_EQ(accept(that.offer, one), row == 0 ? Decline::elements : Decline::pointer) << row;
  }
  EXPECT_FALSE(that.offer.taken);
}

/// A single row is the whole result.
TEST(DirectStore, TheOnlyRowIsAccepted) {
  Offered that;
  that.offer.elements = 4;
  EXPECT_EQ(accept(that.offer, {that.staging.data(), 4, true}), Decline::none);
}

TEST(DirectStore, ReasonsHaveNames) {
  EXPECT_EQ(to_string(Decline::none), "");
  EXPECT_EQ(to_string(Decline::pointer), "another pointer");
  EXPECT_EQ(to_string(Decline::elements), "not the whole result");
  EXPECT_EQ(to_string(Decline::taken), "already taken");
  EXPECT_EQ(to_string(Decline::no_narrowing_store), "no narrowing store");
}

/// Sets ASSAY_RESTORE_STAGING and restores what it was.
class LeverVariable {
 public:
  explicit LeverVariable(const char* value) {
    if (const char* const old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~LeverVariable() { set(old_ ? old_->c_str() : nullptr); }
  LeverVariable(const LeverVariable&) = delete;
  LeverVariable& operator=(const LeverVariable&) = delete;

 private:
  static constexpr const char* name = "ASSAY_RESTORE_STAGING";
  static void set(const char* value) { value ? ::setenv(name, value, 1) : ::unsetenv(name); }
  std::optional<std::string> old_;
};

TEST(Lever, IsTheEnvironments) {
  const auto with = [](const char* value) {
    const LeverVariable variable(value);
    return levers_from_environment().restore_staging;
  };
  EXPECT_FALSE(with(nullptr));
  EXPECT_FALSE(with(""));
  EXPECT_FALSE(with("0"));
  EXPECT_TRUE(with("1"));
  EXPECT_TRUE(with("yes"));
  EXPECT_TRUE(with("00"));
  EXPECT_TRUE(with(" "));
  EXPECT_FALSE(Levers{}.restore_staging) << "direct stores are offered by default";
}

TEST(Node, SchedulesByRowsAndShape) {
  struct Case {
    std::int64_t m, k;
    unsigned bits, block;
    Schedule schedule;
  };
  const Case cases[] = {
      {1, 4096, 4, 32, Schedule::split_k},       {1, 4097, 4, 32, Schedule::split_k},
      {1, 1, 4, 32, Schedule::split_k},          {2, 4096, 4, 32, Schedule::split_k},
      {loop_max_m, 8, 4, 32, Schedule::split_k}, {loop_max_m + 1, 8, 4, 32, Schedule::mma},
      {2, 4100, 4, 32, Schedule::mma},           {loop_max_m, 4097, 4, 32, Schedule::mma},
      {512, 4096, 4, 32, Schedule::mma},         {1, 4096, 2, 32, Schedule::mma},
      {1, 4096, 8, 32, Schedule::mma},           {1, 4096, 4, 16, Schedule::mma},
      {1, 4096, 4, 64, Schedule::mma},           {4, 4096, 4, 128, Schedule::mma},
  };
  EXPECT_EQ(loop_max_m, 8);
  for (const Case& one : cases) {
    EXPECT_EQ(schedule_of_node(one.m, one.k, one.bits, one.block), one.schedule)
        << one.m << " rows, k " << one.k << ", " << one.bits << " bits, blocks of " << one.block;
  }
}

TEST(Node, SlicesWhereColumnsDoNotGoRound) {
  struct Case {
    std::int64_t n;
    unsigned multiprocessors, k_split;
  };
  // Two slices leave a thread block of the reference four columns: ceil(n / 4) blocks for the processors.
  const Case cases[] = {
      {1, 1, 2},     {4, 1, 2},     {1, 2, 8},      {4, 2, 8},        {5, 2, 2},     {524, 132, 8},
      {525, 132, 2}, {528, 132, 2}, {4096, 132, 2}, {151936, 132, 2}, {592, 148, 2}, {588, 148, 8},
  };
  for (const Case& one : cases)
    EXPECT_EQ(k_split_for(one.n, one.multiprocessors), one.k_split) << one.n << " " << one.multiprocessors;
}

}  // namespace
}  // namespace assay::kernels::matmul_nbits
