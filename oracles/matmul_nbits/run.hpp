// Runs a schedule over the elements of Y in one of the arithmetics.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "oracles/matmul_nbits/operands.hpp"
#include "oracles/matmul_nbits/schedule.hpp"

namespace assay::oracles::matmul_nbits {

/// Asserts that the contracts go together and with the shape, as schedules.md says.
void check(const Contracts&, const Shape&);

/// Calls work(begin, end) for shares of the columns, on threads where that pays.
template <class Work>
void share_columns(const Shape& shape, unsigned threads, Work&& work) {
  constexpr std::size_t worth_a_thread = std::size_t{1} << 14;  // multiply-adds
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t paying = std::max<std::size_t>(shape.m * shape.n * shape.k / worth_a_thread, 1);
  const std::size_t shares = std::min({std::size_t{threads}, shape.n, paying});
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < shares; ++i)
    others.emplace_back([&, i] { work(shape.n * i / shares, shape.n * (i + 1) / shares); });
  work(0, shape.n / shares);
}

template <class Arithmetic>
class Run {
 public:
  using Half = matmul_nbits::Half<Arithmetic>;
  using Single = matmul_nbits::Single<Arithmetic>;

  Run(const Contracts& contracts, const Shape& shape, const Operands& operands, Departure departure = {})
      : contracts_(contracts),
        shape_(shape),
        decoder_(contracts.model, shape, operands, departure),
        departure_(departure),
        terms_(decoder_.terms()),
        schedule_(departure.is(Fault::weights_not_rounded) && contracts.schedule == Schedule::mma
                      ? Schedule::tile
                      : contracts.schedule) {
    check(contracts, shape);
    prepare_integers();
    prepare_rows();
  }

  /// Calls sink(row, col, acc, bias) for every element of columns begin..end - 1: the fp32 accumulator, and a
  /// pointer to the bias of the column as it is added, or null.
  template <class Sink>
  void columns(std::size_t begin, std::size_t end, Sink&& sink) const {
    Weights weights;
    for (std::size_t col = begin; col < end; ++col) {
      prepare(col, weights);
      const auto code = decoder_.bias(col);
      const Single bias = code ? single(*code) : Single{};
      for (std::size_t row = 0; row < shape_.m; ++row)
        sink(row, col, accumulate(row, weights), code ? &bias : nullptr);
    }
  }

 private:
  // Of a column, as the schedule takes it.
  struct Weights {
    Column column;
    std::vector<Half> halves;  ///< fp16 weights, or q - z
    std::vector<Half> scales;  ///< of multicol and natural
    std::vector<Single> singles;
    std::vector<TensorOperand> tensor;
  };

  // A number of the model in fp16, rounded once where it is bf16.
  Half half(std::uint32_t code) const {
    using formats::Format;
    if (contracts_.model == Format::fp16) return Arithmetic::template input<Format::fp16>(code);
    return convert<Format::fp16>(Arithmetic::template input<Format::bf16>(code));
  }
  // A number of the model as fp32 arithmetic takes it: by way of fp16 in 16-bit models.
  Single single(std::uint32_t code) const {
    using formats::Format;
    if (contracts_.model == Format::fp32) return Arithmetic::template input<Format::fp32>(code);
    return convert<Format::fp32>(half(code));
  }
  Half integer(int x) const { return integers_[static_cast<std::size_t>(x + integer_limit())]; }
  // Codes less zero points reach 2^bits in magnitude, when a departure takes one off besides.
  int integer_limit() const { return 1 << shape_.bits; }

  void prepare_integers() {
    for (int x = -integer_limit(); x <= integer_limit(); ++x) {
      const auto magnitude = static_cast<std::uint64_t>(x < 0 ? -x : x);
      integers_.push_back(Arithmetic::template input<formats::Format::fp16>(
          formats::encode(formats::Format::fp16, formats::Exact::finite(x < 0, magnitude, 0))));
    }
  }

