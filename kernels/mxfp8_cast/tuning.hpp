// How the register kernels are launched: a table by size, one for each generation it was measured or
// published for (decisions/).
#pragma once

#include <cstdint>

#include "kernels/runtime/device.hpp"

namespace assay::kernels::mxfp8_cast {

struct Tuning {
  /// Of a thread block: rowwise 128 or 1024; colwise 256; bidimensional 256 or 128, which holds two or four
  /// rows a thread.
  unsigned threads = 0;
  bool evict_first = false;  ///< x leaves L2 before anything else
  bool prefetch = false;     ///< what is read one resident wave later goes to L2
};

/// For `elements` input elements on a device of that capability.
Tuning rowwise_tuning(const Capability&, std::int64_t elements);

/// Likewise for the other directions.
Tuning colwise_tuning(const Capability&, std::int64_t elements);
Tuning bidimensional_tuning(const Capability&, std::int64_t elements);

/// Thread blocks that are resident on the device at a time, as the prefetch assumes: at full occupancy.
std::uint32_t resident_blocks(const Capability&, unsigned threads);

}  // namespace assay::kernels::mxfp8_cast
