// What each judgement accepts, and what it must not: one record at a time is made wrong.
#include "properties/decode/verdicts.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace assay::properties::decode {
namespace {

constexpr std::size_t prefill = 0, rows = 1, step = 2;

/// Ten nodes a phase; of the steps every one stored directly.
Simulation right_simulation() {
  Simulation simulation;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    const std::uint64_t accepted = phase == step ? 10 : 0;
    simulation.direct[phase] = {10, 30, 10 - accepted, 10 - accepted, accepted, 0};
    simulation.staged[phase] = {10, 30 + accepted, 10, 10, 0, 10};
  }
  simulation.elements = {1000, 200, 100};
  simulation.numbers = {990, 100, 100};
  return simulation;
}

Judgement judge(const std::function<void(Simulation&)>& change) {
  Simulation simulation = right_simulation();
  change(simulation);
  return judge_simulation(simulation);
}

/// Failed with that pattern among others.
void expect_fail(const Judgement& judgement, const std::string& pattern) {
  EXPECT_EQ(judgement.verdict, Verdict::fail) << judgement.reason;
  bool named = false;
  for (const Finding& finding : judgement.findings) {
    EXPECT_FALSE(finding.summary.empty());
    for (const std::string& one : finding.patterns) named |= one == pattern;
  }
  EXPECT_TRUE(named) << "no finding is named " << pattern;
}

void expect_vacuous(const Judgement& judgement, const std::string& says) {
  EXPECT_EQ(judgement.verdict, Verdict::vacuous);
  EXPECT_TRUE(judgement.findings.empty());
  EXPECT_NE(judgement.reason.find(says), std::string::npos) << judgement.reason;
}

TEST(JudgeSimulation, PassesWhenTheCastsSavedAreTheStoresAccepted) {
  EXPECT_EQ(judge([](Simulation&) {}).verdict, Verdict::pass);
  EXPECT_EQ(describe_casts(right_simulation()),
            "casts 30 with the lever, 20 without it: 10 fewer; 10 direct stores accepted");
}

TEST(JudgeSimulation, NothingAcceptedOrComparedIsVacuous) {
  expect_vacuous(judge([](Simulation& s) { s.direct[step] = {10, 40, 10, 10, 0, 0}; }),
                 "no direct store was accepted");
  expect_vacuous(judge([](Simulation& s) { s.direct = {}; }), "nothing was launched");
  expect_vacuous(judge([](Simulation& s) { s.staged = {}; }), "nothing was launched");
  expect_vacuous(judge([](Simulation& s) { s.elements[prefill] = s.numbers[prefill] = 0; }),
                 "of 0 results of phase 'prefill'");
  expect_vacuous(judge([](Simulation& s) { s.numbers[rows] = 99; }),
                 "of 200 results of phase 'rows' 99 are finite and not zero");
}

TEST(JudgeSimulation, ALeverThatDoesNothing) {
  expect_fail(judge([](Simulation& s) { s.staged = s.direct; }), "lever without effect");
  expect_fail(judge([](Simulation& s) { s.staged[step].withheld = 9; }), "lever without effect");
  expect_fail(judge([](Simulation& s) { s.direct[rows].withheld = 1; }), "offer withheld");
}

TEST(JudgeSimulation, ACastThatStillRunsOrIsLeftOut) {
  expect_fail(judge([](Simulation& s) { s.direct[step].casts = s.direct[step].cast_launches = 10; }),
              "cast after a direct store");
  expect_fail(judge([](Simulation& s) { s.direct[step].casts = s.direct[step].cast_launches = 3; }),
              "casts against direct stores");
  expect_fail(judge([](Simulation& s) { s.direct[rows].casts = s.direct[rows].cast_launches = 9; }),
              "casts against direct stores");
  expect_fail(judge([](Simulation& s) { s.staged[rows].casts = s.staged[rows].cast_launches = 9; }),
              "cast left out");
}

TEST(JudgeSimulation, AnOfferAcceptedTwiceOrByAPart) {
  expect_fail(judge([](Simulation& s) { s.direct[step].accepted = 20; }), "offer accepted twice");
  expect_fail(judge([](Simulation& s) { s.direct[step].accepted = 20; }), "casts against direct stores");
  for (const std::size_t phase : {prefill, rows}) {
    expect_fail(judge([&](Simulation& s) {
                  s.direct[phase].accepted = 1;
                  s.direct[phase].casts = s.direct[phase].cast_launches = 9;
                }),
                "direct store of several rows");
  }
}

