#include "goldens/record/envelope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <string_view>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/sha256.hpp"

namespace assay::goldens {

namespace {

constexpr std::string_view family_of_titles = "assay golden record ";

using Envelope = std::array<std::byte, envelope_bytes>;

Envelope envelope_of(std::span<const std::byte> content) {
  const std::string text =
      fmt::format("{}\nsha256 {}\nbytes {}\n", record_title, Sha256().update(content).hex(), content.size());
  assert(text.size() <= envelope_bytes);
  Envelope envelope{};
  std::ranges::copy(std::as_bytes(std::span(text)), envelope.begin());
  return envelope;
}

/// The line's rest after `start`; empty when no line starts so.
std::string_view line_after(std::string_view text, std::string_view start) {
  const std::size_t at = text.find(start);
  if (at == text.npos) return {};
  text.remove_prefix(at + start.size());
  return text.substr(0, text.find('\n'));
}

}  // namespace

void seal(std::span<std::byte> file) {
  assert(file.size() > envelope_bytes);
  std::ranges::copy(envelope_of(file.subspan(envelope_bytes)), file.begin());
}

void verify_seal(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              std::min(file.size(), envelope_bytes));
  if (!text.starts_with(family_of_titles)) throw BadInput("is not a golden record");
  if (!text.starts_with(std::string(record_title) + '\n'))
    throw BadInput(fmt::format("is a record of another version, {}; this program reads {}",
                               fixtures::in_quotes(text.substr(0, text.find('\n'))),
                               fixtures::in_quotes(record_title)));
  if (file.size() <= envelope_bytes) throw BadInput(fmt::format("is truncated: {} bytes", file.size()));

  const auto content = file.subspan(envelope_bytes);
  const Envelope expected = envelope_of(content);
  if (std::ranges::equal(expected, file.first(envelope_bytes))) return;
  const std::string stated_bytes(line_after(text, "\nbytes "));
  if (stated_bytes.empty()) throw BadInput("is changed: its seal states no length");
  if (stated_bytes != std::to_string(content.size()))
    throw BadInput(fmt::format("is truncated or changed: {} bytes of content, {} stated", content.size(),
                               fixtures::in_quotes(stated_bytes)));
  throw BadInput(
      fmt::format("is changed: SHA-256 of its content is {}, {} stated",
                  line_after({reinterpret_cast<const char*>(expected.data()), expected.size()}, "\nsha256 "),
                  fixtures::in_quotes(line_after(text, "\nsha256 "))));
}

}  // namespace assay::goldens
