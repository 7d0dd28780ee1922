// What is timed of the cast: the register kernels beside the staged ones that they replace.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"

namespace assay::properties::mxfp8_cast {

std::vector<Benchmark> benchmarks();

}  // namespace assay::properties::mxfp8_cast
