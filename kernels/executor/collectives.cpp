// Barriers and warp collectives: what they compute, and what is wrong when they do not come together.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <string_view>

#include "kernels/executor/worker.hpp"

namespace assay::executor::detail {
namespace {

struct Here {
  Worker& worker;
  Lane& lane;
};

Here here() {
  assert(current != nullptr && "a CUDA word was used outside a kernel");
  return {*worker_of_thread, static_cast<Lane&>(*current)};
}

/// The lane that a shuffle reads: PTX ISA, shfl.sync, with the operands that the CUDA words give it. A lane
/// that would read beyond its segment reads itself.
unsigned source_lane(Shuffle shuffle, unsigned lane, unsigned operand) {
  const unsigned width = shuffle.width;
  const unsigned segment = warp_lanes - width;  // a mask: the bits of a lane number that name its segment
  const unsigned first = lane & segment, last = first | (width - 1);
  const unsigned distance = operand % warp_lanes;
  switch (shuffle.op) {
    case WarpOp::shuffle:
      return first | (operand & (width - 1));
    case WarpOp::shuffle_up:
      return lane >= first + distance ? lane - distance : lane;
    case WarpOp::shuffle_down:
      return lane + distance <= last ? lane + distance : lane;
    case WarpOp::shuffle_xor:
      return (lane ^ distance) <= last ? lane ^ distance : lane;
    default:
      break;
  }
  assert(false && "not a shuffle");
  return lane;
}

unsigned reduced(WarpOp op, const Group& group) {
  const std::uint64_t* values = group.values[group.parity];
  unsigned remaining = group.arrived;
  auto result = static_cast<unsigned>(values[std::countr_zero(remaining)]);
  while ((remaining &= remaining - 1) != 0) {
    const auto v = static_cast<unsigned>(values[std::countr_zero(remaining)]);
    switch (op) {
      case WarpOp::add_u32:
        result += v;
        break;
      case WarpOp::min_u32:
        result = std::min(result, v);
        break;
      case WarpOp::max_u32:
        result = std::max(result, v);
        break;
      case WarpOp::min_s32:
        result = static_cast<unsigned>(std::min(static_cast<int>(result), static_cast<int>(v)));
        break;
      case WarpOp::max_s32:
        result = static_cast<unsigned>(std::max(static_cast<int>(result), static_cast<int>(v)));
        break;
      default:
        assert(false && "not a reduction");
    }
  }
  return result;
}

void multiply(const Group& group) {
  std::array<void*, warp_lanes> fragments;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    fragments[lane] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(group.values[group.parity][lane]));
  group.multiply(fragments.data());
}

bool is_vote(WarpOp op) { return op == WarpOp::ballot || op == WarpOp::any || op == WarpOp::all; }
bool is_reduction(WarpOp op) { return op >= WarpOp::add_u32 && op <= WarpOp::max_s32; }

bool same(Place a, Place b) {
  if (a.file == b.file) [[likely]]
    return a.line == b.line;
  return a.line == b.line && std::string_view(a.file) == b.file;
}

}  // namespace

// ---- the words ---------------------------------------------------------------------------------

Fiber* begin_barrier(BarrierOp op, bool predicate, Place place) {
  const auto [worker, lane] = here();
  return worker.begin_barrier(lane, op, predicate, place);
}

unsigned end_barrier(Arrival* arrival) { return worker_of_thread->end_barrier(arrival); }

Fiber* begin_sync_warp(unsigned mask, Place place) {
  const auto [worker, lane] = here();
  Group& group = worker.join(lane, mask, signature_of(WarpOp::sync, 4), place);
  happens_before(worker.edge(lane));
  return worker.gather(lane, group);
}

Fiber* begin_shuffle(Shuffle what, unsigned mask, std::uint64_t value, Place place) {
  const auto [worker, lane] = here();
  const unsigned width = what.width;
  if (width - 1u >= warp_lanes || (width & (width - 1u)) != 0) [[unlikely]]
    worker.fail_width(lane, what, place);
  Group& group = worker.join(lane, mask, signature_of(what.op, what.bytes), place);
  group.values[lane.parity][lane.position] = value;
  return worker.gather(lane, group);
}

