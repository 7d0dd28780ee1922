// Barriers in shared memory that count arrivals and the bytes of bulk copies: mbarrier, sm_90 and later.
//
// An mbarrier is in a phase until as many threads have arrived as it was initialised for, and as many bytes
// have come as were announced. Phases are numbered from 0; a wait names one by its parity. On the executor a
// wait that cannot end is a deadlock fault. Code for older GPUs traps.
#pragma once

#include "kernels/device/arch.hpp"
#include "kernels/device/place.hpp"
#if !ASSAY_ON_GPU
#include "kernels/executor/async_words.hpp"
#endif

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

/// Whether this code may use mbarriers and bulk copies.
inline constexpr bool has_bulk_copies = !ASSAY_ON_GPU || ASSAY_SM >= 90;

/// For kernels that are nothing without them.
__device__ __forceinline__ void trap_without_bulk_copies() {
#if ASSAY_ON_GPU
  __trap();
#endif
}

/// Lives in shared memory. The word is opaque.
struct alignas(8) Mbarrier {
  std::uint64_t word;
};

#if ASSAY_ON_GPU
/// The address within shared memory, as PTX operands take it.
__device__ __forceinline__ std::uint32_t shared_address(const void* generic) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(generic));
}
#endif

/// By one thread, before any other use; then a fence_proxy_async by that thread, and a block barrier.
__device__ __forceinline__ void mbarrier_init(Mbarrier& mbarrier, std::uint32_t arrivals,
                                              [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&mbarrier)), "r"(arrivals)
               : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::mbarrier_init(mbarrier.word, arrivals, place);
#endif
}

/// Ends the use of an mbarrier, so that its memory may serve for something else.
__device__ __forceinline__ void mbarrier_invalidate(Mbarrier& mbarrier,
                                                    [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(&mbarrier)) : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::mbarrier_invalidate(mbarrier.word, place);
#endif
}

__device__ __forceinline__ void mbarrier_arrive(Mbarrier& mbarrier,
                                                [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&mbarrier)) : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::mbarrier_arrive(mbarrier.word, 0, place);
#endif
}

/// Arrives and announces that `bytes` are to come in this phase: the sum of the boxes of its loads, each
/// counted in full also where it reaches beyond its matrix.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(Mbarrier& mbarrier, std::uint32_t bytes,
                                                          [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&mbarrier)),
               "r"(bytes)
               : "memory");
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::mbarrier_arrive(mbarrier.word, bytes, place);
#endif
}

/// Returns when the current phase, if it has this parity (0 or 1), has completed; at once if it has the
/// other.
__device__ __forceinline__ void mbarrier_wait(Mbarrier& mbarrier, std::uint32_t parity,
                                              [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 90
  const std::uint32_t address = shared_address(&mbarrier);
  std::uint32_t done;
  do {
    asm volatile(
        "{\n\t"
        ".reg .pred complete;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, complete;\n\t"
        "}"
        : "=r"(done)
        : "r"(address), "r"(parity)
        : "memory");
  } while (done == 0);
#elif ASSAY_ON_GPU
  __trap();
#else
  executor::detail::mbarrier_wait(mbarrier.word, parity, place);
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
