// Errors of the state through time, for a schedule that computes S in either arithmetic with bounds.
//
// Let S be the column that the arithmetic has before a step, S' the true one, and E = S' - S. The true step
// is affine, F(S) = M S + beta k v with M = alpha (I - beta k k^T), of the true alpha, beta and k; so
//
//     F(S') - computed(S) = (F(S) - computed(S)) + M E
//
// The first term is what one step adds when it begins with a state that is exact: the running bound of
// recur(), whose state begins with bounds of zero; call it L. The second is what earlier errors have become.
// To let recur() carry them too would bound M E by |M| |E|, taking every product at its magnitude: |M| has a
// norm of up to alpha (1 + |beta|), so that bound grows like 1.3^t, and says nothing after some tens of
// steps. But M itself is symmetric with eigenvalues alpha, K - 1 times, and alpha (1 - beta |k|^2); and the
// true |k| is at most 1, because k is divided by sqrt(sum of squares + eps). Hence
//
//     |M E|_2 <= c |E|_2,   c = alpha max(1, |1 - beta|)     since 1 - beta |k|^2 is between 1 and 1 - beta
//     |(M E)_i| <= alpha (|E_i| + |beta| |k_i| |E|_2)        since |k^T E| <= |E|_2
//
// Carried: a bound of each |E_i|, and one of |E|_2 for every column, the smaller of what the first line gives
// and the norm of the former; no |E_i| exceeds that norm. The output is q^T of the updated state: its
// bound is that of recur() plus |q|_2 c |E|_2, where |q|_2 <= |scale|.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "oracles/gated_delta/bounded.hpp"
#include "oracles/gated_delta/schedule.hpp"
#include "oracles/gated_delta/truth.hpp"

namespace assay::oracles::gated_delta {

/// The root of a sum of key_dim squares in doubles errs by less than (key_dim + 8) 2^-53, relatively.
inline constexpr std::size_t most_key_dim = 4096;
inline constexpr double outward_norm = 1 + 0x1p-40;

/// What a true step makes of errors, each number not below the true one.
struct Reach {
  double alpha = 0, contraction = 0, q_norm = 0;
  std::vector<double> beta_k;  ///< |beta k_i|
};

/// The largest magnitude that the true value may have.
inline double at_most(const Truth<1>& x) { return growth::upward(std::fabs(x.value[0]) + x.bound[0]); }

inline void reach_of(const Step<TruthArithmetic>& step, double scale, Reach& reach) {
  const Truth<1> one = TruthArithmetic::of_fp32(fp32_one);
  const double beta = at_most(step.gate.beta), complement = at_most(one - step.gate.beta);
  reach.alpha = at_most(step.gate.alpha);
  // A NaN must not look like the smaller of two.
  reach.contraction = growth::upward(complement <= 1 ? reach.alpha : reach.alpha * complement);
  reach.beta_k.clear();
  double squares = 0;
  for (std::size_t i = 0; i < step.k.size(); ++i) {
    reach.beta_k.push_back(growth::upward(beta * at_most(step.k[i])));
    const double q = at_most(step.q[i]);
    squares += q * q;
  }
  const double norm = std::sqrt(squares) * outward_norm;
  reach.q_norm = norm < std::fabs(scale) ? norm : std::fabs(scale);
}

/// Some columns of a state, and how far they may be from the true ones.
template <class Arithmetic>
struct Tile {
  using Errors = std::array<double, Arithmetic::width>;

  explicit Tile(std::size_t key_dim) : s(key_dim), error(key_dim) {}

  std::vector<typename Arithmetic::Row> s;  ///< [key_dim]; the bounds in it are of the last step alone
  std::vector<Errors> error;                ///< [key_dim]
  Errors norm{};                            ///< of the errors of a column
};

/// E becomes M E + L.
template <class Arithmetic>
ASSAY_INLINED void propagate(const Reach& reach, Tile<Arithmetic>& tile) {
  using Errors = typename Tile<Arithmetic>::Errors;
  Errors added{}, whole{};
  for (std::size_t k = 0; k < tile.s.size(); ++k) {
    for (std::size_t i = 0; i < Arithmetic::width; ++i) {
      const double local = tile.s[k].bound[i];
      const double carried = reach.alpha * (tile.error[k][i] + reach.beta_k[k] * tile.norm[i]);
      const double e = growth::upward(carried + local);
      tile.error[k][i] = e;
      added[i] += local * local;
      whole[i] += e * e;
    }
  }
  for (std::size_t i = 0; i < Arithmetic::width; ++i) {
    const double by_norm = (reach.contraction * tile.norm[i] + std::sqrt(added[i])) * outward_norm;
    const double by_elements = std::sqrt(whole[i]) * outward_norm;
    tile.norm[i] = by_elements < by_norm ? by_elements : by_norm;
  }
  for (auto& row : tile.error)
    for (std::size_t i = 0; i < Arithmetic::width; ++i)
      row[i] = tile.norm[i] < row[i] ? tile.norm[i] : row[i];
}

/// One step of some columns. Returns o with its whole bound.
template <class Arithmetic>
ASSAY_INLINED typename Arithmetic::Row advance(const Contracts& contracts, const Step<Arithmetic>& step,
                                               const Reach& reach, const typename Arithmetic::Row& v,
                                               Tile<Arithmetic>& tile) {
  for (auto& row : tile.s) row.bound = {};
  typename Arithmetic::Row o =
      recur<Arithmetic>(contracts, step, v, std::span<typename Arithmetic::Row>(tile.s), {});
  for (std::size_t i = 0; i < Arithmetic::width; ++i)
    o.bound[i] = growth::upward(o.bound[i] + reach.q_norm * reach.contraction * tile.norm[i]);
  propagate<Arithmetic>(reach, tile);
  return o;
}

}  // namespace assay::oracles::gated_delta