TEST(JudgeSimulation, ADirectStoreThatIsDeclinedHereAndThere) {
  expect_fail(judge([](Simulation& s) {
                s.direct[step].accepted = 9;
                s.direct[step].casts = s.direct[step].cast_launches = 1;
              }),
              "direct store declined");
}

TEST(JudgeSimulation, ACounterThatSaysOtherThanTheLaunches) {
  expect_fail(judge([](Simulation& s) { --s.direct[prefill].casts; }), "counter against launches");
  expect_fail(judge([](Simulation& s) { ++s.staged[step].casts; }), "counter against launches");
}

TEST(JudgeSimulation, OtherBits) {
  const Judgement judgement = judge([](Simulation& s) {
    s.differing_nodes = 2;
    s.first_difference = "layer 3, up: first at y[0, 5]";
  });
  expect_fail(judgement, "direct store differs from staging");
  EXPECT_EQ(judgement.findings.back().notes, std::vector<std::string>{"layer 3, up: first at y[0, 5]"});
}

TEST(JudgeSimulation, AWriteBesideABuffer) {
  const Judgement judgement = judge([](Simulation& s) { s.damage = {{"layer 3, up", 64, 2}}; });
  ASSERT_EQ(judgement.findings.size(), 1u);
  EXPECT_EQ(judgement.verdict, Verdict::fail);
  EXPECT_EQ(judgement.findings[0].code, Code::guard_damaged);
  EXPECT_EQ(judgement.findings[0].summary,
            "buffer 'layer 3, up': 2 bytes of its guard zone were written, first at offset 64");
}

/// Two texts of 20 tokens, all of them different.
std::vector<std::vector<unsigned>> texts() {
  std::vector<std::vector<unsigned>> result(2);
  for (unsigned i = 0; i < 20; ++i) {
    result[0].push_back(i);
    result[1].push_back(100 + i);
  }
  return result;
}

RunRecord run_of(bool restore_staging, const std::string& device = "cpu") {
  RunRecord run;
  run.device = device;
  run.device_name = device == "cpu" ? "executor, 2 workers" : "NVIDIA H200";
  run.restore_staging = restore_staging;
  run.casts = restore_staging ? Casts{40, 90, 40, 40, 0, 40} : Casts{40, 60, 10, 10, 30, 0};
  run.texts = texts();
  return run;
}

Judgement judge_cpu(const RunRecord& direct, const RunRecord& staged) {
  return judge_levers(direct, staged, "cpu", "executor, 2 workers");
}

Judgement judge_cpu(const std::function<void(RunRecord&, RunRecord&)>& change) {
  RunRecord direct = run_of(false), staged = run_of(true);
  change(direct, staged);
  return judge_cpu(direct, staged);
}

TEST(JudgeLevers, PassesOnTheDeviceThatTheWitnessNames) {
  EXPECT_EQ(judge_cpu(run_of(false), run_of(true)).verdict, Verdict::pass);
  EXPECT_EQ(judge_levers(run_of(false, "cuda"), run_of(true, "cuda"), "cuda", "NVIDIA H200").verdict,
            Verdict::pass);
}

TEST(JudgeLevers, ARunComparedWithItselfIsVacuous) {
  const RunRecord direct = run_of(false), staged = run_of(true);
  expect_vacuous(judge_cpu(direct, direct), "under the same lever");
  expect_vacuous(judge_cpu(staged, staged), "under the same lever");
  expect_vacuous(judge_cpu(staged, direct), "under the same lever");
  RunRecord relabelled = direct;
  relabelled.restore_staging = true;
  expect_vacuous(judge_cpu(direct, relabelled), "cannot tell apart");
  relabelled = staged;
  relabelled.restore_staging = false;
  expect_vacuous(judge_cpu(relabelled, staged), "no direct store was accepted");
}

TEST(JudgeLevers, ACpuRunIsNoCudaRun) {
  expect_fail(judge_levers(run_of(false), run_of(true), "cuda", "NVIDIA H200"), "another device");
  expect_fail(judge_levers(run_of(false, "cuda"), run_of(true), "cuda", "NVIDIA H200"), "another device");
  expect_fail(judge_levers(run_of(false), run_of(true, "cuda"), "cpu", "executor, 2 workers"),
              "another device");
  expect_fail(judge_levers(run_of(false), run_of(true), "cpu", "executor, 4 workers"), "another device");
}

