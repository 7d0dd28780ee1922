// Inputs for the tests of this folder: blocks of every class that a contract tells apart, from integer
// hashing alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/mxfp8_cast/cast.hpp"

namespace assay::kernels::mxfp8_cast {

/// A 16- or 32-bit input format by its fields.
struct InputFormat {
  unsigned exponent_bits, mantissa_bits;
  unsigned bytes() const { return (1 + exponent_bits + mantissa_bits) / 8; }
  std::uint32_t code(std::uint32_t sign, std::uint32_t exponent, std::uint32_t mantissa) const {
    return (sign & 1u) << (exponent_bits + mantissa_bits) | exponent << mantissa_bits |
           (mantissa & ((1u << mantissa_bits) - 1));
  }
  std::uint32_t top_exponent() const { return (1u << exponent_bits) - 1; }
};

inline InputFormat format_of(Input input) {
  if (input == Input::fp32) return {8, 23};
  return input == Input::fp16 ? InputFormat{5, 10} : InputFormat{8, 7};
}

inline std::uint32_t hashed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7FEB352Du;
  x = (x ^ (x >> 15)) * 0x846CA68Bu;
  return x ^ (x >> 16);
}

/// The classes that element_code cycles through, block by block.
enum class BlockClass : std::uint32_t {
  any_bits,
  near_one,
  zeros,
  one_nan,
  all_nan,
  one_infinity,
  nan_and_infinity,
  subnormals,
  one_power,
  one_binade,  ///< every magnitude in [2^k, 2^(k+1)): amax close to the next binade
  largest,
  tiny,
  nan_and_zeros,
};
inline constexpr std::uint32_t block_classes = 13;

/// Code of element `lane` of block `block`.
inline std::uint32_t element_code(const InputFormat& f, std::uint32_t block, std::uint32_t lane) {
  const std::uint32_t random = hashed(block * 32 + lane + 1), shared = hashed(~block);
  const std::uint32_t bias = f.top_exponent() / 2;
  const auto nan = f.code(random, f.top_exponent(), random >> 8 | 1u);
  const auto infinity = f.code(random, f.top_exponent(), 0);
  const auto finite = f.code(random, bias - 3 + (random >> 1) % 8, random >> 8);
  const bool chosen = lane == shared % 32, second = lane == (shared >> 5) % 32;
  switch (static_cast<BlockClass>(block % block_classes)) {
    case BlockClass::any_bits:
      return random & (f.bytes() == 4 ? ~0u : 0xFFFFu);
    case BlockClass::near_one:
      return finite;
    case BlockClass::zeros:
      return f.code(random, 0, 0);
    case BlockClass::one_nan:
      return chosen ? nan : finite;
    case BlockClass::all_nan:
      return nan;
    case BlockClass::one_infinity:
      return chosen ? infinity : finite;
    case BlockClass::nan_and_infinity:
      return chosen ? nan : second ? infinity : finite;
    case BlockClass::subnormals:
      return f.code(random, 0, random >> 8);
    case BlockClass::one_power:
      return f.code(random, 1 + shared % (f.top_exponent() - 1), 0);
    case BlockClass::one_binade:
      return f.code(random, 1 + shared % (f.top_exponent() - 1), random >> 8);
    case BlockClass::largest:
      return f.code(random, f.top_exponent() - 1, ~(random >> 20 & 3u));
    case BlockClass::tiny:
      return f.code(random, 1 + (random >> 1) % 3, random >> 8);
    case BlockClass::nan_and_zeros:
      return chosen ? nan : f.code(random, 0, 0);
  }
  return 0;
}

/// rows * cols codes, row-major and little-endian; `first_block` shifts the classes.
inline std::vector<std::byte> make_input(Input input, std::int64_t rows, std::int64_t cols,
                                         std::uint32_t first_block) {
  const InputFormat f = format_of(input);
  const auto count = static_cast<std::size_t>(rows * cols);
  std::vector<std::byte> bytes(count * f.bytes());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t code =
        element_code(f, first_block + static_cast<std::uint32_t>(i / 32), static_cast<std::uint32_t>(i % 32));
    std::memcpy(bytes.data() + i * f.bytes(), &code, f.bytes());
  }
  return bytes;
}

}  // namespace assay::kernels::mxfp8_cast
