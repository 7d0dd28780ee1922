// Launches: validation, the pool of workers, and which block a worker runs next.
#include "kernels/executor/executor.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/executor/permutation.hpp"
#include "kernels/executor/worker.hpp"

namespace assay::executor {
namespace detail {
namespace {

#if defined(ASSAY_EXECUTOR_TSAN) || defined(ASSAY_EXECUTOR_ONE_WORKER)
constexpr bool one_worker =
    true;  // lanes race only where the sanitizer can see it; coverage counters are not atomic
#else
constexpr bool one_worker = false;
#endif

/// One call of run(), shared by the workers that take part in it.
class Job {
 public:
  Job(const Launch& launch, const std::function<void()>& lane, const Options& options)
      : launch_(launch),
        lane_(lane),
        options_(options),
        blocks_(launch.grid.count()),
        permute_(blocks_, options.seed) {}

  /// Takes blocks, on this OS thread, until none is left.
  void work() {
    Worker& worker = this_worker();
    worker.start_launch(launch_, lane_, options_);
    for (;;) {
      const std::uint64_t ordinal = next_.fetch_add(1, std::memory_order_relaxed);
      // Blocks before a fault still run, since one of them may hold the fault that is to be reported.
      if (ordinal >= blocks_ || ordinal > faulty_.load(std::memory_order_relaxed)) break;
      if (std::exception_ptr fault = worker.run_block(ordinal, index_of(ordinal)))
        note(ordinal, std::move(fault));
    }
    worker.end_launch();
    const std::lock_guard lock(mutex_);
    const Counts& counts = worker.counts();
    total_.blocks += counts.blocks;
    total_.lanes += counts.lanes;
    total_.barriers += counts.barriers;
    total_.collectives += counts.collectives;
  }

  std::uint64_t blocks() const { return blocks_; }

  Counts result() {
    if (fault_ != nullptr) std::rethrow_exception(std::exchange(fault_, nullptr));
    return total_;
  }

 private:
  uint3 index_of(std::uint64_t ordinal) const {
    std::uint64_t i = ordinal;
    if (options_.blocks == Order::reverse) i = blocks_ - 1 - ordinal;
    if (options_.blocks == Order::seeded) i = permute_(ordinal);
    const std::uint64_t x = launch_.grid.x, y = launch_.grid.y;
    return {static_cast<unsigned>(i % x), static_cast<unsigned>(i / x % y),
            static_cast<unsigned>(i / (x * y))};
  }

  void note(std::uint64_t ordinal, std::exception_ptr fault) {
    const std::lock_guard lock(mutex_);
    if (ordinal > faulty_.load(std::memory_order_relaxed)) return;
    faulty_.store(ordinal, std::memory_order_relaxed);
    fault_ = std::move(fault);
  }

  const Launch& launch_;
  const std::function<void()>& lane_;
  const Options& options_;
  const std::uint64_t blocks_;
  const IndexPermutation permute_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> faulty_{std::numeric_limits<std::uint64_t>::max()};
  std::mutex mutex_;
  std::exception_ptr fault_;
  Counts total_;
};

/// Moves this OS thread to another core when it is on `core`. A woken thread is often put beside the one that
/// woke it, and a launch is over before the scheduler would part them.
void leave_core([[maybe_unused]] int core) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (core < 0 || sched_getcpu() != core || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(core), &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
#endif
}

/// Threads that help the caller of run(). A helper joins a job while it is open; the caller closes it when no
/// block is left and waits for those who joined, never for one that is still waking up.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  void run(Job& job, unsigned workers) {
    const std::lock_guard one_at_a_time(launches_);
    const unsigned helpers = forked() ? 0 : workers - 1;
    if (helpers > 0) {
      const std::lock_guard lock(mutex_);
      while (threads_.size() < helpers) threads_.emplace_back([this] { help(); });
      job_ = &job;
      caller_core_ = sched_getcpu();
      places_ = helpers;
      ++generation_;
    }
    if (helpers > 0) wake_.notify_all();
    job.work();
    if (helpers > 0) {
      std::unique_lock lock(mutex_);
      job_ = nullptr;
      done_.wait(lock, [this] { return active_ == 0; });
    }
  }

 private:
  Pool() {
    pthread_atfork(nullptr, nullptr, [] { forked() = true; });
  }
  ~Pool() {
    if (forked()) {  // the threads stayed in the parent
      for (std::thread& thread : threads_) thread.detach();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  static bool& forked() {
    static bool value = false;
    return value;
  }

  void help() {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || (job_ != nullptr && generation_ != seen); });
      if (stop_) return;
      seen = generation_;
      if (places_ == 0) continue;
      --places_;
      ++active_;
      Job& job = *job_;
      const int caller_core = caller_core_;
      lock.unlock();
      leave_core(caller_core);
      job.work();
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
  }

  std::mutex launches_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  Job* job_ = nullptr;
  std::uint64_t generation_ = 0;
  unsigned places_ = 0, active_ = 0;
  int caller_core_ = -1;
  bool stop_ = false;
};

/// CUDA's limits, compute capability 5.0 and newer.
void check(const Launch& launch) {
  const auto reject = [&](const std::string& why) {
    throw ExecutorError(FaultKind::bad_launch,
                        fmt::format("kernel '{}': cannot launch: {}", launch.kernel, why));
  };
  const auto text = [](Dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
  const Dim3 grid = launch.grid, block = launch.block;
  if (grid.count() == 0 || grid.x > 0x7FFFFFFFu || grid.y > 65535 || grid.z > 65535) {
    reject(fmt::format("grid {}; each extent is at least 1, x at most 2147483647, y and z at most 65535",
                       text(grid)));
  }
  if (block.count() == 0 || block.x > max_lanes || block.y > max_lanes || block.z > 64 ||
      block.count() > max_lanes) {
    reject(fmt::format("block {}; each extent is at least 1, z at most 64, the product at most {}",
                       text(block), max_lanes));
  }
  if (launch.dynamic_shared_bytes > SharedArena::limit) {
    reject(fmt::format("{} bytes of dynamic shared memory; at most {}", launch.dynamic_shared_bytes,
                       SharedArena::limit));
  }
  if (current != nullptr) reject("a lane is running; kernels do not launch kernels");
}

}  // namespace
}  // namespace detail

unsigned default_workers() {
  // Beyond this the guard pages of 1024 stacks a worker come near the kernel's limit on mappings (65530).
  constexpr unsigned most = 16;
  static const unsigned cores = std::thread::hardware_concurrency();  // asking opens a file
  return detail::one_worker ? 1 : std::clamp(cores, 1u, most);
}

Counts run(const Launch& launch, const std::function<void()>& lane, const Options& options) {
  detail::check(launch);
  detail::Job job(launch, lane, options);
  const unsigned asked = options.workers == 0 || detail::one_worker ? default_workers() : options.workers;
  detail::Pool::instance().run(job, static_cast<unsigned>(std::min<std::uint64_t>(asked, job.blocks())));
  return job.result();
}

}  // namespace assay::executor
