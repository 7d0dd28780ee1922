#include "oracles/matmul_nbits/oracle.hpp"

#include <cassert>
#include <cmath>

#include "oracles/arithmetic/interval.hpp"
#include "oracles/matmul_nbits/exact_sum.hpp"
#include "oracles/matmul_nbits/run.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Acceptance;
using arithmetic::Interval;
using formats::Format;

template <Format Model>
Acceptance accept_bits(const Contracts& contracts, const Shape& shape, const Operands& operands,
                       unsigned threads) {
  using Numbers = arithmetic::HostArithmetic;
  const Run<Numbers> run(contracts, shape, operands);
  const int bytes = formats::storage_bytes(Model);
  Acceptance result;
  result.format = Model;
  result.lo.resize(shape.m * shape.n * static_cast<std::size_t>(bytes));
  share_columns(shape, threads, [&](std::size_t begin, std::size_t end) {
    run.columns(begin, end, [&](std::size_t row, std::size_t col, auto acc, const auto* bias) {
      arithmetic::store_code(result.lo, bytes, row * shape.n + col,
                             store<Numbers, Model>(acc, bias, contracts.bias_round).code());
    });
  });
  return result;
}

/// The running bound goes through bias and stores like every other operation, so it includes their roundings,
/// the one to fp16 and the one to bf16 in turn: hence Store::in_bound.
template <Format Model>
Acceptance accept_bound(const Contracts& contracts, const Shape& shape, const Operands& operands,
                        unsigned threads) {
  using Numbers = arithmetic::HostBoundedArithmetic;
  const Run<Numbers> run(contracts, shape, operands);
  const ExactSums sums(Model, shape, operands);
  const Decoder decoder(Model, shape, operands);
  Acceptance result = arithmetic::intervals(Model, shape.m * shape.n);
  share_columns(shape, threads, [&](std::size_t begin, std::size_t end) {
    ExactSums::Weights weights;
    for (std::size_t column = begin; column < end; ++column) {
      sums.prepare(column, weights);
      const auto bias_code = decoder.bias(column);
      run.columns(column, column + 1, [&](std::size_t row, std::size_t col, auto acc, const auto* bias) {
        const auto y = store<Numbers, Model>(acc, bias, contracts.bias_round);
        Interval accepted{y.code(), y.code(), y.code()};
        // A finite bound means finite operands: any other makes every later result Inf or NaN. A bound of
        // zero means that nothing was rounded: the code is the value's, and where that is zero, has its sign.
        if (std::isfinite(y.bound()) && y.bound() > 0) {
          arithmetic::Dyadic truth = sums.sum(row, weights);
          if (bias_code) truth += arithmetic::Dyadic::of(Model, *bias_code);
          accepted = arithmetic::interval(Model, truth, y.bound(), arithmetic::Store::in_bound);
        }
        arithmetic::set(result, row * shape.n + col, accepted);
      });
    }
  });
  return result;
}

template <Format Model>
Acceptance accept_as(const Contracts& contracts, const Shape& shape, const Operands& operands,
                     unsigned threads) {
  if (contracts.judge == Judge::bits) return accept_bits<Model>(contracts, shape, operands, threads);
  return accept_bound<Model>(contracts, shape, operands, threads);
}

}  // namespace

void check([[maybe_unused]] const Contracts& contracts, [[maybe_unused]] const Shape& shape) {
  [[maybe_unused]] const bool four_bits = shape.bits == 4 && shape.block == 32;
  switch (contracts.schedule) {
    case Schedule::split_k:
      assert(four_bits && contracts.model != Format::fp32 && shape.m <= 8 && contracts.k_split > 0);
      return;
    case Schedule::multicol:
    case Schedule::natural:
      assert(four_bits && contracts.model == Format::fp16 && shape.m == 1 && shape.k % shape.block == 0);
      return;
    case Schedule::tile:
      return;
    case Schedule::mma:
      assert(contracts.model != Format::fp32);
      return;
  }
  assert(false && "unknown schedule");
}

Acceptance accept(const Contracts& contracts, const Shape& shape, const Operands& operands,
                  unsigned threads) {
  switch (contracts.model) {
    case Format::fp16:
      return accept_as<Format::fp16>(contracts, shape, operands, threads);
    case Format::bf16:
      return accept_as<Format::bf16>(contracts, shape, operands, threads);
    case Format::fp32:
      return accept_as<Format::fp32>(contracts, shape, operands, threads);
    default:
      assert(false && "the model is fp16, bf16 or fp32");
      return {};
  }
}

}  // namespace assay::oracles::matmul_nbits
