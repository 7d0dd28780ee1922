#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/printable.hpp"
#include "oracles/formats/codec.hpp"
#include "properties/cli/commands.hpp"
#include "properties/cli/exact_text.hpp"
#include "properties/cli/explanations.hpp"
#include "properties/gate/describe.hpp"

namespace assay::cli {
namespace {

using formats::Format;

void print_explanation(const Explanation& explanation) {
  fmt::print("{}: {}\n{}\n", explanation.name, explanation.title, explanation.text);
}

void print_format(const formats::Spec& spec) {
  fmt::print("{}: {} bits", spec.name, spec.bits);
  if (spec.exponent_bits > 0) {
    fmt::print(", sign/exponent/mantissa {}/{}/{}, bias {}", spec.has_sign ? 1 : 0, spec.exponent_bits,
               spec.mantissa_bits, spec.bias);
  }
  fmt::print("\n  largest finite {}\n",
             properties::describe_code(spec.format, formats::max_finite(spec.format)));
  const bool has_nan = spec.specials != formats::Specials::none;
  if (has_nan)
    fmt::print("  canonical NaN  {}\n",
               properties::describe_code(spec.format, formats::canonical_nan(spec.format)));
}

/// A code is written in hex without point or exponent ("0x7E"); everything else is a value.
std::optional<std::uint64_t> parse_code(std::string_view text) {
  if (text.size() < 3 || text.substr(0, 2) != "0x") return std::nullopt;
  std::uint64_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), code, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return code;
}

void explain_code(const formats::Spec& spec, std::uint64_t code, const std::string& text) {
  if (code >> spec.bits != 0)
    throw BadInput(fmt::format("explain: code {} does not fit the {} bits of {}",
                               fixtures::excerpt(text, 120), spec.bits, spec.name));
  fmt::print("{} {}\n", spec.name, properties::describe_code(spec.format, static_cast<std::uint32_t>(code)));
}

void explain_value(const formats::Spec& spec, const formats::Exact& value, const std::string& text) {
  const bool integer = spec.specials == formats::Specials::none;
  if (integer && (value.kind == formats::Kind::nan || value.kind == formats::Kind::infinity)) {
    throw BadInput(fmt::format("explain: {} has no code for {}", spec.name, text));
  }
  if (!spec.has_sign && !integer && value.negative && value.kind == formats::Kind::finite) {
    throw BadInput(
        fmt::format("explain: {} has no sign, so no code for {}", spec.name, fixtures::excerpt(text, 120)));
  }
  using formats::Overflow;
  using formats::Rounding;
  constexpr std::pair<Rounding, const char*> roundings[] = {{Rounding::nearest_even, "nearest even"},
                                                            {Rounding::toward_zero, "toward zero"},
                                                            {Rounding::up, "up"},
                                                            {Rounding::down, "down"}};
  fmt::print("{} of {}\n", spec.name, text);
  for (const auto& [rounding, name] : roundings) {
    const auto saturated = formats::encode(spec.format, value, rounding, Overflow::saturate);
    const auto propagated = formats::encode(spec.format, value, rounding, Overflow::propagate);
    fmt::print("  {:<13} {}", name, properties::describe_code(spec.format, saturated));
    if (propagated != saturated)
      fmt::print("; not saturating: {}", properties::describe_code(spec.format, propagated));
    fmt::print("\n");
  }
}

int explain_numbers(Format format, const std::vector<std::string>& words) {
  const formats::Spec& spec = formats::spec(format);
  if (words.size() == 1) print_format(spec);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto code = parse_code(words[i])) {
      explain_code(spec, *code, words[i]);
    } else if (const auto value = parse_exact(words[i])) {
      explain_value(spec, *value, words[i]);
    } else {
      throw BadInput(fmt::format("explain: {} is neither a code (0x7E) nor a number (1.5, 0x1.8p0, inf)",
                                 fixtures::in_quotes(words[i])));
    }
  }
  return properties::exit_pass;
}

std::vector<std::string> known_words() {
  std::vector<std::string> words;
  for (const Format format : formats::all_formats) words.emplace_back(formats::spec(format).name);
  for (const Explanation& explanation : diagnostics()) words.emplace_back(explanation.name);
  for (const Explanation& explanation : patterns()) words.emplace_back(explanation.name);
  for (const Explanation& explanation : terms()) words.emplace_back(explanation.name);
  return words;
}

/// "a001" is A001.
std::string in_capitals(std::string text) {
  for (char& one : text)
    if (one >= 'a' && one <= 'z') one = static_cast<char>(one - 'a' + 'A');
  return text;
}

}  // namespace

int explain(const std::vector<std::string>& words) {
  if (words.empty()) {
    fmt::print("formats (then codes or values, e.g. 'e4m3 0x7E 1.0625'):\n ");
    for (const Format format : formats::all_formats) fmt::print(" {}", formats::spec(format).name);
    fmt::print("\ndiagnostics:\n");
    for (const Explanation& one : diagnostics()) fmt::print("  {}  {}\n", one.name, one.title);
    fmt::print("damage patterns:\n");
    for (const Explanation& one : patterns()) fmt::print("  {:<34} {}\n", one.name, one.title);
    fmt::print("terms:\n");
    for (const Explanation& one : terms()) fmt::print("  {:<34} {}\n", one.name, one.title);
    return properties::exit_pass;
  }
  if (const auto format = formats::format_named(words[0])) return explain_numbers(*format, words);
  const std::string phrase = fmt::format("{}", fmt::join(words, " "));
  const std::string code = in_capitals(phrase);
  for (const auto& list : {diagnostics(), patterns(), terms()}) {
    for (const Explanation& explanation : list) {
      if (explanation.name != phrase && explanation.name != code) continue;
      print_explanation(explanation);
      return properties::exit_pass;
    }
  }
  throw BadInput(fmt::format("explain: nothing is called {}; the nearest is '{}' (assay explain lists all)",
                             fixtures::in_quotes(phrase), fixtures::nearest(phrase, known_words())));
}

}  // namespace assay::cli
