// What a kernel with a known fault would leave, for the tests of the cast.
#pragma once

#include <algorithm>
#include <utility>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {

inline constexpr std::byte poison{0xA5};

/// All outputs of a case as a kernel with the fault leaves them in buffers of poison.
inline Contents outputs_with(const CastWorkload& workload, oracle::Fault fault) {
  const Point& point = workload.point();
  Contents outputs;
  for (const auto direction : point.directions()) {
    auto one = oracle::accept(point.input, workload.x(), point.shape, direction, point.contracts, fault);
    for (const auto& range : one.scales.untouched)
      std::fill(one.scales.lo.begin() + static_cast<std::ptrdiff_t>(range.begin),
                one.scales.lo.begin() + static_cast<std::ptrdiff_t>(range.end), poison);
    outputs.push_back(std::move(one.data.lo));
    outputs.push_back(std::move(one.scales.lo));
  }
  return outputs;
}

inline Contents poisoned(const Contents& outputs) {
  Contents before = outputs;
  for (auto& buffer : before) std::fill(buffer.begin(), buffer.end(), poison);
  return before;
}

}  // namespace assay::properties::mxfp8_cast
