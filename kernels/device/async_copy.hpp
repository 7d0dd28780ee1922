// Copies of 16 bytes from global into shared memory that a lane starts and waits for later.
//
// A lane sees its own copies once it has waited, other lanes after a barrier more. Stricter than hardware on
// the CPU: the bytes arrive when the lane waits, and until then the destination holds no number.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>

#include "kernels/device/memory.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// The copies of one lane that are under way, kMost of them at most.
template <unsigned kMost>
class AsyncCopies {
 public:
  __host__ __device__ void start(void* shared, const void* global) {
    assert(count_ < kMost);
    store(shared, Bits128{{~0u, ~0u, ~0u, ~0u}}, 16);
    static_cast<void>(load<Bits128>(global, 16));  // misaligned or out of bounds is the fault of this call
    to_[count_] = shared;
    from_[count_++] = global;
  }
  __host__ __device__ void wait() {
    for (unsigned i = 0; i < count_; ++i) store(to_[i], load<Bits128>(from_[i], 16), 16);
    count_ = 0;
  }

 private:
  void* to_[kMost];
  const void* from_[kMost];
  unsigned count_ = 0;
};

}  // namespace twin

/// One lane's copies: any number is started, kMost at a time, before all of them are waited for.
template <unsigned kMost>
class AsyncCopies {
 public:
  /// Both addresses are multiples of 16.
  __device__ __forceinline__ void start(void* shared, const void* global) {
#if ASSAY_SM >= 80
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
#else
    under_way_.start(shared, global);
#endif
  }

  __device__ __forceinline__ void wait() {
#if ASSAY_SM >= 80
    asm volatile("cp.async.wait_all;" ::: "memory");
#else
    under_way_.wait();
#endif
  }

#if ASSAY_SM < 80
 private:
  twin::AsyncCopies<kMost> under_way_;
#endif
};

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
