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
                             "__reduce_max_sync (signed)",
                             "mma.sync"};
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
std::string describe(unsigned signature, const Lane& lane, const Group& group) {
  return fmt::format("{} at {} with mask {:#010x}", describe(signature), to_string(lane.last()), group.mask);
}
}  // namespace

std::exception_ptr Worker::make_fault(FaultKind kind, const Lane* lane, const std::string& what) const {
  const std::string who = lane == nullptr ? std::string() : ", lane " + to_string(lane->index);
  return std::make_exception_ptr(ExecutorError(
      kind, fmt::format("kernel '{}', block {}{}: {}", kernel_, to_string(block_.index), who, what)));
}

// The frame that fails is abandoned, not unwound. So that nothing is leaked, a message is finished in a
// statement of its own, and given away.
void Worker::fail(FaultKind kind, const Lane* lane, std::string&& what) {
  std::exception_ptr fault;
  {
    const std::string taken = std::move(what);  // an assignment to `what` could keep its allocation
    fault = make_fault(kind, lane, taken);
  }
  leave(std::move(fault));
}

void Worker::fail_join(const Lane& lane, const Group& group, unsigned signature) {
  std::string what;
  if ((group.mask >> lane.position & 1u) == 0) {
    what = describe(signature, lane, group) + ", which does not name the calling lane";
  } else {
    const Lane& first = *group.waiting.tail;
    what =
        fmt::format("different operation: it reached {} at {} while lane {} waits in {}", describe(signature),
                    to_string(lane.last()), to_string(first.index), describe(group.signature, first, group));
  }
  fail(FaultKind::mask_mismatch, &lane, std::move(what));
}

/// `from` took no part in the collective that `lane` reads.
void Worker::fail_read(const Lane& lane, unsigned signature, unsigned from) {
  const Group& group = *lane.joined;
  const Warp& warp = *lane.warp;
  const Lane& source = lanes_[warp.number * warp_lanes + from];
  const bool exists = warp.present >> from & 1u, member = group.mask >> from & 1u;
  std::string what = describe(signature, lane, group);
  if (!exists) {
    what += fmt::format(" reads lane {} of warp {}, which does not exist in this block", from, warp.number);
  } else if (!member) {
    what += fmt::format(" reads lane {}, which the mask does not name", to_string(source.index));
  } else {
    what += fmt::format(" reads lane {}, which exited{}", to_string(source.index), after(source));
  }
  fail(exists && !member ? FaultKind::non_member_lane_read : FaultKind::exited_lane_read, &lane,
       std::move(what));
}

void Worker::fail_width(const Lane& lane, Shuffle shuffle, Place place) {
  std::string what = fmt::format("{} at {} has a width that is not a power of two from 1 to 32",
                                 name_of(shuffle.op), to_string(place));
  fail(FaultKind::mask_mismatch, &lane, std::move(what));
}

/// The collective needs every lane of its mask, and lanes `gone` take no part.
void Worker::fail_absent(const Lane& lane, const Group& group, unsigned gone) {
  const auto position = static_cast<unsigned>(std::countr_zero(gone));
  const Warp& warp = *lane.warp;
  const Lane& absent = lanes_[warp.number * warp_lanes + position];
  std::string what = describe(group.signature, lane, group);
  if (warp.present >> position & 1u) {
    what += fmt::format(" names lane {}, which exited{}", to_string(absent.index), after(absent));
  } else {
    what +=
        fmt::format(" needs lane {} of warp {}, which does not exist in this block", position, warp.number);
  }
  fail(FaultKind::exited_lane_read, &lane, std::move(what));
}

void Worker::fail_mma(const Lane& lane, const Lane& first) {
  std::string what =
      fmt::format("divergent mma.sync: it reached mma.sync at {} while lane {} waits in that at {}",
                  to_string(lane.last()), to_string(first.index), to_string(first.last()));
  fail(FaultKind::divergent_barrier, &lane, std::move(what));
}

void Worker::fail_barrier(const Lane& lane, BarrierOp op) {
  std::string what = fmt::format("divergent barrier: it reached {} at {} while lane {} waits in {} at {}",
                                 name_of(op), to_string(lane.last()), to_string(barrier_.first->index),
                                 name_of(barrier_.op), to_string(barrier_.place));
  fail(FaultKind::divergent_barrier, &lane, std::move(what));
}

void Worker::fail_shared(const Lane& lane, const SharedVariable& variable, Place place) {
  std::string what =
      fmt::format("shared memory '{}' at {}: {} bytes more, after {}, exceed the {} of a block",
                  variable.name, to_string(place), variable.bytes, arena_.used(), SharedArena::limit);
  fail(FaultKind::bad_launch, &lane, std::move(what));
}

/// Narrows damage to the interval between two barriers.
void Worker::check_shared() {
  auto damage = arena_.damage();
  if (!damage.has_value()) return;
  *damage += ", found at the barrier at ";
  *damage += to_string(barrier_.place);
  fail(FaultKind::out_of_bounds, nullptr, std::move(*damage));
}

/// Every living lane waits. Follows one that waits for another, which waits for another, until the
/// contradiction. Two lanes that wait for each other under different masks disagree on the mask; a longer
/// circle is a deadlock.
std::exception_ptr Worker::diagnose_stuck() const {
  if (const auto stuck = async_.stuck()) return make_fault(FaultKind::deadlock, stuck->lane, stuck->what);
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
    const std::string wait = fmt::format("it waits in {} for lane {}",
                                         describe(group.signature, *lane, group), to_string(other.index));
    if (other.joined == nullptr) {
      return make_fault(FaultKind::divergent_barrier, lane,
                        fmt::format("divergent barrier: {}, which waits in {} at {}", wait,
                                    name_of(barrier_.op), to_string(other.last())));
    }
    const std::string there = describe(other.joined->signature, other, *other.joined);
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