Fiber* begin_vote(WarpOp op, unsigned mask, bool predicate, Place place) {
  const auto [worker, lane] = here();
  Group& group = worker.join(lane, mask, signature_of(op, 4), place);
  group.predicates |= static_cast<unsigned>(predicate) << lane.position;
  return worker.gather(lane, group);
}

Fiber* begin_reduce(WarpOp op, unsigned mask, unsigned value, Place place) {
  const auto [worker, lane] = here();
  Group& group = worker.join(lane, mask, signature_of(op, 4), place);
  group.values[lane.parity][lane.position] = value;
  return worker.gather(lane, group);
}

/// Stricter than for a shuffle, because the instruction is: every lane of the warp executes the same one.
Fiber* begin_mma(Mma what, void* fragments, Place place) {
  const auto [worker, lane] = here();
  Group& group = worker.join(lane, ~0u, signature_of(WarpOp::mma, what.variant), place);
  if (const Lane* first = group.waiting.head == nullptr ? nullptr : group.waiting.tail;
      first != nullptr && !same(place, first->last())) [[unlikely]] {
    worker.fail_mma(lane, *first);
  }
  group.values[lane.parity][lane.position] = reinterpret_cast<std::uintptr_t>(fragments);
  group.multiply = what.multiply;
  return worker.gather(lane, group);
}

std::uint64_t end_shuffle(Arrival* arrival, Shuffle what, unsigned operand) {
  Worker& worker = *worker_of_thread;
  const Lane& lane = worker.arrived(arrival);
  const Group& group = *lane.joined;
  const unsigned from = source_lane(what, lane.position, operand);
  if ((group.members >> from & 1u) == 0) [[unlikely]]
    worker.fail_read(lane, signature_of(what.op, what.bytes), from);
  return group.values[lane.parity][from];
}

void end_sync_warp(Arrival* arrival) {
  Worker& worker = *worker_of_thread;
  happens_after(worker.edge(worker.arrived(arrival)));
}

/// Not told apart by the group's operation: a lane that went on may have begun the next collective on it.
unsigned end_collective(Arrival* arrival) { return worker_of_thread->arrived(arrival).joined->result; }

std::byte* shared_address(SharedVariable& variable, Place place) {
  const auto [worker, lane] = here();
  std::byte* address = worker.arena().address(variable);
  if (address == nullptr) [[unlikely]]
    worker.fail_shared(lane, variable, place);
  return address;
}

void mbarrier_init(std::uint64_t& word, std::uint32_t count, Place place) {
  const auto [worker, lane] = here();
  worker.async().init(lane, word, count, place);
}

void mbarrier_invalidate(std::uint64_t& word, Place place) {
  const auto [worker, lane] = here();
  worker.async().invalidate(lane, word, place);
}

void mbarrier_arrive(std::uint64_t& word, std::uint32_t bytes, Place place) {
  const auto [worker, lane] = here();
  worker.async().arrive(lane, word, bytes, place);
}

Fiber* begin_mbarrier_wait(std::uint64_t& word, std::uint32_t parity, Place place) {
  const auto [worker, lane] = here();
  return worker.async().wait(lane, word, parity, place);
}

void end_mbarrier_wait(Arrival* arrival, std::uint64_t& word, std::uint32_t parity) {
  Worker& worker = *worker_of_thread;
  worker.arrived(arrival);
  worker.async().waited(word, parity);
}

void bulk_load(void* shared, const TensorBox& box, BoxOrigin origin, std::uint64_t& mbarrier, Place place) {
  const auto [worker, lane] = here();
  worker.async().load(lane, static_cast<std::byte*>(shared), box, origin, mbarrier, place);
}

void bulk_store(const TensorBox& box, BoxOrigin origin, const void* shared, Place place) {
  const auto [worker, lane] = here();
  worker.async().store(lane, box, origin, static_cast<const std::byte*>(shared), place);
}

