// The rounding schedules of MatMulNBits, each written once and generic over its arithmetic (bounded.hpp,
// host.hpp): with exact numbers a schedule gives the true value, with modelled ones its bits, with bounded
// ones its running error bound. They take weights and activations as numbers of the arithmetic, and return
// the fp32 accumulator of one element of Y, before bias and stores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracles/arithmetic/host.hpp"
#include "oracles/matmul_nbits/oracle.hpp"
#include "oracles/matmul_nbits/tensor_core.hpp"

namespace assay::oracles::matmul_nbits {

using arithmetic::convert;

template <class Arithmetic>
using Half = typename Arithmetic::template number<formats::Format::fp16>;
template <class Arithmetic>
using Single = typename Arithmetic::template number<formats::Format::fp32>;

inline constexpr std::size_t lanes = 32, group_size = 8;

/// The elements of a group of 8 in the order of the accumulators they go to: .x of pairs 0..3, then .y.
using PairOrder = std::array<std::uint8_t, group_size>;
inline constexpr PairOrder pairs_four_apart = {0, 1, 2, 3, 4, 5, 6, 7};  ///< (p, p + 4)
inline constexpr PairOrder pairs_adjacent = {0, 2, 4, 6, 1, 3, 5, 7};    ///< (2p, 2p + 1)

/// v[l] + v[l + 16], then + 8, 4, 2, 1: what lane 0 holds in the end.
template <class Number>
Number tree(std::span<Number, lanes> v) {
  for (std::size_t d = lanes / 2; d > 0; d /= 2)
    for (std::size_t l = 0; l < d; ++l) v[l] = v[l] + v[l + d];
  return v[0];
}

/// split_k up to the partial sums, which are added to `slices` numbers: the first ones, in ascending order.
/// Lanes sum in the format Lane: fp16 is the schedule.
template <class Arithmetic, formats::Format Lane, class Weight>
Single<Arithmetic> split_k(std::span<const Half<Arithmetic>> a, std::span<const Weight> w,
                           std::size_t k_split, std::size_t slices, const PairOrder& order) {
  using Sum = typename Arithmetic::template number<Lane>;
  struct LaneSums {
    std::array<Sum, group_size> pairs{};
    Single<Arithmetic> tail{};
  };
  std::vector<LaneSums> all(k_split * lanes);  // [slice, lane]
  // Group g belongs to lane g % 32 of slice g / 32 % k_split: in ascending g every lane has its own
  // ascending.
  const std::size_t whole = a.size() / group_size;
  for (std::size_t g = 0, owner = 0; g < whole; ++g, owner = owner + 1 == all.size() ? 0 : owner + 1) {
    LaneSums& lane = all[owner];
    for (std::size_t i = 0; i < group_size; ++i) {
      const std::size_t k = g * group_size + order[i];
      lane.pairs[i] = fma(convert<Lane>(w[k]), convert<Lane>(a[k]), lane.pairs[i]);
    }
  }
  LaneSums& last = all[whole % all.size()];
  for (std::size_t k = whole * group_size; k < a.size(); ++k)
    last.tail = fma(convert<formats::Format::fp32>(w[k]), convert<formats::Format::fp32>(a[k]), last.tail);

  Single<Arithmetic> acc{};
  for (std::size_t slice = 0; slice < slices; ++slice) {
    std::array<Single<Arithmetic>, lanes> v;
    for (std::size_t l = 0; l < lanes; ++l) {
      const LaneSums& lane = all[slice * lanes + l];
      v[l] = lane.tail;
      for (const Sum& s : lane.pairs) v[l] = v[l] + convert<formats::Format::fp32>(s);
    }
    acc = acc + tree(std::span(v));
  }
  return acc;
}

/// multicol and natural. `w` holds q - z, `scales` one number a block of 32.
template <class Arithmetic>
Single<Arithmetic> unscaled_blocks(std::span<const Half<Arithmetic>> a, std::span<const Half<Arithmetic>> w,
                                   std::span<const Half<Arithmetic>> scales, const PairOrder& order) {
  using Number = Half<Arithmetic>;
  constexpr std::size_t block = 32, pairs = group_size / 2;
  struct Pair {
    Number x{}, y{};
  };
  std::array<Pair, lanes> totals;
  for (std::size_t b = 0; b < a.size() / block; ++b) {
    Pair acc;
    for (std::size_t word = b * block; word < (b + 1) * block; word += group_size) {
      for (std::size_t p = 0; p < pairs; ++p) {
        const std::size_t x = word + order[p], y = word + order[p + pairs];
        acc.x = fma(w[x], a[x], acc.x);
        acc.y = fma(w[y], a[y], acc.y);
      }
    }
    Pair& total = totals[b % lanes];
    total.x = fma(acc.x, scales[b], total.x);
    total.y = fma(acc.y, scales[b], total.y);
  }
  std::array<Single<Arithmetic>, lanes> v;
  for (std::size_t l = 0; l < lanes; ++l)
    v[l] = convert<formats::Format::fp32>(totals[l].x) + convert<formats::Format::fp32>(totals[l].y);
  return tree(std::span(v));
}

/// tile: one chain.
template <class Arithmetic>
Single<Arithmetic> chain(std::span<const Single<Arithmetic>> a, std::span<const Single<Arithmetic>> w) {
  Single<Arithmetic> acc{};
  for (std::size_t k = 0; k < a.size(); ++k) acc = fma(a[k], w[k], acc);
  return acc;
}

/// mma. `a` and `w` are multiples of 16 long, padded with +0; calls after(first, count, sum) with every sum
/// the hardware makes, of products first..first + count - 1 and what came before. Returns the fp32 code.
template <class After>
std::uint32_t tensor_steps_over(std::span<const TensorOperand> a, std::span<const TensorOperand> w,
                                TensorCores cores, After&& after) {
  const TensorSteps steps = tensor_steps(cores);
  std::uint32_t acc = 0;
  for (std::size_t k = 0; k < a.size(); k += steps.products) {
    const TensorSum sum =
        tensor_sum(a.subspan(k, steps.products), w.subspan(k, steps.products), acc, steps.fractional_bits);
    acc = sum.code;
    after(k, steps.products, sum);
  }
  return acc;
}

/// From the accumulator to a number of the model: bias, and the stores.
template <class Arithmetic, formats::Format Model>
auto store(Single<Arithmetic> acc, const Single<Arithmetic>* bias, BiasRound bias_round) ->
    typename Arithmetic::template number<Model> {
  using formats::Format;
  if constexpr (Model == Format::fp32) {
    return bias != nullptr ? acc + *bias : acc;
  } else {
    if (bias != nullptr) {
      if (bias_round == BiasRound::twice) acc = convert<Format::fp32>(convert<Format::fp16>(acc));
      acc = acc + *bias;
    }
    return convert<Model>(convert<Format::fp16>(acc));
  }
}

}  // namespace assay::oracles::matmul_nbits
