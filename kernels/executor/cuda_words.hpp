// CUDA's words for a plain host compiler, so that kernel source runs on the executor unchanged.
//
// What the GPU leaves undefined is an ExecutorError here (executor.hpp). Three words have no counterpart:
// - __shared__: a variable must live in the running block's arena, which a storage class cannot say. Kernels
// write
//   ASSAY_SHARED(T, name) and assay::executor::dynamic_shared<T>().
// - __activemask(): its value is the hardware's momentary choice of converged lanes, not a function of the
// program.
// - clocks and __nanosleep: nothing here may depend on time. Spinning until another lane or block writes a
// flag does
//   not terminate, since lanes run one after another between collectives.
//
// threadIdx and friends are macros: include the CUDA toolkit's and third-party headers before this one
// (driver_types.h has a member named gridDim; some libraries spell an attribute __noinline__).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>  // libstdc++ spells an attribute __noinline__ in here: before the macro below
#include <type_traits>

#include "kernels/executor/cuda_intrinsics.hpp"
#include "kernels/executor/cuda_vectors.hpp"
#include "kernels/executor/fiber.hpp"

// ---- qualifiers --------------------------------------------------------------------------------

#ifndef __global__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#endif

// ---- what the words stand on -------------------------------------------------------------------

namespace assay::executor {

/// A line of kernel source, for diagnostics. As a default argument it is the place of the call.
struct Place {
  const char* file;
  unsigned line;
  static constexpr Place here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

namespace detail {

struct BlockView {
  uint3 index;
  dim3 dimensions, grid;
  std::byte* dynamic_shared;
};
struct LaneView {
  uint3 index;
};

/// The lane that this OS thread executes now, and its block. initial-exec: one load, where the default for
/// position-independent code is a call.
extern constinit thread_local LaneView* current __attribute__((tls_model("initial-exec")));
extern constinit thread_local const BlockView* current_block __attribute__((tls_model("initial-exec")));

#if defined(ASSAY_EXECUTOR_TSAN)
// All lanes share the OS thread's `current` by design; ThreadSanitizer must not see these reads.
__attribute__((noinline, no_sanitize("thread"))) inline const LaneView& lane() { return *current; }
__attribute__((noinline, no_sanitize("thread"))) inline const BlockView& block() { return *current_block; }
#else
inline const LaneView& lane() { return *current; }
inline const BlockView& block() { return *current_block; }
#endif

enum class BarrierOp : std::uint8_t { sync, sync_count, sync_and, sync_or };
enum class WarpOp : std::uint8_t {
  sync,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  add_u32,
  min_u32,
  max_u32,
  min_s32,
  max_s32,
  mma
};
/// What a shuffle does, packed so that all arguments travel in registers.
struct Shuffle {
  WarpOp op;
  std::uint8_t bytes;   ///< 4 or 8; part of the operation
  std::uint16_t width;  ///< 0: the width given was out of range; the executor refuses it
};

/// A matrix operation of a whole warp. The last lane to arrive computes it, from and to the fragments of all
/// 32 lanes, which lie in the lanes' own variables.
struct Mma {
  std::uint8_t variant;  ///< part of the operation
  void (*multiply)(void* const* fragments_of_lanes);
};

// A collective has two halves. The first enters it and returns the fiber to continue in, or nullptr when this
// lane was the last to arrive. The second runs when all have arrived, and yields the result.
Fiber* begin_barrier(BarrierOp, bool predicate, Place);
Fiber* begin_sync_warp(unsigned mask, Place);
Fiber* begin_shuffle(Shuffle, unsigned mask, std::uint64_t value, Place);
Fiber* begin_vote(WarpOp, unsigned mask, bool predicate, Place);
Fiber* begin_reduce(WarpOp, unsigned mask, unsigned value, Place);
Fiber* begin_mma(Mma, void* fragments, Place);
unsigned end_barrier(Arrival*);
void end_sync_warp(Arrival*);
unsigned end_collective(Arrival*);
/// `operand` is the source lane, the delta or the lane mask.
std::uint64_t end_shuffle(Arrival*, Shuffle, unsigned operand);

template <class End>
[[gnu::always_inline]] inline auto meet(Fiber* to, End end) {
  if (to == nullptr) return end(nullptr);
  Arrival arrival;
  resume(*to, arrival);
  return end(&arrival);
}

/// Waits for every living lane of the block. Returns the number of lanes whose predicate holds.
[[gnu::always_inline]] inline unsigned barrier(BarrierOp op, bool predicate, Place place) {
  return meet(begin_barrier(op, predicate, place), [](Arrival* a) { return end_barrier(a); });
}
[[gnu::always_inline]] inline void sync_warp(unsigned mask, Place place) {
  meet(begin_sync_warp(mask, place), [](Arrival* a) { end_sync_warp(a); });
}
[[gnu::always_inline]] inline std::uint64_t shuffle(Shuffle what, unsigned mask, std::uint64_t value,
                                                    unsigned operand, Place place) {
  return meet(begin_shuffle(what, mask, value, place),
              [=](Arrival* a) { return end_shuffle(a, what, operand); });
}
/// Bit i is set when lane i's predicate holds.
[[gnu::always_inline]] inline unsigned vote(WarpOp op, unsigned mask, bool predicate, Place place) {
  return meet(begin_vote(op, mask, predicate, place), [](Arrival* a) { return end_collective(a); });
}
[[gnu::always_inline]] inline unsigned reduce(WarpOp op, unsigned mask, unsigned value, Place place) {
  return meet(begin_reduce(op, mask, value, place), [](Arrival* a) { return end_collective(a); });
}
[[gnu::always_inline]] inline void mma(Mma what, void* fragments, Place place) {
  meet(begin_mma(what, fragments, place), [](Arrival* a) { end_collective(a); });
}

template <class T>
[[gnu::always_inline]] inline T shuffle_value(WarpOp op, unsigned mask, T value, unsigned operand, int width,
                                              Place place) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "a shuffle moves 4 or 8 bytes, as on the GPU");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const auto checked = static_cast<std::uint16_t>(width < 0 || width > 32 ? 0 : width);
  bits = shuffle({op, sizeof(T), checked}, mask, bits, operand, place);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// One per ASSAY_SHARED declaration and template instantiation.
struct SharedVariable {
  const char* name;
  std::size_t bytes, alignment;
  std::atomic<unsigned> index{0};  ///< position in every worker's table; assigned once, on first use
};
std::byte* shared_address(SharedVariable&, Place);

}  // namespace detail

/// The block's variable of type T that `Tag` names. Poisoned before the block starts, between red zones.
template <class T, class Tag>
T& shared(Place place = Place::here()) {
  static_assert(std::is_trivially_default_constructible_v<std::remove_all_extents_t<T>> &&
                    std::is_trivially_destructible_v<std::remove_all_extents_t<T>>,
                "shared memory is not initialised on the GPU: no constructors, no destructors");
  static constinit detail::SharedVariable variable{Tag::name_of_variable(), sizeof(T), alignof(T)};
  return *reinterpret_cast<T*>(detail::shared_address(variable, place));
}

/// The launch's dynamic shared memory, Launch::dynamic_shared_bytes long and 1024-byte aligned; every lane of
/// a block, and every T, sees the same address.
template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(detail::block().dynamic_shared);
}

}  // namespace assay::executor

