#include "properties/gate/case_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/printable.hpp"
#include "fixtures/tensor/reported_text.hpp"
#include "properties/gate/delegating.hpp"
#include "properties/gate/token.hpp"

namespace assay::properties {
namespace {

namespace text = fixtures::reported_text;
using arithmetic::load_code;

[[noreturn]] void refuse(std::string_view where, const std::string& reason) {
  throw BadInput(case_refusal(where, reason));
}

/// "BUFFER[INDEX]=CODES", whatever CODES are; nothing for another form.
std::optional<Override> parse_place_and_codes(std::string_view part) {
  const std::size_t open = part.find('['), close = part.find("]=");
  if (open == 0 || open == part.npos || close == part.npos || close < open) return std::nullopt;
  Override found;
  found.buffer = part.substr(0, open);
  const char *first = part.data() + open + 1, *last = part.data() + close;
  const auto [stop, error] = std::from_chars(first, last, found.first);
  if (error != std::errc{} || stop != last) return std::nullopt;
  found.codes = part.substr(close + 2);
  return found;
}

constexpr std::string_view code_characters = "0123456789ABCDEFabcdef* ";

/// The same; nothing for CODES that have other characters than codes have.
std::optional<Override> parse_override(std::string_view part) {
  auto found = parse_place_and_codes(part);
  if (found && found->codes.find_first_not_of(code_characters) != std::string::npos) found.reset();
  return found;
}

/// Why `part`, which stands behind a token and a ';', is not what may stand there.
std::string why_no_contents(std::string_view part) {
  const auto written = parse_place_and_codes(part);
  if (part == "zeros" || parse_override(part))
    return "'zeros' stands once, right behind the token and before every BUFFER[ELEMENT]=CODES";
  if (!written)
    return fmt::format("{} is neither 'zeros' nor BUFFER[ELEMENT]=CODES", fixtures::in_quotes(part));
  const std::string_view codes = written->codes;
  const std::size_t wrong = codes.find_first_not_of(code_characters);
  const std::size_t start = codes.substr(0, wrong).rfind(' ') + 1;  // 0 where there is none
  const std::string_view word = codes.substr(start, codes.find(' ', wrong) - start);
  return fmt::format("{}[{}]: {} is no hexadecimal code", fixtures::excerpt(written->buffer, 120),
                     written->first, fixtures::in_quotes(word));
}

/// Takes what follows the token off the end of `text`, from behind: every part is read once, however many of
/// a path's look like one.
void take_contents(std::string_view& text, CaseText& result) {
  while (true) {
    const std::size_t start = text.rfind(';');
    if (start == text.npos) break;
    auto override = parse_override(text.substr(start + 1));
    if (!override) break;
    result.overrides.push_back(std::move(*override));
    text = text.substr(0, start);
  }
  std::reverse(result.overrides.begin(), result.overrides.end());
  constexpr std::string_view zeros = ";zeros";
  result.zeros = text.ends_with(zeros);
  if (result.zeros) text.remove_suffix(zeros.size());
}

/// "FAMILY[/ROUTE][@DEVICE]".
void parse_place(std::string_view place, CaseText& result) {
  const std::size_t at = std::min(place.find('@'), place.size());
  if (at < place.size()) result.device = place.substr(at + 1);
  const std::string_view names = place.substr(0, at);
  const std::size_t slash = std::min(names.find('/'), names.size());
  result.family = names.substr(0, slash);
  if (slash < names.size()) result.route = names.substr(slash + 1);
}

std::size_t width_of(const GivenBuffer& buffer) {
  return static_cast<std::size_t>(formats::storage_bytes(buffer.format));
}

/// Writes one override into the contents it names. `quoted`: the text of the case, for refusals; it may have
/// very many overrides, so that quoting it is not for each.
void apply(const Override& override, const std::vector<GivenBuffer>& buffers, Contents& contents,
           std::string_view quoted) {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const GivenBuffer& one) { return one.name == override.buffer; });
  if (found == buffers.end()) {
    std::vector<std::string> names;
    for (const GivenBuffer& buffer : buffers) names.push_back(buffer.name);
    throw BadInput(fmt::format("case {}: it has no buffer {}; the nearest is '{}'", quoted,
                               fixtures::in_quotes(override.buffer),
                               fixtures::nearest(override.buffer, names)));
  }
  const std::size_t width = width_of(*found);
  const text::Where where{quoted, fmt::format("{}[{}]", override.buffer, override.first), "case"};
  const text::Codes codes = text::codes_of(override.codes, "codes", 2 * width, where);
  if (codes.empty()) where.refuse("it names no code");
  const std::size_t elements = found->bytes.size() / width;
  if (override.first >= elements || codes.size() > elements - override.first)
    where.refuse(fmt::format("element {} is past the end: '{}' has {}", override.first + codes.size() - 1,
                             override.buffer, elements));
  auto& bytes = contents[static_cast<std::size_t>(found - buffers.begin())];
  for (std::size_t i = 0; i < codes.size(); ++i)
    arithmetic::store_code(bytes, static_cast<int>(width), override.first + i, codes[i]);
}

