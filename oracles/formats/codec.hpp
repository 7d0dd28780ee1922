// Exact decoding and once-rounded encoding for every format of format.hpp.
#pragma once

#include <cstdint>

#include "oracles/formats/exact.hpp"
#include "oracles/formats/format.hpp"

namespace assay::formats {

enum class Rounding : std::uint8_t {
  nearest_even,
  toward_zero,
  up,    ///< toward +Inf
  down,  ///< toward -Inf
};

/// What becomes of a rounded magnitude over the largest finite value, and of Inf. A finite value that its
/// rounding directs toward zero stays at the largest finite value, as IEEE 754 has it: only Inf itself
/// overflows there.
enum class Overflow : std::uint8_t {
  saturate,   ///< the largest finite value of that sign ("satfinite")
  propagate,  ///< the format's own: Inf where it has one, else NaN ("nosat")
};

/// The exact value of `code` (low bits; higher bits must be zero).
Exact decode(Format, std::uint32_t code);

/// The code of `x`, rounded once. NaN becomes the canonical NaN code (canonical_nan). A negative zero, or a
/// negative value rounding to zero, keeps its sign where the format has one. e8m0 has no zero and no sign:
/// magnitudes below 2^-127 become 0x00, a negative non-zero value is a programmer error; with no mantissa bit
/// to be even, its ties go to the larger power of two (IEEE 754-2019, 4.3.1). Integers saturate under either
/// overflow rule; NaN and Inf into an integer are a programmer error.
std::uint32_t encode(Format, const Exact& x, Rounding = Rounding::nearest_even,
                     Overflow = Overflow::saturate);

bool is_nan(Format, std::uint32_t code);
bool is_infinity(Format, std::uint32_t code);

/// 0x7F for both fp8 formats, 0xFF e8m0, 0x7FFF fp16 and bf16, 0x7FFFFFFF fp32 (what NVIDIA hardware
/// returns).
std::uint32_t canonical_nan(Format);
std::uint32_t max_finite(Format);  ///< the positive code

/// Order-preserving unsigned key of a non-NaN code: a < b as reals implies key(a) < key(b), with -0 just
/// under +0, and neighbours one apart. Sign-magnitude codes c map to c|signbit when positive and ~c when
/// negative.
std::uint32_t ordered_key(Format, std::uint32_t code);

}  // namespace assay::formats
