// The bench on a made-up family: what it refuses to time, and what it hands on.
#include <gtest/gtest.h>

#include "fixtures/tensor/errors.hpp"
#include "properties/bench/bench.hpp"
#include "properties/bench/testing.hpp"
#include "properties/gate/report.hpp"

namespace assay::properties::bench {
namespace {

using kernels::LaunchContext;

kernels::Device& cpu() { return *kernels::device(kernels::DeviceKind::cpu); }

/// Times of: fast, slow, copy, nothing.
Result run_all(const RowsFamily& family, const std::vector<Peer>& peers = {}) {
  MadeUpTimer timer({{2, 4, 3}, {6}, {2.5}, {0.5}});
  return run(select({&family}, {}, ""), peers, cpu(), timer, 3);
}

/// The one finding of a result, refused in both benchmarks or in one.
std::string only(const Result& result, Code code, std::size_t refused) {
  EXPECT_EQ(result.exit_code(), exit_fail);
  EXPECT_EQ(result.refused, refused);
  EXPECT_EQ(result.findings.size(), refused);
  if (result.findings.empty()) return "";
  EXPECT_EQ(result.findings[0].code, code) << text_finding(result.findings[0]);
  return text_finding(result.findings[0]);
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST(Bench, TimesWhatAgrees) {
  const RowsFamily family;
  const Result result =
      run_all(family, {{"colwise, 4 x 8", "other", 4.5, "by hand"}, {"rowwise, 4 x 80", "other", 1, ""}});
  EXPECT_EQ(result.exit_code(), exit_pass);
  EXPECT_EQ(family.materialised, 2) << "once for each benchmark";
  EXPECT_EQ(result.runs, 3u);
  EXPECT_EQ(result.l2_bytes, 1000u);
  EXPECT_EQ(result.cold_bytes, 2000u);
  EXPECT_EQ(result.step, 0.5);
  ASSERT_EQ(result.cases.size(), 2u);
  const CaseTime& one = result.cases[0];
  EXPECT_EQ(one.family, "rows");
  EXPECT_EQ(one.benchmark.token, "rows:rowwise, 4 x 8");
  ASSERT_EQ(one.routes.size(), 2u);
  EXPECT_EQ(one.routes[0].route, "fast");
  EXPECT_EQ(one.routes[0].kind, kernels::RouteKind::production);
  EXPECT_EQ(one.routes[0].time.median, 3);
  EXPECT_EQ(one.routes[0].time.min, 2);
  EXPECT_EQ(one.routes[0].time.max, 4);
  EXPECT_EQ(one.routes[1].kind, kernels::RouteKind::legacy);
  EXPECT_EQ(one.routes[1].time.median, 6);
  ASSERT_EQ(one.routes[1].kernels.size(), 1u);
  EXPECT_EQ(one.routes[1].kernels[0].kernel, "copy_slow");
  EXPECT_EQ(one.copy.time.median, 2.5);
  EXPECT_EQ(one.empty.median, 0.5);
  EXPECT_TRUE(one.peers.empty());
  ASSERT_EQ(result.cases[1].peers.size(), 1u);
  EXPECT_EQ(result.cases[1].peers[0].microseconds, 4.5);
}

TEST(Bench, WrongNumbersAreNotTimed) {
  RowsFamily family;
  family.bodies.slow = [](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    copying("copy_slow")(context, x, y);
    y[2 * test_stride + 3] ^= 1;
    y[3 * test_stride] ^= 1;
  };
  const Result result = run_all(family);
  EXPECT_TRUE(result.cases.empty());
  const std::string text = only(result, Code::routes_differ, 2);
  expect_in(text,
            "A015 rows, benchmark 'rowwise, 4 x 8' on cpu: y: 2 of 40 elements differ between the routes "
            "'fast' and 'slow'");
  expect_in(text, "y[2, 3]: 'fast' left 0x34 = ");
  expect_in(text, "'slow' left 0x35 = ");
  expect_in(text, "repro: assay repro 'rows:rowwise, 4 x 8'");
}

TEST(Bench, OneWrongBenchmarkDoesNotHideTheOthers) {
  RowsFamily family;
  int launches = 0;
  family.bodies.slow = [&](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    copying("copy_slow")(context, x, y);
    if (launches++ == 0) y[0] ^= 0x80;
  };
  const Result result = run_all(family);
  only(result, Code::routes_differ, 1);
  ASSERT_EQ(result.cases.size(), 1u);
  EXPECT_EQ(result.cases[0].benchmark.name, "colwise, 4 x 8");
}

TEST(Bench, WhatARouteLeavesOutIsNotFilledByTheOneBefore) {
  RowsFamily family;
  family.bodies.slow = [](LaunchContext& context, const std::uint8_t*, std::uint8_t*) {
    context.witness.launches.push_back({"copy_slow", {}, {}, 0});
  };
  // One of the 32 elements happens to be what the poison holds there.
  expect_in(only(run_all(family), Code::routes_differ, 2), "y: 31 of 40 elements differ");
}

TEST(Bench, WhatARouteLeavesInScratchIsGoneForTheNext) {
  RowsFamily family;
  family.bodies.scratch_bytes = 100;
  family.bodies.fast_scratch = [](std::uint8_t* y, std::uint8_t* scratch) {
    std::memcpy(scratch, y, test_cols);
  };
  family.bodies.slow_scratch = [](std::uint8_t* y, std::uint8_t* scratch) {
    std::memcpy(y, scratch, test_cols);
  };
  expect_in(only(run_all(family), Code::routes_differ, 2), "between the routes 'fast' and 'slow'");
}

TEST(Bench, WhatIsUpdatedInPlaceIsRestoredBeforeEachRoute) {
  RowsFamily family;
  family.bodies.initial.assign(test_rows * test_stride, std::byte{0x20});
  family.listed[0].bytes_read = test_rows * test_cols + test_rows * test_stride;  // what it held before too
  std::vector<std::uint8_t> held;
  const auto adding = [&](const char* kernel, std::uint8_t step) {
    return [&held, kernel, step](LaunchContext& context, const std::uint8_t*, std::uint8_t* y) {
      context.witness.launches.push_back({kernel, {}, {}, 0});
      held.push_back(y[0]);
      y[0] = static_cast<std::uint8_t>(y[0] + step);
    };
  };
  family.bodies.fast = adding("copy_fast", 1);
  family.bodies.slow = adding("copy_slow", 1);
  EXPECT_EQ(run_all(family).exit_code(), exit_pass);
  ASSERT_GT(held.size(), 2u);
  EXPECT_EQ(held[0], 0x20);
  EXPECT_EQ(held[1], 0x20);
  family.bodies.slow = adding("copy_slow", 2);
  expect_in(only(run_all(family), Code::routes_differ, 2), "y: 1 of 40 elements differ");
}

TEST(Bench, ScratchIsNotCompared) {
  RowsFamily family;
  family.bodies.scratch_bytes = 100;
  family.bodies.slow_scratch = [](std::uint8_t*, std::uint8_t* scratch) { std::memset(scratch, 7, 100); };
  EXPECT_EQ(run_all(family).exit_code(), exit_pass);
}

TEST(Bench, TheLastOfThreeRoutesIsComparedToo) {
  RowsFamily family;
  family.listed = {rows_benchmark("rowwise", {"fast", "slow", "third"})};
  family.bodies.third = [](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    copying("copy_third")(context, x, y);
    y[test_cols] = 0;  // padding
  };
  const std::string text = only(run_all(family), Code::routes_differ, 1);
  expect_in(text, "between the routes 'fast' and 'third'");
  expect_in(text, "y[0, 8] (padding)");
}

TEST(Bench, AnotherKernelThanClaimedIsRefused) {
  RowsFamily family;
  family.bodies.slow = copying("copy_fast");
  const std::string text = only(run_all(family), Code::wrong_witness, 2);
  expect_in(text, "'slow': the route has to launch [copy_slow] for this case, the witness shows [copy_fast]");
  expect_in(text, "route fell back");
}

TEST(Bench, ARouteThatRefusesTheCaseIsSaidToDoSo) {
  RowsFamily family;
  family.bodies.slow_refuses = true;
  expect_in(only(run_all(family), Code::unlisted_unsupported, 2),
            "the route 'slow' refuses it (cols are odd)");
}

TEST(Bench, AStoppedKernelEndsIt) {
  RowsFamily family;
  family.bodies.fast = [](LaunchContext&, const std::uint8_t*, std::uint8_t*) {
    throw kernels::DeviceError("launch: an illegal memory access");
  };
  const Result result = run_all(family);
  expect_in(only(result, Code::kernel_fault, 1), "route 'fast': launch: an illegal memory access");
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0], "a kernel was stopped: 1 more benchmarks did not run");
}

#if !defined(__SANITIZE_ADDRESS__)  // which stops the write itself

TEST(Bench, AWriteBesideABufferIsRefused) {
  RowsFamily family;
  family.bodies.fast = [](LaunchContext& context, const std::uint8_t* x, std::uint8_t* y) {
    copying("copy_fast")(context, x, y);
    y[-1] ^= 1;
  };
  expect_in(only(run_all(family), Code::guard_damaged, 2),
            "buffer 'y': 1 bytes of its guard zone were written");
  family.bodies.fast = copying("copy_fast");
  family.bodies.scratch_bytes = 100;
  family.bodies.fast_scratch = [](std::uint8_t*, std::uint8_t* scratch) { ++scratch[100]; };
  expect_in(only(run_all(family), Code::guard_damaged, 2),
            "buffer 'workspace': 1 bytes of its guard zone were written, first at offset 100");
}

#endif

TEST(Bench, ASingleRouteIsSaidToBeComparedWithNothing) {
  RowsFamily family;
  family.listed = {rows_benchmark("rowwise", {"fast"})};
  MadeUpTimer timer({{3}, {2}, {1}});
  const Result result = run(select({&family}, {}, ""), {}, cpu(), timer, 2);
  EXPECT_EQ(result.exit_code(), exit_pass);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0], "'rowwise' has one route: its numbers were compared with nothing");
}

