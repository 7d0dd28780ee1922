// One change to the right algorithm: what the schedule of this folder asks, at the places where a known fault
// parts from it.
#pragma once

#include <optional>

#include "oracles/gated_delta/oracle.hpp"

namespace assay::oracles::gated_delta {

struct Departure {
  std::optional<Fault> fault;  ///< empty: the right algorithm

  bool is(Fault f) const { return fault == f; }
};

}  // namespace assay::oracles::gated_delta
