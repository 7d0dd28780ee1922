#include "properties/repro/html.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "fixtures/files/messages.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/report.hpp"

namespace assay::properties::repro {
namespace {

constexpr std::string_view head = R"(<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; }
h1 { font-size: 1.4em; } h2 { font-size: 1.15em; margin-top: 2em; } h3 { font-size: 1em; margin-bottom: .3em; }
code, pre, td.code { font: 12px/1.4 ui-monospace, monospace; }
pre { background: #f5f5f5; padding: .6em; overflow-x: auto; white-space: pre-wrap; word-break: break-all; }
table { border-collapse: collapse; } td, th { padding: .2em .7em; text-align: left; border-bottom: 1px solid #ddd; }
td.number { text-align: right; } .fail, .error { color: #a00; font-weight: bold; } .pass { color: #060; }
.vacuous { color: #850; font-weight: bold; }
</style>
)";

void add_table(std::string& html, const GateResult& result) {
  const std::vector<TableCells> lines = table_cells(result);
  html += "<table>\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    html += "<tr>";
    for (std::size_t j = 0; j < lines[i].size(); ++j) {
      const std::string cell = html_text(lines[i][j]);
      if (i == 0) {
        html += fmt::format("<th>{}</th>", cell);
      } else if (j + 1 == lines[i].size()) {
        html += fmt::format("<td class=\"{}\">{}</td>", cell, cell);
      } else {
        html += fmt::format("<td{}>{}</td>", j >= 2 && j <= 5 ? " class=\"number\"" : "", cell);
      }
    }
    html += "</tr>\n";
  }
  html += "</table>\n";
}

void add_elements(std::string& html, std::string_view title, const std::vector<WrongElement>& elements) {
  if (elements.empty()) return;
  html += fmt::format(
      "<h3>{}</h3>\n<table>\n<tr><th>where</th><th>expected</th><th>actual</th><th>codes "
      "outside</th></tr>\n",
      title);
  for (const WrongElement& element : elements) {
    std::string expected = element.lowest;
    if (element.highest != element.lowest) expected += " .. " + element.highest;
    if (element.mismatch.untouched) expected += ", as before";
    html += fmt::format(
        "<tr><td class=\"code\">{}</td><td class=\"code\">{}</td><td class=\"code\">{}</td><td "
        "class=\"number\">{}</td></tr>\n",
        html_text(element.place), html_text(expected), html_text(element.actual),
        grouped(element.mismatch.codes_outside));
  }
  html += "</table>\n";
}

/// Bars as long as the counts, the longest 400 units.
void add_histogram(std::string& html, const OutputReport& report) {
  const std::vector<HistogramLine> lines = histogram_lines(report.histogram);
  std::size_t most = 1;
  for (const HistogramLine& line : lines) most = std::max(most, line.count);
  html += fmt::format(
      "<h3>Codes outside, and how many elements</h3>\n<svg role=\"img\" aria-label=\"histogram\" "
      "width=\"720\" "
      "height=\"{}\" font-size=\"12\" font-family=\"monospace\">\n",
      lines.size() * 20 + 4);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t width = lines[i].count == 0 ? 0 : std::max<std::size_t>(1, lines[i].count * 400 / most);
    html += fmt::format(
        "<text x=\"170\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"180\" y=\"{}\" width=\"{}\" "
        "height=\"14\" fill=\"#b33\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
        i * 20 + 15, html_text(lines[i].name), i * 20 + 4, width, 186 + width, i * 20 + 15,
        grouped(lines[i].count));
  }
  html += "</svg>\n";
}

/// White over orange to dark red as more elements are wrong; grey where nothing was judged.
std::string colour_of(const Map::Cell& cell) {
  if (cell.judged == 0) return "#ccc";
  if (cell.wrong == 0) return "#eef5ee";
  const std::size_t share = std::min<std::size_t>(cell.wrong * 100 / cell.judged, 100);
  return fmt::format("rgb({},{},{})", 255 - share, 170 - 17 * share / 10, 80 - 8 * share / 10);
}

std::string range_of(std::size_t i, std::size_t extent, std::size_t parts) {
  const std::size_t first = Map::begin(i, extent, parts), last = Map::begin(i + 1, extent, parts) - 1;
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

void add_legend(std::string& html, std::size_t y) {
  const std::pair<Map::Cell, const char*> shades[] = {{{100, 0}, "right"},
                                                      {{100, 1}, "1 % wrong"},
                                                      {{100, 50}, "half wrong"},
                                                      {{100, 100}, "all wrong"},
                                                      {{0, 0}, "not judged"}};
  std::size_t x = 130;
  for (const auto& [cell, name] : shades) {
    html += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\" stroke=\"#999\"/><text "
        "x=\"{}\" y=\"{}\">{}</text>\n",
        x, y, colour_of(cell), x + 14, y + 9, name);
    x += 110;
  }
}

void add_map(std::string& html, const Map& map) {
  if (map.cells.empty()) return;
  constexpr std::size_t left = 130, top = 20, size = 10;
  html += fmt::format("<h3>Where in {} x {}</h3>\n", map.rows, map.cols);
  html += fmt::format(
      "<svg role=\"img\" aria-label=\"map\" width=\"{}\" height=\"{}\" font-size=\"11\" "
      "font-family=\"monospace\">\n",
      left + std::max(map.width * size, std::size_t{560}) + 10, top + map.height * size + 30);
  const std::size_t right = left + map.width * size;
  html += fmt::format("<text x=\"{}\" y=\"14\">columns {} to {}</text>\n", left,
                      range_of(0, map.cols, map.width), range_of(map.width - 1, map.cols, map.width));
  for (std::size_t i = 0; i < map.height; ++i) {
    html += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", left - 6,
                        top + i * size + 9, range_of(i, map.rows, map.height));
    for (std::size_t j = 0; j < map.width; ++j) {
      const Map::Cell& cell = map.cells[i * map.width + j];
      html += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>rows {}, columns {}: {} of "
          "{} "
          "wrong</title></rect>\n",
          left + j * size, top + i * size, size, size, colour_of(cell), range_of(i, map.rows, map.height),
          range_of(j, map.cols, map.width), grouped(cell.wrong), grouped(cell.judged));
    }
  }
  html += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#666\"/>\n",
                      left, top, right - left, map.height * size);
  add_legend(html, top + map.height * size + 12);
  html += "</svg>\n";
  if (map.wrong_padding > 0)
    html += fmt::format("<p>{} wrong elements are padding, which is no part of the matrix.</p>\n",
                        grouped(map.wrong_padding));
}

