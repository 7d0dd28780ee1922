// The gate judged on a made-up family whose "kernel" is a lambda: everything it must reject is planted once
// and seen.
#include <gtest/gtest.h>

#include <cstring>

#include "properties/gate/damage.hpp"
#include "properties/gate/judge.hpp"
#include "properties/gate/recorder.hpp"
#include "properties/gate/report.hpp"
#include "properties/gate/runner.hpp"
#include "properties/gate/testing.hpp"

namespace assay::properties {
namespace {

using namespace copy_testing;

CaseResult judge(CopyBody body) {
  CopyWorkload workload(std::move(body));
  return judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu));
}

/// One finding with that code; its text for further looks.
std::string only(const CaseResult& result, Code code) {
  EXPECT_EQ(result.verdict, code == Code::kernel_fault ? Verdict::error : Verdict::fail);
  EXPECT_EQ(result.findings.size(), 1u);
  if (result.findings.empty()) return "";
  EXPECT_EQ(result.findings[0].code, code) << text_finding(result.findings[0]);
  return text_finding(result.findings[0]);
}

TEST(Gate, RightKernelPassesAndEarnsIt) {
  const CaseResult result = judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    copy_right(x, y);
  });
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(result.elements, rows * stride);
  EXPECT_GT(result.probes, 0u);
}

TEST(Gate, WrongElement) {
  const std::string text = only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
                                  record(context, "copy_fast");
                                  copy_right(x, y);
                                  y[2 * stride + 3] = 0x7F;
                                }),
                                Code::wrong_code);
  EXPECT_NE(text.find("y[2, 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("actual 0x7F = NaN"), std::string::npos) << text;
}

TEST(Gate, StaleRowsAreNamed) {
  const std::string text = only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
                                  record(context, "copy_fast");
                                  std::memcpy(y, x, cols);
                                }),
                                Code::not_written);
  EXPECT_NE(text.find("rows 1.. stale"), std::string::npos) << text;
}

TEST(Gate, StaleElement) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         const std::uint8_t old = y[stride + 1];
         copy_right(x, y);
         y[stride + 1] = old;
       }),
       Code::not_written);
}

TEST(Gate, PaddingWritten) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         copy_right(x, y);
         y[cols] = 0;
       }),
       Code::padding_written);
}

#if !ASSAY_GUARDS_ARE_POISONED
TEST(Gate, WriteOutsideTheBuffer) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         copy_right(x, y);
         *(y - 1) = static_cast<std::uint8_t>(*(y - 1) + 1);
       }),
       Code::guard_damaged);
}
#endif

TEST(Gate, InputModified) {
  only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
         record(context, "copy_fast");
         copy_right(x, y);
         ++*const_cast<std::uint8_t*>(x + 5);
       }),
       Code::input_modified);
}

TEST(Gate, SilentFallbackIsNamedThoughTheNumbersAreRight) {
  const std::string text = only(judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
                                  record(context, "copy_slow");
                                  record(context, "copy_slow");
                                  copy_right(x, y);
                                }),
                                Code::wrong_witness);
  EXPECT_NE(text.find("route fell back"), std::string::npos) << text;
}

TEST(Gate, NothingLaunched) {
  only(judge([](LaunchContext&, const std::uint8_t* x, std::uint8_t* y) { copy_right(x, y); }),
       Code::wrong_witness);
}

TEST(Gate, CountersAreThoseOfTheCase) {
  CopyWorkload workload([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    context.witness.counters["stores.direct"] = 2;
    context.witness.counters["executor.blocks"] = 7;
    copy_right(x, y);
  });
  kernels::Device& cpu = *kernels::device(kernels::DeviceKind::cpu);
  const std::string text = only(judge_case(CopyFamily{}, workload, 0, cpu), Code::wrong_witness);
  EXPECT_NE(text.find("stores.direct = 2"), std::string::npos) << text;
  workload.counters = {{"stores.direct", 2}};
  EXPECT_EQ(judge_case(CopyFamily{}, workload, 0, cpu).verdict, Verdict::pass);
  workload.counters["stores.declined"] = 1;
  only(judge_case(CopyFamily{}, workload, 0, cpu), Code::wrong_witness);
}

