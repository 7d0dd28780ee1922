#include <cassert>

#include "oracles/gated_delta/run.hpp"
#include "oracles/gated_delta/vectorised.hpp"

namespace assay::oracles::gated_delta {
namespace {

using formats::Format;
using Numbers = HostArithmetic;
using Row = Numbers::Row;

std::size_t bytes_of(Format format) { return static_cast<std::size_t>(formats::storage_bytes(format)); }

std::uint32_t code_in(Format format, const Numbers::Number& x) {
  return format == Format::bf16 ? convert<Format::bf16>(x).code() : x.code();
}

/// One value head of one sequence, in time.
class Head {
 public:
  Head(const Contracts& contracts, const Shape& shape, const Operands& operands, const Departure& departure)
      : contracts_(contracts),
        shape_(shape),
        departure_(departure),
        reader_(contracts, shape, operands, departure),
        tiles_((shape.value_dim + Numbers::width - 1) / Numbers::width),
        state_(tiles_ * shape.key_dim) {}

  void run(std::size_t sequence, std::size_t slot, std::size_t head, Faulty& result) {
    const StatePlace place(contracts_, shape_, slot, head, departure_);
    for (std::size_t tile = 0; tile < tiles_; ++tile) reader_.state(place, tile * Numbers::width, of(tile));
    const bool first_only = departure_.is(Fault::first_step_only);
    Step<Numbers> step;
    for (std::size_t t = 0; t < shape_.steps; ++t) {
      const std::size_t token = sequence * shape_.steps + t;
      const std::size_t out = (token * shape_.value_heads + head) * shape_.value_dim;
      if (first_only && t > 0) {
        for (std::size_t v = 0; v < shape_.value_dim; ++v)
          store(contracts_.io, formats::canonical_nan(contracts_.io), out + v, result.out);
        continue;
      }
      reader_.prepare(token, head, step);
      for (std::size_t tile = 0; tile < tiles_; ++tile) {
        const std::size_t column = tile * Numbers::width;
        const Row o =
            recur_fast<Numbers>(contracts_, step, reader_.values(token, head, column), of(tile), departure_);
        each_column(column, [&](std::size_t i) {
          store(contracts_.io, code_in(contracts_.io, o.at[i]), out + column + i, result.out);
        });
      }
    }
    if (!departure_.is(Fault::state_not_written)) write_state(place, result.state);
  }

 private:
  std::span<Row> of(std::size_t tile) {
    return std::span(state_).subspan(tile * shape_.key_dim, shape_.key_dim);
  }
  template <class Do>
  void each_column(std::size_t column, Do&& act) const {
    for (std::size_t i = 0; i < Numbers::width && column + i < shape_.value_dim; ++i) act(i);
  }
  static void store(Format format, std::uint32_t code, std::size_t index, std::vector<std::byte>& to) {
    arithmetic::store_code(to, formats::storage_bytes(format), index, code);
  }
  void write_state(const StatePlace& place, std::vector<std::byte>& pool) {
    for (std::size_t tile = 0; tile < tiles_; ++tile) {
      const std::size_t column = tile * Numbers::width;
      for (std::size_t k = 0; k < shape_.key_dim; ++k)
        each_column(column, [&](std::size_t i) {
          store(contracts_.state, code_in(contracts_.state, of(tile)[k].at[i]), place.at(k, column + i),
                pool);
        });
    }
  }

  Contracts contracts_;
  Shape shape_;
  Departure departure_;
  Reader<Numbers> reader_;
  std::size_t tiles_;
  std::vector<Row> state_;  ///< [tile, key_dim]
};

}  // namespace

void check([[maybe_unused]] const Contracts& contracts, [[maybe_unused]] const Shape& shape,
           [[maybe_unused]] const Operands& operands) {
  const auto wide_enough = [](Format format) { return format == Format::fp32 || format == Format::bf16; };
  assert(wide_enough(contracts.io) && wide_enough(contracts.state));
  assert(shape.key_heads > 0 && shape.value_heads % shape.key_heads == 0);
  assert(shape.key_dim > 0 && shape.key_dim % slices == 0 && shape.key_dim <= most_key_dim);
  [[maybe_unused]] const std::size_t io = bytes_of(contracts.io), single = bytes_of(Format::fp32);
  [[maybe_unused]] const std::size_t keys = shape.tokens() * shape.key_heads * shape.key_dim * io;
  assert(operands.q.size() == keys && operands.k.size() == keys);
  assert(operands.v.size() == shape.out_elements() * io);
  assert(operands.state.size() == shape.state_elements() * bytes_of(contracts.state));
  [[maybe_unused]] const bool raw = contracts.gates == Gates::raw;
  [[maybe_unused]] const std::size_t gates = raw ? 0 : shape.tokens() * shape.value_heads * single;
  assert(operands.g.size() == gates && operands.beta.size() == gates);
  [[maybe_unused]] const std::size_t of_heads = raw ? shape.value_heads * single : 0;
  assert(operands.a_log.size() == of_heads && operands.dt_bias.size() == of_heads);
  [[maybe_unused]] const auto strided = [&](std::span<const std::byte> codes, std::size_t stride) {
    if (!raw || shape.tokens() == 0) return codes.empty();
    const std::size_t least = (shape.tokens() - 1) * stride + shape.value_heads;
    return stride >= shape.value_heads && codes.size() >= least * io &&
           codes.size() <= shape.tokens() * stride * io;
  };
  assert(strided(operands.a, shape.a_stride) && strided(operands.b, shape.b_stride));
  assert(operands.slots.size() == shape.batch);
  std::vector<bool> taken(shape.pool);
  for (const std::int32_t slot : operands.slots) {
    if (slot < 0) continue;
    const auto i = static_cast<std::size_t>(slot);
    assert(i < shape.pool && !taken[i] && "a slot out of range, or doubled");
    taken[i] = true;
  }
}

Faulty bits(const Contracts& contracts, const Shape& shape, const Operands& operands,
            const Departure& departure, unsigned threads) {
  check(contracts, shape, operands);
  Faulty result;
  result.out.resize(shape.out_elements() * bytes_of(contracts.io));
  result.state.assign(operands.state.begin(), operands.state.end());
  share_heads(shape, operands, departure, threads,
              [&](std::size_t sequence, std::size_t slot, std::size_t head) {
                Head(contracts, shape, operands, departure).run(sequence, slot, head, result);
              });
  return result;
}

}  // namespace assay::oracles::gated_delta
