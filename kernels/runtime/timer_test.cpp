// The protocol of the timer, on a device that only writes down what it is asked.
#include "kernels/runtime/timer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace assay::kernels {
namespace {

class ScriptedTimer final : public Timer {
 public:
  explicit ScriptedTimer(std::chrono::milliseconds warm_up = {}) : Timer(warm_up) {}

  void copy(void*, const void*, std::size_t) override {}
  KernelResources resources(const LaunchRecord&) const override { return {}; }
  std::size_t l2_bytes() const override { return 0; }
  std::size_t cold_bytes() const override { return 0; }

  std::string log;  ///< C: cold, one for each pass; ( and ): events; contenders write their own letter
  unsigned late_below = 0;         ///< with fewer passes than this the device is ready before the host
  std::vector<double> times = {};  ///< handed out in turn behind cold caches; then 1, 2, 3, ...

 protected:
  void make_cold(unsigned passes) override {
    log += std::string(passes, 'C');
    passes_now_ = passes;
  }
  void start() override { log += '('; }
  void stop() override { log += ')'; }
  bool started() override { return passes_now_ < late_below; }
  double elapsed() override {
    if (passes_now_ == 0) return 1e6;  // warming up
    const double time = given_ < times.size() ? times[given_] : static_cast<double>(given_ + 1);
    ++given_;
    return time;
  }

 private:
  unsigned passes_now_ = 0;
  std::size_t given_ = 0;
};

std::vector<Contender> two(ScriptedTimer& timer) {
  return {{"a", [&] { timer.log += 'a'; }}, {"b", [&] { timer.log += 'b'; }}};
}

TEST(Timer, WarmsUpAndThenTakesTurnsBehindColdCaches) {
  ScriptedTimer timer;
  const auto samples = timer.time(two(timer), 3);
  EXPECT_EQ(timer.log, "(a)(b)C(a)C(b)C(a)C(b)C(a)C(b)");
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].microseconds, (std::vector<double>{1, 3, 5}));
  EXPECT_EQ(samples[1].microseconds, (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(samples[0].exposed + samples[1].exposed, 0u);
}

TEST(Timer, WarmsUpForAsLongAsItWasTold) {
  using Clock = std::chrono::steady_clock;
  ScriptedTimer timer(std::chrono::milliseconds(20));
  const auto begin = Clock::now();
  timer.time(two(timer), 1);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(20));
  EXPECT_GT(timer.log.size(), std::string("(a)(b)C(a)C(b)").size());
}

TEST(Timer, ALaunchThatCameTooLateIsRepeatedBehindMoreWriting) {
  ScriptedTimer timer;
  timer.late_below = 4;
  timer.times = {100, 100, 7, 8};  // the two of one and of two passes do not count
  const auto samples = timer.time(two(timer), 1);
  EXPECT_EQ(timer.log, "(a)(b)C(a)CC(a)CCCC(a)CCCC(b)");
  EXPECT_EQ(samples[0].microseconds, std::vector<double>{7});
  EXPECT_EQ(samples[1].microseconds, std::vector<double>{8});
  EXPECT_EQ(samples[0].exposed, 0u);
}

TEST(Timer, ALaunchThatIsAlwaysTooLateIsCountedAsThat) {
  ScriptedTimer timer;
  timer.late_below = 1000;
  const auto samples = timer.time(two(timer), 2);
  EXPECT_EQ(samples[0].microseconds.size(), 2u);
  EXPECT_EQ(samples[0].exposed, 2u);
  EXPECT_EQ(samples[1].exposed, 2u);
  timer.late_below = 0;
  EXPECT_EQ(timer.time(two(timer), 2)[0].exposed, 0u);
}

TEST(Timer, WhatAContenderThrowsComesOut) {
  ScriptedTimer timer;
  const std::vector<Contender> bad = {{"bad", [] { throw DeviceError("launch: refused"); }}};
  EXPECT_THROW(timer.time(bad, 1), DeviceError);
}

TEST(Timer, OnlyThePresentCudaDeviceHasOne) {
  EXPECT_EQ(make_timer(DeviceKind::cpu), nullptr);
  EXPECT_EQ(make_timer(DeviceKind::cuda) != nullptr, device(DeviceKind::cuda) != nullptr);
}

}  // namespace
}  // namespace assay::kernels