TEST(Gate, KernelFault) {
  const std::string text =
      only(judge([](LaunchContext&, const std::uint8_t*, std::uint8_t*) {
             throw executor::ExecutorError(executor::FaultKind::deadlock, "copy_fast: no lane can run");
           }),
           Code::kernel_fault);
  EXPECT_NE(text.find("no lane can run"), std::string::npos) << text;
}

TEST(Gate, RunsThatDifferInsideTheInterval) {
  int run = 0;
  CopyWorkload workload([&run](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    copy_right(x, y);
    y[0] = static_cast<std::uint8_t>(y[0] + run++);
  });
  workload.acceptance_[0].hi = workload.acceptance_[0].lo;
  workload.acceptance_[0].hi[0] = static_cast<std::byte>(0x23);
  only(judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu)),
       Code::not_deterministic);
}

TEST(Gate, AcceptingEverythingIsNotAPass) {
  CopyWorkload workload([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    std::memset(y, 0x30, rows * stride);
    copy_right(x, y);
  });
  auto& acceptance = workload.acceptance_[0];
  acceptance.untouched.clear();
  acceptance.lo.assign(acceptance.lo.size(), std::byte{0xFE});  // -448 .. 448
  acceptance.hi.assign(acceptance.lo.size(), std::byte{0x7E});
  const CaseResult result = judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu));
  EXPECT_EQ(result.verdict, Verdict::fail);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].code, Code::probe_missed);
}

TEST(Gate, UnsupportedOnlyByTheFamilysRule) {
  CopyWorkload workload([](LaunchContext&, const std::uint8_t*, std::uint8_t*) {});
  kernels::Device& cpu = *kernels::device(kernels::DeviceKind::cpu);
  EXPECT_EQ(judge_case(CopyFamily{}, workload, 1, cpu).verdict, Verdict::unsupported);
  workload.refusal = "I would rather not";
  only(judge_case(CopyFamily{}, workload, 1, cpu), Code::unlisted_unsupported);
  workload.refusal.clear();  // takes what it has to refuse
  only(judge_case(CopyFamily{}, workload, 1, cpu), Code::unlisted_unsupported);
  workload.refuse_first = true;  // refuses what it has to take
  only(judge_case(CopyFamily{}, workload, 0, cpu), Code::unlisted_unsupported);
}

TEST(Gate, RoutesAreThoseTheFamilyRequires) {
  const auto kind = kernels::DeviceKind::cpu;
  CopyFamily family;
  EXPECT_TRUE(check_routes(family, kind).empty());
  std::swap(family.listed[0], family.listed[1]);
  EXPECT_FALSE(check_routes(family, kind).empty()) << "another order";
  family = CopyFamily{};
  family.listed.pop_back();
  EXPECT_FALSE(check_routes(family, kind).empty()) << "a route vanished";
  family = CopyFamily{};
  family.listed[0].kernels = {"copy_slow"};
  EXPECT_FALSE(check_routes(family, kind).empty()) << "a route declares another's kernels";
  family = CopyFamily{};
  family.listed.push_back({"copy", "third", kernels::RouteKind::experiment, {"copy_fast"}, ""});
  EXPECT_FALSE(check_routes(family, kind).empty()) << "a route nobody asked for";
}

TEST(Gate, ExitCodes) {
  GateResult result;
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "no row at all";
  Row row;
  row.cases = 1;
  row.elements = 10;
  result.rows = {row};
  EXPECT_EQ(result.exit_code(), exit_pass);
  result.rows.push_back(Row{});
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "a row in which nothing was compared";
  result.rows[1].unsupported = 3;
  EXPECT_EQ(result.exit_code(), exit_pass) << "a route that takes none of the cases, by name";
  result.every_row_must_compare = true;
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "but not among built-in cases";
  result.rows = {row, Row{}};
  result.rows[0].kernels = {"copy_fast"};
  result.rows.pop_back();
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "a kernel that never ran";
  result.rows[0].launches["copy_fast"] = 1;
  EXPECT_EQ(result.exit_code(), exit_pass);
  result.rows.push_back(Row{});
  result.every_row_must_compare = false;
  result.rows.erase(result.rows.begin());
  EXPECT_EQ(result.exit_code(), exit_vacuous) << "and no other";
  result.rows[0].failed = 1;
  EXPECT_EQ(result.exit_code(), exit_fail);
  result.rows = {row};
  result.properties_failed = 1;
  EXPECT_EQ(result.exit_code(), exit_fail);
}

