// What the twins of the mbarrier and bulk copy instructions stand on (kernels/device/mbarrier.hpp,
// kernels/device/bulk_copy.hpp). Stricter than hardware:
// - the bytes of a load land as late as is allowed, when a lane waits for the phase that they complete and
//   all else is there; until then the destination holds poison, and writing to it is a fault;
// - the source of a store must be the same when a wait finds it read as when the store was issued;
// - bytes that a store reads must not be newer than the last fence between the proxies.
#pragma once

#include <cstdint>

#include "kernels/executor/cuda_words.hpp"

namespace assay::executor {

/// A row-major matrix in global memory and the box of it that one copy moves. In shared memory a box is
/// contiguous, row after row.
struct TensorBox {
  std::byte* base = nullptr;
  std::int64_t rows = 0, cols = 0;  ///< extents in elements; outside them loads give zeros and stores nothing
  std::int64_t row_stride = 0;      ///< in bytes
  std::uint32_t box_rows = 0, box_cols = 0, element_bytes = 0;
  std::uint32_t box_row_bytes() const { return box_cols * element_bytes; }
  std::uint32_t box_bytes() const { return box_rows * box_row_bytes(); }
};

/// Where a box begins. A load may begin outside the matrix on any side; a store that begins at a negative row
/// or column is an illegal instruction on an H200, and a fault here.
struct BoxOrigin {
  std::int32_t col, row;
};

namespace detail {

void mbarrier_init(std::uint64_t& word, std::uint32_t count, Place);
void mbarrier_invalidate(std::uint64_t& word, Place);
/// One arrival, which also makes the phase wait for `bytes` more.
void mbarrier_arrive(std::uint64_t& word, std::uint32_t bytes, Place);
Fiber* begin_mbarrier_wait(std::uint64_t& word, std::uint32_t parity, Place);
void end_mbarrier_wait(Arrival*, std::uint64_t& word, std::uint32_t parity);

/// Returns once the phase of that parity has completed; at once when the current phase has the other parity.
[[gnu::always_inline]] inline void mbarrier_wait(std::uint64_t& word, std::uint32_t parity, Place place) {
  meet(begin_mbarrier_wait(word, parity, place), [&](Arrival* a) { end_mbarrier_wait(a, word, parity); });
}

void bulk_load(void* shared, const TensorBox&, BoxOrigin, std::uint64_t& mbarrier, Place);
void bulk_store(const TensorBox&, BoxOrigin, const void* shared, Place);
void bulk_store(void* global, const void* shared, std::uint32_t bytes, Place);
void bulk_commit_group();
/// Completes all but the lane's last `groups` groups of stores; with `read` only their reading.
void bulk_wait_group(std::uint32_t groups, bool read, Place);
void fence_proxy_async();

}  // namespace detail
}  // namespace assay::executor
