#include "kernels/executor/worker.hpp"

#include <cassert>
#include <numeric>

#include "kernels/executor/guard.hpp"
#include "kernels/executor/permutation.hpp"

namespace assay::executor::detail {

constinit thread_local LaneView* current = nullptr;
constinit thread_local const BlockView* current_block = nullptr;
constinit thread_local Worker* worker_of_thread = nullptr;

namespace {
// Under ThreadSanitizer a lane has a fiber, hence a stack, of its own: a stack handed on would look like a
// race. Several sets of them, so that the same lane of consecutive blocks is not one thread to the sanitizer.
constexpr std::size_t fiber_capacity = tsan ? 2 * max_lanes : max_lanes;
}  // namespace

Worker& this_worker() {
  thread_local const std::unique_ptr<Worker> worker = [] {
    auto made = std::make_unique<Worker>();
    worker_of_thread = made.get();
    return made;
  }();
  return *worker;
}

Worker::Worker() : lanes_(max_lanes), fibers_(fiber_capacity, &Worker::fiber_main, this) {
  current_block = &block_;
  catch_faults_on_this_thread();
}

Worker::~Worker() {
  while (Group* group = all_groups_) {
    all_groups_ = group->next_owned;
    delete group;
  }
}

/// Thread indices, warps and positions of a block of this shape; the same for every block of a launch.
void Worker::shape_lanes(dim3 block) {
  count_ = block.x * block.y * block.z;
  for (unsigned i = 0; i < count_; ++i) {
    Lane& lane = lanes_[i];
    lane.index = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
    lane.position = static_cast<std::uint16_t>(i % warp_lanes);
    lane.warp = &warps_[i / warp_lanes];
  }
  for (unsigned w = 0; w * warp_lanes < count_; ++w) {
    const unsigned lanes = std::min(warp_lanes, count_ - w * warp_lanes);
    warps_[w].number = w;
    warps_[w].present = lanes == warp_lanes ? ~0u : (1u << lanes) - 1;
  }
}

void Worker::start_launch(const Launch& launch, const std::function<void()>& lane, const Options& options) {
  kernel_ = launch.kernel;
  body_ = &lane;
  options_ = options;
  counts_ = {};
  block_.dimensions = {launch.block.x, launch.block.y, launch.block.z};
  block_.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  shape_lanes(block_.dimensions);
  if (options_.lanes != Order::seeded) order_lanes(0);
  arena_.start_launch(launch.dynamic_shared_bytes, options.shared_poison);
  block_.dynamic_shared = arena_.dynamic();
  if constexpr (tsan) {
    // Made here, because a fiber made by a lane would be ordered after what that lane did.
    for (std::size_t i = 0; i < 2 * count_; ++i) fibers_.at(i);
  }
}

void Worker::end_launch() { happens_after(&launch_ends_); }

/// The order in which lanes start: warps in order, and lanes in order within each.
void Worker::order_lanes(std::uint64_t ordinal) {
  const auto order = std::span(order_).first(count_);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  if (options_.lanes == Order::reverse) std::reverse(order.begin(), order.end());
  if (options_.lanes != Order::seeded) return;
  const unsigned warps = (count_ + warp_lanes - 1) / warp_lanes;
  std::array<std::uint16_t, max_lanes / warp_lanes> warp_order;
  std::iota(warp_order.begin(), warp_order.end(), std::uint16_t{0});
  Stream random(options_.seed, ordinal);
  random.shuffle(std::span(warp_order).first(warps));
  unsigned filled = 0;
  for (const unsigned w : std::span(warp_order).first(warps)) {
    const unsigned first = w * warp_lanes;
    const unsigned lanes = std::min(warp_lanes, count_ - first);
    const auto part = order.subspan(filled, lanes);
    std::iota(part.begin(), part.end(), static_cast<std::uint16_t>(first));
    random.shuffle(part);
    filled += lanes;
  }
}

void Worker::reset_block(std::uint64_t ordinal, uint3 index) {
  ordinal_ = ordinal;
  block_.index = index;
  started_ = 0;
  living_ = count_;
  if (options_.lanes == Order::seeded) order_lanes(ordinal);
  for (unsigned w = 0; w * warp_lanes < count_; ++w) {
    warps_[w].exited = ~warps_[w].present;
    if (warps_[w].group_count > 4) recycle_groups(warps_[w]);
  }
  arena_.start_block();
  async_.start_block(ordinal);
  happens_before(&launch_begins_);
}

std::exception_ptr Worker::run_block(std::uint64_t ordinal, uint3 index) {
  reset_block(ordinal, index);
  fibers_.switch_to(idle_fiber());
  if (fault_ == nullptr && living_ != 0) fault_ = diagnose_stuck();
  if (fault_ == nullptr) {
    if (const auto left = async_.unfinished()) fault_ = make_fault(FaultKind::bulk_copy, nullptr, *left);
  }
  if (fault_ == nullptr) {
    if (const auto damage = arena_.damage()) {
      fault_ = make_fault(FaultKind::out_of_bounds, nullptr, *damage + ", found when the block ended");
    }
  }
  if (fault_ != nullptr) [[unlikely]] {
    reset_after_fault();
    return std::exchange(fault_, nullptr);
  }
  ++counts_.blocks;
  counts_.lanes += count_;
  return nullptr;
}

void Worker::reset_after_fault() {
  happens_after(&fault_leaves_);
  fibers_.abandon_unfinished();
  idle_ = nullptr;
  fibers_used_ = 0;  // those that exist are handed out again, in this order
  ready_ = nullptr;
  barrier_ = {};
  for (Warp& warp : warps_) {
    recycle_groups(warp);
    warp.pending = 0;
  }
}

void Worker::fiber_main(void* worker) {
  auto& self = *static_cast<Worker*>(worker);
  for (;;) {
    self.run_lanes();
    Fiber& mine = self.fibers_.running();
    mine.lane = nullptr;
    mine.next_idle = self.idle_;
    self.idle_ = &mine;
    self.fibers_.switch_to(self.next_fiber());
  }
}

/// Runs lanes that have not started, one after the other on this stack, until another lane is ready to go on.
void Worker::run_lanes() {
  do {
    Lane& lane = lanes_[order_[started_++]];
    lane.fiber = &fibers_.running();
    lane.fiber->lane = &lane;
    lane.last_file = nullptr;
    current = &lane;
    happens_after(&launch_begins_);
    std::exception_ptr thrown;
    try {
      (*body_)();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown != nullptr) [[unlikely]]
      leave(std::move(thrown));
    end_lane(lane);
  } while (!tsan && ready_ == nullptr && started_ < count_);
}

Fiber& Worker::idle_fiber() {
  if constexpr (tsan) {
    return fibers_.at(ordinal_ % 2 * count_ + order_[started_]);
  }
  if (Fiber* fiber = idle_) {
    idle_ = fiber->next_idle;
    return *fiber;
  }
  return fibers_.at(fibers_used_++);
}

/// Barriers and collectives count the living, so the end of a lane may complete one.
void Worker::end_lane(Lane& lane) {
  async_.end_lane(lane);
  happens_before(&launch_ends_);
  Warp& warp = *lane.warp;
  warp.exited |= 1u << lane.position;
  --living_;
  if (warp.pending != 0) [[unlikely]]
    complete_pending(lane);
  if (barrier_.arrived != 0 && barrier_.arrived == living_) [[unlikely]]
    release_barrier();
}

void Worker::leave(std::exception_ptr fault) {
  fault_ = std::move(fault);
  happens_before(&fault_leaves_);
  current = nullptr;
  fibers_.switch_to(fibers_.main());
  std::abort();  // nothing resumes an abandoned fiber
}

}  // namespace assay::executor::detail
