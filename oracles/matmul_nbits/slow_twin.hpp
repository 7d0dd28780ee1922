// A slow second opinion for tests: schedules.md once more, element by element as it is written there, on
// codes, every operation an exact computation in big integers and one encode. Nothing outside tests may
// include it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::oracles::matmul_nbits::slow_twin {

using arithmetic::Dyadic;
using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Overflow;
using formats::Rounding;
using Code = std::uint32_t;

inline Code nearest(Format format, const Exact& x) {
  return formats::encode(format, x, Rounding::nearest_even, Overflow::propagate);
}
inline Code narrow(Format to, Format from, Code x) { return nearest(to, formats::decode(from, x)); }

/// a * b + c with operands of any formats, rounded once to `to`.
inline Code fused(Format to, const Exact& a, const Exact& b, const Exact& c) {
  const bool negative = a.negative != b.negative;
  for (const Exact* x : {&a, &b, &c})
    if (x->kind == Kind::nan) return formats::canonical_nan(to);
  if (a.kind == Kind::infinity || b.kind == Kind::infinity) {
    if (a.kind == Kind::zero || b.kind == Kind::zero) return formats::canonical_nan(to);
    if (c.kind == Kind::infinity && c.negative != negative) return formats::canonical_nan(to);
    return nearest(to, Exact::infinity(negative));
  }
  if (c.kind == Kind::infinity) return nearest(to, c);
  const Dyadic exact = Dyadic(a) * Dyadic(b) + Dyadic(c);
  if (!exact.is_zero()) return nearest(to, exact.exact());
  const bool zero_product = a.kind == Kind::zero || b.kind == Kind::zero;
  return nearest(to, Exact::zero(zero_product && c.kind == Kind::zero && negative && c.negative));
}
inline const Exact one = Exact::finite(false, 1, 0);
inline const Exact minus_zero = Exact::zero(true);

inline Code fma(Format f, Code a, Code b, Code c) {
  return fused(f, formats::decode(f, a), formats::decode(f, b), formats::decode(f, c));
}
inline Code add32(Code a, Code b) {
  return fused(Format::fp32, formats::decode(Format::fp32, a), one, formats::decode(Format::fp32, b));
}
inline Code wide(Code fp16) { return narrow(Format::fp32, Format::fp16, fp16); }

/// One sum of a tensor core, straight from schedules.md: products exact with the exponent ea + eb.
inline Code tensor_sum(const std::vector<Code>& a, const std::vector<Code>& b, Code acc, int bits) {
  const auto cut = [](const Dyadic& x, int place) {  // toward zero, to a whole number of 2^place
    // Steps down from the top: the largest multiple not above |x|.
    Dyadic rest = arithmetic::abs(x), kept;
    for (int p = x.is_zero() ? place - 1 : formats::floor_log2(x.exact()); p >= place; --p) {
      const Dyadic step(1, p);
      if (rest >= step) {
        rest -= step;
        kept += step;
      }
    }
    return x.negative() ? -kept : kept;
  };
  const auto exponent = [](const Exact& x, Format f) {
    const int least = f == Format::fp16 ? -14 : -126;
    return std::max(formats::floor_log2(x), least);
  };
  std::vector<Dyadic> addends;
  int largest = -10000;
  bool nan = false, up = false, down = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Exact x = formats::decode(Format::fp16, a[i]), y = formats::decode(Format::fp16, b[i]);
    const bool infinite = x.kind == Kind::infinity || y.kind == Kind::infinity;
    const bool zero = x.kind == Kind::zero || y.kind == Kind::zero;
    if (x.kind == Kind::nan || y.kind == Kind::nan || (infinite && zero)) {
      nan = true;
    } else if (infinite) {
      (x.negative != y.negative ? down : up) = true;
    } else if (!zero) {
      addends.push_back(Dyadic(x) * Dyadic(y));
      largest = std::max(largest, exponent(x, Format::fp16) + exponent(y, Format::fp16));
    }
  }
  const Exact c = formats::decode(Format::fp32, acc);
  if (c.kind == Kind::nan) nan = true;
  if (c.kind == Kind::infinity) (c.negative ? down : up) = true;
  if (nan || (up && down)) return formats::canonical_nan(Format::fp32);
  if (up || down) return nearest(Format::fp32, Exact::infinity(down));
  if (c.kind == Kind::finite) {
    addends.emplace_back(c);
    largest = std::max(largest, exponent(c, Format::fp32));
  }
  Dyadic sum;
  for (const Dyadic& x : addends) sum += cut(x, largest - bits);
  return formats::encode(Format::fp32, sum.exact(), Rounding::toward_zero, Overflow::propagate);
}

