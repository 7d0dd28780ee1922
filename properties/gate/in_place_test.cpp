// Buffers that a kernel reads and writes in place: what they hold before a run, and what is told of them
// after.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "properties/gate/judge.hpp"
#include "properties/gate/recorder.hpp"
#include "properties/gate/report.hpp"
#include "properties/gate/testing.hpp"

namespace assay::properties {
namespace {

using namespace copy_testing;

CaseResult judge(StateWorkload& workload) {
  return judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu));
}
CaseResult judge(StateBody body) {
  StateWorkload workload(std::move(body));
  return judge(workload);
}

/// The one finding of a case with wrong elements.
Finding only(const CaseResult& result, Code code) {
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.findings.size(), 1u);
  if (result.findings.empty()) return {};
  EXPECT_EQ(result.findings[0].code, code) << text_finding(result.findings[0]);
  return result.findings[0];
}

TEST(InPlace, BothRunsBeginWithTheSameContents) {
  std::vector<std::vector<std::byte>> held;
  StateWorkload workload([&](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
    const auto* bytes = reinterpret_cast<const std::byte*>(state);
    held.emplace_back(bytes, bytes + slots * slot_elements);
    step_right(x, o, state);
  });
  const CaseResult result = judge(workload);
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(held, (std::vector{workload.initial(), workload.initial()}));
  EXPECT_EQ(result.elements, 5 * slot_elements) << "both buffers, the slot that is nobody's included";
  EXPECT_EQ(result.in_place, 2 * slot_elements) << "without it";
  EXPECT_EQ(result.had_to_change, 2 * slot_elements);
}

TEST(InPlace, UnwrittenElement) {
  StateWorkload workload([](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
    const std::uint8_t old = state[2 * slot_elements + 5];
    step_right(x, o, state);
    state[2 * slot_elements + 5] = old;
  });
  const std::string text = text_finding(only(judge(workload), Code::not_written));
  EXPECT_NE(text.find("state: 1 of 24 elements were never written"), std::string::npos) << text;
  EXPECT_NE(text.find("state[2, 5]: still holds what it held before both runs"), std::string::npos) << text;
  ASSERT_EQ(workload.diagnosed_before.size(), 2u);
  EXPECT_EQ(workload.diagnosed_before[1], workload.initial()) << "the family is told what was there";
}

TEST(InPlace, UnwrittenSlot) {
  const Finding finding = only(judge([](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
                                 std::vector<std::uint8_t> copy(state, state + slots * slot_elements);
                                 step_right(x, o, copy.data());
                                 std::copy_n(copy.begin(), slot_elements, state);
                               }),
                               Code::not_written);
  EXPECT_EQ(finding.summary, "state: rows 2 stale");
}

TEST(InPlace, WriteToASlotOfNobody) {
  const Finding finding = only(judge([](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
                                 step_right(x, o, state);
                                 ++state[slot_elements + 1];
                               }),
                               Code::padding_written);
  EXPECT_EQ(finding.summary, "state: 1 of 24 elements had to stay untouched and were written");
  EXPECT_EQ(finding.patterns, std::vector<std::string>{"untouched elements written"});
  const std::string text = text_finding(finding);
  EXPECT_NE(text.find("state[1, 1]: expected 0x2A, untouched"), std::string::npos) << text;
}

TEST(InPlace, RightOutputWithAWrongState) {
  const std::string text =
      text_finding(only(judge([](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
                          step_right(x, o, state);
                          for (std::size_t i = 0; i < slot_elements; ++i) ++state[i];
                        }),
                        Code::wrong_code));
  EXPECT_NE(text.find("state: 8 of 24 elements are outside their interval"), std::string::npos) << text;
}

/// In the first run right, in the second wrong: another state may not hide behind the same contents before.
TEST(InPlace, SecondRunIsJudgedToo) {
  int run = 0;
  only(judge([&](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
         step_right(x, o, state);
         if (run++ == 1) ++state[0];
       }),
       Code::wrong_code);
}

/// The table of a run over one case.
GateResult table_of(StateWorkload workload) {
  Recorder recorder;
  recorder.add(recorder.row("copy", "fast", "cpu"), judge(workload));
  return std::move(recorder.result());
}

TEST(InPlace, ACaseThatAsksForTheOldStateShowsNoWrite) {
  const auto nothing = [](const std::uint8_t* x, std::uint8_t* o, std::uint8_t* state) {
    std::vector<std::uint8_t> copy(state, state + slots * slot_elements);
    step_right(x, o, copy.data());
  };
  GateResult result = table_of(StateWorkload(nothing, 0));
  EXPECT_EQ(result.rows[0].failed, 0u) << "every number is right";
  EXPECT_EQ(result.rows[0].in_place, 2 * slot_elements);
  EXPECT_TRUE(result.rows[0].shows_no_write());
  EXPECT_EQ(result.exit_code(), exit_vacuous);
  EXPECT_EQ(table_of(StateWorkload(nothing, 1)).exit_code(), exit_fail);
}

TEST(InPlace, OneCaseThatShowsTheWriteIsEnoughForARow) {
  Recorder recorder;
  for (const std::uint8_t step : {std::uint8_t{0}, std::uint8_t{1}}) {
    StateWorkload workload(step_right, step);
    recorder.add(recorder.row("copy", "fast", "cpu"), judge(workload));
  }
  EXPECT_EQ(recorder.result().exit_code(), exit_pass);
}

TEST(InPlace, NobodysSlotsAloneAreNoWriteToShow) {
  StateWorkload workload(
      [](const std::uint8_t*, std::uint8_t* o, std::uint8_t*) { std::memset(o, 0, 2 * slot_elements); });
  std::fill(workload.acceptance_[0].lo.begin(), workload.acceptance_[0].lo.end(), std::byte{0});
  workload.acceptance_[1].untouched = {{0, slots * slot_elements}};
  const GateResult result = table_of(workload);
  EXPECT_EQ(result.rows[0].in_place, 0u);
  EXPECT_EQ(result.exit_code(), exit_pass);
}

}  // namespace
}  // namespace assay::properties
