#include "properties/gate/token.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/printable.hpp"

namespace assay::properties {

namespace {
constexpr std::size_t longest = 500;  // of text and reason each; a token that this program prints is shorter
}  // namespace

std::string quoted_case(std::string_view text) {
  return fmt::format("'{}'", fixtures::excerpt(text, longest));
}

std::string case_refusal(std::string_view text, std::string_view reason) {
  return fmt::format("case {}: {}", quoted_case(text), fixtures::excerpt(reason, longest));
}

void TokenReader::refuse(const std::string& reason) const { throw BadInput(case_refusal(token_, reason)); }

std::size_t TokenReader::choice(std::string_view key, std::string_view value,
                                std::span<const std::string_view> names) const {
  const auto found = std::find(names.begin(), names.end(), value);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  refuse(fmt::format("{}='{}' is unknown; the nearest is '{}'", key, value,
                     fixtures::nearest(value, {names.begin(), names.end()})));
}

std::uint64_t TokenReader::number(std::string_view key, std::string_view value, std::uint64_t least,
                                  std::uint64_t most) const {
  std::uint64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size() || result < least || result > most)
    refuse(fmt::format("{}='{}' is not a whole number from {} to {}", key, value, least, most));
  return result;
}

int TokenReader::signed_number(std::string_view key, std::string_view value, int most) const {
  int result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc{} || end != value.data() + value.size() || result < -most || result > most)
    refuse(fmt::format("{}='{}' is not a whole number from {} to {}", key, value, -most, most));
  return result;
}

void TokenReader::refuse_key(std::string_view key, std::span<const std::string_view> known) const {
  refuse(fmt::format("unknown key '{}'; the nearest is '{}'", key,
                     fixtures::nearest(key, {known.begin(), known.end()})));
}

void TokenReader::for_each_pair(std::string_view family, std::string_view last_key,
                                const std::function<void(std::string_view, std::string_view)>& set) const {
  const std::string prefix = fmt::format("{}:", family);
  if (!token_.starts_with(prefix)) refuse(fmt::format("it does not start with '{}'", prefix));
  std::string_view rest = token_.substr(prefix.size());
  std::set<std::string_view> seen;
  while (!rest.empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) refuse(fmt::format("'{}' is not key=value", rest));
    const std::string_view key = rest.substr(0, equals);
    if (!seen.insert(key).second) refuse(fmt::format("{} is given twice", fixtures::in_quotes(key)));
    rest.remove_prefix(equals + 1);
    if (key == last_key) return set(key, rest);
    const std::size_t comma = std::min(rest.find(','), rest.size());
    set(key, rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

}  // namespace assay::properties
