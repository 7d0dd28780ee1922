// What `assay bench` times of the gated delta rule.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::gated_delta {

/// One decode step of 32 heads of 128 x 128 for growing batches, both layouts and formats of the state; with
/// an fp32 state with gates given as well, as public kernels are timed. The legacy route takes [K,V] alone;
/// in [V,K] the production route is timed by itself.
std::vector<Benchmark> benchmarks();

}  // namespace assay::properties::gated_delta
