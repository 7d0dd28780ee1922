#include "oracles/gated_delta/bound.hpp"

#include <cassert>
#include <cmath>

#include "oracles/gated_delta/nearby.hpp"
#include "oracles/gated_delta/run.hpp"
#include "oracles/gated_delta/vectorised.hpp"

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::Acceptance;
using arithmetic::Interval;
using formats::Format;

static_assert(BoundedArithmetic::width == TruthArithmetic::width);
constexpr std::size_t width = BoundedArithmetic::width;

Interval accepted(Format format, const Known& x) {
  const auto single = arithmetic::Host<Format::fp32>::of_word(x.computed);
  const std::uint32_t code = format == Format::bf16 ? convert<Format::bf16>(single).code() : single.code();
  const double bound = growth::upward(x.bound + x.of_truth);
  // A bound of zero means that nothing was rounded: the code is the value's, and where that is zero, has its
  // sign.
  if (!std::isfinite(bound) || x.bound == 0) return {code, code, code};
  const Interval result = nearby(format, x.truth, bound);
  assert(formats::ordered_key(format, result.lo) <= formats::ordered_key(format, code) &&
         formats::ordered_key(format, code) <= formats::ordered_key(format, result.hi) &&
         "the schedule is outside its own bound");
  return result;
}

/// One value head of one sequence, in time, by both arithmetics.
class Head {
 public:
  Head(const Contracts& contracts, const Shape& shape, const Operands& operands)
      : contracts_(contracts),
        shape_(shape),
        scale_(std::bit_cast<float>(operands.scale)),
        bounded_(contracts, shape, operands),
        truth_(contracts, shape, operands),
        tiles_((shape.value_dim + width - 1) / width, Pair(shape.key_dim)) {}

  void run(std::size_t sequence, std::size_t slot, std::size_t head, const Sink& to_out,
           const Sink& to_state) {
    const StatePlace place(contracts_, shape_, slot, head);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      bounded_.state(place, tile * width, tiles_[tile].bounded.s);
      truth_.state(place, tile * width, tiles_[tile].truth.s);
    }
    Step<BoundedArithmetic> bounded_step;
    Step<TruthArithmetic> truth_step;
    Reach reach;
    for (std::size_t t = 0; t < shape_.steps; ++t) {
      const std::size_t token = sequence * shape_.steps + t;
      bounded_.prepare(token, head, bounded_step);
      truth_.prepare(token, head, truth_step);
      reach_of(truth_step, scale_, reach);
      const std::size_t out = (token * shape_.value_heads + head) * shape_.value_dim;
      for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        const std::size_t column = tile * width;
        auto o = advance_fast<BoundedArithmetic>(contracts_, bounded_step, reach,
                                                 bounded_.values(token, head, column), tiles_[tile].bounded);
        const auto true_o = advance_fast<TruthArithmetic>(
            contracts_, truth_step, reach, truth_.values(token, head, column), tiles_[tile].truth);
        if (contracts_.io == Format::bf16) o = to_bf16(o);
        each_column(column, [&](std::size_t i) {
          to_out(out + column + i, {o.value[i], o.bound[i], true_o.value[i], true_o.bound[i]});
        });
      }
    }
    send_state(place, to_state);
  }

 private:
  struct Pair {
    explicit Pair(std::size_t key_dim) : bounded(key_dim), truth(key_dim) {}
    Tile<BoundedArithmetic> bounded;
    Tile<TruthArithmetic> truth;
  };

  template <class Do>
  void each_column(std::size_t column, Do&& act) const {
    for (std::size_t i = 0; i < width && column + i < shape_.value_dim; ++i) act(i);
  }
  void send_state(const StatePlace& place, const Sink& sink) const {
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      const Pair& both = tiles_[tile];
      const std::size_t column = tile * width;
      for (std::size_t k = 0; k < shape_.key_dim; ++k) {
        each_column(column, [&](std::size_t i) {
          sink(place.at(k, column + i), {both.bounded.s[k].value[i], both.bounded.error[k][i],
                                         both.truth.s[k].value[i], both.truth.error[k][i]});
        });
      }
    }
  }

  Contracts contracts_;
  Shape shape_;
  double scale_;
  Reader<BoundedArithmetic> bounded_;
  Reader<TruthArithmetic> truth_;
  std::vector<Pair> tiles_;
};

}  // namespace

void follow(const Contracts& contracts, const Shape& shape, const Operands& operands, unsigned threads,
            const Sink& out, const Sink& state) {
  check(contracts, shape, operands);
  share_heads(shape, operands, {}, threads, [&](std::size_t sequence, std::size_t slot, std::size_t head) {
    Head(contracts, shape, operands).run(sequence, slot, head, out, state);
  });
}

Accepted bound(const Contracts& contracts, const Shape& shape, const Operands& operands, unsigned threads) {
  Accepted result;
  result.out = arithmetic::intervals(contracts.io, shape.out_elements());
  result.state.format = contracts.state;
  result.state.lo.assign(operands.state.begin(), operands.state.end());
  result.state.hi = result.state.best = result.state.lo;
  const auto to = [](Acceptance& acceptance) {
    return [&acceptance](std::size_t index, const Known& x) {
      arithmetic::set(acceptance, index, accepted(acceptance.format, x));
    };
  };
  follow(contracts, shape, operands, threads, to(result.out), to(result.state));
  return result;
}

}  // namespace assay::oracles::gated_delta
