// Figures, table and JSON of made-up measurements.
#include "properties/bench/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace assay::properties::bench {
namespace {

using kernels::RouteKind;

CaseTime case_of(const std::string& name, double fast, double slow) {
  CaseTime one;
  one.family = "rows";
  one.benchmark = {name, "rows:" + name, {"fast", "slow"}, 3'000'000, 1'000'000};
  one.routes = {
      {"fast",
       RouteKind::production,
       {fast, fast - 0.25, fast + 1},
       0,
       {{"copy_fast", 30, 0, 0, 0, 1024, 256, 1}}},
      {"slow",
       RouteKind::legacy,
       {slow, slow, slow},
       0,
       {{"first_pass", 64, 16384, 2048, 8, 512, 128, 0.375}, {"second_pass", 20, 0, 0, 0, 1024, 32, 0.5}}}};
  one.copy.route = "copy";
  one.copy.time = {2, 2, 2};
  one.empty = {0.5, 0.5, 0.75};
  return one;
}

/// Two groups: "rowwise" with ratios 2 and 8, "colwise" with ratio 0.5.
Result made_up() {
  Result result;
  result.device = "NVIDIA X";
  result.runs = 20;
  result.l2_bytes = 1'000'000;
  result.cold_bytes = 2'000'000;
  result.step = 0.03125;
  result.cases = {case_of("rowwise, a", 4, 8), case_of("colwise, a", 4, 2), case_of("rowwise, b", 1, 8)};
  result.cases[0].peers = {{"rowwise, a", "torch", 16, "mode x"}};
  return result;
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST(BenchFigures, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(spread_of(std::vector<double>{5, 1, 9}).median, 5);
  EXPECT_EQ(spread_of(std::vector<double>{5, 1, 9, 7}).median, 6);
  EXPECT_EQ(spread_of(std::vector<double>{5, 1, 9, 7}).min, 1);
  EXPECT_EQ(spread_of(std::vector<double>{5, 1, 9, 7}).max, 9);
  EXPECT_EQ(spread_of(std::vector<double>{3}).median, 3);
}

TEST(BenchFigures, GeometricMeanIsOfTheLogarithms) {
  EXPECT_EQ(geometric_mean(std::vector<double>{1, 1, 1}), 1);
  EXPECT_EQ(geometric_mean(std::vector<double>{2, 8}), 4);
  EXPECT_EQ(geometric_mean(std::vector<double>{0.5, 2}), 1);
  EXPECT_EQ(geometric_mean(std::vector<double>{0.25}), 0.25);
}

TEST(BenchFigures, TheStepIsTheSmallestDifference) {
  EXPECT_EQ(smallest_step({4, 1, 1.25, 4, 8}), 0.25);
  EXPECT_EQ(smallest_step({3, 3, 3}), 0);
  EXPECT_EQ(smallest_step({}), 0);
}

TEST(BenchFigures, GeomeansAreOfGroupsAndThenOfTheFamily) {
  const std::vector<Geomean> means = geomeans(made_up());
  ASSERT_EQ(means.size(), 5u);
  const auto expect = [&](std::size_t i, const char* group, const char* other, double ratio,
                          std::size_t cases) {
    EXPECT_EQ(means[i].family, "rows");
    EXPECT_EQ(means[i].group, group);
    EXPECT_EQ(means[i].first, "fast");
    EXPECT_EQ(means[i].other, other);
    EXPECT_EQ(means[i].ratio, ratio);
    EXPECT_EQ(means[i].cases, cases);
  };
  expect(0, "rowwise", "slow", 4, 2);
  expect(1, "rowwise", "torch", 4, 1);
  expect(2, "colwise", "slow", 0.5, 1);
  expect(3, "", "slow", 2, 3);
  expect(4, "", "torch", 4, 1);
}

TEST(BenchFigures, FamiliesAreKeptApart) {
  Result result = made_up();
  result.cases[1].family = "other";
  const std::vector<Geomean> means = geomeans(result);
  ASSERT_EQ(means.size(), 6u);
  EXPECT_EQ(means[3].family, "rows");
  EXPECT_EQ(means[5].family, "other");
  EXPECT_EQ(means[5].ratio, 0.5);
}

TEST(BenchReport, TextHasEveryFigure) {
  const std::string text = text_report(made_up());
  expect_in(
      text,
      "NVIDIA X: medians of 20 runs in turn, caches made cold by writing 2,000,000 bytes (L2: 1,000,000)");
  expect_in(text, "takes 0.50 us, a part of every time; the clock's step is 0.031 us");
  // 4 MB in 4 us is 1 TB/s, and half of what the copy does in 2.
  expect_in(text,
            "rowwise, a  fast        4.00  3.75  5.00  1.000   50.0 %    first    copy_fast 256 x 30, 0 + 0, "
            "0, 100 %\n");
  expect_in(
      text,
      "            slow        8.00  8.00  8.00  0.500   25.0 %    2.000    first_pass 128 x 64, 16,384 "
      "+ 2,048, 8, "
      "38 %; second_pass 32 x 20, 0 + 0, 0, 50 %\n");
  expect_in(text, "            copy        2.00  2.00  2.00  2.000  100.0 %    0.500\n");
  expect_in(
      text,
      "            torch      16.00              0.250   12.5 %    4.000    measured elsewhere: mode x\n");
  expect_in(text, "geomean rows, rowwise: slow / fast = 4.000 over 2 cases\n");
  expect_in(text, "geomean rows, rowwise: torch / fast = 4.000 over 1 case\n");
  expect_in(text, "geomean rows: slow / fast = 2.000 over 3 cases\n");
  expect_in(
      text,
      "note: 'colwise, a': the production route 'fast' is slower than the legacy route 'slow', which takes "
      "0.500 of its time\n");
  expect_in(text, "3 benchmarks timed, rows slow / fast = 2.000, rows torch / fast = 4.000, exit 0\n");
}

TEST(BenchReport, WhatTheClockCannotTellApartIsNoVerdict) {
  Result result = made_up();
  result.cases = {case_of("rowwise, a", 4, 3.984375)};
  const std::string text = text_report(result);
  expect_in(text, "0.996 ~");
  EXPECT_EQ(text.find("is slower"), std::string::npos) << text;
  result.step = 0.015625;
  expect_in(text_report(result), "is slower");
}

TEST(BenchReport, ExposedLatencyIsSaid) {
  Result result = made_up();
  result.cases[2].routes[1].exposed = 3;
  result.cases[0].copy.exposed = 20;
  expect_in(text_report(result), "note: 'rowwise, a': 20 of 20 times of 'copy' may hold launch latency\n");
  expect_in(text_report(result), "note: 'rowwise, b': 3 of 20 times of 'slow' may hold launch latency\n");
}

TEST(BenchReport, RefusedAndVacuousSaySo) {
  Result result = made_up();
  Finding finding;
  finding.code = Code::routes_differ;
  finding.place = "rows, benchmark 'x' on cuda";
  finding.summary = "y: 1 of 4 elements differ";
  finding.token = "rows:x";
  result.findings = {finding};
  result.refused = 1;
  const std::string text = text_report(result);
  EXPECT_EQ(text.find("A015 rows, benchmark 'x' on cuda: y: 1 of 4 elements differ\n"), 0u) << text;
  expect_in(text, "FAIL: 3 benchmarks timed, 1 refused, ");
  expect_in(text, "exit 1\n");
  EXPECT_EQ(text_report({}), "VACUOUS: no benchmark was timed, exit 3\n");
}

TEST(BenchReport, WhatAFileSaysReachesNoTerminalRaw) {
  Result result = made_up();
  result.cases[0].peers = {{"rowwise, a", "t\x1b[31m", 6, "\n\x07"}};
  const std::string text = text_report(result);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << text;
}

TEST(BenchReport, JsonHoldsTheDocumentedKeys) {
  const Result result = made_up();
  const auto document = nlohmann::ordered_json::parse(json_report(result));
  const auto keys = [](const nlohmann::ordered_json& object) {
    std::string text;
    for (const auto& [key, value] : object.items()) text += (text.empty() ? "" : " ") + key;
    return text;
  };
  EXPECT_EQ(keys(document),
            "assay exit_code device binary runs l2_bytes cold_bytes clock_step_us cases geomeans refused "
            "findings notes");
  const auto& one = document["cases"][0];
  EXPECT_EQ(keys(one), "family name token bytes_read bytes_written empty_us copy_us routes peers");
  const auto& slow = one["routes"][1];
  EXPECT_EQ(keys(slow), "route kind time_us exposed_runs bytes_per_second of_copy ratio kernels");
  EXPECT_EQ(slow["kind"], "legacy");
  EXPECT_EQ(slow["time_us"]["median"], 8);
  EXPECT_EQ(slow["bytes_per_second"], 5e11);
  EXPECT_EQ(slow["of_copy"], 0.25);
  EXPECT_EQ(slow["ratio"], 2);
  EXPECT_EQ(keys(slow["kernels"][0]),
            "kernel registers static_shared_bytes dynamic_shared_bytes spilled_bytes max_threads threads "
            "occupancy");
  EXPECT_EQ(slow["kernels"][0]["spilled_bytes"], 8);
  EXPECT_EQ(slow["kernels"][1]["occupancy"], 0.5);
  EXPECT_EQ(keys(one["peers"][0]), "peer time_us bytes_per_second of_copy ratio note");
  EXPECT_EQ(one["peers"][0]["ratio"], 4);
  EXPECT_EQ(keys(document["geomeans"][0]), "family group first other ratio cases");
  EXPECT_EQ(document["geomeans"].size(), 5u);
  EXPECT_EQ(document["notes"].size(), 1u);
  EXPECT_EQ(json_report(result), json_report(made_up()));
}

}  // namespace
}  // namespace assay::properties::bench
