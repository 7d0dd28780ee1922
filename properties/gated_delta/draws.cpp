#include "properties/gated_delta/draws.hpp"

#include "properties/gate/search.hpp"

namespace assay::properties::gated_delta {
namespace {

using fixture::Pattern;
using formats::Format;

bool one_in(int n) { return choice(0, n) == n - 1; }  // shrinks toward no

/// The time of a case grows with the state, and 64 x 64 has everything but the sizes.
std::size_t any_dim() { return one_in(16) ? (one_in(4) ? 256 : 128) : 64; }

void set_any_contracts(Point& point) {
  oracle::Contracts& contracts = point.contracts;
  contracts.io = one_in(2) ? Format::bf16 : Format::fp32;
  contracts.state = one_in(2) ? Format::bf16 : Format::fp32;
  contracts.layout = one_in(3) ? oracle::Layout::vk : oracle::Layout::kv;
  contracts.gates =
      point.pattern == Pattern::saturated || one_in(2) ? oracle::Gates::raw : oracle::Gates::precomputed;
  contracts.norm = oracle::Norm{choice<std::uint8_t>(0, 2)};
  contracts.epsilon = oracle::Epsilon{choice<std::uint8_t>(0, 2)};
  if (contracts.gates == oracle::Gates::raw)
    contracts.softplus = oracle::Softplus{choice<std::uint8_t>(0, 3)};
  contracts.beta = oracle::Beta{choice<std::uint8_t>(0, 2)};
}

void set_any_shape(Point& point) {
  oracle::Shape& shape = point.shape;
  shape.batch = one_in(4) ? choice<std::size_t>(2, 4) : 1;
  shape.steps = choice<std::size_t>(1, 4);
  shape.key_heads = one_in(4) ? 2 : 1;
  shape.value_heads = shape.key_heads * (one_in(3) ? 2 : 1);
  shape.key_dim = any_dim();
  shape.value_dim = any_dim();
  shape.pool = shape.batch + (one_in(4) ? 1 : 0);
  if (point.contracts.gates == oracle::Gates::precomputed) return;
  shape.a_stride = shape.value_heads + choice<std::size_t>(0, 3);
  shape.b_stride = shape.value_heads + choice<std::size_t>(0, 3);
}

}  // namespace

Point any_point(const std::vector<Pattern>& patterns) {
  Point point;
  point.pattern = patterns[choice<std::size_t>(0, patterns.size())];
  point.seed = choice<std::uint64_t>(1, 1000);
  point.slots = Slots{choice<std::uint8_t>(0, 3)};
  point.tuning = Tuning{choice<std::uint8_t>(0, 3)};
  if (one_in(4)) point.scale = 0x3F000000;  // 1/2
  set_any_contracts(point);
  set_any_shape(point);
  return point;
}

}  // namespace assay::properties::gated_delta