TEST(JudgeLevers, NoLaunchesOrNoAcceptedStoresAreVacuous) {
  expect_vacuous(judge_cpu([](RunRecord& direct, RunRecord&) { direct.casts.launches = 0; }),
                 "nothing was launched");
  expect_vacuous(judge_cpu([](RunRecord&, RunRecord& staged) { staged.casts.launches = 0; }),
                 "nothing was launched");
  expect_vacuous(judge_cpu([](RunRecord& direct, RunRecord&) { direct.casts = {40, 90, 40, 40, 0, 0}; }),
                 "no direct store was accepted");
}

TEST(JudgeLevers, WhatTheWitnessContradicts) {
  expect_fail(judge_cpu([](RunRecord&, RunRecord& staged) { staged.casts.accepted = 1; }),
              "lever without effect");
  expect_fail(
      judge_cpu([](RunRecord& direct, RunRecord&) { direct.casts.casts = direct.casts.cast_launches = 40; }),
      "cast after a direct store");
  expect_fail(judge_cpu([](RunRecord& direct, RunRecord&) { ++direct.casts.casts; }),
              "counter against launches");
}

TEST(JudgeLevers, OtherTokens) {
  const Judgement judgement = judge_cpu([](RunRecord&, RunRecord& staged) { staged.texts[1][17] = 7; });
  expect_fail(judgement, "tokens differ");
  EXPECT_NE(judgement.findings[0].summary.find("token 17 of text 1 is 117 against 7"), std::string::npos)
      << judgement.findings[0].summary;
  expect_fail(judge_cpu([](RunRecord&, RunRecord& staged) { staged.texts[0].pop_back(); }), "tokens differ");
  expect_fail(judge_cpu([](RunRecord&, RunRecord& staged) { staged.texts[0].push_back(1); }),
              "tokens differ");
  expect_fail(judge_cpu([](RunRecord&, RunRecord& staged) { staged.texts.pop_back(); }), "tokens differ");
}

TEST(JudgeLevers, TextsThatSayNothingAreVacuous) {
  const auto with = [](const std::vector<std::vector<unsigned>>& same) {
    return judge_cpu([&](RunRecord& direct, RunRecord& staged) { direct.texts = staged.texts = same; });
  };
  auto degenerate = texts();
  degenerate[1].assign(20, 3);
  expect_vacuous(with(degenerate), "1 distinct tokens");
  degenerate = texts();
  for (unsigned i = least_distinct_tokens - 1; i < 20; ++i) degenerate[0][i] = 0;
  expect_vacuous(with(degenerate), "15 distinct tokens");
  degenerate[0][19] = 50;
  EXPECT_EQ(with(degenerate).verdict, Verdict::pass) << "16 of them do";
  degenerate[1] = degenerate[0];
  degenerate[1].push_back(200);
  expect_vacuous(with(degenerate), "two prompts give the same text");
  expect_vacuous(with({texts()[0]}), "there are not two texts");
  expect_vacuous(with({}), "there are not two texts");
}

TEST(JudgeDevices, PassesOnTheSameTokensOfBoth) {
  EXPECT_EQ(judge_devices(run_of(false), run_of(false, "cuda")).verdict, Verdict::pass);
}

TEST(JudgeDevices, OneDeviceTwiceIsVacuousAndAnotherAFail) {
  expect_vacuous(judge_devices(run_of(false), run_of(false)), "a device was compared with itself");
  expect_vacuous(judge_devices(run_of(false, "cuda"), run_of(false, "cuda")), "compared with itself");
  expect_fail(judge_devices(run_of(false, "cuda"), run_of(false)), "another device");
  RunRecord nothing = run_of(false, "cuda");
  nothing.casts = {};
  expect_vacuous(judge_devices(run_of(false), nothing), "nothing was launched");
}

TEST(JudgeDevices, OtherTokensAreDevicesThatDiffer) {
  RunRecord cuda = run_of(false, "cuda");
  cuda.texts[0][3] ^= 1;
  const Judgement judgement = judge_devices(run_of(false), cuda);
  expect_fail(judgement, "tokens differ");
  EXPECT_EQ(judgement.findings[0].code, Code::devices_differ);
  RunRecord cpu = run_of(false);
  cpu.texts[0].assign(20, 1);
  cuda.texts = cpu.texts;
  expect_vacuous(judge_devices(cpu, cuda), "distinct tokens");
}

}  // namespace
}  // namespace assay::properties::decode
