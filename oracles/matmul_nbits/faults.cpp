#include <array>
#include <cassert>
#include <cmath>

#include "oracles/formats/codec.hpp"
#include "oracles/matmul_nbits/run.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Overflow;
using formats::Rounding;
using Numbers = arithmetic::HostArithmetic;
using Sum32 = arithmetic::Host<Format::fp32>;

/// Whether the fault has a meaning beyond the decoding: under this schedule, of this model, with that bias.
bool schedule_departs(Fault fault, const Contracts& c, const Shape& shape, bool bias) {
  const bool narrow = c.model != Format::fp32, split = c.schedule == Schedule::split_k;
  const bool unscaled = c.schedule == Schedule::multicol || c.schedule == Schedule::natural;
  constexpr std::size_t slice = lanes * group_size;
  switch (fault) {
    case Fault::last_split_dropped:  // of a slice that has elements
      return split && c.k_split > 1 && shape.k > slice * (c.k_split - 1);
    case Fault::splits_stop_early:
      return split && c.k_split > 1 && shape.k > slice;
    case Fault::bias_twice_for_once:
      return narrow && bias;
    case Fault::direct_rounding:
      return c.model == Format::bf16;
    case Fault::truncated:  // an fp32 result without bias ends in an fma: nothing is narrowed
      return narrow || bias;
    case Fault::saturated:
    case Fault::subnormals_flushed:
      return narrow;
    case Fault::zero_hoisted:
      return narrow && !unscaled;
    case Fault::weights_not_rounded:
      return split || c.schedule == Schedule::mma;
    case Fault::accumulated_in_fp32:
      return split;
    case Fault::other_pairs:
      return split || unscaled;
    default:
      return true;
  }
}

/// fp16 of an fp32 code, by a store with the fault. `last`: y is this number.
std::uint32_t departed_half(std::uint32_t single, Fault fault, bool last) {
  const Exact x = formats::decode(Format::fp32, single);
  // Only a finite value saturates: Inf is Inf to such a store too.
  const Overflow overflow =
      fault == Fault::saturated && x.kind == Kind::finite ? Overflow::saturate : Overflow::propagate;
  const Rounding rounding =
      fault == Fault::truncated && last ? Rounding::toward_zero : Rounding::nearest_even;
  const std::uint32_t code = formats::encode(Format::fp16, x, rounding, overflow);
  constexpr std::uint32_t sign = 0x8000, least_normal = 0x0400;
  return fault == Fault::subnormals_flushed && (code & ~sign) < least_normal ? code & sign : code;
}

/// store() of schedule.hpp with a fault of the stores.
std::uint32_t departed_store(Fault fault, Format model, Sum32 acc, const Sum32* bias, BiasRound bias_round) {
  if (model == Format::fp32) {
    if (fault != Fault::truncated || bias == nullptr)
      return store<Numbers, Format::fp32>(acc, bias, bias_round).code();
    const Exact sum = arithmetic::sum(formats::decode(Format::fp32, acc.code()),
                                      formats::decode(Format::fp32, bias->code()));
    return formats::encode(Format::fp32, sum, Rounding::toward_zero, Overflow::propagate);
  }
  if (bias != nullptr) {
    if (bias_round == BiasRound::twice)
      acc = convert<Format::fp32>(Numbers::input<Format::fp16>(departed_half(acc.code(), fault, false)));
    acc = acc + *bias;
  }
  if (fault == Fault::direct_rounding) return convert<Format::bf16>(acc).code();
  const std::uint32_t half = departed_half(acc.code(), fault, model == Format::fp16);
  if (model == Format::fp16) return half;
  return formats::encode(Format::bf16, formats::decode(Format::fp16, half),
                         fault == Fault::truncated ? Rounding::toward_zero : Rounding::nearest_even,
                         Overflow::propagate);
}

}  // namespace

std::string_view to_string(Fault fault) {
  static constexpr std::array<std::string_view, fault_count> names = {
      "nibbles swapped",
      "every code one less",
      "codes taken as signed",
      "zero points ignored",
      "default zero point though some are given",
      "zero points of a pair of blocks swapped",
      "zero points without the padding of their rows",
      "row stride without padding",
      "scale of the next block",
      "scales transposed",
      "scale ignored",
      "tail dropped",
      "last block dropped",
      "last partial missing",
      "only the first partial",
      "bias dropped",
      "bias added by the other contract",
      "rounded directly, without fp16 in between",
      "last rounding truncated",
      "overflow saturated",
      "subnormals flushed",
      "zero point hoisted out of the product",
      "weights not rounded",
      "accumulated in fp32",
      "other pairs",
  };
  return names.at(static_cast<std::size_t>(fault));
}

std::vector<std::byte> faulty(Fault fault, const Contracts& contracts, const Shape& shape,
                              const Operands& operands) {
  const Departure departure{fault};
  const bool bias = !operands.bias.empty();
  if (!decoding_departs(departure, shape, operands) || !schedule_departs(fault, contracts, shape, bias))
    return {};
  BiasRound bias_round = contracts.bias_round;
  if (fault == Fault::bias_twice_for_once)
    bias_round = bias_round == BiasRound::once ? BiasRound::twice : BiasRound::once;
  const Run<Numbers> run(contracts, shape, operands, departure);
  const int bytes = formats::storage_bytes(contracts.model);
  std::vector<std::byte> y(shape.m * shape.n * static_cast<std::size_t>(bytes));
  share_columns(shape, 0, [&](std::size_t begin, std::size_t end) {
    run.columns(begin, end, [&](std::size_t row, std::size_t col, Sum32 acc, const Sum32* added) {
      arithmetic::store_code(y, bytes, row * shape.n + col,
                             departed_store(fault, contracts.model, acc, added, bias_round));
    });
  });
  return y;
}

}  // namespace assay::oracles::matmul_nbits
