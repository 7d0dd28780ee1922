#include "oracles/gated_delta/oracle.hpp"

#include <utility>
#include <vector>

#include "oracles/gated_delta/bound.hpp"
#include "oracles/gated_delta/run.hpp"

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::ElementRange;

/// The slots of no sequence, as ranges of elements of the pool, adjacent ones as one.
std::vector<ElementRange> untouched(const Shape& shape, const Operands& operands) {
  std::vector<bool> taken(shape.pool);
  for (const std::int32_t slot : operands.slots)
    if (slot >= 0) taken[static_cast<std::size_t>(slot)] = true;
  const std::size_t elements = shape.value_heads * shape.key_dim * shape.value_dim;
  std::vector<ElementRange> ranges;
  for (std::size_t slot = 0; slot < shape.pool; ++slot) {
    if (taken[slot]) continue;
    if (!ranges.empty() && ranges.back().end == slot * elements)
      ranges.back().end += elements;
    else
      ranges.push_back({slot * elements, (slot + 1) * elements});
  }
  return ranges;
}

}  // namespace

Accepted accept(const Contracts& contracts, const Shape& shape, const Operands& operands, unsigned threads) {
  Accepted result;
  if (contracts.judge == Judge::bound) {
    result = bound(contracts, shape, operands, threads);
  } else {
    Faulty right = bits(contracts, shape, operands, {}, threads);
    result.out.format = contracts.io;
    result.out.lo = std::move(right.out);
    result.state.format = contracts.state;
    result.state.lo = std::move(right.state);
  }
  result.state.untouched = untouched(shape, operands);
  return result;
}

}  // namespace assay::oracles::gated_delta
