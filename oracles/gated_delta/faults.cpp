#include <array>

#include "oracles/gated_delta/run.hpp"

namespace assay::oracles::gated_delta {
namespace {

using formats::Format;

bool any_slot(const Operands& operands) {
  return std::ranges::any_of(operands.slots, [](std::int32_t slot) { return slot >= 0; });
}

/// Some head of values has another head of keys by the modulus, as when both are grouped.
bool modulo_departs(const Shape& shape) { return shape.key_heads > 1 && shape.value_heads > shape.key_heads; }

/// Slots that are not 0, 1, 2 ..., in a pool where those exist.
bool slots_depart(const Shape& shape, const Operands& operands) {
  if (shape.batch > shape.pool) return false;
  for (std::size_t i = 0; i < shape.batch; ++i)
    if (operands.slots[i] != static_cast<std::int32_t>(i)) return true;
  return false;
}

bool has_a_meaning(Fault fault, const Contracts& c, const Shape& shape, const Operands& operands) {
  const bool raw = c.gates == Gates::raw;
  switch (fault) {
    case Fault::state_transposed:
      return shape.key_dim == shape.value_dim;
    case Fault::head_modulo:
      return modulo_departs(shape);
    case Fault::beta_rounded:
      return c.beta == Beta::fp32;
    case Fault::beta_unrounded:
      return c.beta == Beta::bf16;
    case Fault::scale_ignored:
      return operands.scale != fp32_one;
    case Fault::softplus_linear:
    case Fault::dt_bias_ignored:
    case Fault::sign_of_g:
      return raw;
    case Fault::slots_ignored:
      return slots_depart(shape, operands);
    case Fault::state_rounded_early:
      return c.state == Format::bf16;
    case Fault::state_never_rounded:
      return c.state == Format::bf16 && shape.steps > 1;
    case Fault::first_step_only:
      return shape.steps > 1;
    default:
      return true;
  }
}

}  // namespace

std::string_view to_string(Fault fault) {
  static constexpr std::array<std::string_view, fault_count> names = {
      "error before decay",
      "output before update",
      "state transposed",
      "key head by modulus",
      "decayed twice",
      "decay ignored",
      "beta rounded to bf16",
      "beta not rounded",
      "beta ignored",
      "scale ignored",
      "norm ignored",
      "epsilon ignored",
      "the other epsilon",
      "epsilon outside of the root",
      "softplus linear everywhere",
      "dt_bias ignored",
      "sign of g",
      "slots ignored",
      "state not written",
      "state rounded before the output",
      "state not rounded between steps",
      "last slice dropped",
      "products and sums rounded apart",
      "first step only",
  };
  return names.at(static_cast<std::size_t>(fault));
}

Faulty faulty(Fault fault, const Contracts& contracts, const Shape& shape, const Operands& operands) {
  if (!any_slot(operands) && fault != Fault::slots_ignored) return {};
  if (!has_a_meaning(fault, contracts, shape, operands)) return {};
  return bits(contracts, shape, operands, {fault}, 0);
}

}  // namespace assay::oracles::gated_delta
