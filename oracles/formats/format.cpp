#include "oracles/formats/format.hpp"

#include <cassert>
#include <cstddef>

namespace assay::formats {
namespace {

// The definitions, in the order of the enumeration. Sources: OCP OFP8 1.0 (e4m3, e5m2), OCP MX 1.0 (e8m0),
// IEEE 754 (fp16, fp32); bf16 is fp32 with 16 bits fewer.
constexpr Spec specs[] = {
    // format, name, bits, exponent bits, mantissa bits, bias, sign, specials
    {Format::e4m3, "e4m3", 8, 4, 3, 7, true, Specials::fn},
    {Format::e5m2, "e5m2", 8, 5, 2, 15, true, Specials::ieee},
    {Format::e8m0, "e8m0", 8, 8, 0, 127, false, Specials::nan_only},
    {Format::fp16, "fp16", 16, 5, 10, 15, true, Specials::ieee},
    {Format::bf16, "bf16", 16, 8, 7, 127, true, Specials::ieee},
    {Format::fp32, "fp32", 32, 8, 23, 127, true, Specials::ieee},
    {Format::int4, "int4", 4, 0, 3, 0, true, Specials::none},
    {Format::uint4, "uint4", 4, 0, 4, 0, false, Specials::none},
};

constexpr bool consistent() {
  for (std::size_t i = 0; i < std::size(specs); ++i) {
    const Spec& s = specs[i];
    if (static_cast<std::size_t>(s.format) != i || all_formats[i] != s.format) return false;
    if (s.bits != s.exponent_bits + s.mantissa_bits + (s.has_sign ? 1 : 0)) return false;
  }
  return std::size(specs) == std::size(all_formats);
}
static_assert(consistent());

}  // namespace

const Spec& spec(Format format) {
  const auto index = static_cast<std::size_t>(format);
  assert(index < std::size(specs));
  return specs[index];
}

std::optional<Format> format_named(std::string_view name) {
  for (const Spec& s : specs)
    if (s.name == name) return s.format;
  return std::nullopt;
}

int storage_bytes(Format format) { return spec(format).bits <= 8 ? 1 : spec(format).bits / 8; }

}  // namespace assay::formats
