#include "properties/bench/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "fixtures/files/messages.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/report.hpp"

namespace assay::properties::bench {
namespace {

using fixtures::printable;

constexpr std::size_t columns = 9;
using Cells = std::array<std::string, columns>;

std::string kernels_text(const std::vector<kernels::KernelResources>& kernels) {
  std::string text;
  for (const auto& one : kernels) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {} x {}, {} + {}, {}, {:.0f} %", one.kernel, one.threads, one.registers,
                        grouped(one.static_shared), grouped(one.dynamic_shared), grouped(one.spilled),
                        100 * one.occupancy);
  }
  return text;
}

/// What every row of a case has: its time, and what that is in bytes and against the copy and the first
/// route.
Cells cells_of(const CaseTime& one, const std::string& what, double median, double ratio, bool same) {
  Cells cells;
  cells[1] = printable(what);
  cells[2] = fmt::format("{:.2f}", median);
  cells[5] = fmt::format("{:.3f}", one.rate(median) / 1e12);
  cells[6] = fmt::format("{:.1f} %", 100 * one.copy.time.median / median);
  cells[7] = fmt::format("{:.3f}{}", ratio, same ? " ~" : "  ");
  return cells;
}

void add_rows(const Result& result, const CaseTime& one, std::vector<Cells>& rows) {
  const auto add = [&](const RouteTime& route) -> Cells& {
    const double median = route.time.median;
    Cells cells =
        cells_of(one, route.route, median, one.ratio(median),
                 &route != &one.routes.front() && same_step(result, median, one.routes.front().time.median));
    cells[3] = fmt::format("{:.2f}", route.time.min);
    cells[4] = fmt::format("{:.2f}", route.time.max);
    cells[8] = kernels_text(route.kernels);
    rows.push_back(cells);
    return rows.back();
  };
  for (const RouteTime& route : one.routes) {
    Cells& cells = add(route);
    if (&route == &one.routes.front()) {
      cells[0] = one.benchmark.name;
      cells[7] = "first  ";
    }
  }
  add(one.copy);
  for (const Peer& peer : one.peers) {
    rows.push_back(cells_of(one, peer.peer, peer.microseconds, one.ratio(peer.microseconds), false));
    rows.back()[8] = peer.note.empty() ? "measured elsewhere" : "measured elsewhere: " + printable(peer.note);
  }
}

