// Fibers: a stack with a guard page below it, and the switch between two of them. Everything that knows
// Boost.Context is here, behind create() and switch_to().
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "kernels/executor/sanitizers.hpp"

namespace assay::executor::detail {

struct alignas(64) Fiber {
  using Context = boost::context::fiber;
  /// Where to continue; engaged while the fiber is suspended. Raw storage, because a fiber abandoned after a
  /// fault is overwritten, not destroyed: destroying would unwind kernel code, which may be what is broken.
  alignas(Context) std::byte context[sizeof(Context)];
  std::byte* stack = nullptr;  ///< lowest usable byte; the guard page is below
  std::size_t stack_bytes = 0;
  Fiber* next_idle = nullptr;
  void* fake_stack = nullptr;   ///< AddressSanitizer's
  void* tsan_thread = nullptr;  ///< ThreadSanitizer's notion of this fiber: a thread of its own
  bool created = false;

  Context& handle() { return *std::launder(reinterpret_cast<Context*>(context)); }
};

/// The fibers of one OS thread. A fiber never moves to another thread, since compilers cache the addresses of
/// thread_local variables.
class Fibers {
 public:
  static constexpr std::size_t guard_bytes = 64 * 1024;  // untouchable, so free; wider than most frames
  static constexpr std::size_t stack_bytes = asan || tsan ? 256 * 1024 : 64 * 1024;

  /// Every fiber runs `entry(argument)`, which must not return.
  Fibers(std::size_t capacity, void (*entry)(void*), void* argument);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  std::size_t capacity() const { return capacity_; }
  Fiber& main() { return main_; }
  Fiber& running() { return *running_; }

  /// Fiber number `i`, suspended at its entry when it was not created before.
  Fiber& at(std::size_t i) {
    if (!fibers_[i].created) create(fibers_[i], i);
    return fibers_[i];
  }

  /// Suspends the running fiber until another switches back to it.
  void switch_to(Fiber& to);

  /// Whether `address` lies in the guard page of a fiber's stack.
  bool in_guard(const Fiber& fiber, const std::byte* address) const {
    return address < fiber.stack && address >= fiber.stack - guard_bytes;
  }

  /// Forgets what every fiber was doing, without unwinding. Call on main.
  void abandon_all();

 private:
  void create(Fiber&, std::size_t i);
  void arrived(Fiber::Context&& from);

  std::size_t capacity_;
  void (*entry_)(void*);
  void* argument_;
  std::unique_ptr<Fiber[]> fibers_;
  Fiber main_;
  Fiber* running_ = &main_;
  Fiber* previous_ = nullptr;
};

inline void Fibers::arrived(Fiber::Context&& from) {
#if defined(ASSAY_EXECUTOR_ASAN)
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(running_->fake_stack, &bottom, &size);
  if (previous_ == &main_) {  // the only fiber whose stack is not ours
    main_.stack = static_cast<std::byte*>(const_cast<void*>(bottom));
    main_.stack_bytes = size;
  }
#endif
  new (previous_->context) Fiber::Context(std::move(from));
}

inline void Fibers::switch_to(Fiber& to) {
  previous_ = running_;
  running_ = &to;
#if defined(ASSAY_EXECUTOR_ASAN)
  __sanitizer_start_switch_fiber(&previous_->fake_stack, to.stack, to.stack_bytes);
#endif
#if defined(ASSAY_EXECUTOR_TSAN)
  __tsan_switch_to_fiber(to.tsan_thread, __tsan_switch_to_fiber_no_sync);
#endif
  arrived(std::move(to.handle()).resume());
}

}  // namespace assay::executor::detail
