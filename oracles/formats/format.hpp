// Number formats: what a code means, from the definition (sign, exponent, mantissa, bias, special codes).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::formats {

enum class Format : std::uint8_t { e4m3, e5m2, e8m0, fp16, bf16, fp32, int4, uint4 };

inline constexpr Format all_formats[] = {Format::e4m3, Format::e5m2, Format::e8m0, Format::fp16,
                                         Format::bf16, Format::fp32, Format::int4, Format::uint4};

/// How the codes with the largest exponent field are used.
enum class Specials : std::uint8_t {
  none,      ///< integers: every code is a number
  ieee,      ///< mantissa 0 is Inf, the rest NaN (e5m2, fp16, bf16, fp32)
  fn,        ///< "finite": no Inf, only all-ones is NaN (e4m3)
  nan_only,  ///< e8m0: 0xFF is NaN, no Inf, no zero
};

/// A format's definition. Value of a finite code: (-1)^s * 2^(max(e,1)-bias) * (e>0 ? 1.m : 0.m).
struct Spec {
  Format format;
  std::string_view name;
  int bits;           ///< width of a code
  int exponent_bits;  ///< 0 for integers
  int mantissa_bits;
  int bias;
  bool has_sign;
  Specials specials;
};

const Spec& spec(Format);
std::optional<Format> format_named(std::string_view name);

/// Bytes one stored element takes: 1, 2 or 4. The 4-bit formats take one byte an element here; packing is
/// the business of the family that packs them.
int storage_bytes(Format);

}  // namespace assay::formats
