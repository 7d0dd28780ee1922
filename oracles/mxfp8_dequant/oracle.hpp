// MXFP8 dequantisation: the oracle. Everything here is from the definition and shares no code with a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/mxfp8_cast/layout.hpp"

namespace assay::oracles::mxfp8_dequant {

using mxfp8_cast::block;
using mxfp8_cast::Direction;
using mxfp8_cast::Misplacement;
using mxfp8_cast::misplacements;
using mxfp8_cast::ScaleLayout;
using mxfp8_cast::ScaleMatrix;

struct Contracts {
  formats::Format element = formats::Format::e4m3;  ///< e4m3 | e5m2
  formats::Format output = formats::Format::bf16;   ///< fp32 | fp16 | bf16
};

/// Data and output are [rows, cols], row-major and contiguous. The scale buffer is scale_rows x scale_stride
/// bytes, of which one byte a block is a scale and the rest padding, whatever it holds. Where the length of
/// a block's dimension is no multiple of 32, its last block holds the elements that there are.
struct Shape {
  std::size_t rows = 0, cols = 0, scale_rows = 0, scale_stride = 0;
  Direction direction{};
  ScaleLayout layout{};

  /// The matrix of blocks: rowwise [rows, ceil(cols/32)], colwise [ceil(rows/32), cols].
  std::size_t block_rows() const;
  std::size_t block_cols() const;
  /// The smallest extents of a linear scale buffer; the exact ones of a swizzled buffer, which are rowwise
  /// [pad128(rows), pad4(ceil(cols/32))], colwise [pad4(ceil(rows/32)), pad128(cols)].
  std::size_t least_scale_rows() const;
  std::size_t least_scale_stride() const;
  /// Where the scale of each block lies in the buffer, which must have at least, or exactly, those extents.
  ScaleMatrix scale_matrix() const;
};

/// One deliberate departure from the contract: how a known fault would compute. Used to name the damage of a
/// wrong output (the fault whose output it is), never to accept one.
enum class Fault : std::uint8_t {
  none,
  scale_0_flushed,              ///< 2^-127 is subnormal in fp32: taken as zero
  scale_0_is_one,               ///< code 0 treated as 1.0
  scale_254_infinite,           ///< 2^127 taken for Inf
  scale_254_flushed,            ///< 2^127 taken for zero
  scale_255_infinite,           ///< exponent field 255 read as fp32: Inf, and Inf * 0 = NaN
  scale_255_power,              ///< NaN treated as the number 2^128
  scale_one_up,                 ///< bias 126
  scale_one_down,               ///< bias 128
  element_specials_as_numbers,  ///< NaN and Inf codes decoded as if their exponent were an ordinary one
  element_subnormal_flushed,
  element_pairs_swapped,  ///< neighbours exchanged within each pair of a row
  product_sign_of_zero_lost,
  product_subnormal_flushed,   ///< an output in its format's subnormal range becomes zero of its sign
  product_truncated,           ///< rounded toward zero
  product_overflow_saturated,  ///< largest finite value in place of Inf
  product_through_fp16,        ///< fp32 -> fp16 -> output
  last_partial_block_stale,    ///< elements of a block with fewer than 32 elements not written
};
inline constexpr Fault last_fault = Fault::last_partial_block_stale;

/// round(decode(data) * 2^(scale - 127)): one rounding to `output`, to nearest even, overflow to Inf.
///
/// NaN is the output format's canonical code (0x7FFFFFFF, 0x7FFF) where the scale is 255 or the data is NaN.
/// It is pinned, not a class, because conversion and multiplication instructions give that code, so that
/// results may be compared as bytes: between routes, between devices, with a model's other runs.
///
/// Rounding the exact product directly and rounding it to fp32 first are the same thing. A decoded element
/// has at most 4 significant bits (e4m3; e5m2: 3) and is a multiple of 2^-9 (e4m3) or 2^-16 (e5m2), so the
/// product has as many bits and is a multiple of 2^-143, a multiple of fp32's smallest subnormal 2^-149.
/// Below 2^128 it is therefore exact in fp32, and what follows rounds the product itself. From 2^128 on it is
/// Inf in fp32, which stays Inf; and it is more than half a step beyond the largest finite value of fp16 and
/// of bf16, so it is Inf directly as well.
std::uint32_t output_code(std::uint8_t data, std::uint8_t scale, const Contracts&, Fault = Fault::none);

/// Exact acceptance of the whole output: rows * cols codes of contracts.output. `data` holds rows*cols codes,
/// `scales` the whole buffer. Deterministic; uses up to `threads` threads without changing a bit.
arithmetic::Acceptance accept(std::span<const std::byte> data, std::span<const std::byte> scales,
                              const Shape&, const Contracts&, Fault = Fault::none, unsigned threads = 1);

/// As accept, by a kernel that gets the places of scales wrong. A place outside the buffer is taken modulo
/// its size.
arithmetic::Acceptance accept_misplaced(std::span<const std::byte> data, std::span<const std::byte> scales,
                                        const Shape&, const Contracts&, Misplacement);

}  // namespace assay::oracles::mxfp8_dequant
