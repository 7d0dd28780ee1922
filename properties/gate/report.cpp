#include "properties/gate/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "fixtures/files/messages.hpp"
#include "properties/gate/describe.hpp"

namespace assay::properties {
namespace {

std::string witness_text(const Row& row) {
  if (row.device == "oracle") return "-";  // no kernel is meant to run
  std::string text;
  for (const auto& [kernel, count] : row.launches) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} x{}", kernel, grouped(count));
  }
  return text.empty() ? "nothing ran" : text;
}

std::string bound_text(const Row& row) {
  if (row.elements == 0) return "-";
  return row.exact ? "exact" : fmt::format("{:.3f}", row.worst_bound_use);
}

TableCells cells_of(const Row& row) {
  return {fixtures::printable(row.family + "/" + row.route),
          row.device,
          grouped(row.cases),
          grouped(row.elements),
          grouped(row.unsupported),
          bound_text(row),
          witness_text(row),
          std::string(to_string(row.verdict()))};
}

std::string table(const GateResult& result) {
  const std::vector<TableCells> lines = table_cells(result);
  std::array<std::size_t, std::tuple_size_v<TableCells>> width{};
  for (const TableCells& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (const TableCells& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool number = i >= 2 && i <= 5;
      row += number ? fmt::format("{:>{}}  ", line[i], width[i]) : fmt::format("{:<{}}  ", line[i], width[i]);
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::vector<TableCells> table_cells(const GateResult& result) {
  std::vector<TableCells> lines = {
      {"family/route", "device", "cases", "elements", "unsupported", "bound use", "witness", "verdict"}};
  for (const Row& row : result.rows) lines.push_back(cells_of(row));
  return lines;
}

std::string closing_line(const GateResult& result, std::optional<double> seconds) {
  std::uint64_t cases = 0, elements = 0, probes = 0;
  for (const Row& row : result.rows) {
    cases += row.cases;
    elements += row.elements;
    probes += row.probes;
  }
  const int code = result.exit_code();
  const char* verdict = code == exit_pass     ? "PASS"
                        : code == exit_fail   ? "FAIL"
                        : result.rows.empty() ? "VACUOUS: the options together select no route"
                                              : "VACUOUS: at least one row shows nothing";
  std::string text =
      fmt::format("{}: {} cases, {} elements compared", verdict, grouped(cases), grouped(elements));
  if (result.replayed > 0)
    text += fmt::format(", {} captured case{} replayed first", grouped(result.replayed),
                        result.replayed == 1 ? "" : "s");
  if (probes > 0) text += fmt::format(", {} injected faults rejected", grouped(probes));
  const std::uint64_t properties = result.properties_held + result.properties_failed;
  if (properties > 0) text += fmt::format(", {} of {} properties held", result.properties_held, properties);
  if (result.identical_across_devices > 0) {
    text +=
        fmt::format(", {} results bit-identical on cpu and cuda", grouped(result.identical_across_devices));
  }
  if (!result.stopped_at.empty())
    text += fmt::format(", stopped at the first '{}'", fixtures::printable(result.stopped_at));
  if (seconds) text += fmt::format(", {:.1f} s", *seconds);
  return text + fmt::format(", exit {}\n", code);
}

std::string shell_word(std::string_view text) {
  const bool plain = fixtures::printable(text) == text;
  // $'...' is the one form that can hold control characters; three octal digits cannot run into what follows.
  std::string word = plain ? "'" : "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      word += c == '\'' ? "'\\''" : std::string(1, c);
    } else if (c == '\'' || c == '\\') {
      word += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7F) {
      word += fmt::format("\\{:03o}", byte);
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string text_finding(const Finding& finding) {
  using fixtures::printable;
  std::string text = fmt::format("{} {}: {}\n", code_text(finding.code), printable(finding.place),
                                 printable(finding.summary));
  if (!finding.patterns.empty()) text += fmt::format("  pattern: {}\n", text_of_patterns(finding));
  for (const std::string& note : finding.notes) text += fmt::format("  {}\n", printable(note));
  // A property names a token a line; any other token is one, though the name of its tensor may hold a
  // newline.
  const bool several = finding.code == Code::property_failed;
  for (std::size_t begin = 0; begin < finding.token.size();) {
    const std::size_t end =
        several ? std::min(finding.token.find('\n', begin), finding.token.size()) : finding.token.size();
    text += fmt::format("  repro: assay repro {}\n",
                        shell_word(std::string_view(finding.token).substr(begin, end - begin)));
    begin = end + 1;
  }
  return text;
}

std::string text_report(const GateResult& result, std::optional<double> seconds) {
  std::string text;
  for (const Finding& finding : result.findings) text += text_finding(finding) + "\n";
  if (result.suppressed > 0) {
    text += fmt::format("{} more findings of the same kinds are not shown (--json has the counts).\n\n",
                        grouped(result.suppressed));
  }
  return text + text_summary(result, seconds);
}

std::string text_summary(const GateResult& result, std::optional<double> seconds) {
  std::string text;
  for (const std::string& note : result.notes) text += "note: " + fixtures::printable(note) + "\n";
  for (const Row& row : result.rows) {
    for (const auto& [reason, count] : row.unsupported_reasons) {
      text += fmt::format("unsupported: {}/{} on {}: {} ({} case{})\n", row.family,
                          fixtures::printable(row.route), row.device, fixtures::printable(reason),
                          grouped(count), count == 1 ? "" : "s");
    }
  }
  if (!text.empty()) text += "\n";
  if (!result.rows.empty()) text += table(result) + "\n";
  return text + closing_line(result, seconds);
}

nlohmann::ordered_json json_document(const GateResult& result, const GateOptions& options) {
  using nlohmann::ordered_json;
  ordered_json document;
  document["assay"] = 1;  // version of this layout
  document["exit_code"] = result.exit_code();
  document["seed"] = options.seed;
  document["shard"] = fmt::format("{}/{}", options.shard.index + 1, options.shard.count);
  document["binary"] = kernels::binary_hash();
  document["rows"] = ordered_json::array();
  for (const Row& row : result.rows) {
    ordered_json item;
    item["family"] = row.family;
    item["route"] = row.route;
    item["device"] = row.device;
    item["verdict"] = to_string(row.verdict());
    item["cases"] = row.cases;
    item["elements"] = row.elements;
    item["failed_cases"] = row.failed;
    item["unsupported"] = row.unsupported_reasons;
    item["exact"] = row.exact;
    item["worst_bound_use"] = row.worst_bound_use;
    item["probes_rejected"] = row.probes;
    item["in_place"] = row.in_place;
    item["had_to_change"] = row.had_to_change;
    item["launches"] = row.launches;
    document["rows"].push_back(std::move(item));
  }
  document["findings"] = ordered_json::array();
  for (const Finding& finding : result.findings) {
    document["findings"].push_back({{"code", code_text(finding.code)},
                                    {"place", finding.place},
                                    {"summary", finding.summary},
                                    {"patterns", finding.patterns},
                                    {"notes", finding.notes},
                                    {"token", finding.token}});
  }
  document["findings_suppressed"] = result.suppressed;
  document["properties_held"] = result.properties_held;
  document["properties_failed"] = result.properties_failed;
  document["captured_cases"] = result.replayed;
  document["identical_across_devices"] = result.identical_across_devices;
  document["notes"] = result.notes;
  document["stopped_at"] = result.stopped_at;
  return document;
}

std::string dump(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string json_report(const GateResult& result, const GateOptions& options) {
  return dump(json_document(result, options));
}

}  // namespace assay::properties