TEST(BenchDeathTest, MoreTrafficThanTheBuffersHoldIsAProgrammersError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  RowsFamily family;
  family.listed[0].bytes_written = test_rows * test_stride + 1;
  EXPECT_DEATH(run_all(family), "each byte is counted at most once");
}

TEST(Bench, NothingTimedIsVacuous) {
  RowsFamily family;
  family.listed.clear();
  EXPECT_EQ(run_all(family).exit_code(), exit_vacuous);
}

void expect_refused(const std::function<void()>& action, const std::string& says) {
  try {
    action();
    ADD_FAILURE() << "accepted; it should say: " << says;
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
}

TEST(BenchSelection, IsByFamilyAndByAPartOfTheName) {
  RowsFamily family;
  EXPECT_EQ(select({&family}, {}, "").size(), 2u);
  EXPECT_EQ(select({&family}, {"rows"}, "").size(), 2u);
  const auto colwise = select({&family}, {"rows"}, "colw");
  ASSERT_EQ(colwise.size(), 1u);
  EXPECT_EQ(colwise[0].benchmark.name, "colwise, 4 x 8");
  EXPECT_EQ(names_of({&family}), (std::vector<std::string>{"rowwise, 4 x 8", "colwise, 4 x 8"}));
  expect_refused([&] { select({&family}, {"row"}, ""); }, "unknown family 'row'; the nearest is 'rows'");
  expect_refused([&] { select({&family}, {}, "rowwise, 4x8"); },
                 "no benchmark's name contains 'rowwise, 4x8'; the nearest is 'rowwise, 4 x 8'");
  family.listed.clear();
  expect_refused([&] { select({&family}, {}, "rowwise"); },
                 "no benchmark's name contains 'rowwise'; there are none");
}

}  // namespace
}  // namespace assay::properties::bench