TEST(Gate, RowsThatNobodyAskedForAreLeftOut) {
  const auto left = [](bool routes_named, const std::vector<std::string>& devices_named,
                       std::uint64_t cases) {
    GateResult result;
    for (const auto& [route, device] : {std::pair("fast", "cpu"), {"slow", "cpu"}, {"fast", "cuda"}}) {
      Row row;
      row.family = "copy";
      row.route = route;
      row.device = device;
      if (result.rows.empty()) row.cases = row.elements = cases;
      result.rows.push_back(row);
    }
    leave_out_unasked(result, routes_named, devices_named);
    std::string rows;
    for (const Row& row : result.rows) rows += row.route + "@" + row.device + " ";
    return rows + std::to_string(result.exit_code());
  };
  EXPECT_EQ(left(false, {}, 1), "fast@cpu 0");
  EXPECT_EQ(left(false, {"cpu"}, 1), "fast@cpu 0");
  EXPECT_EQ(left(true, {}, 1), "fast@cpu slow@cpu 3") << "a route that was asked for by name";
  EXPECT_EQ(left(false, {"cuda"}, 1), "fast@cpu fast@cuda 3") << "a device that was";
  EXPECT_EQ(left(false, {}, 0), "fast@cpu slow@cpu fast@cuda 3") << "no row speaks";
}

Finding damaged(std::string place, std::vector<std::string> patterns) {
  return {Code::wrong_code, "", std::move(place), std::move(patterns), {}, ""};
}

TEST(Gate, RecorderStopsAtTheFindingThatIsAskedFor) {
  Recorder recorder("row 1; tail");
  recorder.add(damaged("a", {}));
  recorder.add(damaged("b", {"tail dropped", "row 1"}));
  EXPECT_TRUE(recorder.result().stopped_at.empty());
  CaseResult last;
  last.verdict = Verdict::fail;
  last.findings = {damaged("c", {"row 1", "tail dropped"}), damaged("d", {})};
  EXPECT_THROW(recorder.add(recorder.row("copy", "fast", "cpu"), last), StoppedEarly);
  EXPECT_EQ(recorder.result().stopped_at, "row 1; tail");
  ASSERT_EQ(recorder.result().findings.size(), 3u) << "those before, and the one itself";
  EXPECT_EQ(recorder.result().findings[2].place, "c");
  EXPECT_EQ(recorder.result().rows[0].failed, 1u) << "counted before the run ends";
  EXPECT_EQ(recorder.result().exit_code(), exit_fail);
}

TEST(Gate, RecorderStopsAtNothingUnasked) {
  Recorder unasked;
  unasked.add(damaged("a", {"tail dropped"}));
  EXPECT_NO_THROW(unasked.add(damaged("a", {"tail dropped"})));
  EXPECT_TRUE(unasked.result().stopped_at.empty());
}

TEST(Gate, PoisonsDifferEverywhereAndMove) {
  std::size_t moved = 0;
  for (std::size_t i = 0; i + 1 < 4096; ++i) moved += poison(i) != poison(i + 1);
  EXPECT_GT(moved, 4000u);
  CopyWorkload workload([](LaunchContext&, const std::uint8_t*, std::uint8_t*) {});
  const Execution execution = execute(workload, 0, *kernels::device(kernels::DeviceKind::cpu));
  for (std::size_t i = 0; i < rows * stride; ++i) {
    EXPECT_EQ(execution.first[0][i], poison(i));
    EXPECT_EQ(execution.second[0][i], ~poison(i));
  }
}

constexpr std::size_t scratch_bytes = 100;  // no multiple of the alignment

using ScratchBody =
    std::function<void(LaunchContext&, const std::uint8_t* x, std::uint8_t* y, std::uint8_t* scratch)>;

