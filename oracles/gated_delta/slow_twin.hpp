// A slow second opinion for tests: schedules.md once more, element by element as it is written there, on
// codes; sums and products exact in big integers with one encode, quotients and roots found by bisection over
// all codes, functions by intervals alone. Nothing outside tests may include it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/arithmetic/functions.hpp"
#include "oracles/formats/codec.hpp"
#include "oracles/gated_delta/oracle.hpp"

namespace assay::oracles::gated_delta::slow_twin {

using arithmetic::Dyadic;
using arithmetic::Function;
using formats::Exact;
using formats::Format;
using formats::Kind;
using Code = std::uint32_t;

inline constexpr Code nan = 0x7FFFFFFF, infinity = 0x7F800000, sign = 0x80000000, one = 0x3F800000;

inline Code nearest(Format format, const Exact& x) {
  return formats::encode(format, x, formats::Rounding::nearest_even, formats::Overflow::propagate);
}
inline Exact exact(Code x) { return formats::decode(Format::fp32, x); }
inline bool is_nan(Code x) { return (x & ~sign) > infinity; }

inline Code fma(Code a, Code b, Code c) {
  const Exact x = exact(a), y = exact(b), z = exact(c);
  const bool negative = x.negative != y.negative;
  if (is_nan(a) || is_nan(b) || is_nan(c)) return nan;
  if (x.kind == Kind::infinity || y.kind == Kind::infinity) {
    if (x.kind == Kind::zero || y.kind == Kind::zero) return nan;
    if (z.kind == Kind::infinity && z.negative != negative) return nan;
    return infinity | (negative ? sign : 0);
  }
  if (z.kind == Kind::infinity) return c;
  const Dyadic sum = Dyadic(x) * Dyadic(y) + Dyadic(z);
  if (!sum.is_zero()) return nearest(Format::fp32, sum.exact());
  const bool zeros = (x.kind == Kind::zero || y.kind == Kind::zero) && z.kind == Kind::zero;
  return zeros && negative && z.negative ? sign : 0;
}
inline Code add(Code a, Code b) { return fma(a, one, b); }
inline Code subtract(Code a, Code b) { return fma(b, one | sign, a); }
inline Code multiply(Code a, Code b) { return fma(a, b, (a ^ b) & sign); }  // a zero of the product's sign

/// The code of the positive number y that `not_above(x)`, x <= y, describes.
template <class NotAbove>
Code bisected(NotAbove&& not_above) {
  const auto value = [](Code code) {  // beyond the largest finite number comes 2^128
    return code == infinity ? Dyadic(1, 128) : Dyadic::of(Format::fp32, code);
  };
  Code low = 0, high = infinity;
  while (high - low > 1) {
    const Code middle = low + (high - low) / 2;
    (not_above(value(middle)) ? low : high) = middle;
  }
  const Dyadic midpoint = (value(low) + value(high)) * Dyadic(1, -1);
  if (!not_above(midpoint)) return low;
  // At the midpoint itself the even code.
  const auto just_above = midpoint + Dyadic(1, -1000);
  return not_above(just_above) || low % 2 == 1 ? high : low;
}

inline Code divide(Code a, Code b) {
  if (is_nan(a) || is_nan(b)) return nan;
  const Code negative = (a ^ b) & sign, x = a & ~sign, y = b & ~sign;
  if ((x == 0 && y == 0) || (x == infinity && y == infinity)) return nan;
  if (x == infinity || y == 0) return infinity | negative;
  if (x == 0 || y == infinity) return negative;
  const Dyadic dividend = Dyadic::of(Format::fp32, x), divisor = Dyadic::of(Format::fp32, y);
  return negative | bisected([&](const Dyadic& q) { return q * divisor <= dividend; });
}
inline Code root(Code x) {
  if (is_nan(x) || (x > sign)) return nan;
  if (x == 0 || x == sign || x == infinity) return x;
  const Dyadic radicand = Dyadic::of(Format::fp32, x);
  return bisected([&](const Dyadic& r) { return r * r <= radicand; });
}
inline Code apply(Function f, Code x) { return arithmetic::rounded_by_intervals(f, x); }

class Twin {
 public:
  /// Runs everything.
  Twin(const Contracts& contracts, const Shape& shape, const Operands& operands)
      : c_(contracts), s_(shape), o_(operands) {
    out.assign(s_.out_elements(), 0);
    for (std::size_t i = 0; i < s_.state_elements(); ++i) state.push_back(load(o_.state, c_.state, i));
    for (std::size_t n = 0; n < s_.batch; ++n)
      for (std::size_t h = 0; h < s_.value_heads && o_.slots[n] >= 0; ++h) head(n, h);
  }

  std::vector<Code> out, state;  ///< in contracts.io and contracts.state

