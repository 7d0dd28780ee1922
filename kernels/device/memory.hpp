// Wide global loads and stores with cache policies, and the L2 prefetch.
//
// Addresses are those of global memory, aligned to the width of the access. On the CPU the twin checks that
// alignment, because hardware faults on it and a host CPU does not.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

struct alignas(8) Bits64 {
  std::uint32_t word[2];
};
struct alignas(16) Bits128 {
  std::uint32_t word[4];
};
struct Bits256 {
  std::uint32_t word[8];
};

/// An L2 eviction policy as createpolicy encodes it. Opaque, and without meaning on a CPU.
struct CachePolicy {
  std::uint64_t encoded;
};

/// Whether load_256 is one instruction here. Where it is two, a caller need not ask for 32-byte alignment.
inline constexpr bool has_256_bit_loads = ASSAY_SM >= 100;

#if !ASSAY_ON_GPU
[[noreturn]] void fail_misaligned(const void* address, std::size_t alignment);

/// Throws ExecutorError where a GPU would report a misaligned address.
inline void require_aligned(const void* address, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) [[unlikely]]
    fail_misaligned(address, alignment);
}
#endif

namespace twin {

template <class T>
__host__ __device__ __forceinline__ T load(const void* address, [[maybe_unused]] std::size_t alignment) {
#if ASSAY_ON_GPU
  return *static_cast<const T*>(address);
#else
  require_aligned(address, alignment);
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
#endif
}

template <class T>
__host__ __device__ __forceinline__ void store(void* address, const T& value,
                                               [[maybe_unused]] std::size_t alignment) {
#if ASSAY_ON_GPU
  *static_cast<T*>(address) = value;
#else
  require_aligned(address, alignment);
  std::memcpy(address, &value, sizeof value);
#endif
}

}  // namespace twin

/// A plain load or store of a T in global or shared memory, as wide as T's alignment allows.
template <class T>
__device__ __forceinline__ T load_as(const void* address) {
  return twin::load<T>(address, alignof(T));
}
template <class T>
__device__ __forceinline__ void store_as(void* address, const T& value) {
  twin::store(address, value, alignof(T));
}

/// The policy for data that is read once: first to leave L2.
__device__ __forceinline__ CachePolicy evict_first_policy() {
#if ASSAY_SM >= 80
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.encoded));
  return policy;
#else
  return {};
#endif
}

/// The policy for data that is small and written in pieces: it stays in L2 until its lines are whole.
__device__ __forceinline__ CachePolicy evict_last_policy() {
#if ASSAY_SM >= 80
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.encoded));
  return policy;
#else
  return {};
#endif
}

/// The policy for data that the next kernel is likely to read.
__device__ __forceinline__ CachePolicy evict_normal_policy() {
#if ASSAY_SM >= 80
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy.encoded));
  return policy;
#else
  return {};
#endif
}

/// 16 bytes of memory that no thread of the grid writes (the non-coherent path). They are allocated in L1:
/// where the two halves of a sector are loaded by two instructions, as load_nc_256 does below sm_100, the
/// second one has to hit there (kernels/mxfp8_cast/decisions/rowwise_loads.md).
__device__ __forceinline__ Bits128 load_nc_128(const void* address, [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  Bits128 v;
  asm volatile("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(address), "l"(policy.encoded));
  return v;
#else
  return twin::load<Bits128>(address, 16);
#endif
}

/// 32 bytes, likewise; the address is a multiple of 32 on every device.
__device__ __forceinline__ Bits256 load_nc_256(const void* address, [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 100
  Bits256 v;
  asm volatile("ld.global.nc.L2::cache_hint.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3]), "=r"(v.word[4]),
                 "=r"(v.word[5]), "=r"(v.word[6]), "=r"(v.word[7])
               : "l"(address), "l"(policy.encoded));
  return v;
#elif ASSAY_SM >= 80
  const Bits128 low = load_nc_128(address, policy);
  const Bits128 high = load_nc_128(static_cast<const char*>(address) + 16, policy);
  return {{low.word[0], low.word[1], low.word[2], low.word[3], high.word[0], high.word[1], high.word[2],
           high.word[3]}};
#else
  return twin::load<Bits256>(address, 32);
#endif
}

/// 8 bytes, likewise.
__device__ __forceinline__ Bits64 load_nc_64(const void* address, [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  Bits64 v;
  asm volatile("ld.global.nc.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
               : "=r"(v.word[0]), "=r"(v.word[1])
               : "l"(address), "l"(policy.encoded));
  return v;
#else
  return twin::load<Bits64>(address, 8);
#endif
}

/// Two bytes, likewise.
__device__ __forceinline__ std::uint32_t load_nc_16(const void* address,
                                                    [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  std::uint16_t v;
  asm volatile("ld.global.nc.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(v) : "l"(address), "l"(policy.encoded));
  return v;
#else
  return twin::load<std::uint16_t>(address, 2);
#endif
}

/// One byte, likewise.
__device__ __forceinline__ std::uint32_t load_nc_8(const void* address, [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  std::uint32_t v;
  asm volatile("ld.global.nc.L2::cache_hint.u8 %0, [%1], %2;" : "=r"(v) : "l"(address), "l"(policy.encoded));
  return v;
#else
  return twin::load<std::uint8_t>(address, 1);
#endif
}

__device__ __forceinline__ void store_8(void* address, std::uint8_t value,
                                        [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  asm volatile("st.global.L2::cache_hint.u8 [%0], %1, %2;" ::"l"(address),
               "r"(static_cast<std::uint32_t>(value)), "l"(policy.encoded)
               : "memory");
#else
  twin::store(address, value, 1);
#endif
}

__device__ __forceinline__ void store_64(void* address, const Bits64& v,
                                         [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(address), "r"(v.word[0]),
               "r"(v.word[1]), "l"(policy.encoded)
               : "memory");
#else
  twin::store(address, v, sizeof v);
#endif
}

__device__ __forceinline__ void store_128(void* address, const Bits128& v,
                                          [[maybe_unused]] CachePolicy policy) {
#if ASSAY_SM >= 80
  asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(address), "r"(v.word[0]),
               "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3]), "l"(policy.encoded)
               : "memory");
#else
  twin::store(address, v, sizeof v);
#endif
}

/// Asks for the cache line at `address` in L2. Changes no value; on a CPU it does nothing.
__device__ __forceinline__ void prefetch_l2([[maybe_unused]] const void* address) {
#if ASSAY_SM >= 75
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
