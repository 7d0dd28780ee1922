// MXFP8 cast: the oracle, one direction at a time. Everything here is from the definition and shares no code
// with a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/mxfp8_cast/layout.hpp"

namespace assay::oracles::mxfp8_cast {

/// How the block's power-of-two scale 2^(byte-127) follows from amax = max |x|; emax = 8 (e4m3), 15 (e5m2).
enum class ScaleRule : std::uint8_t {
  rceil,  ///< ceil(log2 fl32(amax * fl32(1/M))), M = 448 | 57344 (the NVIDIA recipe)
  floor,  ///< floor(log2 amax) - emax (OCP MX v1.0)
  ceil,   ///< ceil(log2 amax) - emax
  even,   ///< floor(log2 amax') - emax, amax' = amax rounded to the element's mantissa bits, ties to even
};

/// What a block holding NaN or Inf becomes.
enum class SpecialBlocks : std::uint8_t {
  poison,       ///< any NaN or Inf: scale 0xFF, all data NaN (OCP, torchao, microxcaling)
  te_staged,    ///< amax ignores NaN (all NaN: 0x00); NaN element is NaN; any Inf: 0xFE
  te_register,  ///< as te_staged, but an all-NaN block has scale 0xFF
};

enum class Padding : std::uint8_t { untouched, zero };

struct Contracts {
  formats::Format element = formats::Format::e4m3;  ///< e4m3 | e5m2
  ScaleRule scale_rule = ScaleRule::rceil;
  SpecialBlocks specials = SpecialBlocks::poison;
  Padding padding = Padding::untouched;
  ScaleLayout layout = ScaleLayout::linear;
};

/// One deliberate departure from the contract: how a known fault would compute. Used to name the damage of a
/// wrong output (the fault whose output it is), never to accept one.
enum class Fault : std::uint8_t {
  none,
  element_truncated,        ///< element rounded toward zero
  element_ties_away,        ///< ties away from zero
  element_through_fp16,     ///< fp32 -> fp16 -> fp8
  element_overflow_to_nan,  ///< nosat in place of satfinite
  element_subnormal_flushed,
  element_zero_sign_lost,
  nan_dropped_by_max,         ///< amax ignores NaN where the contract lets it count
  last_left_out_of_amax,      ///< a loop that ends one early; the element itself is converted
  scale_one_up,               ///< byte + 1, data to match
  scale_one_down,             ///< byte - 1, data to match
  scale_from_divided_amax,    ///< floor(log2(amax / M)), the exponent taken after the division
  scale_exact_power_doubled,  ///< frexp: an exact power of two gets twice its scale
  reciprocal_254_flushed,     ///< 2^-127 flushed to zero
  reciprocal_0_is_one,        ///< code 0 treated as 1.0
  zero_block_nan,             ///< 0/0
};
inline constexpr Fault last_fault = Fault::zero_block_nan;

/// The scale byte of one block of 1 to 32 codes of `input` (fp32 | fp16 | bf16). The elements that a block at
/// the edge lacks count for nothing: one that has only NaN is all NaN.
std::uint8_t scale_byte(formats::Format input, std::span<const std::uint32_t> codes, const Contracts&,
                        Fault = Fault::none);

/// The element code for one input code under that scale byte; NaN for every input under scale 0xFF, which is
/// how the poison contract makes a block NaN as a whole. For Fault::zero_block_nan a zero under scale 0
/// counts as one in a block of zeros.
std::uint8_t element_code(formats::Format input, std::uint32_t code, std::uint8_t scale, const Contracts&,
                          Fault = Fault::none);

struct CastAcceptance {
  arithmetic::Acceptance data;    ///< rows * cols codes of contracts.element; a NaN must be 0x7F
  arithmetic::Acceptance scales;  ///< the e8m0 codes of the direction's extent, padding included
};

/// Exact acceptance of the whole cast in one direction; `x` holds rows*cols codes of `input`, little-endian.
/// Padding is every byte of the scale buffer that is no scale's place: scattered where scales are swizzled.
/// Deterministic; uses up to `threads` threads without changing a bit.
CastAcceptance accept(formats::Format input, std::span<const std::byte> x, const Shape&, Direction,
                      const Contracts&, Fault = Fault::none, unsigned threads = 1);

}  // namespace assay::oracles::mxfp8_cast
