#include "oracles/formats/codec.hpp"

#include "oracles/formats/definition.hpp"

namespace assay::formats {

Exact decode(Format format, std::uint32_t code) { return definition::decode(spec(format), code); }

std::uint32_t encode(Format format, const Exact& x, Rounding rounding, Overflow overflow) {
  return definition::encode(spec(format), x, rounding, overflow);
}

bool is_nan(Format format, std::uint32_t code) { return definition::is_nan(spec(format), code); }
bool is_infinity(Format format, std::uint32_t code) { return definition::is_infinity(spec(format), code); }
std::uint32_t canonical_nan(Format format) { return definition::canonical_nan(spec(format)); }
std::uint32_t max_finite(Format format) { return definition::max_magnitude(spec(format)); }
std::uint32_t ordered_key(Format format, std::uint32_t code) {
  return definition::ordered_key(spec(format), code);
}

}  // namespace assay::formats
