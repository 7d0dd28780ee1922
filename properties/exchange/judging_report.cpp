#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "fixtures/files/messages.hpp"
#include "kernels/runtime/witness.hpp"
#include "properties/exchange/judging.hpp"
#include "properties/exchange/readings.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/report.hpp"

namespace assay::properties {

namespace {

using Values = std::set<std::string>;  // of a key; "" where readings do not have it

std::string_view contracts_of(std::string_view token) { return token.substr(token.find(':') + 1); }

/// The contract keys of a family in these tokens, in their order.
std::vector<std::string> keys_of(const Family& family, const std::vector<std::string>& tokens) {
  std::vector<std::string> keys;
  for (const std::string& token : tokens) {
    std::string_view rest = contracts_of(token);
    while (!rest.empty()) {
      const std::string key(rest.substr(0, rest.find('=')));
      rest.remove_prefix(
          std::min(rest.find(',') == rest.npos ? rest.size() : rest.find(',') + 1, rest.size()));
      if (std::find(keys.begin(), keys.end(), key) == keys.end() && !family.tells_apart(key).empty())
        keys.push_back(key);
    }
  }
  return keys;
}

Values values_of(const std::vector<std::string>& tokens, const std::string& key) {
  Values values;
  for (const std::string& token : tokens) values.insert(value_of(contracts_of(token), key).value_or(""));
  return values;
}

/// A set of readings that is all combinations of these values, by key.
using Box = std::vector<Values>;

/// Boxes that are equal but for key `at` made one.
bool merge(std::vector<Box>& boxes, std::size_t at) {
  bool merged = false;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size();) {
      bool alike = true;
      for (std::size_t key = 0; key < boxes[i].size(); ++key)
        alike = alike && (key == at || boxes[i][key] == boxes[j][key]);
      if (!alike) {
        ++j;
        continue;
      }
      boxes[i][at].merge(boxes[j][at]);
      boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(j));
      merged = true;
    }
  }
  return merged;
}

std::string text_of_box(const Box& box, const std::vector<std::string>& keys, const std::vector<Values>& all,
                        const std::vector<std::vector<std::string>>& order) {
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (box[i] == Values{""}) continue;
    Values possible = all[i];
    possible.erase("");
    std::vector<std::string> shown;
    for (const std::string& value : order[i])
      if (box[i].contains(value)) shown.push_back(value);
    const bool any = box[i] == possible && possible.size() > 1;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", keys[i],
                        any ? "any" : fmt::format("{}", fmt::join(shown, "|")));
  }
  return text;
}

std::vector<std::string> tokens_of(const std::vector<JudgedReading>& readings) {
  std::vector<std::string> tokens;
  for (const JudgedReading& reading : readings) tokens.push_back(reading.token);
  return tokens;
}

const Family& family_called(const std::string& name) { return family_of(parse_case(name + ":")); }

/// "in=bf16, fp8=e4m3": what all readings have in common.
std::string in_common(const Family& family, const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& key : keys_of(family, tokens)) {
    const Values values = values_of(tokens, key);
    if (values.size() == 1) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, *values.begin());
  }
  return text;
}

std::string text_of_output(const JudgedOutput& output) {
  using fixtures::printable;
  if (!output.offered) return fmt::format("  {}: not offered\n", printable(output.name));
  std::string text = fmt::format("  {}: {} elements compared, {} wrong", printable(output.name),
                                 grouped(output.compared), grouped(output.wrong));
  if (output.not_judged > 0)
    text += fmt::format("; {} of padding not judged, as what it held before is not known",
                        grouped(output.not_judged));
  if (!output.exact && output.wrong == 0)
    text += fmt::format("; {:.3f} of its bound used", output.worst_bound_use);
  return text + "\n";
}

std::string text_of_one(const JudgeResult& result) {
  const JudgedReading& reading = result.readings[0];
  std::string text;
  for (const Finding& finding : result.findings) text += text_finding(finding) + "\n";
  text += fmt::format("case: {}\n", fixtures::printable(reading.token));
  for (const JudgedOutput& output : reading.outputs) text += text_of_output(output);
  if (result.exit_code() != exit_fail) return text;
  if (!result.case_file.empty()) text += fmt::format("repro: assay repro {}\n", shell_word(result.case_file));
  if (!result.case_text.empty())
    text += fmt::format("kernels on these inputs: assay gate --case {}\n", shell_word(result.case_text));
  return text;
}

/// How much of their bounds the outputs use under the consistent readings, least and most.
std::string text_of_bound_use(const std::vector<JudgedReading>& readings) {
  std::optional<double> least, most;
  for (const JudgedReading& reading : readings) {
    double use = 0;
    bool exact = true;
    for (const JudgedOutput& output : reading.outputs) {
      exact = exact && output.exact;
      use = std::max(use, output.worst_bound_use);
    }
    if (!reading.consistent() || exact) continue;
    least = std::min(least.value_or(use), use);
    most = std::max(most.value_or(use), use);
  }
  if (!least) return {};
  if (*least == *most) return fmt::format("  {:.3f} of the bound used\n", *most);
  return fmt::format("  {:.3f} to {:.3f} of the bound used, by reading\n", *least, *most);
}

