// How the register kernels are launched: a table by size, one for each generation it was measured or
// published for (decisions/).
#pragma once

#include <cstdint>

#include "kernels/runtime/device.hpp"

namespace assay::kernels::mxfp8_cast {

struct Tuning {
  unsigned threads = 0;      ///< of a thread block: rowwise 128 or 1024; colwise and bidimensional 256
  bool evict_first = false;  ///< x leaves L2 before anything else
  bool prefetch = false;     ///< what is read one resident wave later goes to L2
};

/// For `elements` input elements on a device of that capability.
Tuning rowwise_tuning(const Capability&, std::int64_t elements);

/// Likewise for the colwise and bidimensional directions.
Tuning band_tuning(const Capability&, std::int64_t elements);

/// Thread blocks that are resident on the device at a time, as the prefetch assumes: at full occupancy.
std::uint32_t resident_blocks(const Capability&, unsigned threads);

}  // namespace assay::kernels::mxfp8_cast
