#include "properties/repro/html.hpp"

#include <gtest/gtest.h>

#include "properties/gate/testing.hpp"

namespace assay::properties::repro {
namespace {

TEST(Html, NothingFromOutsideIsMarkup) {
  EXPECT_EQ(html_text("<b>&\"it's\"</b>"), "&lt;b&gt;&amp;&quot;it&#39;s&quot;&lt;/b&gt;");
  EXPECT_EQ(html_text("a\x1b[31m\n\xFF"), "a\\x1b[31m\\x0a\\xff");
  const std::string evil = "</pre><script>alert('x')</script>\"><img src=x onerror=y>";
  GateResult result;
  Finding finding;
  finding.code = Code::wrong_code;
  finding.place = finding.summary = finding.token = evil;
  finding.patterns = finding.notes = {evil};
  result.findings = {finding};
  result.notes = {evil};
  Row row;
  row.family = row.route = row.device = evil;
  row.unsupported_reasons[evil] = 1;
  row.launches[evil] = 1;
  result.rows = {row};
  OutputReport report;
  report.name = report.format = evil;
  report.wrong = 1;
  WrongElement element;
  element.place = element.lowest = element.actual = evil;
  element.highest = evil + "2";
  report.worst = report.nan = report.stale = report.written = {element};
  const std::string html = html_report(evil, result, {{evil, evil, {report}, evil}});
  EXPECT_EQ(html.find("<script"), std::string::npos) << html;
  EXPECT_EQ(html.find("<img"), std::string::npos) << html;
  EXPECT_EQ(html.find("\"><"), html.find("\"><meta")) << "no quote of an attribute is closed early";
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
}

TEST(Html, ShowsWhereAndHowFar) {
  copy_testing::CopyWorkload workload({});  // 4 x 6 of e4m3
  Contents actual = {workload.acceptance()[0].lo};
  actual[0][8 + 2] ^= std::byte{0x03};  // row 1, column 2
  GateResult result;
  Finding finding;
  finding.place = "copy/fast on cpu";
  finding.token = "copy/fast@cpu:";
  finding.summary = "y is wrong";
  result.findings = {finding, finding};
  const std::vector<ReportedCase> cases = {
      {finding.place, finding.token, mismatches(workload, actual), "copy/fast@cpu:small"}};
  const std::string html = html_report("assay repro copy:", result, cases);
  EXPECT_NE(html.find("<td class=\"code\">y[1, 2]</td>"), std::string::npos) << html;
  const std::string cell = "<title>rows 1, columns 2: 1 of 1 wrong</title>";
  const std::size_t at = html.find(cell);
  ASSERT_NE(at, std::string::npos) << html;
  EXPECT_EQ(html.find(cell, at + 1), std::string::npos) << "once, though two findings are of the same run";
  EXPECT_NE(html.find("<title>rows 2, columns 1: 0 of 1 wrong</title>"), std::string::npos);
  EXPECT_NE(html.find("assay repro &#39;copy/fast@cpu:small&#39;"), std::string::npos);
  EXPECT_EQ(html, html_report("assay repro copy:", result, cases));
  for (const char* outside : {"<script", "http://", "https://", "url("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

}  // namespace
}  // namespace assay::properties::repro
