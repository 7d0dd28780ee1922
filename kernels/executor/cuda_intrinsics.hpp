// The CUDA words that need no scheduler: bit operations, rounded arithmetic, cached loads, atomics and
// fences. fminf and fmaxf are deliberately absent: g++, clang and PTX disagree on NaN and on the sign of
// zero, so kernels use the wrappers that state the PTX meaning.
#pragma once

#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <type_traits>

// ---- bits --------------------------------------------------------------------------------------

inline int __popc(unsigned v) { return std::popcount(v); }
inline int __popcll(unsigned long long v) { return std::popcount(v); }
inline int __clz(int v) { return std::countl_zero(static_cast<unsigned>(v)); }  // 32 for 0
inline int __clzll(long long v) { return std::countl_zero(static_cast<unsigned long long>(v)); }
inline int __ffs(int v) { return __builtin_ffs(v); }  // 1-based; 0 for 0
inline int __ffsll(long long v) { return __builtin_ffsll(v); }

inline unsigned __brev(unsigned v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0F0F0F0Fu) | ((v & 0x0F0F0F0Fu) << 4);
  return __builtin_bswap32(v);
}
inline unsigned long long __brevll(unsigned long long v) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32) |
         __brev(static_cast<unsigned>(v >> 32));
}

/// Four bytes picked from y:x by the low three bits of each selector nibble. A set fourth bit is rejected:
/// CUDA's text ignores it while the PTX instruction replicates a sign there.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  assert((selector & 0x8888u) == 0 && "__byte_perm: bit 3 of a selector nibble is not portable");
  const std::uint64_t bytes = (static_cast<std::uint64_t>(y) << 32) | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned from = (selector >> (4 * i)) & 7u;
    result |= static_cast<unsigned>((bytes >> (8 * from)) & 0xFFu) << (8 * i);
  }
  return result;
}

/// The high word of hi:lo shifted left, and the low word of hi:lo shifted right. The count wraps at 32
/// (plain) or clamps to 32 (the c forms).
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((((static_cast<std::uint64_t>(hi) << 32) | lo) << (shift & 31u)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>(((static_cast<std::uint64_t>(hi) << 32) | lo) >> (shift & 31u));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<std::int64_t>(a) * b) >> 32); }

inline unsigned __float_as_uint(float v) { return std::bit_cast<unsigned>(v); }
inline int __float_as_int(float v) { return std::bit_cast<int>(v); }
inline float __uint_as_float(unsigned v) { return std::bit_cast<float>(v); }
inline float __int_as_float(int v) { return std::bit_cast<float>(v); }
inline long long __double_as_longlong(double v) { return std::bit_cast<long long>(v); }
inline double __longlong_as_double(long long v) { return std::bit_cast<double>(v); }

// ---- arithmetic rounded once, to nearest even --------------------------------------------------

namespace assay::executor::detail {
/// Keeps a compiler that may contract from fusing the value into a neighbouring operation. The project builds
/// with contraction off; this covers a candidate that does not, on a target that has fused instructions.
template <class T>
inline T rounded(T v) {
#if defined(__FMA__)
  asm volatile("" : "+x"(v));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(v));
#endif
  return v;
}
}  // namespace assay::executor::detail

inline float __fadd_rn(float a, float b) { return assay::executor::detail::rounded(a + b); }
inline float __fsub_rn(float a, float b) { return assay::executor::detail::rounded(a - b); }
inline float __fmul_rn(float a, float b) { return assay::executor::detail::rounded(a * b); }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __fdiv_rn(float a, float b) { return assay::executor::detail::rounded(a / b); }
inline float __frcp_rn(float a) { return assay::executor::detail::rounded(1.0f / a); }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dadd_rn(double a, double b) { return assay::executor::detail::rounded(a + b); }
inline double __dsub_rn(double a, double b) { return assay::executor::detail::rounded(a - b); }
inline double __dmul_rn(double a, double b) { return assay::executor::detail::rounded(a * b); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

// ---- loads and stores with a cache policy: the policy has no meaning here ----------------------

// clang-format off
template <class T> T __ldg(const T* p) { return *p; }
template <class T> T __ldca(const T* p) { return *p; }
template <class T> T __ldcg(const T* p) { return *p; }
template <class T> T __ldcs(const T* p) { return *p; }
template <class T> T __ldlu(const T* p) { return *p; }
template <class T> void __stwb(T* p, T v) { *p = v; }
template <class T> void __stcg(T* p, T v) { *p = v; }
template <class T> void __stcs(T* p, T v) { *p = v; }
template <class T> void __stwt(T* p, T v) { *p = v; }
// clang-format on

// ---- atomics and fences ------------------------------------------------------------------------

// Relaxed, as on the GPU: an atomic orders nothing but itself, so that ThreadSanitizer still sees a missing
// barrier. A sum of floats added by several blocks depends on the order of blocks, here as there.

namespace assay::executor::detail {
template <class T, class F>
T atomic_update(T* address, F&& next) {
  T seen;
  __atomic_load(address, &seen, __ATOMIC_RELAXED);
  for (T want = next(seen);
       !__atomic_compare_exchange(address, &seen, &want, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);) {
    want = next(seen);
  }
  return seen;
}
/// Orders memory between threads. Under ThreadSanitizer it is also an edge of the happens-before order, in
/// the order in which fences execute.
void fence();
}  // namespace assay::executor::detail

// clang-format off
#define ASSAY_ATOMIC_INTEGER(T)                                                                                   \
  inline T atomicAdd(T* p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }                            \
  inline T atomicSub(T* p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }                            \
  inline T atomicAnd(T* p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }                            \
  inline T atomicOr(T* p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }                              \
  inline T atomicXor(T* p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }                            \
  inline T atomicExch(T* p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }                          \
  inline T atomicMax(T* p, T v) { return assay::executor::detail::atomic_update(p, [v](T s) { return s < v ? v : s; }); } \
  inline T atomicMin(T* p, T v) { return assay::executor::detail::atomic_update(p, [v](T s) { return v < s ? v : s; }); } \
  inline T atomicCAS(T* p, T expected, T v) {                                                                     \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                      \
    return expected;                                                                                              \
  }
// clang-format on
ASSAY_ATOMIC_INTEGER(int)
ASSAY_ATOMIC_INTEGER(unsigned)
ASSAY_ATOMIC_INTEGER(unsigned long long)
#undef ASSAY_ATOMIC_INTEGER

inline float atomicAdd(float* p, float v) {
  return assay::executor::detail::atomic_update(p, [v](float s) { return __fadd_rn(s, v); });
}
inline double atomicAdd(double* p, double v) {
  return assay::executor::detail::atomic_update(p, [v](double s) { return __dadd_rn(s, v); });
}

inline void __threadfence() { assay::executor::detail::fence(); }
inline void __threadfence_block() { assay::executor::detail::fence(); }
inline void __threadfence_system() { assay::executor::detail::fence(); }
