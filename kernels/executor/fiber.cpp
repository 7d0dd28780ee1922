#include "kernels/executor/fiber.hpp"

#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <system_error>

#if defined(ASSAY_EXECUTOR_ASAN)
/// Frames on the heap, which some compilers turn on, outlive a lane abandoned after a fault. Weak: a
/// program's own defaults win.
extern "C" [[gnu::weak]] const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
#endif

namespace assay::executor::detail {
namespace {

/// Boost deallocates through this when a fiber ends; ours never end, and Fibers owns the stacks.
struct KeepStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) {}
};

std::byte* map_stack(std::size_t bytes) {
  const std::size_t total = Fibers::guard_bytes + bytes;
  void* low = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED || mprotect(low, Fibers::guard_bytes, PROT_NONE) != 0) {
    throw std::system_error(errno, std::generic_category(), "executor: no memory for a lane's stack");
  }
  return static_cast<std::byte*>(low) + Fibers::guard_bytes;
}

}  // namespace

Fibers::Fibers(std::size_t capacity, void (*entry)(void*), void* argument)
    : capacity_(capacity), entry_(entry), argument_(argument), fibers_(std::make_unique<Fiber[]>(capacity)) {
  main_.owner = this;
#if defined(ASSAY_EXECUTOR_TSAN)
  main_.tsan_thread = __tsan_get_current_fiber();
#endif
}

void Fibers::finish_switch([[maybe_unused]] void* fake_stack) {
#if defined(ASSAY_EXECUTOR_ASAN)
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
  if (previous_ == &main_) {  // the only fiber whose stack is not ours
    main_.stack = static_cast<std::byte*>(const_cast<void*>(bottom));
    main_.stack_bytes = size;
  }
#endif
}

#if defined(ASSAY_EXECUTOR_ASAN) || defined(ASSAY_EXECUTOR_TSAN)
void resume(Fiber& to, Arrival& arrival) {
  Fibers& fibers = *to.owner;
  [[maybe_unused]] Fiber& self = *fibers.previous_;  // leave_for() has been called
#if defined(ASSAY_EXECUTOR_ASAN)
  __sanitizer_start_switch_fiber(&self.fake_stack, to.stack, to.stack_bytes);
#else
  __tsan_switch_to_fiber(to.tsan_thread, __tsan_switch_to_fiber_no_sync);
#endif
  new (arrival.from) Fiber::Context(std::move(to.handle()).resume());
  fibers.finish_switch(self.fake_stack);
}
#endif

Fibers::~Fibers() {
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (fibers_[i].created) abandon(fibers_[i]);
    if (fibers_[i].stack != nullptr) munmap(fibers_[i].stack - guard_bytes, guard_bytes + stack_bytes);
  }
}

void Fibers::create(Fiber& fiber, std::size_t i) {
  if (fiber.stack == nullptr) {
    fiber.stack = map_stack(stack_bytes);
    fiber.stack_bytes = stack_bytes;
  }
  // Stacks are page-aligned, so equal frames of all lanes would compete for the same few L1 sets. Shifting
  // each top spreads 32 lanes over the 4 KiB that one way of the cache covers. Boost rounds the top down to
  // 256 bytes.
  const std::size_t shift = (i * 320) % 4096;
  std::byte* top = fiber.stack + stack_bytes - shift;
  boost::context::stack_context whole;
  whole.sp = top;
  whole.size = stack_bytes - shift;
  new (fiber.context) Fiber::Context(std::allocator_arg, boost::context::preallocated(top, whole.size, whole),
                                     KeepStack{}, [this](Fiber::Context&& from) -> Fiber::Context {
                                       Arrival arrival;
                                       new (arrival.from) Fiber::Context(std::move(from));
                                       finish_switch(nullptr);
                                       arrived(arrival);
                                       entry_(argument_);
                                       assert(false && "a fiber's entry returned");
                                       return {};
                                     });
#if defined(ASSAY_EXECUTOR_TSAN)
  fiber.tsan_thread = __tsan_create_fiber(0);
#endif
  fiber.owner = this;
  fiber.created = true;
}

void Fibers::abandon(Fiber& fiber) {
  assert(running_ == &main_);
  // Frames that never returned leave their red zones poisoned.
  unpoison_memory(fiber.stack, fiber.stack_bytes);
  fiber.fake_stack = nullptr;
  fiber.lane = nullptr;
#if defined(ASSAY_EXECUTOR_TSAN)
  // What the lane did comes before whatever follows the fault.
  __tsan_switch_to_fiber(fiber.tsan_thread, __tsan_switch_to_fiber_no_sync);
  happens_before(&fiber);
  __tsan_switch_to_fiber(main_.tsan_thread, __tsan_switch_to_fiber_no_sync);
  happens_after(&fiber);
  __tsan_destroy_fiber(fiber.tsan_thread);
#endif
  fiber.created = false;
}

void Fibers::abandon_unfinished() {
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (!fibers_[i].created || fibers_[i].lane == nullptr) continue;
    abandon(fibers_[i]);
    create(fibers_[i], i);
  }
}

}  // namespace assay::executor::detail