class Twin {
 public:
  Twin(const Contracts& contracts, const Shape& shape, const Operands& operands)
      : c_(contracts), s_(shape), o_(operands) {}

  Code y(std::size_t row, std::size_t col) const {
    const Code acc = accumulator(row, col);
    const bool with_bias = !o_.bias.empty();
    if (c_.model == Format::fp32) return with_bias ? add32(acc, load(o_.bias, col)) : acc;
    Code h = narrow(Format::fp16, Format::fp32, acc);
    if (with_bias) {
      const Code bias = wide(x16(load(o_.bias, col)));
      const Code first = c_.bias_round == BiasRound::twice ? wide(h) : acc;
      h = narrow(Format::fp16, Format::fp32, add32(first, bias));
    }
    return narrow(c_.model, Format::fp16, h);
  }

  /// The fp32 accumulator, before bias and stores.
  Code accumulator(std::size_t row, std::size_t col) const {
    switch (c_.schedule) {
      case Schedule::split_k:
        return split_k(row, col);
      case Schedule::multicol:
      case Schedule::natural:
        return unscaled(col);
      case Schedule::tile:
        return tile(row, col);
      case Schedule::mma:
        return mma(row, col);
    }
    return 0;
  }

  /// The true value without bias, by the definition of the operator.
  Dyadic exact(std::size_t row, std::size_t col) const {
    Dyadic sum;
    for (std::size_t k = 0; k < s_.k; ++k)
      sum += Dyadic::of(c_.model, load(o_.a, row * s_.k + k)) * Dyadic(difference(col, k), 0) *
             Dyadic::of(c_.model, load(o_.scales, col * s_.blocks() + k / s_.block));
    return sum;
  }

 private:
  Code load(std::span<const std::byte> codes, std::size_t i) const {
    return arithmetic::load_code(codes, formats::storage_bytes(c_.model), i);
  }
  Code x16(Code x) const { return narrow(Format::fp16, c_.model, x); }
  Code a16(std::size_t row, std::size_t k) const { return x16(load(o_.a, row * s_.k + k)); }

  // From byte offsets, as the ONNX operator lays them out.
  int difference(std::size_t col, std::size_t k) const {
    const std::size_t per_byte = 8 / s_.bits;
    const unsigned mask = (1u << s_.bits) - 1;
    const std::size_t blob = s_.block * s_.bits / 8, within = k % s_.block;
    const std::size_t at = (col * s_.blocks() + k / s_.block) * blob + within / per_byte;
    const unsigned q = std::to_integer<unsigned>(o_.b[at]) >> (within % per_byte * s_.bits) & mask;
    unsigned z = 1u << (s_.bits - 1);
    if (!o_.zero_points.empty()) {
      const std::size_t block = k / s_.block;
      const std::size_t row_bytes = (s_.blocks() * s_.bits + 7) / 8;
      z = std::to_integer<unsigned>(o_.zero_points[col * row_bytes + block / per_byte]) >>
              (block % per_byte * s_.bits) &
          mask;
    }
    return static_cast<int>(q) - static_cast<int>(z);
  }
  static Exact integer(int x) { return Exact::finite(x < 0, static_cast<std::uint64_t>(x < 0 ? -x : x), 0); }
  Code scale(std::size_t col, std::size_t k) const {
    return load(o_.scales, col * s_.blocks() + k / s_.block);
  }
  Code weight16(std::size_t col, std::size_t k) const {
    return fused(Format::fp16, integer(difference(col, k)), formats::decode(Format::fp16, x16(scale(col, k))),
                 minus_zero);
  }

