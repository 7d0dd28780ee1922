#include "kernels/executor/guard.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "kernels/executor/sanitizers.hpp"
#include "kernels/executor/worker.hpp"

#if !defined(ASSAY_EXECUTOR_ASAN) && !defined(ASSAY_EXECUTOR_TSAN) && defined(__linux__) && \
    (defined(__x86_64__) || defined(__aarch64__))
#define ASSAY_EXECUTOR_CATCHES_FAULTS 1
#endif

namespace assay::executor {
namespace {

struct Guarded {
  std::string name;
  std::uintptr_t begin, end, mapping_begin, mapping_end;

  bool maps(std::uintptr_t a) const { return a >= mapping_begin && a < mapping_end; }
  std::uintptr_t distance(std::uintptr_t a) const { return a < begin ? begin - a : a < end ? 0 : a - end; }
};

struct Registry {
  std::mutex mutex;
  std::vector<Guarded> buffers;
};
Registry& registry() {
  static Registry instance;
  return instance;
}

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

void register_guarded(std::string name, const void* begin, const void* end, const void* mapping_begin,
                      const void* mapping_end) {
  const std::lock_guard lock(registry().mutex);
  registry().buffers.push_back(
      {std::move(name), number(begin), number(end), number(mapping_begin), number(mapping_end)});
}

void unregister_guarded(const void* begin) {
  const std::lock_guard lock(registry().mutex);
  std::erase_if(registry().buffers, [&](const Guarded& b) { return b.begin == number(begin); });
}

namespace detail {

std::string describe_address(const void* address) {
  const std::uintptr_t a = number(address);
  const std::lock_guard lock(registry().mutex);
  const auto& buffers = registry().buffers;
  if (buffers.empty()) return fmt::format("{:#x}, outside every buffer", a);
  // The mapping that holds the address decides; without one, the nearest buffer is the likeliest to be meant.
  const auto nearest =
      std::min_element(buffers.begin(), buffers.end(), [&](const Guarded& x, const Guarded& y) {
        return std::pair(!x.maps(a), x.distance(a)) < std::pair(!y.maps(a), y.distance(a));
      });
  const char* which = nearest->maps(a) ? "" : "the nearest buffer, ";
  if (a >= nearest->begin && a < nearest->end) {
    return fmt::format("byte {} of '{}', whose memory is not accessible", a - nearest->begin, nearest->name);
  }
  return fmt::format("{} bytes {} {}'{}' ({} bytes)", nearest->distance(a),
                     a < nearest->begin ? "before the beginning of" : "past the end of", which, nearest->name,
                     nearest->end - nearest->begin);
}

#if defined(ASSAY_EXECUTOR_CATCHES_FAULTS)
namespace {

struct Fault {
  const std::byte* address;
  bool has_address, writes;
};
constinit thread_local Fault fault_of_thread{};
struct sigaction previous_segv, previous_bus;

/// Where a lane continues after its invalid access: on its own stack, outside the signal handler, so that the
/// fault is reported like any other.
[[noreturn]] void continue_after_fault() {
  Worker& worker = *worker_of_thread;
  const Lane& lane = static_cast<const Lane&>(*current);
  const Fault fault = fault_of_thread;
  std::string what;
  if (worker.fibers().in_guard(*lane.fiber, fault.address)) {
    what = fmt::format("stack overflow: more than {} bytes of frames and locals", Fibers::stack_bytes);
  } else if (!fault.has_address) {
    what = "accesses an address that cannot exist";
  } else {
    what = (fault.writes ? "writes " : "reads ") + describe_address(fault.address);
  }
  what += after(lane);
  worker.fail(FaultKind::out_of_bounds, &lane, std::move(what));
}

/// Leaves the fault to whoever handled it before us.
void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = signal == SIGBUS ? previous_bus : previous_segv;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    sigaction(signal, &previous, nullptr);  // the access repeats on return, and meets the default
  }
}

void on_fault(int signal, siginfo_t* info, void* raw_context) {
  // Only an access by a lane is ours; a SIGSEGV sent by kill() has no faulting access.
  if (current == nullptr || info->si_code == SI_USER || info->si_code == SI_TKILL)
    return chain(signal, info, raw_context);
  auto& machine = static_cast<ucontext_t*>(raw_context)->uc_mcontext;
  const Fiber& fiber = *static_cast<const Lane&>(*current).fiber;
  const auto low = number(fiber.stack), top = low + fiber.stack_bytes;
#if defined(__x86_64__)
  const bool writes = (machine.gregs[REG_ERR] & 2) != 0;
  auto sp = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#else
  const bool writes = false;  // not told
  auto sp = static_cast<std::uintptr_t>(machine.sp);
#endif
  fault_of_thread = {static_cast<const std::byte*>(info->si_addr), info->si_code != SI_KERNEL, writes};
  // Continue below the faulting frame, leaving it to a debugger; after an overflow there is no room below,
  // and the fiber is about to be abandoned, so start again near its top.
  constexpr std::uintptr_t room = 16 * 1024, red_zone = 128;
  if (sp > top || sp < low + room) sp = top - 4096;
  sp = (sp - red_zone) & ~std::uintptr_t{15};
#if defined(__x86_64__)
  constexpr long long direction_flag = 0x400;
  machine.gregs[REG_EFL] &= ~direction_flag;
  machine.gregs[REG_RSP] = static_cast<long long>(sp - 8);  // as just after a call
  machine.gregs[REG_RIP] = static_cast<long long>(reinterpret_cast<std::uintptr_t>(&continue_after_fault));
#else
  machine.sp = sp;
  machine.pc = reinterpret_cast<std::uintptr_t>(&continue_after_fault);
#endif
}

/// A signal stack for one OS thread: after a stack overflow the lane's own has no room for the handler.
class SignalStack {
 public:
  SignalStack() {
    stack_t now{};
    sigaltstack(nullptr, &now);
    if ((now.ss_flags & SS_DISABLE) == 0) return;  // the thread has one
    memory_ = std::make_unique<std::byte[]>(bytes);
    stack_t ours{};
    ours.ss_sp = memory_.get();
    ours.ss_size = bytes;
    sigaltstack(&ours, nullptr);
  }
  ~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t bytes = 64 * 1024;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void catch_faults_on_this_thread() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = &on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &previous_segv) == 0 && sigaction(SIGBUS, &action, &previous_bus) == 0;
  }();
  thread_local const SignalStack stack;
  (void)installed;
  (void)stack;
}
#else
void catch_faults_on_this_thread() {}
#endif

}  // namespace detail
}  // namespace assay::executor
