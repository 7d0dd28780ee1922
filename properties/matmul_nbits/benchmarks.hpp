// What `assay bench` times of the matrix multiplication with n-bit weights.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::matmul_nbits {

/// One row through real layers' weights by each schedule, and a prefill. Routes of different schedules have
/// different bits, so each is a benchmark of its own.
std::vector<Benchmark> benchmarks();

}  // namespace assay::properties::matmul_nbits
