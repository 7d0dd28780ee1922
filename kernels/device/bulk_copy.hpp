// Bulk copies between global and shared memory by the copy engine (TMA), of two-dimensional boxes
// (cp.async.bulk.tensor) and of bytes in a row (cp.async.bulk): sm_90 and later; code for older GPUs traps.
//
// A box is contiguous in shared memory, row after row, at a multiple of 128 bytes. Its first element is
// (row, col) of the matrix, which may be outside, but for a store not negative: an H200 stops that as an
// illegal instruction. Outside the matrix a load gives zeros and a store writes nothing. What the executor
// checks stands in kernels/executor/async_words.hpp.
#pragma once

#include "kernels/device/mbarrier.hpp"
#include "kernels/device/tensor_map.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

/// Orders this thread's earlier accesses to shared memory, and its mbarrier_init, before later bulk copies.
/// Every thread that wrote what a store reads calls it before the barrier that precedes the store.
__device__ __forceinline__ void fence_proxy_async() {
#if ASSAY_SM >= 90
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::fence_proxy_async();
#endif
}

/// Brings the map itself near. Changes no value.
__device__ __forceinline__ void prefetch_tensor_map([[maybe_unused]] const TensorMap2d& map) {
#if ASSAY_SM >= 90
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#endif
}

/// Starts a copy of the box to `shared`; its bytes count for the current phase of the mbarrier. By one
/// thread.
__device__ __forceinline__ void bulk_load_2d(void* shared, const TensorMap2d& map, std::int32_t row,
                                             std::int32_t col, Mbarrier& mbarrier,
                                             [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(shared_address(shared)),
      "l"(&map), "r"(col), "r"(row), "r"(shared_address(&mbarrier))
      : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::bulk_load(shared, map, {col, row}, mbarrier.word, place);
#endif
}

/// Starts a copy of the box at `shared` to the matrix, in the group that the thread's next
/// bulk_commit_group closes. By one thread.
__device__ __forceinline__ void bulk_store_2d(const TensorMap2d& map, std::int32_t row, std::int32_t col,
                                              const void* shared,
                                              [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
               "r"(col), "r"(row), "r"(shared_address(shared))
               : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::bulk_store(map, {col, row}, shared, place);
#endif
}

/// Starts a copy of `bytes` from `shared` to `global`, in the group that the thread's next bulk_commit_group
/// closes. Both addresses and `bytes` are multiples of 16; `bytes` is not 0. By one thread.
__device__ __forceinline__ void bulk_store_1d(void* global, const void* shared, std::uint32_t bytes,
                                              [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::bulk_store(global, shared, bytes, place);
#endif
}

__device__ __forceinline__ void bulk_commit_group() {
#if ASSAY_SM >= 90
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::bulk_commit_group();
#endif
}

/// Returns when all but the thread's last kGroups groups have been read from shared memory, which may then
/// be written again.
template <std::uint32_t kGroups>
__device__ __forceinline__ void bulk_wait_group_read([[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::bulk_wait_group(kGroups, true, place);
#endif
}

/// Returns when all but the thread's last kGroups groups have been written to global memory.
template <std::uint32_t kGroups>
__device__ __forceinline__ void bulk_wait_group([[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kGroups) : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::bulk_wait_group(kGroups, false, place);
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
