// One OS thread's part of a launch: it runs whole blocks, one after another, each block's lanes on fibers.
//
// How lanes take turns. A lane runs until it must wait. Waiting lanes are chained to what they wait for, last
// come first. The last to arrive does not wait: it puts the chain in front of the ready list and goes on.
// When a lane waits or ends, the head of the ready list runs next, or the next lane not yet started. So the
// lanes of a block run in their start order up to the first barrier, in the opposite order up to the second,
// and so on; and the forward and reverse orders are mirror images of each other in every such interval, which
// shows every pair of lanes in both orders.
//
// A lane that ends hands its stack to the next lane, so a kernel without collectives uses one stack and never
// switches.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/executor/async_copies.hpp"
#include "kernels/executor/cuda_words.hpp"
#include "kernels/executor/executor.hpp"
#include "kernels/executor/fiber.hpp"
#include "kernels/executor/shared_arena.hpp"

namespace assay::executor::detail {

inline constexpr unsigned max_lanes = 1024;  ///< per block, as on every GPU
inline constexpr unsigned warp_lanes = 32;

struct Group;
struct Warp;

/// One cache line: a switch touches the lane that waits and the one that goes on.
struct alignas(64) Lane : LaneView {
  unsigned last_line = 0;           ///< with last_file, the last barrier or collective it reached
  const char* last_file = nullptr;  ///< nullptr before any
  Warp* warp = nullptr;
  Fiber* fiber = nullptr;      ///< where it runs or is suspended
  Lane* next = nullptr;        ///< in a chain or in the ready list
  Group* joined = nullptr;     ///< the group it joined last; nullptr when the barrier came after
  std::uint16_t position = 0;  ///< within the warp
  std::uint16_t parity = 0;    ///< buffer of the barrier or group it joined last

  Place last() const { return {last_file, last_line}; }
  void reached(Place place) {
    last_file = place.file;
    last_line = place.line;
  }
};
static_assert(sizeof(Lane) == 64);

inline void Chain::push(Lane& lane) {
  lane.next = head;
  if (head == nullptr) tail = &lane;
  head = &lane;
}

/// The warp collectives on one mask. Values are double-buffered: a lane may bring its value for the next
/// collective while others have yet to read the last one. Members and result are not: the next collective
/// completes, and sets them, only after all have read.
struct Group {
  unsigned mask = 0;
  unsigned arrived = 0;                      ///< lanes in the collective that is being gathered; 0: none is
  unsigned parity = 0;                       ///< the buffer being gathered
  unsigned signature = 0;                    ///< operation and size, of the first to arrive
  unsigned predicates = 0;                   ///< one bit per lane whose predicate holds
  unsigned members = 0;                      ///< lanes that took part in the last one
  unsigned result = 0;                       ///< of the last one, if a vote or reduction
  void (*multiply)(void* const*) = nullptr;  ///< of a matrix operation, whose values are addresses
  Chain waiting;
  std::uint64_t values[2][warp_lanes] = {};
  Group* next = nullptr;        ///< of the same warp, or spare
  Group* next_owned = nullptr;  ///< of all that the worker made
};

struct Warp {
  unsigned number = 0;
  unsigned present = 0;  ///< lanes that exist: the last warp of a block may be partial
  unsigned exited = 0;   ///< lanes that ended, or never existed
  unsigned pending = 0;  ///< groups being gathered
  Group* groups = nullptr;
  unsigned group_count = 0;
};

struct Barrier {
  unsigned arrived = 0, predicates = 0;
  unsigned parity = 0;  ///< which of two happens-before edges the lanes take
  BarrierOp op{};
  Place place{nullptr, 0};
  Lane* first = nullptr;
  unsigned result = 0;  ///< of the last one
  Chain waiting;
};

class Worker {
 public:
  Worker();
  ~Worker();

  void start_launch(const Launch&, const std::function<void()>& lane, const Options&);
  /// Runs one block to its end. Returns the fault or the exception of a lane, or nullptr. After either the
  /// worker is as new: the stacks of abandoned lanes are reset without unwinding, since kernel code owns
  /// nothing.
  std::exception_ptr run_block(std::uint64_t ordinal, uint3 index);
  void end_launch();

  const Counts& counts() const { return counts_; }

  // What the words call, on a lane's fiber.
  Fiber* begin_barrier(Lane&, BarrierOp, bool predicate, Place);
  unsigned end_barrier(Arrival*);
  /// Enters the lane into the collective on `mask`; its value then goes to values[lane.parity].
  Group& join(Lane&, unsigned mask, unsigned signature, Place);
  /// The fiber to continue in until every living lane of the mask has joined, or nullptr when this lane was
  /// the last.
  Fiber* gather(Lane&, Group&);
  /// The lane that goes on now. `arrival` is nullptr when it never waited.
  Lane& arrived(Arrival*);
  void* edge(const Lane&);
  // Faults, out of line so that the words stay small.
  [[noreturn, gnu::cold]] void fail_read(const Lane&, unsigned signature, unsigned from);
  [[noreturn, gnu::cold]] void fail_width(const Lane&, Shuffle, Place);
  [[noreturn, gnu::cold]] void fail_mma(const Lane&, const Lane& first);
  [[noreturn, gnu::cold]] void fail_shared(const Lane&, const SharedVariable&, Place);
  /// Ends the block with this fault; on any fiber of the block. Without a lane when it is not known which.
  [[noreturn]] void fail(FaultKind, const Lane* lane, std::string&& what);
  SharedArena& arena() { return arena_; }
  AsyncCopies& async() { return async_; }
  const Options& options() const { return options_; }
  unsigned number_of(const Lane& lane) const { return static_cast<unsigned>(&lane - lanes_.data()); }
  const Fibers& fibers() const { return fibers_; }

