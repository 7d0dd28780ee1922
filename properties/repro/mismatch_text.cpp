#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "properties/gate/describe.hpp"
#include "properties/repro/mismatch.hpp"

namespace assay::properties::repro {
namespace {

std::string elements_of(std::size_t count) {
  return fmt::format("{} element{}", grouped(count), count == 1 ? "" : "s");
}

std::string heading(const OutputReport& report) {
  std::string line = fmt::format("{} ({}): {} judged, {} wrong", report.name, report.format,
                                 elements_of(report.judged), grouped(report.wrong));
  if (report.not_written > 0) line += fmt::format(", {} of them never written", grouped(report.not_written));
  if (report.not_judged > 0) line += fmt::format(", {} not judged", grouped(report.not_judged));
  return line + "\n";
}

/// A line each for place, expected and actual codes, because the widest interval of fp32 fills a line alone.
std::string element_text(const WrongElement& element) {
  std::string text = "    " + element.place;
  if (const std::uint64_t distance = element.mismatch.codes_outside;
      distance > 0 && !element.mismatch.untouched)
    text += fmt::format(": {} code{} outside", grouped(distance), distance == 1 ? "" : "s");
  text += element.mismatch.untouched ? fmt::format("\n      before   {}\n", element.lowest)
                                     : fmt::format("\n      expected {}\n", element.lowest);
  if (element.highest != element.lowest) text += fmt::format("         up to {}\n", element.highest);
  return text + fmt::format("      actual   {}\n", element.actual);
}

void add_elements(std::string& text, std::string_view title, const std::vector<WrongElement>& elements) {
  if (elements.empty()) return;
  text += fmt::format("  {}\n", title);
  for (const WrongElement& element : elements) text += element_text(element);
}

/// A bar of at most 40 characters, at least one for anything.
std::string bar(std::size_t count, std::size_t most) {
  constexpr std::size_t longest = 40;
  return std::string(count == 0 ? 0 : std::max<std::size_t>(1, count * longest / most), '#');
}

std::string histogram_text(const Histogram& histogram) {
  const std::vector<HistogramLine> lines = histogram_lines(histogram);
  std::size_t most = 1, width = 0, digits = 0;
  for (const HistogramLine& line : lines) {
    most = std::max(most, line.count);
    width = std::max(width, line.name.size());
    digits = std::max(digits, grouped(line.count).size());
  }
  std::string text = "  codes outside, and how many elements\n";
  for (const HistogramLine& line : lines) {
    std::string row = fmt::format("    {:>{}}  {:>{}}  {}", line.name, width, grouped(line.count), digits,
                                  bar(line.count, most));
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string range_text(std::size_t i, std::size_t extent, std::size_t parts) {
  const std::size_t first = Map::begin(i, extent, parts), end = Map::begin(i + 1, extent, parts);
  return end - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, end - 1);
}

std::string map_text(const Map& map) {
  std::string text = fmt::format(
      "  where in {} x {}: '.' right, '+' under a tenth wrong, '1'-'9' tenths, '#' all, ' ' not judged\n",
      map.rows, map.cols);
  std::vector<std::string> margins;
  std::size_t width = 0;
  for (std::size_t i = 0; i < map.height; ++i) {
    margins.push_back(range_text(i, map.rows, map.height));
    width = std::max(width, margins.back().size());
  }
  const std::string first = range_text(0, map.cols, map.width),
                    last = range_text(map.width - 1, map.cols, map.width);
  if (map.width == 1 || first.size() + last.size() + 3 > map.width) {
    text += fmt::format("    {:>{}}  columns {} to {}\n", "", width, first, last);
  } else {
    text += fmt::format("    {:>{}}  {}{:>{}}\n", "", width, first, last, map.width - first.size());
  }
  for (std::size_t i = 0; i < map.height; ++i) {
    text += fmt::format("    {:>{}} |", margins[i], width);
    for (std::size_t j = 0; j < map.width; ++j) text += shade(map.cells[i * map.width + j]);
    text += "|\n";
  }
  if (map.wrong_padding > 0)
    text += fmt::format("    {} wrong in padding, which is no part of the matrix\n",
                        elements_of(map.wrong_padding));
  return text;
}

nlohmann::ordered_json json_of(const std::vector<WrongElement>& elements) {
  auto list = nlohmann::ordered_json::array();
  for (const WrongElement& element : elements) {
    list.push_back({{"index", element.mismatch.index},
                    {"place", element.place},
                    {"lowest", element.lowest},
                    {"highest", element.highest},
                    {"actual", element.actual},
                    {"codes_outside", element.mismatch.codes_outside}});
  }
  return list;
}

}  // namespace

std::vector<HistogramLine> histogram_lines(const Histogram& histogram) {
  std::vector<HistogramLine> lines;
  std::size_t last = Histogram::buckets;
  while (last > 0 && histogram.distances[last - 1] == 0) --last;
  for (std::size_t i = 0; i < last; ++i) lines.push_back({Histogram::name(i), histogram.distances[i]});
  const HistogramLine others[] = {{"sign of zero", histogram.sign_of_zero},
                                  {"NaN", histogram.nan},
                                  {"never written", histogram.not_written},
                                  {"had to stay", histogram.had_to_stay}};
  for (const HistogramLine& other : others) {
    if (other.count > 0) lines.push_back(other);
  }
  return lines;
}

char shade(const Map::Cell& cell) {
  if (cell.judged == 0) return ' ';
  if (cell.wrong == 0) return '.';
  if (cell.wrong >= cell.judged) return '#';
  const std::size_t tenths = cell.wrong * 10 / cell.judged;
  return tenths == 0 ? '+' : static_cast<char>('0' + tenths);
}

std::string text(const OutputReport& report) {
  std::string text = heading(report);
  if (report.wrong == 0) return text;
  add_elements(text, "worst elements", report.worst);
  add_elements(text, "NaN against a number, or another NaN", report.nan);
  add_elements(text, "never written", report.stale);
  add_elements(text, "written, and had to stay untouched", report.written);
  text += histogram_text(report.histogram);
  if (!report.map.cells.empty()) text += map_text(report.map);
  return text;
}

nlohmann::ordered_json json(const OutputReport& report) {
  nlohmann::ordered_json document = {{"output", report.name},
                                     {"format", report.format},
                                     {"judged", report.judged},
                                     {"wrong", report.wrong},
                                     {"not_written", report.not_written},
                                     {"not_judged", report.not_judged},
                                     {"worst_codes_outside", report.worst_distance}};
  document["worst"] = json_of(report.worst);
  document["nan"] = json_of(report.nan);
  document["stale"] = json_of(report.stale);
  document["written"] = json_of(report.written);
  auto histogram = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < Histogram::buckets; ++i) {
    if (report.histogram.distances[i] > 0) histogram[Histogram::name(i)] = report.histogram.distances[i];
  }
  histogram["sign of zero"] = report.histogram.sign_of_zero;
  histogram["NaN"] = report.histogram.nan;
  histogram["never written"] = report.histogram.not_written;
  histogram["had to stay"] = report.histogram.had_to_stay;
  document["histogram"] = std::move(histogram);
  auto map = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < report.map.height; ++i) {
    std::string row;
    for (std::size_t j = 0; j < report.map.width; ++j)
      row += shade(report.map.cells[i * report.map.width + j]);
    map.push_back(row);
  }
  document["rows"] = report.map.rows;
  document["cols"] = report.map.cols;
  document["map"] = std::move(map);
  document["wrong_padding"] = report.map.wrong_padding;
  return document;
}

}  // namespace assay::properties::repro
