// The rounding schedule of the gated delta rule, written once and generic over its arithmetic: with modelled
// or host numbers it gives bits, with bounded ones its running error bound, with numbers that do not round
// the true value.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracles/gated_delta/columns.hpp"
#include "oracles/gated_delta/departure.hpp"

namespace assay::oracles::gated_delta {

using arithmetic::convert;
using arithmetic::Function;

inline constexpr std::uint32_t fp32_one = 0x3F800000u;
inline constexpr std::uint32_t fp32_twenty = 0x41A00000u;
inline constexpr std::size_t lanes = 32, slices = 4;

/// The fp32 nearest 1e-6 and 1e-12.
constexpr std::uint32_t epsilon_code(Epsilon e) { return e == Epsilon::e6 ? 0x358637BDu : 0x2B8CBCCCu; }

/// Decay and strength of one step of one head.
template <class Arithmetic>
struct Gate {
  typename Arithmetic::Number alpha, beta;
};

/// What the gates of one step of one head are made of: g and beta, or the other four.
template <class Number>
struct GateInputs {
  Number g, beta, a, b, a_log, dt_bias;
};

template <class Arithmetic, class Number = typename Arithmetic::Number>
Number softplus(Softplus form, const Number& x, const Departure& departure) {
  if (departure.is(Fault::softplus_linear)) return x;
  if constexpr (Arithmetic::rounds) {
    // NaN is not over 20.
    if (form != Softplus::once && std::bit_cast<float>(x.code()) > std::bit_cast<float>(fp32_twenty))
      return softplus_of_large(x);
    if (form == Softplus::log1p) return apply(Function::log1p, apply(Function::exp, x));
    if (form == Softplus::log)
      return apply(Function::log, Arithmetic::of_fp32(fp32_one) + apply(Function::exp, x));
  }
  return apply(Function::softplus, x);
}

template <class Arithmetic>
Gate<Arithmetic> gate(const Contracts& contracts, const GateInputs<typename Arithmetic::Number>& in,
                      const Departure& departure) {
  using Number = typename Arithmetic::Number;
  const Number one = Arithmetic::of_fp32(fp32_one);
  Number g = in.g, beta = in.beta;
  if (contracts.gates == Gates::raw) {
    const Number x = departure.is(Fault::dt_bias_ignored) ? in.a : in.a + in.dt_bias;
    const Number decay =
        apply(Function::exp, in.a_log) * softplus<Arithmetic>(contracts.softplus, x, departure);
    g = departure.is(Fault::sign_of_g) ? decay : -decay;
    beta = apply(Function::sigmoid, in.b);
  }
  Number alpha = apply(Function::exp, g);
  if (departure.is(Fault::decay_twice)) alpha = apply(Function::exp, alpha);
  if (departure.is(Fault::decay_ignored)) alpha = one;
  const bool rounded = contracts.beta == Beta::bf16;
  if (rounded != (departure.is(Fault::beta_rounded) || departure.is(Fault::beta_unrounded)))
    beta = to_bf16(beta);
  if (departure.is(Fault::beta_ignored)) beta = one;
  return {alpha, beta};
}

/// a * b + c, of numbers or of columns.
template <class Number, class Row>
ASSAY_INLINED Row fused(const Number& a, const Row& b, const Row& c, const Departure& departure) {
  if (departure.is(Fault::not_fused)) [[unlikely]]
    return a * b + c;
  return fma(a, b, c);
}

/// The sum of squares: 32 lanes, then a tree.
template <class Number>
Number sum_of_squares(std::span<const Number> x, const Departure& departure) {
  std::array<Number, lanes> v{};
  for (std::size_t i = 0; i < x.size(); ++i) v[i % lanes] = fused(x[i], x[i], v[i % lanes], departure);
  for (std::size_t d = lanes / 2; d > 0; d /= 2)
    for (std::size_t l = 0; l < d; ++l) v[l] = v[l] + v[l + d];
  return v[0];
}

/// Divides x by its norm, or multiplies it by the reciprocal.
template <class Arithmetic>
void normalise(const Contracts& contracts, std::span<typename Arithmetic::Number> x,
               const Departure& departure) {
  using Number = typename Arithmetic::Number;
  if (departure.is(Fault::norm_ignored)) return;
  Epsilon epsilon = contracts.epsilon;
  if (departure.is(Fault::epsilon_other)) epsilon = epsilon == Epsilon::e6 ? Epsilon::e12 : Epsilon::e6;
  const Number added = Arithmetic::of_fp32(epsilon_code(epsilon));
  const bool outside = departure.is(Fault::epsilon_outside);
  const Number sum = sum_of_squares(std::span<const Number>(x), departure);
  const Number n = outside || departure.is(Fault::epsilon_ignored) ? sum : sum + added;
  if (contracts.norm == Norm::division) {
    const Number root = outside ? sqrt(n) + added : sqrt(n);
    for (Number& y : x) y = y / root;
    return;
  }
  const Number reciprocal =
      outside ? Arithmetic::of_fp32(fp32_one) / (sqrt(n) + added) : apply(Function::rsqrt, n);
  for (Number& y : x) y = y * reciprocal;
}

/// The sum over k of factors[k] * s[k] in four slices.
template <class Arithmetic>
ASSAY_INLINED typename Arithmetic::Row sum_in_slices(std::span<const typename Arithmetic::Row> s,
                                                     std::span<const typename Arithmetic::Number> factors,
                                                     const Departure& departure) {
  using Row = typename Arithmetic::Row;
  const std::size_t rows = s.size() / slices;
  std::array<Row, slices> p{};
  for (std::size_t slice = 0; slice < slices; ++slice)
    for (std::size_t k = slice * rows; k < (slice + 1) * rows; ++k)
      p[slice] = fused(factors[k], s[k], p[slice], departure);
  const Row three = (p[0] + p[1]) + p[2];
  return departure.is(Fault::last_slice_dropped) ? three : three + p[3];
}

/// What all columns of a head have in common in one step: its gate, and k^ and q^.
template <class Arithmetic>
struct Step {
  Gate<Arithmetic> gate;
  std::vector<typename Arithmetic::Number> k, q;  ///< [key_dim]
  bool last = false;                              ///< of the run
};

/// One step of some columns: `s` [key_dim] becomes the state after it, rounded to its format. Returns o in
/// fp32.
template <class Arithmetic>
ASSAY_INLINED typename Arithmetic::Row recur(const Contracts& contracts, const Step<Arithmetic>& step,
                                             const typename Arithmetic::Row& v,
                                             std::span<typename Arithmetic::Row> s,
                                             const Departure& departure) {
  using Row = typename Arithmetic::Row;
  const auto sum = [&](const auto& factors) __attribute__((always_inline)) {
    return sum_in_slices<Arithmetic>(std::span<const Row>(s), factors, departure);
  };
  const bool narrow = contracts.state == formats::Format::bf16;
  Row kv{}, o{};
  if (departure.is(Fault::error_before_decay)) kv = sum(step.k);
  for (Row& x : s) x = step.gate.alpha * x;
  if (!departure.is(Fault::error_before_decay)) kv = sum(step.k);
  if (departure.is(Fault::output_before_update)) o = sum(step.q);
  const Row u = step.gate.beta * (v - kv);
  for (std::size_t i = 0; i < s.size(); ++i) s[i] = fused(step.k[i], u, s[i], departure);
  const bool early = departure.is(Fault::state_rounded_early);
  if (narrow && early)
    for (Row& x : s) x = to_bf16(x);
  if (!departure.is(Fault::output_before_update)) o = sum(step.q);
  if (narrow && (step.last || !departure.is(Fault::state_never_rounded)))
    for (Row& x : s) x = to_bf16(x);
  return o;
}

}  // namespace assay::oracles::gated_delta