  void prepare_rows() {
    const std::size_t m = shape_.m;
    padded_ = (terms_ + 15) / 16 * 16;
    if (schedule_ == Schedule::mma) tensor_rows_.resize(m * padded_);
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t k = 0; k < terms_; ++k) {
        const std::uint32_t code = decoder_.a(row, k);
        if (schedule_ == Schedule::tile) {
          single_rows_.push_back(single(code));
          continue;
        }
        half_rows_.push_back(half(code));
        if (schedule_ == Schedule::mma)
          tensor_rows_[row * padded_ + k] = TensorOperand::of_fp16(fp16_code(half_rows_.back()));
      }
    }
  }

  static std::uint32_t fp16_code(const Half& x) {
    if constexpr (requires { x.code(); }) return x.code();
    assert(false && "tensor cores are modelled on codes alone");
    return 0;
  }

  Half zero_hoisted(std::size_t k, const Column& column) const {
    const std::size_t block = k / shape_.block;
    const Half scale = half(column.scales[block]);
    return fma(integer(column.codes[k]), scale, integer(-column.zeros[block]) * scale);
  }

  void prepare(std::size_t col, Weights& weights) const {
    decoder_.decode(col, weights.column);
    const Column& column = weights.column;
    const bool unscaled = schedule_ == Schedule::multicol || schedule_ == Schedule::natural;
    const bool tile = schedule_ == Schedule::tile, unrounded = departure_.is(Fault::weights_not_rounded);
    const bool hoisted = departure_.is(Fault::zero_hoisted);
    weights.halves.resize(terms_);
    if (tile || unrounded) weights.singles.resize(terms_);
    weights.scales.clear();
    if (schedule_ == Schedule::mma) weights.tensor.resize(padded_);
    for (std::size_t begin = 0; begin < terms_; begin += shape_.block) {
      const std::size_t block = begin / shape_.block, end = std::min(begin + shape_.block, terms_);
      const std::uint32_t scale_code = column.scales[block];
      if (tile || unrounded) {
        const Single scale = single(scale_code);
        for (std::size_t k = begin; k < end; ++k)
          weights.singles[k] = hoisted ? convert<formats::Format::fp32>(zero_hoisted(k, column))
                                       : convert<formats::Format::fp32>(difference(column, k, block)) * scale;
        continue;
      }
      const Half scale = half(scale_code);
      if (unscaled) weights.scales.push_back(scale);
      for (std::size_t k = begin; k < end; ++k) {
        const Half x = difference(column, k, block);
        weights.halves[k] = unscaled ? x : hoisted ? zero_hoisted(k, column) : x * scale;
        if (schedule_ == Schedule::mma)
          weights.tensor[k] = TensorOperand::of_fp16(fp16_code(weights.halves[k]));
      }
    }
  }
  Half difference(const Column& column, std::size_t k, std::size_t block) const {
    return integer(column.codes[k] - column.zeros[block]);
  }

  template <class Number>
  std::span<const Number> of_row(const std::vector<Number>& rows, std::size_t row, std::size_t width) const {
    return std::span(rows).subspan(row * width, width);
  }

  Single accumulate(std::size_t row, const Weights& weights) const {
    switch (schedule_) {
      case Schedule::split_k:
        return accumulate_split_k(of_row(half_rows_, row, terms_), weights);
      case Schedule::multicol:
      case Schedule::natural: {
        const bool adjacent = (schedule_ == Schedule::natural) != departure_.is(Fault::other_pairs);
        return unscaled_blocks<Arithmetic>(of_row(half_rows_, row, terms_), weights.halves, weights.scales,
                                           adjacent ? pairs_adjacent : pairs_four_apart);
      }
      case Schedule::tile:
        return chain<Arithmetic>(of_row(single_rows_, row, terms_), weights.singles);
      case Schedule::mma:
        return accumulate_mma(row, weights);
    }
    assert(false && "unknown schedule");
    return {};
  }

  Single accumulate_split_k(std::span<const Half> a, const Weights& weights) const {
    using formats::Format;
    const std::size_t k_split = contracts_.k_split;
    const std::size_t slices = departure_.is(Fault::last_split_dropped)  ? k_split - 1
                               : departure_.is(Fault::splits_stop_early) ? 1
                                                                         : k_split;
    const PairOrder& order = departure_.is(Fault::other_pairs) ? pairs_adjacent : pairs_four_apart;
    if (departure_.is(Fault::weights_not_rounded))
      return split_k<Arithmetic, Format::fp32>(a, std::span<const Single>(weights.singles), k_split, slices,
                                               order);
    const std::span<const Half> w = weights.halves;
    if (departure_.is(Fault::accumulated_in_fp32))
      return split_k<Arithmetic, Format::fp32>(a, w, k_split, slices, order);
    return split_k<Arithmetic, Format::fp16>(a, w, k_split, slices, order);
  }

  Single accumulate_mma(std::size_t row, const Weights& weights) const {
    const auto a = of_row(tensor_rows_, row, padded_);
    const std::span<const TensorOperand> w = weights.tensor;
    constexpr bool bounded = requires(Half x) { x.bound(); };
    double error = 0;
    const std::uint32_t code = tensor_steps_over(
        a, w, contracts_.tensor_cores, [&](std::size_t first, std::size_t count, auto& sum) {
          if constexpr (bounded) {
            // The errors of the operands grow to those of the products, and an exact sum adds them up.
            error = arithmetic::sum_upward(error, sum.error);
            const std::size_t end = std::min(first + count, terms_);
            for (std::size_t k = first; k < end; ++k)
              error = arithmetic::sum_upward(error,
                                             product_error(half_rows_[row * terms_ + k], weights.halves[k]));
          }
        });
    if constexpr (bounded) return Single::of_code(code, error);
    if constexpr (requires { Single::of_code(code); }) return Single::of_code(code);
    assert(false && "tensor cores are modelled on codes alone");
    return {};
  }

  Contracts contracts_;
  Shape shape_;
  Decoder decoder_;
  Departure departure_;
  std::size_t terms_;
  Schedule schedule_;
  std::size_t padded_ = 0;  ///< terms_, to whole steps of the tensor cores
  std::vector<Half> integers_, half_rows_;
  std::vector<Single> single_rows_;
  std::vector<TensorOperand> tensor_rows_;
};

}  // namespace assay::oracles::matmul_nbits
