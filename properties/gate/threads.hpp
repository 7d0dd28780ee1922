// How many threads an oracle is given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

namespace assay::properties {

/// Threads that pay for a case of that many elements: to start one costs as much as some 16,384 of them.
inline unsigned threads_for(std::size_t elements) {
  static const unsigned cores = std::max(1u, std::thread::hardware_concurrency());  // asking opens a file
  return static_cast<unsigned>(std::clamp<std::size_t>(elements >> 14, 1, cores));
}

}  // namespace assay::properties
