// One change to the right algorithm: what the decoding and the schedules of this folder ask, at the places
// where a known fault parts from them.
#pragma once

#include <optional>

#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::oracles::matmul_nbits {

struct Departure {
  std::optional<Fault> fault;  ///< empty: the right algorithm

  bool is(Fault f) const { return fault == f; }
};

}  // namespace assay::oracles::matmul_nbits
