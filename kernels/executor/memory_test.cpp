// Faults of memory, planted: accesses out of bounds, stack overflow, races, reads of what nobody wrote. Each
// must be reported as what it is, where it is, and leave the executor usable.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>

#include "kernels/executor/sanitizers.hpp"
#include "kernels/executor/testing.hpp"

namespace assay::executor {
namespace {

using namespace testing;

constexpr bool sanitized = detail::asan || detail::tsan;

/// Death tests start the program anew: a fork of a process whose fibers and workers exist is not one that a
/// sanitizer watches.
void die_in_a_new_process() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

// ---- memory ------------------------------------------------------------------------------------

/// `bytes` bytes that end at an inaccessible page, registered as `name`.
class Guarded {
 public:
  Guarded(std::string name, std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    inside_ = (bytes + page_ - 1) / page_ * page_;
    low_ = static_cast<std::byte*>(
        mmap(nullptr, inside_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(low_ + page_, inside_, PROT_READ | PROT_WRITE);
    data_ = low_ + page_ + inside_ - bytes;
    register_guarded(std::move(name), data_, data_ + bytes, low_, low_ + inside_ + 2 * page_);
  }
  ~Guarded() {
    unregister_guarded(data_);
    munmap(low_, inside_ + 2 * page_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::size_t page_, inside_ = 0;
  std::byte* low_ = nullptr;
  std::byte* data_ = nullptr;
};

/// A memory fault: an ExecutorError, or the death of the process under a sanitizer, which reports it itself.
template <class Lane>
void expect_memory_fault(const Launch& launch, const std::vector<std::string>& words,
                         const char* sanitizer_report, const Lane& lane) {
  if constexpr (sanitized) {
    die_in_a_new_process();
    EXPECT_DEATH(run(launch, lane), sanitizer_report);
  } else {
    (void)sanitizer_report;
    expect_fault(FaultKind::out_of_bounds, launch, words, lane);
  }
}

TEST(OutOfBounds, ReadPastAGuardedBuffer) {
  Guarded weights("weights", 4000);
  volatile float sink = 0;
  expect_memory_fault({"reader", {1}, {64}},
                      {"'reader'", "lane (7,0,0)", "reads 8 bytes past the end of 'weights' (4000 bytes)"},
                      "SEGV", [&] {
                        __syncthreads();
                        if (threadIdx.x == 7) sink = weights.as<const float>()[1002];
                      });
}

TEST(OutOfBounds, WriteBeforeAGuardedBuffer) {
  Guarded out("out", 4096);
  Guarded other("other", 4096);
  expect_memory_fault({"writer", {3}, {64}},
                      {"writes 4 bytes before the beginning of 'out' (4096 bytes)", "block (2,0,0)"}, "SEGV",
                      [&] {
                        if (blockIdx.x == 2 && threadIdx.x == 63) *(out.as<volatile float>() - 1) = 1.0f;
                      });
}

TEST(OutOfBounds, WildAndImpossibleAddresses) {
  const auto write_to = [](std::uintptr_t address) {
    return [address] {
      if (threadIdx.x == 5) *reinterpret_cast<volatile int*>(address) = 1;
    };
  };
  expect_memory_fault({"low", {1}, {32}}, {"lane (5,0,0)", "writes 0x40"}, "SEGV", write_to(64));
  Guarded buffer("only", 64);
  expect_memory_fault({"low", {1}, {32}}, {"before the beginning of the nearest buffer, 'only' (64 bytes)"},
                      "SEGV", write_to(64));
  expect_memory_fault({"impossible", {1}, {32}}, {"cannot exist"}, "SEGV", write_to(std::uintptr_t{1} << 63));
}

TEST(OutOfBounds, OutsideALaneIsNotTakenForOne) {
  expect_works();  // the handler is installed by now
  die_in_a_new_process();
  volatile std::uintptr_t address = 64;
  const auto touch = [&] { *reinterpret_cast<volatile int*>(address) = 1; };
  if constexpr (sanitized) {
    EXPECT_DEATH(touch(), "SEGV");
  } else {
    EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGSEGV), "");
  }
}

TEST(OutOfBounds, SharedMemoryIsWrittenPastItsEnd) {
  using Row = float[32];
  const Launch launch{"shared", {2}, {32}};
  const auto write_at = [](unsigned index, bool barrier) {
    return [=] {
      ASSAY_SHARED(Row, row);
      volatile float* p = &row[0];
      p[threadIdx.x == 3 ? index : threadIdx.x] = 1.0f;
      if (barrier) __syncthreads();
    };
  };
  if constexpr (detail::asan) {
    die_in_a_new_process();
    EXPECT_DEATH(run(launch, write_at(32, false)), "use-after-poison");
    EXPECT_DEATH(run(launch, write_at(40, true)), "use-after-poison");
    EXPECT_DEATH(run(launch, write_at(~0u, true)), "use-after-poison|SEGV|stack-buffer|unknown");
  } else {
    const std::string shared = "shared memory 'row', 128 bytes, was written at byte ";
    expect_fault(FaultKind::out_of_bounds, launch, {shared + "128", "when the block ended"},
                 write_at(32, false));
    expect_fault(FaultKind::out_of_bounds, launch, {shared + "160", "at the barrier at", "memory_test.cpp"},
                 write_at(40, true));
  }
}

TEST(OutOfBounds, SharedMemoryIsReadOrWrittenBeforeItsBeginning) {
  using Row = float[32];
  const Launch launch{"shared", {1}, {32}};
  const auto write = [] {
    ASSAY_SHARED(Row, row);
    volatile float* p = &row[0];
    const auto lane = static_cast<std::ptrdiff_t>(threadIdx.x);
    p[lane == 3 ? -1 : lane] = 1.0f;
  };
  if constexpr (detail::asan) {
    die_in_a_new_process();
    EXPECT_DEATH(run(launch, write), "use-after-poison");
  } else {
    expect_fault(FaultKind::out_of_bounds, launch, {"'row', 128 bytes, was written at byte -4"}, write);
  }
}

TEST(OutOfBounds, DynamicSharedMemoryIsWrittenPastItsEnd) {
  const Launch launch{"dynamic", {1}, {32}, 101};
  const auto write = [] {
    volatile auto* p = dynamic_shared<std::uint8_t>();
    if (threadIdx.x == 0) p[101] = 0;
  };
  if constexpr (detail::asan) {
    die_in_a_new_process();
    EXPECT_DEATH(run(launch, write), "use-after-poison");
  } else {
    expect_fault(FaultKind::out_of_bounds, launch,
                 {"'dynamic shared memory', 101 bytes, was written at byte 101"}, write);
  }
}

/// Uses 1 KiB of stack a level.
[[gnu::noinline]] unsigned deep(unsigned levels) {
  volatile std::uint8_t frame[1024];
  frame[levels % 1024] = static_cast<std::uint8_t>(levels);
  return levels == 0 ? 0 : deep(levels - 1) + frame[levels % 1024];
}

TEST(StackOverflow, IsAFaultOfTheLane) {
  volatile unsigned sink = 0;
  expect_memory_fault({"deep", {1}, {64}}, {"stack overflow", "lane (40,0,0)"}, "stack-overflow|SEGV", [&] {
    if (threadIdx.x == 40) sink = deep(100000);
  });
  run({"shallow", {1}, {64}}, [&] {
    const unsigned sum = deep(30);
    if (threadIdx.x == 63) sink = sum;
  });
}

// ---- races, uninitialised memory ---------------------------------------------------------------

#if !defined(ASSAY_EXECUTOR_TSAN)
/// The different outputs of a kernel over the orders of lanes and blocks.
template <class Lane>
std::size_t outcomes(const Launch& launch, std::vector<unsigned>& memory, const Lane& lane) {
  std::set<std::vector<unsigned>> seen;
  for (const Options& options : all_orders()) {
    std::fill(memory.begin(), memory.end(), 0u);
    run(launch, lane, options);
    seen.insert(memory);
  }
  return seen.size();
}

TEST(Race, MovesTheOutputWhenOrdersChange) {
  using Row = unsigned[64];
  std::vector<unsigned> out(64);
  const auto rotate = [&](bool first, bool second) {
    return [&, first, second] {
      ASSAY_SHARED(Row, row);
      for (unsigned round = 0; round < 2; ++round) {
        row[threadIdx.x] = threadIdx.x * (round + 1);
        if (first) __syncthreads();
        out[threadIdx.x] = out[threadIdx.x] * 7 + row[(threadIdx.x + 1) % 64];
        if (second) __syncthreads();
      }
    };
  };
  EXPECT_EQ(outcomes({"rotate", {1}, {64}}, out, rotate(true, true)), 1u);
  EXPECT_GT(outcomes({"no first barrier", {1}, {64}}, out, rotate(false, true)), 1u);
  EXPECT_GT(outcomes({"no second barrier", {1}, {64}}, out, rotate(true, false)), 1u);
}

TEST(Race, BetweenBlocksMovesTheOutput) {
  std::vector<unsigned> out(1);
  std::vector<Options> orders = all_orders(1);
  std::set<unsigned> seen;
  for (const Options& options : orders) {
    run(
        {"last wins", {9}, {1}}, [&] { out[0] = blockIdx.x; }, options);
    seen.insert(out[0]);
  }
  EXPECT_GT(seen.size(), 1u);
}

#else  // there, the race itself is reported

TEST(Race, IsReportedByThreadSanitizer) {
  using Row = unsigned[64];
  std::vector<unsigned> out(64), one(1);
  const auto rotate = [&](bool first, bool second, bool warp = false) {
    run({"rotate", {2}, {64}}, [&, first, second, warp] {
      ASSAY_SHARED(Row, row);
      for (unsigned round = 0; round < 2; ++round) {
        row[threadIdx.x] = threadIdx.x * (round + 1);
        if (first) __syncthreads();
        if (warp) __syncwarp();
        if (blockIdx.x == 0) out[threadIdx.x] += row[threadIdx.x / 32 * 32 + (threadIdx.x + 1) % 32];
        if (second) __syncthreads();
        if (warp) __syncwarp();
      }
    });
  };
  die_in_a_new_process();
  const auto report = ::testing::ExitedWithCode(66);
  rotate(true, true);  // and these two are no races: this process would fail at its end
  rotate(false, false, true);
  EXPECT_EXIT(
      {
        rotate(false, true);
        std::exit(0);
      },
      report, "data race");
  EXPECT_EXIT(
      {
        rotate(true, false);
        std::exit(0);
      },
      report, "data race");
  EXPECT_EXIT(
      {
        run({"blocks", {2}, {32}}, [&] {
          if (threadIdx.x == 0) one[0] = blockIdx.x;
        });
        std::exit(0);
      },
      report, "data race");
  EXPECT_EXIT(
      {
        run({"after a barrier", {2}, {32}}, [&] {
          __syncthreads();
          if (threadIdx.x == 0) one[0] = blockIdx.x;
          __syncthreads();
        });
        std::exit(0);
      },
      report, "data race");
  EXPECT_EXIT(
      {
        run({"shuffle orders nothing", {1}, {32}}, [&] {
          if (threadIdx.x == 0) one[0] = 1;
          if (__shfl_sync(~0u, 1, 0) != 0 && threadIdx.x == 1) one[0] = 2;
        });
        std::exit(0);
      },
      report, "data race");
  // Ordered by fences and an atomic counter: the last block reads what the others wrote.
  run({"last block", {4}, {1}}, [&] {
    out[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(one.data(), 1u) == 3) {
      for (unsigned i = 0; i < 4; ++i) out[4] += out[i];
    }
  });
}

#endif

TEST(UninitialisedSharedMemory, ChangesTheOutputWithThePoison) {
  using Row = unsigned[32];
  std::vector<unsigned> out(32);
  const auto with_poison = [&](std::uint8_t poison, bool initialise) {
    Options options;
    options.shared_poison = poison;
    run(
        {"partial", {2}, {32}},
        [&] {
          ASSAY_SHARED(Row, row);
          if (initialise || threadIdx.x != 11) row[threadIdx.x] = threadIdx.x;
          __syncthreads();
          if (blockIdx.x == 1) out[threadIdx.x] = row[31 - threadIdx.x];
        },
        options);
    return out;
  };
  EXPECT_NE(with_poison(0xFF, false), with_poison(0x00, false));
  EXPECT_EQ(with_poison(0xFF, true), with_poison(0x00, true));
}

}  // namespace
}  // namespace assay::executor
