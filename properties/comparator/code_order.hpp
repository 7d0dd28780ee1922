// The order of a format's codes as compile-time arithmetic on the code's own width, so that the comparator's
// loops vectorise. formats::ordered_key and formats::is_nan are the definition; the tests compare every code
// with them.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>

#include "oracles/formats/format.hpp"

namespace assay::properties::detail {

/// Floating formats with a sign bit. `Last` is the largest positive code that is not a NaN (Inf where there
/// is one).
template <typename T, T Last>
struct SignMagnitude {
  using Code = T;
  static constexpr T sign = static_cast<T>(T{1} << (std::numeric_limits<T>::digits - 1));
  static constexpr T canonical_nan = static_cast<T>(~sign);
  static constexpr T key(T code) {
    return (code & sign) != 0 ? static_cast<T>(~code) : static_cast<T>(code | sign);
  }
  static constexpr bool nan(T code) { return static_cast<T>(code & canonical_nan) > Last; }
  static constexpr bool valid(T) { return true; }
};

/// e8m0: ascending from 2^-127, and one NaN.
struct Exponent {
  using Code = std::uint8_t;
  static constexpr Code canonical_nan = 0xFF;
  static constexpr Code key(Code code) { return code; }
  static constexpr bool nan(Code code) { return code == 0xFF; }
  static constexpr bool valid(Code) { return true; }
};

/// Four-bit integers in a byte each; `Flip` turns two's complement into offset binary. A byte over 15 is no
/// code: its key lies over every interval, so the output that holds it is wrong.
template <std::uint8_t Flip>
struct Nibble {
  using Code = std::uint8_t;
  static constexpr Code canonical_nan = 0;  // never used: no code is a NaN
  static constexpr Code key(Code code) { return static_cast<Code>(code ^ Flip); }
  static constexpr bool nan(Code) { return false; }
  static constexpr bool valid(Code code) { return code < 16; }
};

using E4m3 = SignMagnitude<std::uint8_t, 0x7E>;
using E5m2 = SignMagnitude<std::uint8_t, 0x7C>;
using Fp16 = SignMagnitude<std::uint16_t, 0x7C00>;
using Bf16 = SignMagnitude<std::uint16_t, 0x7F80>;
using Fp32 = SignMagnitude<std::uint32_t, 0x7F800000>;
using Int4 = Nibble<8>;
using Uint4 = Nibble<0>;

/// Calls `use` with a value of the format's order type.
template <typename Use>
auto with_order(formats::Format format, Use&& use) {
  switch (format) {
    case formats::Format::e4m3:
      return use(E4m3{});
    case formats::Format::e5m2:
      return use(E5m2{});
    case formats::Format::e8m0:
      return use(Exponent{});
    case formats::Format::fp16:
      return use(Fp16{});
    case formats::Format::bf16:
      return use(Bf16{});
    case formats::Format::fp32:
      return use(Fp32{});
    case formats::Format::int4:
      return use(Int4{});
    case formats::Format::uint4:
      return use(Uint4{});
  }
  assert(false && "unknown format");
  return use(Uint4{});
}

}  // namespace assay::properties::detail
