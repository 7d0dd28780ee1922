// What a report prints is safe to show on a terminal and to paste into a shell.
#include "properties/gate/report.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace assay::properties {
namespace {

/// What a shell takes `word` for.
std::string pasted(const std::string& word) {
  const std::string command = "exec bash <<'END'\nprintf %s " + word + "\nEND\n";
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 256> buffer{};
  for (std::size_t count = 0; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), count);
  pclose(pipe);
  return text;
}

TEST(Report, AShellReadsAWordBack) {
  for (const std::string text : {"", "plain", "two words", "it's", "'", "$HOME `id` \\ \"!", "a\nb",
                                 "\x1b[31m1", "it's\\\t\x7f\xC3\xA9", "caf\xC3\xA9", "\xFF"}) {
    const std::string word = shell_word(text);
    EXPECT_EQ(pasted(word), text) << word;
    for (const char c : word) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << word;
  }
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word("a\nb1"), R"($'a\012b1')");
}

Finding finding_with(Code code, const std::string& token) {
  Finding finding;
  finding.code = code;
  finding.place = "a\x1bplace";
  finding.summary = "input 'x\ny' was modified";
  finding.notes = {"x\r[0, 1]"};
  finding.token = token;
  return finding;
}

TEST(Report, NothingFromAFileReachesATerminalRaw) {
  GateResult result;
  result.findings = {finding_with(Code::input_modified, "copy:on=it's\n\x1b.npy:a")};
  result.notes = {"tensor '\x1b]0;title\x07'"};
  Row row;
  row.family = "copy";
  row.route =
      "golden a\x1b"
      "b";
  row.device = "oracle";
  row.unsupported_reasons["no\nreason"] = 1;
  result.rows = {row};
  const std::string text = text_report(result, std::nullopt);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << text;
  EXPECT_NE(text.find("A004 a\\x1bplace: input 'x\\x0ay' was modified\n  x\\x0d[0, 1]\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(repro: assay repro $'copy:on=it\'s\012\033.npy:a')"), std::string::npos) << text;
  EXPECT_NE(text.find("note: tensor '\\x1b]0;title\\x07'\n"), std::string::npos) << text;
  EXPECT_NE(text.find("no\\x0areason (1 case)"), std::string::npos) << text;
}

TEST(Report, APropertyHasALineForEachToken) {
  const std::string text = text_finding(finding_with(Code::property_failed, "copy:a\ncopy:b"));
  EXPECT_NE(text.find("repro: assay repro 'copy:a'\n  repro: assay repro 'copy:b'\n"), std::string::npos)
      << text;
}

TEST(Report, ClosingLineSaysThatTheRunStopped) {
  GateResult result;
  result.findings.push_back({Code::wrong_code, "", "", {"truncation"}, {}, ""});
  result.stopped_at = "trunc\033";
  const std::string text = text_report(result, std::nullopt);
  EXPECT_NE(text.find("compared, stopped at the first 'trunc\\x1b', exit 1\n"), std::string::npos) << text;
}

TEST(Report, ClosingLineOfNothingSpeaksOfNoRow) {
  const std::string text = text_report({}, std::nullopt);
  EXPECT_NE(text.find("VACUOUS: the options together select no route"), std::string::npos) << text;
  EXPECT_EQ(text.find("row"), std::string::npos) << text;
}

}  // namespace
}  // namespace assay::properties