  static Code tree(std::array<Code, 32> v) {
    for (const std::size_t d : {16u, 8u, 4u, 2u, 1u})
      for (std::size_t l = 0; l < d; ++l) v[l] = add32(v[l], v[l + d]);
    return v[0];
  }

  Code lane(std::size_t row, std::size_t col, std::size_t slice, std::size_t l) const {
    std::array<Code, 4> x{}, y{};
    Code tail = 0;
    for (std::size_t k0 = 256 * slice + 8 * l; k0 < s_.k; k0 += 256 * c_.k_split) {
      if (k0 + 8 <= s_.k) {
        for (std::size_t p = 0; p < 4; ++p) {
          x[p] = fma(Format::fp16, weight16(col, k0 + p), a16(row, k0 + p), x[p]);
          y[p] = fma(Format::fp16, weight16(col, k0 + p + 4), a16(row, k0 + p + 4), y[p]);
        }
      } else {
        for (std::size_t k = k0; k < s_.k; ++k)
          tail = fma(Format::fp32, wide(weight16(col, k)), wide(a16(row, k)), tail);
      }
    }
    for (const Code c : x) tail = add32(tail, wide(c));
    for (const Code c : y) tail = add32(tail, wide(c));
    return tail;
  }
  Code split_k(std::size_t row, std::size_t col) const {
    Code acc = 0;
    for (std::size_t slice = 0; slice < c_.k_split; ++slice) {
      std::array<Code, 32> v{};
      for (std::size_t l = 0; l < 32; ++l) v[l] = lane(row, col, slice, l);
      acc = add32(acc, tree(v));
    }
    return acc;
  }

  Code unscaled(std::size_t col) const {
    const auto step = [&](std::size_t k, Code acc) {
      return fma(Format::fp16, nearest(Format::fp16, integer(difference(col, k))), a16(0, k), acc);
    };
    std::array<Code, 32> v{};
    for (std::size_t l = 0; l < 32; ++l) {
      Code total_x = 0, total_y = 0;
      for (std::size_t block = l; block < s_.blocks(); block += 32) {
        Code x = 0, y = 0;
        for (std::size_t j = 0; j < 4; ++j) {
          for (std::size_t p = 0; p < 4; ++p) {
            const std::size_t at = 32 * block + 8 * j;
            const bool multicol = c_.schedule == Schedule::multicol;
            x = step(multicol ? at + p : at + 2 * p, x);
            y = step(multicol ? at + p + 4 : at + 2 * p + 1, y);
          }
        }
        const Code s = scale(col, 32 * block);
        total_x = fma(Format::fp16, x, s, total_x);
        total_y = fma(Format::fp16, y, s, total_y);
      }
      v[l] = add32(wide(total_x), wide(total_y));
    }
    return tree(v);
  }

  Code tile(std::size_t row, std::size_t col) const {
    Code acc = 0;
    for (std::size_t k = 0; k < s_.k; ++k) {
      const bool fp32 = c_.model == Format::fp32;
      const Code a = fp32 ? load(o_.a, row * s_.k + k) : wide(a16(row, k));
      const Code s = fp32 ? scale(col, k) : wide(x16(scale(col, k)));
      const Code w =
          fused(Format::fp32, integer(difference(col, k)), formats::decode(Format::fp32, s), minus_zero);
      acc = fma(Format::fp32, a, w, acc);
    }
    return acc;
  }

  Code mma(std::size_t row, std::size_t col) const {
    const std::size_t width = c_.tensor_cores == TensorCores::hopper ? 16 : 8;
    Code acc = 0;
    for (std::size_t k0 = 0; k0 < (s_.k + 15) / 16 * 16; k0 += width) {
      std::vector<Code> a, w;
      for (std::size_t k = k0; k < k0 + width; ++k) {
        a.push_back(k < s_.k ? a16(row, k) : 0);
        w.push_back(k < s_.k ? weight16(col, k) : 0);
      }
      acc = tensor_sum(a, w, acc, width == 16 ? 25 : 24);
    }
    return acc;
  }

  Contracts c_;
  Shape s_;
  Operands o_;
};

}  // namespace assay::oracles::matmul_nbits::slow_twin
