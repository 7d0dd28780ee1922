#include "oracles/formats/format.hpp"

#include "oracles/formats/definition.hpp"

namespace assay::formats {
namespace {

// A table entry in the wrong place, or with bits that do not add up, would be wrong everywhere and silently.
constexpr bool consistent() {
  for (std::size_t i = 0; i < std::size(definition::specs); ++i) {
    const Spec& s = definition::specs[i];
    if (static_cast<std::size_t>(s.format) != i || all_formats[i] != s.format) return false;
    if (s.bits != s.exponent_bits + s.mantissa_bits + (s.has_sign ? 1 : 0)) return false;
  }
  return std::size(definition::specs) == std::size(all_formats);
}
static_assert(consistent());

}  // namespace

const Spec& spec(Format format) { return definition::spec_of(format); }

std::optional<Format> format_named(std::string_view name) {
  for (const Spec& s : definition::specs)
    if (s.name == name) return s.format;
  return std::nullopt;
}

int storage_bytes(Format format) { return spec(format).bits <= 8 ? 1 : spec(format).bits / 8; }

}  // namespace assay::formats
