// Operands for the tests of this folder, from integers mixed by counter; nothing outside tests may include
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::oracles::matmul_nbits::testing {

/// 64 bits for place `index` of stream `stream`.
inline std::uint64_t mixed(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t x = stream * 0xA0761D6478BD642Fu + index;
  for (int round = 0; round < 3; ++round) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
  }
  return x ^ x >> 32;
}

/// What numbers are drawn.
enum class Draw : std::uint8_t {
  moderate,    ///< magnitudes within some binades of 1, both signs
  any_finite,  ///< all finite codes alike: most results overflow
  specials,    ///< moderate, with some zeros, subnormals, Inf, NaN and largest values
};

/// A number within `binades` above and below 2^centre.
inline std::uint32_t moderate(formats::Format format, std::uint64_t bits, int centre, int binades) {
  const formats::Spec& s = formats::spec(format);
  const int exponent = centre + static_cast<int>(bits >> 40) % (2 * binades + 1) - binades;
  const auto significand = (std::uint64_t{1} << s.mantissa_bits) | (bits & ((1u << s.mantissa_bits) - 1));
  return formats::encode(
      format, formats::Exact::finite((bits >> 33 & 1) != 0, significand, exponent - s.mantissa_bits));
}

inline std::uint32_t drawn(formats::Format format, Draw draw, std::uint64_t bits, int centre, int binades) {
  const formats::Spec& s = formats::spec(format);
  const std::uint32_t sign = 1u << (s.bits - 1), infinity = formats::max_finite(format) + 1;
  if (draw == Draw::any_finite)
    return static_cast<std::uint32_t>(bits % infinity) | ((bits >> 40 & 1) ? sign : 0);
  const std::uint64_t kind = bits >> 56;
  const std::uint32_t negative = (bits >> 55 & 1) != 0 ? sign : 0;
  if (draw == Draw::specials) {
    if (kind < 8) return negative;
    if (kind < 24) return negative | static_cast<std::uint32_t>(bits & ((1u << s.mantissa_bits) - 1));
    if (kind < 25) return negative | (infinity - 1);
    if (kind == 25 && bits % 8 == 0) return negative | infinity;
    if (kind == 26 && bits % 8 == 0) return negative | (infinity + 1);
  }
  return moderate(format, bits, centre, binades);
}

/// The memory behind Operands.
struct Case {
  Shape shape;
  std::vector<std::byte> a, b, scales, zero_points, bias;

  Operands operands() const { return {a, b, scales, zero_points, bias}; }
};

struct Options {
  Draw draw = Draw::moderate;
  bool zero_points = true, bias = true;
  int scale_centre = -5;
};

inline std::vector<std::byte> numbers(formats::Format format, std::size_t count, Draw draw,
                                      std::uint64_t stream, int centre, int binades) {
  const int bytes = formats::storage_bytes(format);
  std::vector<std::byte> out(count * static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < count; ++i)
    arithmetic::store_code(out, bytes, i, drawn(format, draw, mixed(stream, i), centre, binades));
  return out;
}

inline std::vector<std::byte> bytes_of(std::size_t count, std::uint64_t stream) {
  std::vector<std::byte> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(mixed(stream, i) >> 20 & 0xFF);
  return out;
}

inline Case random_case(formats::Format model, const Shape& shape, const Options& options,
                        std::uint64_t seed) {
  Case c;
  c.shape = shape;
  const std::uint64_t stream = 16 * seed;
  c.a = numbers(model, shape.m * shape.k, options.draw, stream, 0, 4);
  c.b = bytes_of(shape.n * shape.row_bytes(), stream + 1);
  c.scales = numbers(model, shape.n * shape.blocks(), options.draw, stream + 2, options.scale_centre, 2);
  if (options.zero_points) c.zero_points = bytes_of(shape.n * shape.zero_point_row_bytes(), stream + 3);
  if (options.bias) c.bias = numbers(model, shape.n, options.draw, stream + 4, 0, 3);
  return c;
}

}  // namespace assay::oracles::matmul_nbits::testing