void add_output(std::string& html, const OutputReport& report) {
  html += fmt::format("<h3>{} ({}): {} judged, {} wrong, {} of them never written, {} not judged</h3>\n",
                      html_text(report.name), html_text(report.format), grouped(report.judged),
                      grouped(report.wrong), grouped(report.not_written), grouped(report.not_judged));
  if (report.wrong == 0) return;
  add_elements(html, "Worst elements", report.worst);
  add_elements(html, "NaN against a number, or another NaN", report.nan);
  add_elements(html, "Never written", report.stale);
  add_elements(html, "Written, and had to stay untouched", report.written);
  add_histogram(html, report);
  add_map(html, report.map);
}

void add_finding(std::string& html, const Finding& finding, const std::vector<ReportedCase>& cases) {
  html += fmt::format("<h2>{} {}</h2>\n<p>{}</p>\n", code_text(finding.code), html_text(finding.place),
                      html_text(finding.summary));
  if (!finding.patterns.empty())
    html += fmt::format("<p>Pattern: <b>{}</b></p>\n", html_text(text_of_patterns(finding)));
  std::string lines;
  for (const std::string& note : finding.notes) lines += html_text(note) + "\n";
  if (!lines.empty()) html += fmt::format("<pre>{}</pre>\n", lines);
  if (!finding.token.empty())
    html += fmt::format("<pre>assay repro {}</pre>\n", html_text(shell_word(finding.token)));
  for (const ReportedCase& one : cases) {
    if (one.place != finding.place || one.token != finding.token) continue;
    if (!one.smallest.empty())
      html += fmt::format("<p>The smallest case that fails in the same way:</p>\n<pre>assay repro {}</pre>\n",
                          html_text(shell_word(one.smallest)));
    for (const OutputReport& report : one.reports) add_output(html, report);
  }
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : fixtures::printable(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string html_report(const std::string& title, const GateResult& result,
                        const std::vector<ReportedCase>& cases) {
  std::string verdict = closing_line(result, std::nullopt);
  verdict.pop_back();  // its newline
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n";
  html += head;
  html += fmt::format("<title>{}</title>\n<h1>{}</h1>\n<p>{}</p>\n", html_text(title), html_text(title),
                      html_text(verdict));
  add_table(html, result);
  for (const std::string& note : result.notes) html += fmt::format("<p>Note: {}</p>\n", html_text(note));
  std::vector<std::pair<std::string, std::string>> shown;
  for (const Finding& finding : result.findings) {
    // Several findings of one run have its mismatches once, under the first.
    const std::pair key(finding.place, finding.token);
    const bool first = std::find(shown.begin(), shown.end(), key) == shown.end();
    add_finding(html, finding, first ? cases : std::vector<ReportedCase>{});
    shown.push_back(key);
  }
  if (result.suppressed > 0)
    html +=
        fmt::format("<p>{} more findings of the same kinds are not shown.</p>\n", grouped(result.suppressed));
  return html + "</html>\n";
}

}  // namespace assay::properties::repro