 private:
  static Code load(std::span<const std::byte> codes, Format format, std::size_t i) {
    return arithmetic::load_code(codes, formats::storage_bytes(format), i);
  }
  static Code wide(Format format, Code x) { return nearest(Format::fp32, formats::decode(format, x)); }
  static Code narrow(Format format, Code x) { return nearest(format, exact(x)); }
  Code io(std::span<const std::byte> codes, std::size_t i) const {
    return wide(c_.io, load(codes, c_.io, i));
  }
  static Code single(std::span<const std::byte> codes, std::size_t i) { return load(codes, Format::fp32, i); }

  Code softplus(Code x) const {
    if (c_.softplus == Softplus::once) return apply(Function::softplus, x);
    const Code twenty = 0x41A00000;
    if (!is_nan(x) && (x & sign) == 0 && x > twenty) return x;
    const Code e = apply(Function::exp, x);
    if (c_.softplus == Softplus::log1p) return apply(Function::log1p, e);
    return apply(Function::log, add(one, e));
  }
  void gates(std::size_t token, std::size_t h, Code& alpha, Code& beta) const {
    Code g = 0;
    if (c_.gates == Gates::precomputed) {
      g = single(o_.g, token * s_.value_heads + h);
      beta = single(o_.beta, token * s_.value_heads + h);
    } else {
      const Code x = add(io(o_.a, token * s_.a_stride + h), single(o_.dt_bias, h));
      g = multiply(apply(Function::exp, single(o_.a_log, h)), softplus(x)) ^ sign;
      beta = apply(Function::sigmoid, io(o_.b, token * s_.b_stride + h));
    }
    alpha = apply(Function::exp, g);
    if (c_.beta == Beta::bf16) beta = wide(Format::bf16, narrow(Format::bf16, beta));
  }
  std::vector<Code> unit(std::span<const std::byte> codes, std::size_t first) const {
    std::vector<Code> x;
    for (std::size_t i = 0; i < s_.key_dim; ++i) x.push_back(io(codes, first + i));
    std::array<Code, 32> v{};
    for (std::size_t l = 0; l < 32; ++l)
      for (std::size_t i = l; i < s_.key_dim; i += 32) v[l] = fma(x[i], x[i], v[l]);
    for (const std::size_t d : {16u, 8u, 4u, 2u, 1u})
      for (std::size_t l = 0; l < d; ++l) v[l] = add(v[l], v[l + d]);
    const Code n = add(v[0], c_.epsilon == Epsilon::e6 ? 0x358637BD : 0x2B8CBCCC);
    const bool division = c_.norm == Norm::division;
    const Code r = division ? root(n) : apply(Function::rsqrt, n);
    for (Code& y : x) y = division ? divide(y, r) : multiply(y, r);
    return x;
  }
  Code sliced(const std::vector<Code>& s, const std::vector<Code>& factors) const {
    std::array<Code, 4> p{};
    for (std::size_t k = 0; k < s_.key_dim; ++k) {
      Code& of_slice = p[k / (s_.key_dim / 4)];
      of_slice = fma(s[k], factors[k], of_slice);
    }
    return add(add(add(p[0], p[1]), p[2]), p[3]);
  }

  void head(std::size_t n, std::size_t h) {
    const std::size_t K = s_.key_dim, V = s_.value_dim;
    const auto slot = static_cast<std::size_t>(o_.slots[n]);
    for (std::size_t t = 0; t < s_.steps; ++t) {
      const std::size_t token = n * s_.steps + t;
      Code alpha = 0, beta = 0;
      gates(token, h, alpha, beta);
      const std::size_t key_head = h / (s_.value_heads / s_.key_heads);
      const std::vector<Code> k = unit(o_.k, (token * s_.key_heads + key_head) * K);
      std::vector<Code> q = unit(o_.q, (token * s_.key_heads + key_head) * K);
      for (Code& x : q) x = multiply(x, o_.scale);
      for (std::size_t v = 0; v < V; ++v) {
        const auto place = [&](std::size_t i) {
          const std::size_t within = c_.layout == Layout::kv ? i * V + v : v * K + i;
          return (slot * s_.value_heads + h) * K * V + within;
        };
        std::vector<Code> s;
        for (std::size_t i = 0; i < K; ++i) s.push_back(multiply(alpha, wide(c_.state, state[place(i)])));
        const std::size_t column = (token * s_.value_heads + h) * V + v;
        const Code u = multiply(subtract(io(o_.v, column), sliced(s, k)), beta);
        for (std::size_t i = 0; i < K; ++i) s[i] = fma(k[i], u, s[i]);
        out[column] = narrow(c_.io, sliced(s, q));
        for (std::size_t i = 0; i < K; ++i) state[place(i)] = narrow(c_.state, s[i]);
      }
    }
  }

  Contracts c_;
  Shape s_;
  Operands o_;
};

}  // namespace assay::oracles::gated_delta::slow_twin