 private:
  friend class AsyncCopies;

  static void fiber_main(void* worker);
  void shape_lanes(dim3 block);
  void order_lanes(std::uint64_t ordinal);
  void reset_block(std::uint64_t ordinal, uint3 index);
  void reset_after_fault();

  void run_lanes();
  void end_lane(Lane&);
  Fiber* suspend();
  Fiber& next_fiber();
  Fiber& idle_fiber();
  void make_ready(Chain&);
  void release_barrier();
  void complete(const Lane& reporter, Group&);
  void complete_pending(Lane& ended);
  [[noreturn, gnu::cold]] void fail_join(const Lane&, const Group&, unsigned signature);
  [[noreturn, gnu::cold]] void fail_absent(const Lane&, const Group&, unsigned gone);
  [[noreturn, gnu::cold]] void fail_barrier(const Lane&, BarrierOp);
  void check_shared();
  [[noreturn]] void leave(std::exception_ptr);

  std::exception_ptr make_fault(FaultKind, const Lane* lane, const std::string& what) const;
  std::exception_ptr diagnose_stuck() const;
  Group& add_group(Warp&, unsigned mask);
  void recycle_groups(Warp&);

  // Hot first.
  Lane* ready_ = nullptr;
  unsigned started_ = 0, living_ = 0, count_ = 0;
  Fiber* idle_ = nullptr;
  unsigned fibers_used_ = 0;
  const std::function<void()>* body_ = nullptr;
  BlockView block_{};
  Barrier barrier_;
  Counts counts_;
  std::array<std::uint16_t, max_lanes> order_{};
  std::vector<Lane> lanes_;
  std::array<Warp, max_lanes / warp_lanes> warps_;
  Group* spare_groups_ = nullptr;
  Group* all_groups_ = nullptr;
  SharedArena arena_;
  AsyncCopies async_{*this};
  Fibers fibers_;

  std::string kernel_;
  Options options_;
  std::exception_ptr fault_;
  std::uint64_t ordinal_ = 0;
  // Addresses that stand for happens-before edges under ThreadSanitizer. Those of a barrier alternate, since
  // with one a lane that has gone on would order its later accesses before a slower lane's; and they differ
  // from block to block, so that blocks stay unordered.
  std::uint64_t launch_begins_ = 0, launch_ends_ = 0, fault_leaves_ = 0;
  std::uint64_t barrier_edges_[2][32] = {};
};

/// This OS thread's worker; made on first use.
Worker& this_worker();
extern constinit thread_local Worker* worker_of_thread __attribute__((tls_model("initial-exec")));

std::string to_string(Place);
std::string to_string(uint3);
std::string after(const Lane&);  ///< " after FILE:LINE", the last place it reached; empty before any
const char* name_of(WarpOp);
const char* name_of(BarrierOp);

inline unsigned signature_of(WarpOp op, unsigned bytes) { return static_cast<unsigned>(op) | bytes << 8; }
inline WarpOp op_of(unsigned signature) { return static_cast<WarpOp>(signature & 0xFFu); }

inline void Worker::make_ready(Chain& chain) {
  if (chain.head == nullptr) return;
  chain.tail->next = ready_;
  ready_ = chain.head;
  chain.head = nullptr;
}

inline Fiber& Worker::next_fiber() {
  if (Lane* lane = ready_) {
    ready_ = lane->next;
    return *lane->fiber;
  }
  if (started_ < count_) return idle_fiber();
  current = nullptr;
  return fibers_.main();  // the block has ended, or is stuck: run_block tells which
}

inline Fiber* Worker::suspend() {
  Fiber& to = next_fiber();
  fibers_.leave_for(to);
  return &to;
}

inline Lane& Worker::arrived(Arrival* arrival) {
  if (arrival != nullptr) [[likely]]
    fibers_.arrived(*arrival);
  Lane& lane = *fibers_.running().lane;
  current = &lane;
  return lane;
}

/// The address that stands for what the lane joined last, under ThreadSanitizer.
inline void* Worker::edge(const Lane& lane) {
  if (lane.joined != nullptr) return &lane.joined->values[lane.parity][ordinal_ % warp_lanes];
  return &barrier_edges_[lane.parity][ordinal_ % 32];
}

inline Group& Worker::join(Lane& lane, unsigned mask, unsigned signature, Place place) {
  Warp& warp = *lane.warp;
  Group* group = warp.groups;
  while (group != nullptr && group->mask != mask) [[unlikely]] group = group->next;
  if (group == nullptr) [[unlikely]]
    group = &add_group(warp, mask);
  lane.reached(place);
  const unsigned bit = 1u << lane.position;
  if ((mask & bit) == 0 || (group->arrived != 0 && group->signature != signature)) [[unlikely]] {
    fail_join(lane, *group, signature);
  }
  if (group->arrived == 0) {
    group->signature = signature;
    group->predicates = 0;
    ++warp.pending;
  }
  group->arrived |= bit;
  lane.joined = group;
  lane.parity = static_cast<std::uint16_t>(group->parity);
  return *group;
}

inline Fiber* Worker::gather(Lane& lane, Group& group) {
  if (((group.arrived | lane.warp->exited) & group.mask) == group.mask) {
    complete(lane, group);
    return nullptr;
  }
  group.waiting.push(lane);
  return suspend();
}

}  // namespace assay::executor::detail