std::string table(const Result& result) {
  std::vector<Cells> rows = {
      {"benchmark", "route", "median us", "min", "max", "TB/s", "of copy", "x first  ",
       "kernel threads x registers, shared bytes static + dynamic, spilled bytes, occupancy"}};
  for (const CaseTime& one : result.cases) add_rows(result, one, rows);
  std::array<std::size_t, columns> width{};
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < columns; ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      const bool number = i >= 2 && i <= 7;
      line += number ? fmt::format("{:>{}}  ", row[i], width[i]) : fmt::format("{:<{}}  ", row[i], width[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string geomean_text(const std::vector<Geomean>& means) {
  std::string text;
  for (const Geomean& mean : means) {
    text +=
        fmt::format("geomean {}: {} / {} = {:.3f} over {} case{}\n",
                    mean.group.empty() ? mean.family : fmt::format("{}, {}", mean.family, mean.group),
                    printable(mean.other), mean.first, mean.ratio, mean.cases, mean.cases == 1 ? "" : "s");
  }
  return text;
}

/// What a reader must not have to find in the table.
std::vector<std::string> remarks(const Result& result) {
  std::vector<std::string> texts = result.notes;
  for (const CaseTime& one : result.cases) {
    const RouteTime& first = one.routes.front();
    const auto remark_exposed = [&](const RouteTime& route) {
      if (route.exposed == 0) return;
      texts.push_back(fmt::format("'{}': {} of {} times of '{}' may hold launch latency", one.benchmark.name,
                                  route.exposed, result.runs, route.route));
    };
    for (const RouteTime& route : one.routes) {
      if (route.kind == kernels::RouteKind::legacy && first.kind == kernels::RouteKind::production &&
          one.ratio(route.time.median) < 1 && !same_step(result, route.time.median, first.time.median)) {
        texts.push_back(
            fmt::format("'{}': the production route '{}' is slower than the legacy route '{}', which takes "
                        "{:.3f} of its time",
                        one.benchmark.name, first.route, route.route, one.ratio(route.time.median)));
      }
      remark_exposed(route);
    }
    remark_exposed(one.copy);
  }
  return texts;
}

std::string protocol_text(const Result& result) {
  std::vector<double> empty;
  for (const CaseTime& one : result.cases) empty.push_back(one.empty.median);
  return fmt::format(
      "{}: medians of {} runs in turn, caches made cold by writing {} bytes (L2: {}). An interval with "
      "nothing in it\n"
      "takes {:.2f} us, a part of every time; the clock's step is {:.3f} us (~: medians less than a step "
      "apart).\n",
      result.device, result.runs, grouped(result.cold_bytes), grouped(result.l2_bytes),
      spread_of(empty).median, result.step);
}

std::string closing_line(const Result& result, const std::vector<Geomean>& means) {
  const int code = result.exit_code();
  std::string text = code == exit_vacuous
                         ? "VACUOUS: no benchmark was timed"
                         : fmt::format("{}{} benchmark{} timed", code == exit_fail ? "FAIL: " : "",
                                       result.cases.size(), result.cases.size() == 1 ? "" : "s");
  if (result.refused > 0) text += fmt::format(", {} refused", result.refused);
  for (const Geomean& mean : means) {
    if (mean.group.empty())
      text +=
          fmt::format(", {} {} / {} = {:.3f}", mean.family, printable(mean.other), mean.first, mean.ratio);
  }
  return text + fmt::format(", exit {}\n", code);
}

using nlohmann::ordered_json;

ordered_json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

void add_figures(ordered_json& item, const CaseTime& one, double median) {
  item["bytes_per_second"] = one.rate(median);
  item["of_copy"] = one.copy.time.median / median;
  item["ratio"] = one.ratio(median);
}

ordered_json json_of(const kernels::KernelResources& kernel) {
  return {{"kernel", kernel.kernel},
          {"registers", kernel.registers},
          {"static_shared_bytes", kernel.static_shared},
          {"dynamic_shared_bytes", kernel.dynamic_shared},
          {"spilled_bytes", kernel.spilled},
          {"max_threads", kernel.max_threads},
          {"threads", kernel.threads},
          {"occupancy", kernel.occupancy}};
}

ordered_json json_of(const CaseTime& one) {
  ordered_json item = {{"family", one.family},
                       {"name", one.benchmark.name},
                       {"token", one.benchmark.token},
                       {"bytes_read", one.benchmark.bytes_read},
                       {"bytes_written", one.benchmark.bytes_written},
                       {"empty_us", json_of(one.empty)},
                       {"copy_us", json_of(one.copy.time)}};
  item["routes"] = ordered_json::array();
  for (const RouteTime& route : one.routes) {
    ordered_json entry = {{"route", route.route},
                          {"kind", to_string(route.kind)},
                          {"time_us", json_of(route.time)},
                          {"exposed_runs", route.exposed}};
    add_figures(entry, one, route.time.median);
    entry["kernels"] = ordered_json::array();
    for (const auto& kernel : route.kernels) entry["kernels"].push_back(json_of(kernel));
    item["routes"].push_back(std::move(entry));
  }
  item["peers"] = ordered_json::array();
  for (const Peer& peer : one.peers) {
    ordered_json entry = {{"peer", peer.peer}, {"time_us", peer.microseconds}};
    add_figures(entry, one, peer.microseconds);
    entry["note"] = peer.note;
    item["peers"].push_back(std::move(entry));
  }
  return item;
}

}  // namespace

std::string text_report(const Result& result) {
  const std::vector<Geomean> means = geomeans(result);
  std::string text;
  for (const Finding& finding : result.findings) text += text_finding(finding) + "\n";
  if (!result.cases.empty())
    text += protocol_text(result) + "\n" + table(result) + "\n" + geomean_text(means);
  for (const std::string& remark : remarks(result)) text += "note: " + printable(remark) + "\n";
  return text + closing_line(result, means);
}

std::string json_report(const Result& result) {
  ordered_json document = {{"assay", 1},
                           {"exit_code", result.exit_code()},
                           {"device", result.device},
                           {"binary", kernels::binary_hash()},
                           {"runs", result.runs},
                           {"l2_bytes", result.l2_bytes},
                           {"cold_bytes", result.cold_bytes},
                           {"clock_step_us", result.step}};
  document["cases"] = ordered_json::array();
  for (const CaseTime& one : result.cases) document["cases"].push_back(json_of(one));
  document["geomeans"] = ordered_json::array();
  for (const Geomean& mean : geomeans(result)) {
    document["geomeans"].push_back({{"family", mean.family},
                                    {"group", mean.group},
                                    {"first", mean.first},
                                    {"other", mean.other},
                                    {"ratio", mean.ratio},
                                    {"cases", mean.cases}});
  }
  document["refused"] = result.refused;
  document["findings"] = ordered_json::array();
  for (const Finding& finding : result.findings) {
    document["findings"].push_back({{"code", code_text(finding.code)},
                                    {"place", finding.place},
                                    {"summary", finding.summary},
                                    {"notes", finding.notes},
                                    {"token", finding.token}});
  }
  document["notes"] = remarks(result);
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace assay::properties::bench