/// Declares `name`, a T& in the block's shared memory. T may be an alias of an array type.
#define ASSAY_SHARED(T, name)                                         \
  struct assay_shared_##name {                                        \
    static constexpr const char* name_of_variable() { return #name; } \
  };                                                                  \
  T& name = ::assay::executor::shared<T, assay_shared_##name>()

// ---- indices -----------------------------------------------------------------------------------

#define threadIdx (::assay::executor::detail::lane().index)
#define blockIdx (::assay::executor::detail::block().index)
#define blockDim (::assay::executor::detail::block().dimensions)
#define gridDim (::assay::executor::detail::block().grid)
inline constexpr int warpSize = 32;

// ---- barriers and collectives ------------------------------------------------------------------

[[gnu::always_inline]] inline void __syncthreads(
    assay::executor::Place place = assay::executor::Place::here()) {
  assay::executor::detail::barrier(assay::executor::detail::BarrierOp::sync, false, place);
}
[[gnu::always_inline]] inline int __syncthreads_count(
    int predicate, assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::BarrierOp;
  return static_cast<int>(assay::executor::detail::barrier(BarrierOp::sync_count, predicate != 0, place));
}
[[gnu::always_inline]] inline int __syncthreads_or(
    int predicate, assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::BarrierOp;
  return assay::executor::detail::barrier(BarrierOp::sync_or, predicate != 0, place) != 0;
}
[[gnu::always_inline]] inline int __syncthreads_and(
    int predicate, assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::BarrierOp;
  return assay::executor::detail::barrier(BarrierOp::sync_and, predicate == 0, place) == 0;
}

