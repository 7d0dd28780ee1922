#include "properties/repro/simpler.hpp"

#include <array>
#include <bit>
#include <cassert>

#include "oracles/formats/codec.hpp"

namespace assay::properties::repro {
namespace {

using formats::Format;
using formats::Spec;

constexpr std::array<int, 6> mantissa_bits = {1, 2, 3, 4, 7, 10};

std::uint32_t packed(std::uint32_t code, std::size_t how) {
  const std::uint32_t low = code & 0x0Fu, high = code & 0xF0u;
  switch (how) {
    case 0:
      return 0x01;
    case 1:
      return 0x10;
    case 2:
      return (low != 0 ? 0x01u : 0u) | (high != 0 ? 0x10u : 0u);
    case 3:
      return low;
    case 4:
      return high;
    case 5:
      return code & (~code + 1);
    default:
      return code;
  }
}

/// The code with no more than its `bits` highest bits of mantissa; the leading one of a subnormal is one of
/// them.
std::uint32_t shortened(const Spec& spec, std::uint32_t code, int bits) {
  const std::uint32_t mantissa = code & ((1u << spec.mantissa_bits) - 1);
  const std::uint32_t rest = code & ~((1u << spec.mantissa_bits) - 1);
  const bool subnormal = (code >> spec.mantissa_bits & ((1u << spec.exponent_bits) - 1)) == 0;
  const int width = subnormal ? std::bit_width(mantissa) - 1 : spec.mantissa_bits;
  const int dropped = width > bits ? width - bits : 0;
  return rest | (mantissa >> dropped << dropped);
}

std::uint32_t number(const Spec& spec, std::uint32_t code, std::size_t how) {
  const std::uint32_t unsigned_bits = spec.has_sign ? (1u << (spec.bits - 1)) - 1 : ~0u;
  const std::uint32_t magnitude = code & unsigned_bits;
  switch (how) {
    case 0:
      return static_cast<std::uint32_t>(spec.bias) << spec.mantissa_bits;
    case 1:
      return shortened(spec, magnitude, 0);
    case 2:
      return shortened(spec, code, 0);
    case 3:
      return magnitude;
    default:
      return shortened(spec, (how % 2 == 0) ? magnitude : code, mantissa_bits[(how - 4) / 2]);
  }
}

}  // namespace

std::optional<std::uint32_t> simplified(Format format, std::uint32_t code, std::size_t how) {
  assert(how < simplifications);
  std::uint32_t result = code;
  if (format == Format::uint4 || format == Format::int4) {
    result = packed(code, how);
  } else if (formats::is_nan(format, code)) {
    if (how == 0) result = formats::canonical_nan(format);
  } else if (formats::is_infinity(format, code)) {
    if (how == 0) result = code & ~(1u << (formats::spec(format).bits - 1));
  } else if (formats::decode(format, code).kind == formats::Kind::finite) {
    result = number(formats::spec(format), code, how);
  }
  if (result == code || result == 0) return std::nullopt;
  return result;
}

}  // namespace assay::properties::repro