/// Owns the case, and is called what its text says.
class NamedWorkload : public DelegatingWorkload {
 public:
  NamedWorkload(std::unique_ptr<Workload> owned, std::string name)
      : DelegatingWorkload(*owned), owned_(std::move(owned)), name_(std::move(name)) {}
  std::string token() const override { return name_; }

 private:
  std::unique_ptr<Workload> owned_;
  std::string name_;
};

/// Runs of elements that differ from those of `blank`, as overrides of `buffer`.
void add_overrides(const GivenBuffer& buffer, std::span<const std::byte> bytes, CaseText& result) {
  const std::size_t width = width_of(buffer), elements = bytes.size() / width;
  const auto code = [&](std::span<const std::byte> of, std::size_t i) {
    return load_code(of, static_cast<int>(width), i);
  };
  const auto differs = [&](std::size_t i) { return code(bytes, i) != code(buffer.bytes, i); };
  for (std::size_t i = 0; i < elements; ++i) {
    if (!differs(i)) continue;
    Override run{buffer.name, i, {}};
    while (i < elements && differs(i)) {
      std::size_t end = i + 1;
      while (end < elements && differs(end) && code(bytes, end) == code(bytes, i)) ++end;
      run.codes += fmt::format("{}{:0{}X}", run.codes.empty() ? "" : " ", code(bytes, i), 2 * width);
      if (end - i > 1) run.codes += fmt::format("*{}", end - i);
      i = end;
    }
    result.overrides.push_back(std::move(run));
  }
}

}  // namespace

CaseText parse_case(std::string_view whole) {
  CaseText result;
  const std::size_t colon = whole.find(':');
  if (colon == whole.npos) refuse(whole, "it does not start with 'FAMILY:'");
  parse_place(whole.substr(0, colon), result);
  std::string_view rest = whole.substr(colon);
  take_contents(rest, result);
  // Only the path of `on=` may hold ';': elsewhere the last one stands before what could not be taken.
  if (const std::size_t last = rest.rfind(';');
      last != rest.npos && !rest.starts_with(":on=") && rest.find(",on=") == rest.npos)
    refuse(whole, why_no_contents(rest.substr(last + 1)));
  result.token = result.family + std::string(rest);
  return result;
}

std::string print(const CaseText& parts) {
  std::string whole = parts.token;
  if (parts.zeros) whole += ";zeros";
  for (const Override& one : parts.overrides)
    whole += fmt::format(";{}[{}]={}", one.buffer, one.first, one.codes);
  return parts.route.empty() && parts.device.empty() ? whole : with_place(whole, parts.route, parts.device);
}

std::string with_place(std::string_view whole, std::string_view route, std::string_view device) {
  const std::size_t colon = std::min(whole.find(':'), whole.size());
  std::string place(whole.substr(0, colon));
  if (!route.empty()) place += fmt::format("/{}", route);
  if (!device.empty()) place += fmt::format("@{}", device);
  return place + std::string(whole.substr(colon));
}

const Family& family_of(const CaseText& parts) {
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (family->name() == parts.family) return *family;
    names.emplace_back(family->name());
  }
  refuse(print(parts), fmt::format("there is no family '{}'; the nearest is '{}'", parts.family,
                                   fixtures::nearest(parts.family, names)));
}

std::vector<std::size_t> routes_of(const CaseText& parts) {
  const Family& family = family_of(parts);
  std::vector<std::size_t> found;
  std::vector<std::string> names;
  for (const kernels::RouteInfo& route : family.routes()) {
    if (parts.route.empty() || route.name == parts.route) found.push_back(names.size());
    names.emplace_back(route.name);
  }
  if (found.empty())
    refuse(print(parts), fmt::format("{} has no route '{}'; the nearest is '{}'", parts.family, parts.route,
                                     fixtures::nearest(parts.route, names)));
  return found;
}

std::unique_ptr<Workload> build(const CaseText& parts) {
  const Family& family = family_of(parts);
  if (!parts.zeros && parts.overrides.empty()) return family.materialise(parts.token);
  CaseText anywhere = parts;
  anywhere.route.clear();
  anywhere.device.clear();
  const std::string name = print(anywhere);
  const auto base = parts.zeros ? family.blank(parts.token) : family.materialise(parts.token);
  const std::vector<GivenBuffer> buffers = given(*base);
  Contents contents = contents_of(buffers);
  const std::string quoted = quoted_case(name);
  for (const Override& one : parts.overrides) apply(one, buffers, contents, quoted);
  try {
    return std::make_unique<NamedWorkload>(family.with_contents(parts.token, std::move(contents)), name);
  } catch (const BadInput& reason) {
    refuse(name, reason.what());
  }
}

std::unique_ptr<Workload> build_case(std::string_view whole) { return build(parse_case(whole)); }

CaseText text_of(const Family& family, std::string_view token, const Contents& contents) {
  CaseText result;
  result.family = family.name();
  result.token = token;
  result.zeros = true;
  const auto blank = family.blank(token);
  const std::vector<GivenBuffer> buffers = given(*blank);
  for (std::size_t i = 0; i < buffers.size(); ++i) add_overrides(buffers[i], contents.at(i), result);
  return result;
}

}  // namespace assay::properties
