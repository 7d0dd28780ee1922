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

struct Lane;
class Fibers;

struct alignas(64) Fiber {
  using Context = boost::context::fiber;
  /// Where to continue; engaged while the fiber is suspended. Raw storage, because a fiber abandoned after a
  /// fault is overwritten, not destroyed: destroying would unwind kernel code, which may be what is broken.
  alignas(Context) std::byte context[sizeof(Context)];
  std::byte* stack = nullptr;  ///< lowest usable byte; the guard pages are below
  std::size_t stack_bytes = 0;
  Lane* lane = nullptr;  ///< the lane that runs on it; nullptr while idle
  Fiber* next_idle = nullptr;
  void* fake_stack = nullptr;   ///< AddressSanitizer's
  void* tsan_thread = nullptr;  ///< ThreadSanitizer's notion of this fiber: a thread of its own
  Fibers* owner = nullptr;
  bool created = false;

  Context& handle() { return *std::launder(reinterpret_cast<Context*>(context)); }
};

/// What a resumed fiber receives: where the one that resumed it is to continue.
struct Arrival {
  alignas(Fiber::Context) std::byte from[sizeof(Fiber::Context)];
};

/// Continues in `to`. Inlined into the kernel where possible: jump_fcontext leaves without a return
/// instruction, so every return between here and the kernel would be mispredicted, at 12 ns each on the
/// machine this was tuned on, more than the switch itself.
#if defined(ASSAY_EXECUTOR_ASAN) || defined(ASSAY_EXECUTOR_TSAN)
void resume(Fiber& to, Arrival&);  // not instrumented with the kernel
#else
[[gnu::always_inline]] inline void resume(Fiber& to, Arrival& arrival) {
  new (arrival.from) Fiber::Context(std::move(to.handle()).resume());
}
#endif

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

  /// A switch is leave_for(to), resume(to, arrival) and, on the other side, arrived(arrival).
  void leave_for(Fiber& to) {
    previous_ = running_;
    running_ = &to;
  }
  void arrived(Arrival& arrival) {
    auto* from = std::launder(reinterpret_cast<Fiber::Context*>(arrival.from));
    new (previous_->context) Fiber::Context(std::move(*from));
  }
  void switch_to(Fiber& to) {
    leave_for(to);
    Arrival arrival;
    resume(to, arrival);
    arrived(arrival);
  }

  /// Whether `address` lies in the guard page of a fiber's stack.
  bool in_guard(const Fiber& fiber, const std::byte* address) const {
    return address < fiber.stack && address >= fiber.stack - guard_bytes;
  }

  /// Forgets what the fibers of unfinished lanes were doing, without unwinding: they are again at their
  /// entry. Call on main.
  void abandon_unfinished();

 private:
  friend void resume(Fiber&, Arrival&);
  void finish_switch(void* fake_stack);
  void create(Fiber&, std::size_t i);
  void abandon(Fiber&);

  std::size_t capacity_;
  void (*entry_)(void*);
  void* argument_;
  std::unique_ptr<Fiber[]> fibers_;
  Fiber main_;
  Fiber* running_ = &main_;
  Fiber* previous_ = nullptr;
};

}  // namespace assay::executor::detail
