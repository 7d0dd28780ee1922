#include "properties/repro/mismatch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "properties/gate/testing.hpp"

namespace assay::properties::repro {
namespace {

using formats::Format;

/// One output of a format that is exactly `expected`.
class OneOutput : public copy_testing::CopyWorkload {
 public:
  OneOutput(OutputBuffer output, const std::vector<std::uint32_t>& expected)
      : CopyWorkload({}), output_(std::move(output)) {
    output_.elements = expected.size();
    acceptance_[0] = {};
    acceptance_[0].format = output_.format;
    acceptance_[0].lo = codes(expected);
  }
  std::vector<OutputBuffer> outputs() const override { return {output_}; }

  std::vector<std::byte> codes(const std::vector<std::uint32_t>& values) const {
    const int width = formats::storage_bytes(output_.format);
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(width));
    for (std::size_t i = 0; i < values.size(); ++i) arithmetic::store_code(bytes, width, i, values[i]);
    return bytes;
  }

 private:
  OutputBuffer output_;
};

OutputBuffer matrix(Format format, std::size_t rows, std::size_t cols, std::size_t stride) {
  OutputBuffer output;
  output.name = "y";
  output.format = format;
  output.rows = rows;
  output.cols = cols;
  output.stride = stride;
  return output;
}

OutputReport only(std::vector<OutputReport> reports) {
  EXPECT_EQ(reports.size(), 1u);
  return std::move(reports.front());
}

TEST(Mismatch, BucketsArePowersOfTwo) {
  const std::pair<std::uint64_t, std::string> expected[] = {
      {1, "1"},
      {2, "2"},
      {3, "3-4"},
      {4, "3-4"},
      {5, "5-8"},
      {8, "5-8"},
      {9, "9-16"},
      {1024, "513-1024"},
      {1025, "1025-2048"},
      {(std::uint64_t{1} << 32) - 1, "2147483649-4294967296"}};
  for (const auto& [distance, name] : expected)
    EXPECT_EQ(Histogram::name(Histogram::bucket(distance)), name) << distance;
}

TEST(Mismatch, CountsAndOrdersWhatIsWrong) {
  // fp16: right, 1 up, 3 down, NaN for a number, number for a NaN, the other zero, far off, 1 down.
  OneOutput workload(matrix(Format::fp16, 2, 4, 4),
                     {0x3C00, 0x3C00, 0x3C00, 0x3C00, 0x7E00, 0x0000, 0x3C00, 0x3C00});
  const Contents actual = {workload.codes({0x3C00, 0x3C01, 0x3BFD, 0x7E00, 0x3C00, 0x8000, 0xBC00, 0x3BFF})};
  const OutputReport report = only(mismatches(workload, actual));
  EXPECT_EQ(report.judged, 8u);
  EXPECT_EQ(report.wrong, 7u);
  EXPECT_EQ(report.not_judged, 0u);
  EXPECT_EQ(report.not_written, 0u);
  ASSERT_EQ(report.worst.size(), 5u);
  std::vector<std::size_t> order;
  for (const WrongElement& one : report.worst) order.push_back(one.mismatch.index);
  EXPECT_EQ(order, (std::vector<std::size_t>{6, 2, 1, 5, 7}));
  EXPECT_EQ(report.worst_distance, 0x7801u);  // 0xBC00 to 0x3C00, both zeros between them
  EXPECT_EQ(report.worst[1].place, "y[0, 2]");
  EXPECT_EQ(report.worst[1].lowest, "0x3C00 = 1 (0x1p+0)");
  EXPECT_EQ(report.worst[1].actual, "0x3BFD = 0.998535156 (0x1.ff4p-1)");
  ASSERT_EQ(report.nan.size(), 2u);
  EXPECT_EQ(report.nan[0].mismatch.index, 3u);
  EXPECT_EQ(report.histogram.nan, 2u);
  EXPECT_EQ(report.histogram.sign_of_zero, 1u);
  EXPECT_EQ(report.histogram.distances[0], 2u);
  EXPECT_EQ(report.histogram.distances[1], 0u);
  EXPECT_EQ(report.histogram.distances[2], 1u);
  EXPECT_EQ(report.histogram.distances[15], 1u);
}

TEST(Mismatch, TheWorstAreKeptNotTheFirst) {
  std::vector<std::uint32_t> expected(100, 0x3C00), actual;
  for (std::uint32_t i = 0; i < 100; ++i) actual.push_back(0x3C01 + i);
  OneOutput workload(matrix(Format::fp16, 10, 10, 10), expected);
  const OutputReport report = only(mismatches(workload, {workload.codes(actual)}));
  ASSERT_EQ(report.worst.size(), OutputReport::most_shown);
  EXPECT_EQ(report.worst.front().mismatch.index, 99u);
  EXPECT_EQ(report.worst.back().mismatch.index, 92u);
}

TEST(Mismatch, PaddingIsJudgedOnlyWhereItIsKnown) {
  copy_testing::CopyWorkload workload({});  // 4 x 6 in rows of 8, padding untouched
  Contents actual = {workload.acceptance()[0].lo};
  const Contents before = {std::vector<std::byte>(actual[0].size())};
  actual[0][7] = std::byte{1};  // padding of the first row
  const OutputReport blind = only(mismatches(workload, actual));
  EXPECT_EQ(blind.judged, 24u);
  EXPECT_EQ(blind.not_judged, 8u);
  EXPECT_EQ(blind.wrong, 0u);
  const OutputReport report = only(mismatches(workload, actual, &before));
  EXPECT_EQ(report.judged, 32u);
  EXPECT_EQ(report.not_judged, 0u);
  EXPECT_EQ(report.wrong, 1u);
  EXPECT_EQ(report.histogram.had_to_stay, 1u);
  EXPECT_EQ(report.map.wrong_padding, 1u);
  ASSERT_EQ(report.written.size(), 1u);
  EXPECT_NE(text(report).find("before   0x00 = 0\n      actual   0x01 = "), std::string::npos)
      << text(report);
}

TEST(Mismatch, AnElementThatHoldsWhatItHeldIsNotWritten) {
  copy_testing::CopyWorkload workload({});
  Contents actual = {workload.acceptance()[0].lo};
  Contents before = {std::vector<std::byte>(actual[0].size(), std::byte{0x11})};
  std::fill_n(actual[0].begin() + 8, 6, std::byte{0x11});  // row 1 as before
  actual[0][16] = std::byte{0x12};                         // row 2 written, and wrong
  for (const std::size_t row : {0u, 1u, 2u, 3u})
    std::fill_n(actual[0].begin() + row * 8 + 6, 2, std::byte{0x11});
  const OutputReport report = only(mismatches(workload, actual, &before));
  EXPECT_EQ(report.wrong, 7u);
  EXPECT_EQ(report.not_written, 6u);
  EXPECT_EQ(report.stale.size(), 6u);
  EXPECT_EQ(report.worst.size(), 1u);

  // Of two runs both have to agree that nobody wrote.
  Execution execution;
  execution.first = execution.second = actual;
  execution.before_first = before;
  execution.before_second = {std::vector<std::byte>(actual[0].size(), std::byte{0x22})};
  for (const std::size_t row : {0u, 1u, 2u, 3u})
    std::fill_n(execution.second[0].begin() + row * 8 + 6, 2, std::byte{0x22});
  EXPECT_EQ(only(mismatches(workload, execution)).not_written, 0u);
  std::fill_n(execution.second[0].begin() + 8, 6, std::byte{0x22});
  EXPECT_EQ(only(mismatches(workload, execution)).not_written, 6u);
}

TEST(Mismatch, TheMapShowsRowsDownAndColumnsAcross) {
  std::vector<std::uint32_t> expected(48 * 640, 0x40), actual = expected;
  const auto at = [](std::size_t row, std::size_t col) { return row * 640 + col; };
  for (std::size_t c = 0; c < 10; ++c) actual[at(4, c)] = actual[at(5, c)] = 0x41;  // all of a cell of 2 x 10
  actual[at(47, 639)] = 0x41;                                                       // 1 of 20
  for (std::size_t c = 20; c < 30; ++c) actual[at(0, c)] = 0x41;                    // 10 of 20
  OneOutput workload(matrix(Format::e4m3, 48, 640, 640), expected);
  const OutputReport report = only(mismatches(workload, {workload.codes(actual)}));
  ASSERT_EQ(report.map.height, 24u);
  ASSERT_EQ(report.map.width, 64u);
  std::vector<std::string> rows(24, std::string(64, '.'));
  rows[2][0] = '#';
  rows[23][63] = '+';
  rows[0][2] = '5';
  EXPECT_EQ(json(report)["map"].get<std::vector<std::string>>(), rows);
  const std::string shown = text(report);
  EXPECT_NE(shown.find("      4-5 |#..."), std::string::npos) << shown;
  EXPECT_NE(shown.find("0-9" + std::string(54, ' ') + "630-639\n"), std::string::npos) << shown;
}

TEST(Mismatch, CellsOfAMapCoverItOnce) {
  for (const std::size_t extent : {1u, 5u, 24u, 25u, 47u, 1000u}) {
    const std::size_t parts = std::min<std::size_t>(extent, 24);
    for (std::size_t at = 0; at < extent; ++at) {
      const std::size_t part = Map::part(at, extent, parts);
      ASSERT_LE(Map::begin(part, extent, parts), at);
      ASSERT_GT(Map::begin(part + 1, extent, parts), at);
    }
  }
}

TEST(Mismatch, APermutedBufferIsShownAsItsMatrix) {
  // Stored column by column with a padding element at the end: row i % 3, column i / 3.
  OutputBuffer output = matrix(Format::e8m0, 1, 7, 7);
  output.place = [](std::size_t i) -> std::optional<std::pair<std::size_t, std::size_t>> {
    if (i == 6) return std::nullopt;
    return std::pair(i % 3, i / 3);
  };
  OneOutput workload(output, {127, 127, 127, 127, 127, 127, 127});
  const OutputReport report = only(mismatches(workload, {workload.codes({127, 127, 127, 128, 127, 127, 1})}));
  EXPECT_EQ(report.map.rows, 3u);
  EXPECT_EQ(report.map.cols, 2u);
  EXPECT_EQ(report.map.wrong_padding, 1u);
  EXPECT_EQ(json(report)["map"], nlohmann::ordered_json({".#", "..", ".."}));
}

TEST(Mismatch, TextFitsAHundredColumnsAndIsAscii) {
  // The longest words: fp32 intervals far out, in a matrix with long margins.
  constexpr std::size_t rows = 1'000'003, cols = 1;
  OneOutput workload(matrix(Format::fp32, rows, cols, cols),
                     std::vector<std::uint32_t>(rows * cols, 0x80ABCDEFu));
  workload.acceptance_[0].hi = workload.codes(std::vector<std::uint32_t>(rows * cols, 0x80ABCDEDu));
  const OutputReport report =
      only(mismatches(workload, {workload.codes(std::vector<std::uint32_t>(rows * cols, 0x7F7FFFFFu))}));
  std::istringstream lines(text(report));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; })) << line;
  }
  EXPECT_EQ(report.wrong, rows * cols);
}

TEST(Mismatch, WhatIsRightIsOneLine) {
  copy_testing::CopyWorkload workload({});
  const Contents right = {workload.acceptance()[0].lo};
  const auto reports = mismatches(workload, right);
  EXPECT_FALSE(any_wrong(reports));
  EXPECT_EQ(text(reports[0]), "y (e4m3): 24 elements judged, 0 wrong, 8 not judged\n");
}

}  // namespace
}  // namespace assay::properties::repro