/// The consistent readings, and what would tell them apart.
std::string text_of_consistent(const Family& family, const std::vector<JudgedReading>& readings) {
  std::vector<std::string> right;
  for (const JudgedReading& reading : readings)
    if (reading.consistent()) right.push_back(reading.token);
  std::string text;
  for (const std::string& box : grouped_choices(family, right, tokens_of(readings)))
    text += fmt::format("  consistent: {}\n", box);
  text += text_of_bound_use(readings);
  if (right.size() < 2) return text;
  text += "  These tensors cannot tell them apart. What would:\n";
  for (const std::string& key : keys_of(family, right))
    if (values_of(right, key).size() > 1) text += fmt::format("    {}: {}\n", key, family.tells_apart(key));
  return text;
}

/// What --contract has to say for the one reading alone, "rule=floor,judge=bits".
std::string contracts_for(const Family& family, const std::string& token,
                          const std::vector<JudgedReading>& readings, std::string_view judge) {
  std::string text;
  const std::string choice =
      readings.size() > 1 ? grouped_choices(family, {token}, tokens_of(readings))[0] : std::string();
  for (const char c : choice)
    if (c != ' ') text += c;
  return text + (text.empty() || judge.empty() ? "" : ",") + std::string(judge);
}

/// The readings with the fewest wrong elements, those of equal damage together. `judge` is how they were
/// judged, where there is a choice.
std::string text_of_nearest(const Family& family, const std::vector<JudgedReading>& readings,
                            std::string_view judge) {
  std::vector<const JudgedReading*> order;
  for (const JudgedReading& reading : readings) order.push_back(&reading);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->wrong() < b->wrong(); });
  std::string text = "  none is consistent; the nearest:\n";
  std::set<std::vector<std::uint64_t>> told;
  for (const JudgedReading* first : order) {
    if (told.size() == nearest_shown) break;
    if (!told.insert(first->damage()).second) continue;
    std::vector<std::string> alike, where;
    for (const JudgedReading* other : order)
      if (other->damage() == first->damage()) alike.push_back(other->token);
    for (const JudgedOutput& output : first->outputs)
      if (output.offered)
        where.push_back(
            fmt::format("{} of {} of {}", grouped(output.wrong), grouped(output.compared), output.name));
    for (const std::string& box : grouped_choices(family, alike, tokens_of(readings)))
      text += fmt::format("  {}\n", box);
    text += fmt::format("    wrong: {}\n", fmt::join(where, ", "));
    if (!first->patterns.empty()) text += fmt::format("    pattern: {}\n", fmt::join(first->patterns, "; "));
    for (const std::string& missed : first->missed) text += fmt::format("    {}\n", missed);
    if (told.size() == 1)
      text += fmt::format("    where: --contract {}\n", contracts_for(family, first->token, readings, judge));
  }
  return text;
}

std::uint64_t most_compared(const JudgeResult& result) {
  std::uint64_t most = 0;
  for (const auto* readings : {&result.readings, &result.bounds})
    for (const JudgedReading& reading : *readings) most = std::max(most, reading.compared());
  return most;
}

std::size_t consistent_of(const std::vector<JudgedReading>& readings) {
  return static_cast<std::size_t>(
      std::count_if(readings.begin(), readings.end(), [](const auto& one) { return one.consistent(); }));
}

/// Why a pass would be none.
std::string closing_of_vacuous(const JudgeResult& result) {
  const std::uint64_t compared = most_compared(result);
  if (compared == 0) return fmt::format("VACUOUS: no output of {} was offered", result.family);
  if (consistent_of(result.readings) > 0)
    return fmt::format("VACUOUS: {} elements compared, all of them right had nobody written them",
                       grouped(compared));
  return fmt::format(
      "UNDECIDED: {} elements compared, none of {} {} right to the bit, {} of {} within error "
      "bounds, which is a pass where --contract names judge=bound",
      grouped(compared), result.readings.size(), result.readings.size() == 1 ? "reading" : "readings",
      consistent_of(result.bounds), result.bounds.size());
}

std::string closing_line(const JudgeResult& result) {
  const int code = result.exit_code();
  if (code == exit_vacuous) return fmt::format("{}, exit {}\n", closing_of_vacuous(result), code);
  std::uint64_t probes = 0;
  for (const auto* readings : {&result.readings, &result.bounds})
    for (const JudgedReading& reading : *readings) probes += reading.probes;
  std::string text = fmt::format("{}: {} elements compared", code == exit_pass ? "PASS" : "FAIL",
                                 grouped(most_compared(result)));
  for (const JudgedOutput& output : result.readings.at(0).outputs)
    if (!output.offered) text += fmt::format(", {} not offered", fixtures::printable(output.name));
  if (!result.one)
    text +=
        fmt::format(", {} of {} readings consistent", consistent_of(result.readings), result.readings.size());
  if (!result.bounds.empty())
    text += fmt::format(", {} of {} within error bounds", consistent_of(result.bounds), result.bounds.size());
  if (probes > 0) text += fmt::format(", {} injected faults rejected", grouped(probes));
  return text + fmt::format(", exit {}\n", code);
}

