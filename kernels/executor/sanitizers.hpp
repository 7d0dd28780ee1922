// What the executor tells the sanitizers about its fibers. Without a sanitizer every function here is empty.
#pragma once

#include <cstddef>

// The executor itself is compiled without ThreadSanitizer (its bookkeeping is shared by all lanes on
// purpose), so there ASSAY_EXECUTOR_TSAN comes from the build; kernels are compiled with it.
#if defined(__SANITIZE_ADDRESS__)
#define ASSAY_EXECUTOR_ASAN 1
#elif defined(__SANITIZE_THREAD__) && !defined(ASSAY_EXECUTOR_TSAN)
#define ASSAY_EXECUTOR_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASSAY_EXECUTOR_ASAN 1
#elif __has_feature(thread_sanitizer) && !defined(ASSAY_EXECUTOR_TSAN)
#define ASSAY_EXECUTOR_TSAN 1
#endif
#endif

#if defined(ASSAY_EXECUTOR_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(ASSAY_EXECUTOR_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void __tsan_acquire(void*);
void __tsan_release(void*);
void __tsan_read_range(void*, unsigned long);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace assay::executor::detail {

#if defined(ASSAY_EXECUTOR_ASAN)
inline constexpr bool asan = true;
inline void poison_memory(const void* p, std::size_t n) { __asan_poison_memory_region(p, n); }
inline void unpoison_memory(const void* p, std::size_t n) { __asan_unpoison_memory_region(p, n); }
#else
inline constexpr bool asan = false;
inline void poison_memory(const void*, std::size_t) {}
inline void unpoison_memory(const void*, std::size_t) {}
#endif

#if defined(ASSAY_EXECUTOR_TSAN)
inline constexpr bool tsan = true;
inline void happens_before(void* object) { __tsan_release(object); }
inline void happens_after(void* object) { __tsan_acquire(object); }
inline void reads(const void* p, std::size_t n) { __tsan_read_range(const_cast<void*>(p), n); }
// ThreadSanitizer ignores reads as well, whichever of the two it is told.
inline void ignore_accesses_begin() { AnnotateIgnoreWritesBegin(__FILE__, __LINE__); }
inline void ignore_accesses_end() { AnnotateIgnoreWritesEnd(__FILE__, __LINE__); }
#else
inline constexpr bool tsan = false;
inline void happens_before(void*) {}
inline void happens_after(void*) {}
inline void reads(const void*, std::size_t) {}
inline void ignore_accesses_begin() {}
inline void ignore_accesses_end() {}
#endif

}  // namespace assay::executor::detail