/// The copy by a kernel that works in scratch memory.
class ScratchWorkload final : public CopyWorkload {
 public:
  explicit ScratchWorkload(ScratchBody body) : CopyWorkload({}), body_(std::move(body)) {}
  std::vector<ScratchBuffer> scratch() const override { return {{"workspace", scratch_bytes, 256}}; }
  void launch(std::size_t, LaunchContext& context, std::span<void* const> in,
              std::span<void* const> out) const override {
    ASSERT_EQ(out.size(), 2u);
    record(context, "copy_fast");
    body_(context, static_cast<const std::uint8_t*>(in[0]), static_cast<std::uint8_t*>(out[0]),
          static_cast<std::uint8_t*>(out[1]));
  }

 private:
  ScratchBody body_;
};

CaseResult judge_scratch(ScratchWorkload workload) {
  return judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu));
}

TEST(Gate, ScratchIsNeitherComparedNorProbed) {
  int run = 0;
  const CaseResult result = judge_scratch(
      ScratchWorkload([&](LaunchContext&, const std::uint8_t* x, std::uint8_t* y, std::uint8_t* scratch) {
        std::memset(scratch, 0x30 + run++, scratch_bytes);
        scratch[7] = 0x7F;  // NaN, were it e4m3
        copy_right(x, y);
      }));
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(run, 2);
  EXPECT_EQ(result.elements, rows * stride) << "of the output alone";
  EXPECT_EQ(result.outputs.size(), 1u);
  const CaseResult without = judge([](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    record(context, "copy_fast");
    copy_right(x, y);
  });
  EXPECT_EQ(result.probes, without.probes);
}

TEST(Gate, ScratchHoldsTheOnePoisonAndThenTheOther) {
  std::vector<std::vector<std::uint8_t>> held;
  judge_scratch(
      ScratchWorkload([&](LaunchContext&, const std::uint8_t* x, std::uint8_t* y, std::uint8_t* scratch) {
        held.emplace_back(scratch, scratch + scratch_bytes);
        std::memset(scratch, 0, scratch_bytes);
        copy_right(x, y);
      }));
  ASSERT_EQ(held.size(), 2u);
  for (std::size_t i = 0; i < scratch_bytes; ++i) {
    EXPECT_EQ(std::byte{held[0][i]}, poison(i));
    EXPECT_EQ(std::byte{held[1][i]}, ~poison(i));
  }
}

TEST(Gate, ResultMadeOfUnwrittenScratchMoves) {
  ScratchWorkload workload([](LaunchContext&, const std::uint8_t* x, std::uint8_t* y, std::uint8_t* scratch) {
    copy_right(x, y);
    y[0] = scratch[40];
  });
  // Every number is right there, so that nothing but the two poisons tells.
  workload.acceptance_[0].lo[0] = std::byte{0xFE};  // -448 .. 448
  workload.acceptance_[0].hi = workload.acceptance_[0].lo;
  workload.acceptance_[0].hi[0] = std::byte{0x7E};
  only(judge_case(CopyFamily{}, workload, 0, *kernels::device(kernels::DeviceKind::cpu)),
       Code::not_deterministic);
}

TEST(Gate, WhatTheFirstRunLeftInScratchIsGone) {
  int run = 0;
  only(judge_scratch(ScratchWorkload(
           [&](LaunchContext&, const std::uint8_t* x, std::uint8_t* y, std::uint8_t* scratch) {
             if (run++ == 0) copy_right(x, scratch);
             copy_right(x, y);
             y[stride + 3] = scratch[stride + 3];
           })),
       Code::wrong_code);
  EXPECT_EQ(run, 2);
}

#if !ASSAY_GUARDS_ARE_POISONED
TEST(Gate, WriteBesideScratchNamesIt) {
  for (const std::ptrdiff_t offset : {std::ptrdiff_t{-1}, std::ptrdiff_t{scratch_bytes}}) {
    const std::string text = only(judge_scratch(ScratchWorkload([&](LaunchContext&, const std::uint8_t* x,
                                                                    std::uint8_t* y, std::uint8_t* scratch) {
                                    copy_right(x, y);
                                    ++scratch[offset];  // in both runs: the second must not undo the first
                                  })),
                                  Code::guard_damaged);
    EXPECT_NE(text.find("buffer 'workspace'"), std::string::npos) << text;
    EXPECT_NE(text.find("first at offset " + std::to_string(offset)), std::string::npos) << text;
  }
}
#endif

}  // namespace
}  // namespace assay::properties