nlohmann::ordered_json json_of(const JudgedReading& reading) {
  nlohmann::ordered_json item;
  item["token"] = reading.token;
  item["consistent"] = reading.consistent();
  item["outputs"] = nlohmann::ordered_json::array();
  for (const JudgedOutput& output : reading.outputs)
    item["outputs"].push_back({{"name", output.name},
                               {"offered", output.offered},
                               {"compared", output.compared},
                               {"wrong", output.wrong},
                               {"not_judged", output.not_judged},
                               {"worst_codes_outside", output.worst_codes_outside},
                               {"exact", output.exact},
                               {"worst_bound_use", output.worst_bound_use},
                               {"right_before", output.right_before}});
  item["probes_rejected"] = reading.probes;
  item["probes_missed"] = reading.missed;
  item["patterns"] = reading.patterns;
  return item;
}

}  // namespace

std::vector<std::string> grouped_choices(const Family& family, const std::vector<std::string>& some,
                                         const std::vector<std::string>& tokens) {
  std::vector<std::string> keys;
  std::vector<Values> all;
  std::vector<std::vector<std::string>> order;
  for (const std::string& key : keys_of(family, tokens)) {
    const Values values = values_of(tokens, key);
    if (values.size() < 2) continue;
    keys.push_back(key);
    all.push_back(values);
    order.emplace_back();
    for (const std::string& token : tokens) {
      const std::string value = value_of(contracts_of(token), key).value_or("");
      if (std::find(order.back().begin(), order.back().end(), value) == order.back().end())
        order.back().push_back(value);
    }
  }
  std::vector<Box> boxes;
  for (const std::string& token : some) {
    Box box;
    for (const std::string& key : keys) box.push_back({value_of(contracts_of(token), key).value_or("")});
    boxes.push_back(std::move(box));
  }
  for (bool merged = true; merged;) {
    merged = false;
    for (std::size_t key = keys.size(); key-- > 0;) merged = merge(boxes, key) || merged;
  }
  std::vector<std::string> texts;
  for (const Box& box : boxes) {
    std::string text = text_of_box(box, keys, all, order);
    texts.push_back(text.empty() ? "the one choice that there is" : std::move(text));
  }
  return texts;
}

std::string text_report(const JudgeResult& result) {
  std::string text;
  if (result.one) {
    text = text_of_one(result);
  } else if (!result.readings.empty()) {
    const Family& family = family_called(result.family);
    const std::vector<std::string> tokens = tokens_of(result.readings);
    text = fmt::format("{}: {} {} of these tensors\n  by the tensors: {}\n", result.family, tokens.size(),
                       tokens.size() == 1 ? "reading" : "readings", in_common(family, tokens));
    const auto consistent = [](const JudgedReading& reading) { return reading.consistent(); };
    if (std::any_of(result.readings.begin(), result.readings.end(), consistent)) {
      text += text_of_consistent(family, result.readings);
    } else if (std::any_of(result.bounds.begin(), result.bounds.end(), consistent)) {
      text += "  to the bit none is consistent; within error bounds (judge=bound):\n" +
              text_of_consistent(family, result.bounds);
    } else {
      text += text_of_nearest(family, result.readings, result.bounds.empty() ? "" : "judge=bits");
      if (!result.bounds.empty())
        text +=
            "  within error bounds (judge=bound)\n" + text_of_nearest(family, result.bounds, "judge=bound");
    }
  }
  for (const std::string& note : result.notes) text += "note: " + fixtures::printable(note) + "\n";
  return text + closing_line(result);
}

std::string json_report(const JudgeResult& result) {
  using nlohmann::ordered_json;
  ordered_json document;
  document["assay"] = 1;  // version of this layout
  document["exit_code"] = result.exit_code();
  document["binary"] = kernels::binary_hash();
  document["family"] = result.family;
  document["files"] = result.files;
  document["named"] = result.one;
  for (const auto& [key, readings] : {std::pair("readings", &result.readings), {"bounds", &result.bounds}}) {
    document[key] = ordered_json::array();
    for (const JudgedReading& reading : *readings) document[key].push_back(json_of(reading));
  }
  document["findings"] = ordered_json::array();
  for (const Finding& finding : result.findings)
    document["findings"].push_back({{"code", code_text(finding.code)},
                                    {"place", finding.place},
                                    {"summary", finding.summary},
                                    {"patterns", finding.patterns},
                                    {"notes", finding.notes}});
  document["notes"] = result.notes;
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace assay::properties
