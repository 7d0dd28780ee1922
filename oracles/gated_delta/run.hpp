// Operands as numbers of an arithmetic, and the run of a schedule through sequences, steps and heads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/gated_delta/schedule.hpp"

namespace assay::oracles::gated_delta {

/// Asserts that contracts, shape and operands go together.
void check(const Contracts&, const Shape&, const Operands&);

/// The state of one head in the pool: where the element [k, v] is.
struct StatePlace {
  std::size_t first, of_k, of_v;

  StatePlace(const Contracts& contracts, const Shape& shape, std::size_t slot, std::size_t head,
             const Departure& departure = {})
      : first((slot * shape.value_heads + head) * shape.key_dim * shape.value_dim),
        of_k(shape.value_dim),
        of_v(1) {
    const bool exchanged = departure.is(Fault::state_transposed);
    if ((contracts.layout == Layout::vk) != exchanged) of_k = 1, of_v = shape.key_dim;
  }
  std::size_t at(std::size_t k, std::size_t v) const { return first + k * of_k + v * of_v; }
};

/// Calls work(index) for every index below `count`, of `cost` multiply-adds each, on threads where that pays.
template <class Work>
void share(std::size_t count, std::size_t cost, unsigned threads, Work&& work) {
  constexpr std::size_t worth_a_thread = std::size_t{1} << 18;  // multiply-adds
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t paying = std::max<std::size_t>(count * cost / worth_a_thread, 1);
  const std::size_t shares = std::min({std::size_t{threads}, std::max<std::size_t>(count, 1), paying});
  const auto part = [&](std::size_t i) {
    for (std::size_t index = count * i / shares; index < count * (i + 1) / shares; ++index) work(index);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < shares; ++i) others.emplace_back([&part, i] { part(i); });
  part(0);
}

/// Calls work(sequence, slot, head) for every value head of every sequence that has a slot.
template <class Work>
void share_heads(const Shape& shape, const Operands& operands, const Departure& departure, unsigned threads,
                 Work&& work) {
  const std::size_t cost = 3 * shape.steps * shape.key_dim * shape.value_dim;
  share(shape.batch * shape.value_heads, cost, threads, [&](std::size_t index) {
    const std::size_t sequence = index / shape.value_heads, head = index % shape.value_heads;
    const std::int32_t slot = operands.slots[sequence];
    if (departure.is(Fault::slots_ignored))
      work(sequence, sequence, head);
    else if (slot >= 0)
      work(sequence, static_cast<std::size_t>(slot), head);
  });
}

/// Operands as numbers. A token is sequence * steps + step.
template <class Arithmetic>
class Reader {
 public:
  using Number = typename Arithmetic::Number;
  using Row = typename Arithmetic::Row;

  Reader(const Contracts& contracts, const Shape& shape, const Operands& operands, Departure departure = {})
      : contracts_(contracts), shape_(shape), operands_(operands), departure_(departure) {}

  /// Gate and normalised vectors of a step of a value head.
  void prepare(std::size_t token, std::size_t head, Step<Arithmetic>& step) const {
    step.gate = gate<Arithmetic>(contracts_, gate_inputs(token, head), departure_);
    const std::size_t group = shape_.value_heads / shape_.key_heads;
    const std::size_t key_head = departure_.is(Fault::head_modulo) ? head % shape_.key_heads : head / group;
    const std::size_t first = (token * shape_.key_heads + key_head) * shape_.key_dim;
    load(operands_.k, first, step.k);
    load(operands_.q, first, step.q);
    normalise<Arithmetic>(contracts_, step.k, departure_);
    normalise<Arithmetic>(contracts_, step.q, departure_);
    if (!departure_.is(Fault::scale_ignored)) {
      const Number scale = Arithmetic::of_fp32(operands_.scale);
      for (Number& x : step.q) x = x * scale;
    }
    step.last = token % shape_.steps + 1 == shape_.steps;
  }

  /// `width` columns of v from `column` on; +0 beyond the last.
  Row values(std::size_t token, std::size_t head, std::size_t column) const {
    const std::size_t first = (token * shape_.value_heads + head) * shape_.value_dim;
    Row row{};
    for (std::size_t i = 0; i < Arithmetic::width && column + i < shape_.value_dim; ++i)
      Arithmetic::set(row, i, number(operands_.v, contracts_.io, first + column + i));
    return row;
  }

  /// The state of these columns, [key_dim].
  void state(const StatePlace& place, std::size_t column, std::span<Row> rows) const {
    for (std::size_t k = 0; k < shape_.key_dim; ++k)
      for (std::size_t i = 0; i < Arithmetic::width && column + i < shape_.value_dim; ++i)
        Arithmetic::set(rows[k], i, number(operands_.state, contracts_.state, place.at(k, column + i)));
  }

 private:
  static Number number(std::span<const std::byte> codes, formats::Format format, std::size_t index) {
    const bool narrow = format == formats::Format::bf16;
    const std::uint32_t code = arithmetic::load_code(codes, narrow ? 2 : 4, index);
    return Arithmetic::of_fp32(narrow ? code << 16 : code);
  }
  Number of_fp32(std::span<const std::byte> codes, std::size_t index) const {
    return number(codes, formats::Format::fp32, index);
  }
  GateInputs<Number> gate_inputs(std::size_t token, std::size_t head) const {
    GateInputs<Number> in{};
    if (contracts_.gates == Gates::precomputed) {
      in.g = of_fp32(operands_.g, token * shape_.value_heads + head);
      in.beta = of_fp32(operands_.beta, token * shape_.value_heads + head);
    } else {
      in.a = number(operands_.a, contracts_.io, token * shape_.a_stride + head);
      in.b = number(operands_.b, contracts_.io, token * shape_.b_stride + head);
      in.a_log = of_fp32(operands_.a_log, head);
      in.dt_bias = of_fp32(operands_.dt_bias, head);
    }
    return in;
  }
  void load(std::span<const std::byte> codes, std::size_t first, std::vector<Number>& out) const {
    out.resize(shape_.key_dim);
    for (std::size_t i = 0; i < shape_.key_dim; ++i) out[i] = number(codes, contracts_.io, first + i);
  }

  Contracts contracts_;
  Shape shape_;
  Operands operands_;
  Departure departure_;
};

/// The bits of o and of the whole pool: what a kernel that keeps to the schedule leaves. A sequence without a
/// slot has o = +0, and a slot without a sequence what it had.
Faulty bits(const Contracts&, const Shape&, const Operands&, const Departure&, unsigned threads);

}  // namespace assay::oracles::gated_delta