void bulk_store(void* global, const void* shared, std::uint32_t bytes, Place place) {
  const auto [worker, lane] = here();
  worker.async().store(lane, static_cast<std::byte*>(global), static_cast<const std::byte*>(shared), bytes,
                       place);
}

void bulk_commit_group() {
  const auto [worker, lane] = here();
  worker.async().commit(lane);
}

void bulk_wait_group(std::uint32_t groups, bool read, Place place) {
  const auto [worker, lane] = here();
  worker.async().wait_group(lane, groups, read, place);
}

void fence_proxy_async() { here().worker.async().fence(); }

void fence() {
#if defined(ASSAY_EXECUTOR_TSAN)
  static std::uint64_t edge;
  happens_after(&edge);
  happens_before(&edge);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// ---- coming together ---------------------------------------------------------------------------

Fiber* Worker::begin_barrier(Lane& lane, BarrierOp op, bool predicate, Place place) {
  Barrier& b = barrier_;
  lane.reached(place);
  if (b.arrived == 0) {
    b.op = op;
    b.place = place;
    b.first = &lane;
    b.predicates = 0;
  } else if (op != b.op || !same(place, b.place)) [[unlikely]] {
    fail_barrier(lane, op);
  }
  b.predicates += predicate;
  ++b.arrived;
  lane.joined = nullptr;
  lane.parity = static_cast<std::uint16_t>(b.parity);
  happens_before(edge(lane));
  if (b.arrived == living_) {
    release_barrier();
    return nullptr;
  }
  b.waiting.push(lane);
  return suspend();
}

unsigned Worker::end_barrier(Arrival* arrival) {
  happens_after(edge(arrived(arrival)));
  return barrier_.result;
}

void Worker::release_barrier() {
  if (!arena_.empty()) check_shared();
  async_.at_barrier();
  barrier_.result = barrier_.predicates;
  barrier_.parity ^= 1;
  barrier_.arrived = 0;
  ++counts_.barriers;
  make_ready(barrier_.waiting);
}

/// Every living lane of the mask has joined: computes what the collective yields and lets the waiting lanes
/// go on.
void Worker::complete(const Lane& reporter, Group& group) {
  Warp& warp = *reporter.warp;
  const WarpOp op = op_of(group.signature);
  const bool vote = is_vote(op), reduction = is_reduction(op), matrix = op == WarpOp::mma;
  if (vote || reduction || matrix) {
    // A mask may name lanes that the block does not have, but a matrix needs all of them.
    if (const unsigned gone = group.mask & warp.exited & (matrix ? ~0u : warp.present)) [[unlikely]] {
      fail_absent(group.waiting.head != nullptr ? *group.waiting.tail : reporter, group, gone);
    }
    if (matrix) {
      multiply(group);
    } else {
      group.result = vote ? group.predicates : reduced(op, group);
    }
  }
  group.members = group.arrived;
  group.parity ^= 1;
  group.arrived = 0;
  --warp.pending;
  ++counts_.collectives;
  make_ready(group.waiting);
}

void Worker::complete_pending(Lane& ended) {
  for (Group* group = ended.warp->groups; group != nullptr; group = group->next) {
    if (group->arrived != 0 && ((group->arrived | ended.warp->exited) & group->mask) == group->mask) {
      complete(ended, *group);
    }
  }
}

Group& Worker::add_group(Warp& warp, unsigned mask) {
  Group* group = spare_groups_;
  if (group != nullptr) {
    spare_groups_ = group->next;
  } else {
    group = new Group;
    group->next_owned = all_groups_;
    all_groups_ = group;
  }
  group->mask = mask;
  group->arrived = 0;
  group->waiting = {};
  group->next = warp.groups;
  warp.groups = group;
  ++warp.group_count;
  return *group;
}

void Worker::recycle_groups(Warp& warp) {
  while (Group* group = warp.groups) {
    warp.groups = group->next;
    group->next = spare_groups_;
    spare_groups_ = group;
  }
  warp.group_count = 0;
}

}  // namespace assay::executor::detail