[[gnu::always_inline]] inline void __syncwarp(unsigned mask = 0xFFFFFFFFu,
                                              assay::executor::Place place = assay::executor::Place::here()) {
  assay::executor::detail::sync_warp(mask, place);
}

template <class T>
[[gnu::always_inline]] inline T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize,
                                            assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::WarpOp;
  return assay::executor::detail::shuffle_value(WarpOp::shuffle, mask, value, static_cast<unsigned>(lane),
                                                width, place);
}
template <class T>
[[gnu::always_inline]] inline T __shfl_up_sync(
    unsigned mask, T value, unsigned delta, int width = warpSize,
    assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::WarpOp;
  return assay::executor::detail::shuffle_value(WarpOp::shuffle_up, mask, value, delta, width, place);
}
template <class T>
[[gnu::always_inline]] inline T __shfl_down_sync(
    unsigned mask, T value, unsigned delta, int width = warpSize,
    assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::WarpOp;
  return assay::executor::detail::shuffle_value(WarpOp::shuffle_down, mask, value, delta, width, place);
}
template <class T>
[[gnu::always_inline]] inline T __shfl_xor_sync(
    unsigned mask, T value, int lane_mask, int width = warpSize,
    assay::executor::Place place = assay::executor::Place::here()) {
  using assay::executor::detail::WarpOp;
  return assay::executor::detail::shuffle_value(WarpOp::shuffle_xor, mask, value,
                                                static_cast<unsigned>(lane_mask), width, place);
}

[[gnu::always_inline]] inline unsigned __ballot_sync(
    unsigned mask, int predicate, assay::executor::Place place = assay::executor::Place::here()) {
  return assay::executor::detail::vote(assay::executor::detail::WarpOp::ballot, mask, predicate != 0, place);
}
[[gnu::always_inline]] inline int __any_sync(unsigned mask, int predicate,
                                             assay::executor::Place place = assay::executor::Place::here()) {
  return assay::executor::detail::vote(assay::executor::detail::WarpOp::any, mask, predicate != 0, place) !=
         0;
}
[[gnu::always_inline]] inline int __all_sync(unsigned mask, int predicate,
                                             assay::executor::Place place = assay::executor::Place::here()) {
  return assay::executor::detail::vote(assay::executor::detail::WarpOp::all, mask, predicate == 0, place) ==
         0;
}

#define ASSAY_WARP_REDUCTION(word, T, op)                                                               \
  [[gnu::always_inline]] inline T word(unsigned mask, T value,                                          \
                                       assay::executor::Place place = assay::executor::Place::here()) { \
    return static_cast<T>(assay::executor::detail::reduce(assay::executor::detail::WarpOp::op, mask,    \
                                                          static_cast<unsigned>(value), place));        \
  }
ASSAY_WARP_REDUCTION(__reduce_add_sync, unsigned, add_u32)
ASSAY_WARP_REDUCTION(__reduce_add_sync, int, add_u32)  // the same bits in two's complement
ASSAY_WARP_REDUCTION(__reduce_min_sync, unsigned, min_u32)
ASSAY_WARP_REDUCTION(__reduce_max_sync, unsigned, max_u32)
ASSAY_WARP_REDUCTION(__reduce_min_sync, int, min_s32)
ASSAY_WARP_REDUCTION(__reduce_max_sync, int, max_s32)
#undef ASSAY_WARP_REDUCTION

/// Not offered, see the top of this file.
unsigned __activemask() = delete;
