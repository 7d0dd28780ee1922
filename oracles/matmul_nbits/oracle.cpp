#include "oracles/matmul_nbits/oracle.hpp"

#include <algorithm>
#include <cassert>
#include <thread>
#include <vector>

#include "oracles/matmul_nbits/run.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Acceptance;
using formats::Format;

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

template <Format Model>
void fill_bits(const Contracts& contracts, const Shape& shape, const Operands& operands, unsigned threads,
               Acceptance& result) {
  using Numbers = arithmetic::HostArithmetic;
  const Run<Numbers> run(contracts, shape, operands);
  const int bytes = formats::storage_bytes(Model);
  result.lo.resize(shape.m * shape.n * static_cast<std::size_t>(bytes));
  share_columns(shape, threads, [&](std::size_t begin, std::size_t end) {
    run.columns(begin, end, [&](std::size_t row, std::size_t col, auto acc, const auto* bias) {
      arithmetic::store_code(result.lo, bytes, row * shape.n + col,
                             store<Numbers, Model>(acc, bias, contracts.bias_round).code());
    });
  });
}

template <Format Model>
Acceptance accept_as(const Contracts& contracts, const Shape& shape, const Operands& operands,
                     unsigned threads) {
  Acceptance result;
  result.format = Model;
  fill_bits<Model>(contracts, shape, operands, threads, result);
  return result;
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
