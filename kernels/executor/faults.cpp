// The words of every fault: which kernel, block and lane, and both places.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cassert>

#include "kernels/executor/worker.hpp"

namespace assay::executor::detail {

const char* name_of(BarrierOp op) {
  constexpr std::array names{"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};
  return names[static_cast<std::size_t>(op)];
}

const char* name_of(WarpOp op) {
  constexpr std::array names{"__syncwarp",
                             "__shfl_sync",
                             "__shfl_up_sync",
                             "__shfl_down_sync",
                             "__shfl_xor_sync",
                             "__ballot_sync",
                             "__any_sync",
                             "__all_sync",
                             "__reduce_add_sync",
                             "__reduce_min_sync",
                             "__reduce_max_sync",
                             "__reduce_min_sync (signed)",
                             "__reduce_max_sync (signed)"};
  return names[static_cast<std::size_t>(op)];
}

std::string to_string(Place place) { return fmt::format("{}:{}", place.file, place.line); }
std::string to_string(uint3 v) { return fmt::format("({},{},{})", v.x, v.y, v.z); }
std::string after(const Lane& lane) {
  return lane.last_file == nullptr ? std::string() : " after " + to_string(lane.last());
}

namespace {
std::string describe(unsigned signature) {
  return fmt::format("{}{}", name_of(op_of(signature)), signature >> 8 == 8 ? " of 8 bytes" : "");
}
std::string describe(const Lane& lane, const Group& group) {
  return fmt::format("{} at {} with mask {:#010x}", describe(group.signature), to_string(lane.last()),
                     group.mask);
}
}  // namespace

std::exception_ptr Worker::make_fault(FaultKind kind, const Lane* lane, const std::string& what) const {
  const std::string who = lane == nullptr ? std::string() : ", lane " + to_string(lane->index);
  return std::make_exception_ptr(ExecutorError(
      kind, fmt::format("kernel '{}', block {}{}: {}", kernel_, to_string(block_.index), who, what)));
}

void Worker::fail_join(const Lane& lane, const Group& group, unsigned signature) {
  if ((group.mask >> lane.position & 1u) == 0) {
    fail(FaultKind::mask_mismatch, lane,
         fmt::format("{} at {} with mask {:#010x}, which does not name the calling lane", describe(signature),
                     to_string(lane.last()), group.mask));
  }
  const Lane& first = *group.waiting.tail;
  fail(FaultKind::mask_mismatch, lane,
       fmt::format("different operation: it reached {} at {} while lane {} waits in {}", describe(signature),
                   to_string(lane.last()), to_string(first.index), describe(first, group)));
}

/// `from` took no part in the collective that `lane` reads.
void Worker::fail_read(const Lane& lane, const Group& group, unsigned from) {
  const Warp& warp = *lane.warp;
  const unsigned bit = 1u << from;
  if ((warp.present & bit) == 0) {
    fail(FaultKind::exited_lane_read, lane,
         fmt::format("{} reads lane {} of warp {}, which does not exist in this block", describe(lane, group),
                     from, warp.number));
  }
  const Lane& source = lanes_[warp.number * warp_lanes + from];
  if ((group.mask & bit) == 0) {
    fail(FaultKind::non_member_lane_read, lane,
         fmt::format("{} reads lane {}, which the mask does not name", describe(lane, group),
                     to_string(source.index)));
  }
  fail(FaultKind::exited_lane_read, lane,
       fmt::format("{} reads lane {}, which exited{}", describe(lane, group), to_string(source.index),
                   after(source)));
}

void Worker::fail_width(const Lane& lane, Shuffle shuffle, Place place) {
  fail(FaultKind::mask_mismatch, lane,
       fmt::format("{} at {} has a width that is not a power of two from 1 to 32", name_of(shuffle.op),
                   to_string(place)));
}

void Worker::fail_vote(const Lane& lane, const Group& group, unsigned gone) {
  const Lane& absent = lanes_[lane.warp->number * warp_lanes + static_cast<unsigned>(std::countr_zero(gone))];
  fail(FaultKind::exited_lane_read, lane,
       fmt::format("{} names lane {}, which exited{}", describe(lane, group), to_string(absent.index),
                   after(absent)));
}

void Worker::fail_barrier(const Lane& lane, BarrierOp op) {
  fail(FaultKind::divergent_barrier, lane,
       fmt::format("divergent barrier: it reached {} at {} while lane {} waits in {} at {}", name_of(op),
                   to_string(lane.last()), to_string(barrier_.first->index), name_of(barrier_.op),
                   to_string(barrier_.place)));
}

void Worker::fail_shared(const Lane& lane, const SharedVariable& variable, Place place) {
  fail(FaultKind::bad_launch, lane,
       fmt::format("shared memory '{}' at {}: {} bytes more, after {}, exceed the {} of a block",
                   variable.name, to_string(place), variable.bytes, arena_.used(), SharedArena::limit));
}

/// Narrows damage to the interval between two barriers.
void Worker::check_shared() {
  if (const auto damage = arena_.damage()) {
    leave(make_fault(FaultKind::out_of_bounds, nullptr,
                     fmt::format("{}, found at the barrier at {}", *damage, to_string(barrier_.place))));
  }
}

/// Every living lane waits. Follows one that waits for another, which waits for another, until the
/// contradiction. Two lanes that wait for each other under different masks disagree on the mask; a longer
/// circle is a deadlock.
std::exception_ptr Worker::diagnose_stuck() const {
  const Lane* lane = nullptr;
  for (unsigned i = 0; i < count_ && lane == nullptr; ++i) {
    const bool exited = lanes_[i].warp->exited >> lanes_[i].position & 1u;
    if (!exited && lanes_[i].joined != nullptr) lane = &lanes_[i];
  }
  assert(lane != nullptr && "lanes that all wait at the barrier are let go");
  for (unsigned steps = 0;; ++steps) {
    const Group& group = *lane->joined;
    const unsigned missing = group.mask & ~(group.arrived | lane->warp->exited);
    const Lane& other =
        lanes_[lane->warp->number * warp_lanes + static_cast<unsigned>(std::countr_zero(missing))];
    const std::string wait =
        fmt::format("it waits in {} for lane {}", describe(*lane, group), to_string(other.index));
    if (other.joined == nullptr) {
      return make_fault(FaultKind::divergent_barrier, lane,
                        fmt::format("divergent barrier: {}, which waits in {} at {}", wait,
                                    name_of(barrier_.op), to_string(other.last())));
    }
    const std::string there = describe(other, *other.joined);
    if (other.joined->mask >> lane->position & 1u) {
      return make_fault(FaultKind::mask_mismatch, lane,
                        fmt::format("different masks: {}, which waits in {}", wait, there));
    }
    if (steps == warp_lanes) {
      return make_fault(
          FaultKind::deadlock, lane,
          fmt::format("deadlock: {}, which waits in {}; the lanes wait in a circle", wait, there));
    }
    lane = &other;
  }
}

}  // namespace assay::executor::detail
