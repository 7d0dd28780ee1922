// Operands for the tests of this folder, from the counter-based generator; nothing outside tests may include
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fixtures/tensor/generator.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/gated_delta/oracle.hpp"

namespace assay::oracles::gated_delta::testing {

using formats::Exact;
using formats::Format;

/// What numbers are drawn.
enum class Draw : std::uint8_t {
  ordinary,    ///< magnitudes within some binades of 1, both signs, decays below 1
  any_finite,  ///< all finite codes alike: most results overflow
  specials,    ///< ordinary, with some zeros, subnormals, Inf, NaN and largest values
};

struct Options {
  Draw draw = Draw::ordinary;
  int vector_centre = 0;       ///< of q and k: magnitudes around 2^vector_centre
  int value_centre = 0;        ///< of v, and of the state but for a factor of 2; near 127 results overflow
  double least_decay = 0.3;    ///< precomputed decays lie between this and 1
  bool holes = false;          ///< every third sequence has no slot
  std::size_t free_slots = 0;  ///< of the pool, beyond those of the sequences
};

/// The memory behind Operands.
struct Case {
  Contracts contracts;
  Shape shape;
  std::vector<std::byte> q, k, v, a, b, a_log, dt_bias, g, beta, state;
  std::vector<std::int32_t> slots;
  std::uint32_t scale = 0;

  Operands operands() const { return {q, k, v, a, b, a_log, dt_bias, g, beta, state, slots, scale}; }
};

inline std::uint32_t of_double(Format format, double x) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  return formats::encode(format, Exact::finite(std::signbit(x), significand, exponent - 53));
}

/// Draws codes, a stream for each tensor.
class Source {
 public:
  Source(Draw draw, std::uint64_t seed) : draw_(draw), seed_(seed) {}

  /// Magnitudes within `binades` above and below 2^centre, of both signs.
  std::vector<std::byte> numbers(Format format, std::size_t count, int centre, int binades) {
    return make(format, count, [&](std::uint64_t bits) {
      const formats::Spec& s = formats::spec(format);
      const int exponent =
          centre + static_cast<int>(bits >> 40) % (2 * binades + 1) - binades - s.mantissa_bits;
      const auto significand = (std::uint64_t{1} << s.mantissa_bits) | (bits & mask(s.mantissa_bits));
      return formats::encode(format, Exact::finite((bits >> 33 & 1) != 0, significand, exponent));
    });
  }
  /// Uniform between two doubles, rounded once.
  std::vector<std::byte> between(Format format, std::size_t count, double low, double high) {
    return make(format, count, [&](std::uint64_t bits) {
      return of_double(format, low + (high - low) * std::ldexp(static_cast<double>(bits >> 16), -48));
    });
  }

 private:
  static constexpr std::uint64_t mask(int bits) { return (std::uint64_t{1} << bits) - 1; }

  template <class Ordinary>
  std::vector<std::byte> make(Format format, std::size_t count, Ordinary&& ordinary) {
    const int bytes = formats::storage_bytes(format);
    std::vector<std::byte> out(count * static_cast<std::size_t>(bytes));
    ++stream_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = fixtures::draw(seed_, stream_, i);
      arithmetic::store_code(out, bytes, i, drawn(format, bits, ordinary(bits)));
    }
    return out;
  }
  std::uint32_t drawn(Format format, std::uint64_t bits, std::uint32_t ordinary) const {
    const formats::Spec& s = formats::spec(format);
    const std::uint32_t sign = 1u << (s.bits - 1), infinity = formats::max_finite(format) + 1;
    if (draw_ == Draw::any_finite)
      return static_cast<std::uint32_t>(bits % infinity) | ((bits >> 40 & 1) ? sign : 0);
    if (draw_ == Draw::ordinary) return ordinary;
    const std::uint64_t kind = bits >> 54;
    const std::uint32_t negative = (bits >> 53 & 1) != 0 ? sign : 0;
    if (kind < 32) return negative;
    if (kind < 64) return negative | static_cast<std::uint32_t>(bits & mask(s.mantissa_bits));
    if (kind == 64 && bits % 4 == 0) return negative | (infinity - 1);
    if (kind == 65 && bits % 4 == 0) return negative | infinity;
    if (kind == 66 && bits % 4 == 0) return negative | (infinity + 1);
    return ordinary;
  }

  Draw draw_;
  std::uint64_t seed_, stream_ = 0;
};

/// `shape.pool` is set to what the options need, and strides that are too small to what the heads need.
inline Case random_case(const Contracts& contracts, Shape shape, const Options& options, std::uint64_t seed) {
  Case c;
  Source source(options.draw, seed);
  shape.pool = shape.batch + options.free_slots;
  shape.a_stride = std::max(shape.a_stride, shape.value_heads);
  shape.b_stride = std::max(shape.b_stride, shape.value_heads);
  const std::size_t keys = shape.tokens() * shape.key_heads * shape.key_dim;
  c.q = source.numbers(contracts.io, keys, options.vector_centre, 2);
  c.k = source.numbers(contracts.io, keys, options.vector_centre, 2);
  c.v = source.numbers(contracts.io, shape.out_elements(), options.value_centre, 2);
  c.state = source.numbers(contracts.state, shape.state_elements(), options.value_centre - 1, 2);
  const std::size_t gates = shape.tokens() * shape.value_heads;
  if (contracts.gates == Gates::raw) {
    c.a = source.between(contracts.io, shape.tokens() * shape.a_stride, -6, 24);
    c.b = source.between(contracts.io, shape.tokens() * shape.b_stride, -3, 3);
    c.a_log = source.between(Format::fp32, shape.value_heads, -6, -2);
    c.dt_bias = source.between(Format::fp32, shape.value_heads, -2, 1);
  } else {
    c.g = source.between(Format::fp32, gates, std::log(options.least_decay), -0x1p-20);
    c.beta = source.between(Format::fp32, gates, 0.1, 0.9);
  }
  // From the last slot down, so that none is at its place but the middle one.
  for (std::size_t i = 0; i < shape.batch; ++i) {
    const bool hole = options.holes && i % 3 == 1;
    c.slots.push_back(hole ? -1 - static_cast<std::int32_t>(i)
                           : static_cast<std::int32_t>(shape.pool - 1 - i));
  }
  c.scale = of_double(Format::fp32, 1 / std::sqrt(static_cast<double>(shape.key_dim)));
  c.contracts = contracts;
  c.shape = shape;
  return c;
}

/// All contracts that go together, but for the judge.
inline std::vector<Contracts> all_contracts() {
  std::vector<Contracts> all;
  for (const Format io : {Format::fp32, Format::bf16})
    for (const Format state : {Format::fp32, Format::bf16})
      for (const Layout layout : {Layout::kv, Layout::vk})
        for (const Norm norm : {Norm::division, Norm::rsqrt})
          for (const Epsilon epsilon : {Epsilon::e6, Epsilon::e12})
            for (const Beta beta : {Beta::fp32, Beta::bf16}) {
              all.push_back({io, state, layout, Gates::precomputed, norm, epsilon, {}, beta});
              for (const Softplus softplus : {Softplus::once, Softplus::log1p, Softplus::log})
                all.push_back({io, state, layout, Gates::raw, norm, epsilon, softplus, beta});
            }
  return all;
}

}  // namespace assay::oracles::gated_delta::testing
