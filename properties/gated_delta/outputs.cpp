#include "properties/gated_delta/outputs.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "oracles/arithmetic/functions.hpp"
#include "oracles/arithmetic/host.hpp"
#include "oracles/formats/codec.hpp"

namespace assay::properties::gated_delta {
namespace {

using formats::Format;

std::uint32_t code_at(Format format, std::span<const std::byte> bytes, std::size_t i) {
  return arithmetic::load_code(bytes, formats::storage_bytes(format), i);
}

std::size_t state_index(const oracle::Shape& shape, oracle::Layout layout, std::size_t slot, std::size_t head,
                        std::size_t k, std::size_t v) {
  const std::size_t matrix = (slot * shape.value_heads + head) * shape.key_dim * shape.value_dim;
  return matrix + (layout == oracle::Layout::kv ? k * shape.value_dim + v : v * shape.key_dim + k);
}

}  // namespace

Outputs::Outputs(const DeltaWorkload& workload, const Contents& contents)
    : workload_(&workload), contents_(&contents), shape_(shape_of(workload.point())) {}

std::uint32_t Outputs::o(std::size_t sequence, std::size_t step, std::size_t head, std::size_t v) const {
  const std::size_t row = (sequence * shape_.steps + step) * shape_.value_heads + head;
  return code_at(workload_->point().contracts.io, (*contents_)[0], row * shape_.value_dim + v);
}

std::uint32_t Outputs::state(std::size_t sequence, std::size_t head, std::size_t k, std::size_t v) const {
  assert(has_slot(sequence));
  const oracle::Contracts& contracts = workload_->point().contracts;
  const auto slot = static_cast<std::size_t>(workload_->operands().slots[sequence]);
  return code_at(contracts.state, (*contents_)[1], state_index(shape_, contracts.layout, slot, head, k, v));
}

bool Outputs::others_untouched() const {
  const std::vector<std::byte>& before = workload_->operands().state;
  const std::vector<std::int32_t>& slots = workload_->operands().slots;
  const std::size_t bytes = before.size() / shape_.pool;
  for (std::size_t slot = 0; slot < shape_.pool; ++slot)
    if (std::find(slots.begin(), slots.end(), static_cast<std::int32_t>(slot)) == slots.end() &&
        std::memcmp(before.data() + slot * bytes, (*contents_)[1].data() + slot * bytes, bytes) != 0)
      return false;
  return true;
}

bool same_code(Format format, std::uint32_t a, std::uint32_t b) {
  return a == b || (formats::is_nan(format, a) && formats::is_nan(format, b));
}

bool same_o(const Outputs& a, std::size_t i, const Outputs& b, std::size_t j, std::size_t head) {
  for (std::size_t step = 0; step < a.shape().steps; ++step)
    for (std::size_t v = 0; v < a.shape().value_dim; ++v)
      if (!same_code(a.io(), a.o(i, step, head, v), b.o(j, step, head, v))) return false;
  return true;
}

bool same_state(const Outputs& a, std::size_t i, const Outputs& b, std::size_t j, std::size_t head) {
  for (std::size_t k = 0; k < a.shape().key_dim; ++k)
    for (std::size_t v = 0; v < a.shape().value_dim; ++v)
      if (!same_code(a.state_format(), a.state(i, head, k, v), b.state(j, head, k, v))) return false;
  return true;
}

bool same(const Outputs& a, const Outputs& b) {
  for (std::size_t i = 0; i < a.shape().batch; ++i)
    for (std::size_t head = 0; head < a.shape().value_heads; ++head)
      if (!same_o(a, i, b, i, head) || (a.has_slot(i) && !same_state(a, i, b, i, head))) return false;
  return true;
}

bool scaled_alike(const Outputs& a, const Outputs& b, int exponent) {
  const auto alike = [exponent](Format format, std::uint32_t x, std::uint32_t y) {
    const formats::Exact from = formats::decode(format, x);
    return same_code(
        format, y,
        from.kind == formats::Kind::finite ? formats::encode(format, formats::scaled(from, exponent)) : x);
  };
  for (std::size_t i = 0; i < a.shape().batch; ++i) {
    for (std::size_t head = 0; head < a.shape().value_heads; ++head) {
      for (std::size_t v = 0; v < a.shape().value_dim; ++v) {
        for (std::size_t step = 0; step < a.shape().steps; ++step)
          if (!alike(a.io(), a.o(i, step, head, v), b.o(i, step, head, v))) return false;
        for (std::size_t k = 0; k < a.shape().key_dim && a.has_slot(i); ++k)
          if (!alike(a.state_format(), a.state(i, head, k, v), b.state(i, head, k, v))) return false;
      }
    }
  }
  return true;
}

bool only_decayed(const DeltaWorkload& workload, const Outputs& outputs) {
  using Single = arithmetic::Host<Format::fp32>;
  const oracle::Shape& shape = outputs.shape();
  const Contents before = {{}, workload.operands().state};
  const Outputs first(workload, before);
  const bool bf16 = outputs.state_format() == Format::bf16;
  for (std::size_t i = 0; i < shape.batch; ++i) {
    if (!outputs.has_slot(i)) continue;
    for (std::size_t head = 0; head < shape.value_heads; ++head) {
      std::vector<Single> decays;
      for (std::size_t step = 0; step < shape.steps; ++step) {
        const std::size_t gate = (i * shape.steps + step) * shape.value_heads + head;
        const std::uint32_t g = code_at(Format::fp32, workload.operands().g, gate);
        decays.push_back(Single::of_code(arithmetic::correctly_rounded(arithmetic::Function::exp, g)));
      }
      for (std::size_t k = 0; k < shape.key_dim; ++k) {
        for (std::size_t v = 0; v < shape.value_dim; ++v) {
          // bf16 is the upper half of an fp32
          std::uint32_t code = first.state(i, head, k, v) << (bf16 ? 16 : 0);
          for (const Single& decay : decays) {
            const Single s = decay * Single::of_code(code);
            code = bf16 ? arithmetic::convert<Format::bf16>(s).code() << 16 : s.code();
          }
          if (outputs.state(i, head, k, v) != code >> (bf16 ? 16 : 0)) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace assay::properties::gated_delta
