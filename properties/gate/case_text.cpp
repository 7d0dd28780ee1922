#include "properties/gate/case_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/reported_text.hpp"
#include "properties/gate/delegating.hpp"

namespace assay::properties {
namespace {

namespace text = fixtures::reported_text;
using arithmetic::load_code;

[[noreturn]] void refuse(std::string_view where, const std::string& reason) {
  throw BadInput(fmt::format("case '{}': {}", where, reason));
}

/// "BUFFER[INDEX]=CODES"; nothing for another form. CODES are looked at by their characters alone.
std::optional<Override> parse_override(std::string_view part) {
  const std::size_t open = part.find('['), close = part.find("]=");
  if (open == 0 || open == part.npos || close == part.npos || close < open) return std::nullopt;
  Override found;
  found.buffer = part.substr(0, open);
  const char *first = part.data() + open + 1, *last = part.data() + close;
  const auto [stop, error] = std::from_chars(first, last, found.first);
  if (error != std::errc{} || stop != last) return std::nullopt;
  found.codes = part.substr(close + 2);
  if (found.codes.find_first_not_of("0123456789ABCDEFabcdef* ") != std::string::npos) return std::nullopt;
  return found;
}

/// What follows the token, from behind its first ';' on; false when some of it has another form.
bool parse_contents(std::string_view rest, CaseText& result) {
  result.zeros = false;
  result.overrides.clear();
  for (bool first = true;; first = false) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view part = rest.substr(0, end);
    if (first && part == "zeros") {
      result.zeros = true;
    } else if (auto override = parse_override(part)) {
      result.overrides.push_back(std::move(*override));
    } else {
      return false;
    }
    if (end == rest.size()) return true;
    rest.remove_prefix(end + 1);
  }
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

/// Writes one override into the contents it names.
void apply(const Override& override, const std::vector<GivenBuffer>& buffers, Contents& contents,
           const std::string& whole) {
  const auto found = std::find_if(buffers.begin(), buffers.end(),
                                  [&](const GivenBuffer& one) { return one.name == override.buffer; });
  if (found == buffers.end()) {
    std::vector<std::string> names;
    for (const GivenBuffer& buffer : buffers) names.push_back(buffer.name);
    refuse(whole, fmt::format("it has no buffer '{}'; the nearest is '{}'", override.buffer,
                              fixtures::nearest(override.buffer, names)));
  }
  const std::size_t width = width_of(*found);
  const std::string quoted = fmt::format("'{}'", whole);
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
  std::size_t end = whole.find(';', colon);
  while (end != whole.npos && !parse_contents(whole.substr(end + 1), result)) end = whole.find(';', end + 1);
  if (end == whole.npos) {
    result.zeros = false;
    result.overrides.clear();
  }
  result.token = result.family + std::string(whole.substr(colon, end == whole.npos ? end : end - colon));
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
  for (const Override& one : parts.overrides) apply(one, buffers, contents, name);
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
