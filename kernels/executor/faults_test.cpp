// Every fault a kernel can have, planted: each must be reported as what it is, where it is, and leave the
// executor usable.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "kernels/executor/permutation.hpp"
#include "kernels/executor/sanitizers.hpp"
#include "kernels/executor/testing.hpp"

namespace assay::executor {
namespace {

using namespace testing;

constexpr bool sanitized = detail::asan || detail::tsan;
using Faults = ::testing::Test;

std::string here(unsigned line) { return std::string(__FILE__) + ":" + std::to_string(line); }

// ---- collectives that do not come together -----------------------------------------------------

constexpr unsigned line_of_one = __LINE__ + 1;
void wait_at_one() { __syncthreads(); }
constexpr unsigned line_of_two = __LINE__ + 1;
void wait_at_two() { __syncthreads(); }

TEST(DivergentBarrier, TwoDifferentBarriers) {
  expect_fault(FaultKind::divergent_barrier, {"split", {2}, {64}},
               {"'split'", "block (", "lane (", here(line_of_one), here(line_of_two)}, [] {
                 if (threadIdx.x < 40) {
                   wait_at_one();
                 } else {
                   wait_at_two();
                 }
               });
}

TEST(DivergentBarrier, BarrierAgainstShuffle) {
  expect_fault(FaultKind::divergent_barrier, {"half", {1}, {32}},
               {"__syncthreads", "__shfl_xor_sync", "faults_test.cpp"}, [] {
                 if (threadIdx.x < 16) __syncthreads();
                 (void)__shfl_xor_sync(~0u, 1, 16);
                 if (threadIdx.x >= 16) __syncthreads();
               });
}

TEST(DivergentBarrier, DifferentKindsOfBarrier) {
  expect_fault(FaultKind::divergent_barrier, {"kinds", {1}, {8}}, {"__syncthreads_or", "__syncthreads_count"},
               [] {
                 if (threadIdx.x == 3) {
                   (void)__syncthreads_or(1);
                 } else {
                   (void)__syncthreads_count(1);
                 }
               });
}

TEST(MaskMismatch, LanesDisagreeOnTheMask) {
  expect_fault(FaultKind::mask_mismatch, {"masks", {1}, {32}},
               {"different masks", "0xffffffff", "0x0000ffff"}, [] {
                 const bool low = threadIdx.x < 8;
                 (void)__shfl_xor_sync(low ? 0x0000FFFFu : 0xFFFFFFFFu, 1, 1);
               });
}

TEST(MaskMismatch, LanesDisagreeOnTheOperation) {
  expect_fault(FaultKind::mask_mismatch, {"operations", {1}, {32}},
               {"different operation", "__shfl_up_sync", "__ballot_sync"}, [] {
                 if (threadIdx.x == 5) {
                   (void)__ballot_sync(~0u, 1);
                 } else {
                   (void)__shfl_up_sync(~0u, 1, 1);
                 }
               });
}

TEST(MaskMismatch, LanesDisagreeOnTheSize) {
  expect_fault(FaultKind::mask_mismatch, {"sizes", {1}, {32}}, {"__shfl_sync of 8 bytes"}, [] {
    if (threadIdx.x == 31) {
      (void)__shfl_sync(~0u, 1.0, 0);
    } else {
      (void)__shfl_sync(~0u, 1.0f, 0);
    }
  });
}

TEST(MaskMismatch, CallerIsNotInItsMask) {
  expect_fault(FaultKind::mask_mismatch, {"outside", {1}, {32}},
               {"does not name the calling lane", "lane (31,0,0)"}, [] { __syncwarp(0x7FFFFFFFu); });
}

TEST(MaskMismatch, WidthIsNotAPowerOfTwo) {
  for (const int width : {0, -1, 3, 33, 64, 65537}) {
    expect_fault(FaultKind::mask_mismatch, {"width", {1}, {32}}, {"width"},
                 [=] { (void)__shfl_sync(~0u, 1, 0, width); });
  }
}

TEST(ExitedLane, ReadByAShuffle) {
  expect_fault(FaultKind::exited_lane_read, {"tail", {1}, {32}}, {"reads lane (20,0,0), which exited"}, [] {
    if (threadIdx.x >= 20) return;
    (void)__shfl_down_sync(~0u, 1, 1);
  });
}

TEST(ExitedLane, NamedByAVoteOrReduction) {
  const auto leave = [](const auto& rest) {
    return [=] {
      if (threadIdx.x == 9) return;
      rest();
    };
  };
  const Launch launch{"vote", {1}, {32}};
  const std::vector<std::string> words{"names lane (9,0,0), which exited"};
  expect_fault(FaultKind::exited_lane_read, launch, words, leave([] { (void)__ballot_sync(~0u, 1); }));
  expect_fault(FaultKind::exited_lane_read, launch, words, leave([] { (void)__all_sync(~0u, 1); }));
  expect_fault(FaultKind::exited_lane_read, launch, words, leave([] { (void)__reduce_add_sync(~0u, 1u); }));
}

TEST(ExitedLane, ThatNeverExisted) {
  expect_fault(FaultKind::exited_lane_read, {"partial", {1}, {20}},
               {"reads lane 20 of warp 0, which does not exist"}, [] { (void)__shfl_down_sync(~0u, 1, 1); });
}

TEST(ExitedLane, IsNotReadByTheLivingIsNoFault) {
  for (const Options& options : all_orders()) {
    std::vector<int> got(32);
    run(
        {"living", {1}, {32}},
        [&] {
          if (threadIdx.x >= 16) return;
          got[threadIdx.x] = __shfl_xor_sync(~0u, static_cast<int>(threadIdx.x), 8);
          __syncwarp();
        },
        options);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i ^ 8);
  }
}

TEST(NonMember, ReadByAShuffle) {
  expect_fault(FaultKind::non_member_lane_read, {"member", {1}, {32}},
               {"reads lane (16,0,0), which the mask does not name"}, [] {
                 if (threadIdx.x < 16) {
                   (void)__shfl_sync(0x0000FFFFu, 1, 16);
                 } else {
                   __syncwarp(0xFFFF0000u);
                 }
               });
}

TEST(Deadlock, LanesWaitInACircle) {
  expect_fault(FaultKind::deadlock, {"circle", {1}, {3}}, {"deadlock", "__syncwarp", "circle"}, [] {
    const unsigned first = threadIdx.x == 0 ? 0b011 : threadIdx.x == 1 ? 0b110 : 0b101;
    const unsigned second = threadIdx.x == 0 ? 0b101 : threadIdx.x == 1 ? 0b011 : 0b110;
    __syncwarp(first);
    __syncwarp(second);
  });
}

TEST(Deadlock, SubsetsInTheSameOrderAreNone) {
  for (const Options& options : all_orders()) {
    run(
        {"subsets", {1}, {32}},
        [] {
          if (threadIdx.x == 1) __syncwarp(0b10);
          if (threadIdx.x < 2) __syncwarp(0b11);
          __syncwarp();
        },
        options);
  }
}

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
    EXPECT_DEATH(run(launch, write_at(32, false)), "use-after-poison");
    EXPECT_DEATH(run(launch, write_at(40, true)), "use-after-poison");
    EXPECT_DEATH(run(launch, write_at(~0u, true)), "use-after-poison|SEGV|stack-buffer|unknown");
  } else {
    const std::string shared = "shared memory 'row', 128 bytes, was written at byte ";
    expect_fault(FaultKind::out_of_bounds, launch, {shared + "128", "when the block ended"},
                 write_at(32, false));
    expect_fault(FaultKind::out_of_bounds, launch, {shared + "160", "at the barrier at", "faults_test.cpp"},
                 write_at(40, true));
  }
}

TEST(OutOfBounds, SharedMemoryIsReadOrWrittenBeforeItsBeginning) {
  using Row = float[32];
  const Launch launch{"shared", {1}, {32}};
  const auto write = [] {
    ASSAY_SHARED(Row, row);
    volatile float* p = &row[0];
    const std::ptrdiff_t before = threadIdx.x == 3 ? -1 : 0;
    p[before] = 1.0f;
  };
  if constexpr (detail::asan) {
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
  run({"shallow", {1}, {64}}, [&] { sink = deep(30); });
}

// ---- races, uninitialised memory ---------------------------------------------------------------

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

// A race is what ThreadSanitizer reports; there these tests would stop at the report, so it has its own
// below.
TEST(Race, MovesTheOutputWhenOrdersChange) {
  if constexpr (detail::tsan) GTEST_SKIP() << "covered by Race.IsReportedByThreadSanitizer";
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
  if constexpr (detail::tsan) GTEST_SKIP() << "covered by Race.IsReportedByThreadSanitizer";
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

TEST(Race, IsReportedByThreadSanitizer) {
  if constexpr (!detail::tsan) GTEST_SKIP() << "needs a build with ThreadSanitizer";
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

// ---- launches, exceptions, errors --------------------------------------------------------------

TEST(BadLaunch, IsRefusedWithTheLimit) {
  const auto refuse = [](const Launch& launch, const std::string& word) {
    expect_fault(FaultKind::bad_launch, launch, {"'limits'", word}, [] { FAIL() << "a lane ran"; });
  };
  refuse({"limits", {1}, {1025}}, "1024");
  refuse({"limits", {1}, {32, 33}}, "(32,33,1)");
  refuse({"limits", {1}, {1, 1, 65}}, "z at most 64");
  refuse({"limits", {1}, {0}}, "at least 1");
  refuse({"limits", {0}, {1}}, "(0,1,1)");
  refuse({"limits", {1, 65536}, {1}}, "65535");
  refuse({"limits", {1}, {1}, 227 * 1024 + 1}, "232448");
}

TEST(BadLaunch, TooMuchSharedMemoryInAll) {
  using Most = std::uint8_t[200 * 1024];
  expect_fault(FaultKind::bad_launch, {"big", {1}, {1}, 40 * 1024}, {"'most'", "faults_test.cpp"}, [] {
    ASSAY_SHARED(Most, most);
    most[0] = 1;
  });
}

TEST(BadLaunch, FromALane) {
  expect_fault(FaultKind::bad_launch, {"outer", {1}, {4}}, {"'inner'", "kernels do not launch kernels"}, [] {
    run({"inner", {1}, {1}}, [] {});
  });
}

TEST(Exception, OfALaneReachesTheCaller) {
  for (const Options& options : all_orders()) {
    EXPECT_THROW(run(
                     {"throws", {8}, {64}},
                     [] {
                       __syncthreads();
                       if (threadIdx.x == 50) throw std::range_error("from a lane");
                       __syncthreads();
                     },
                     options),
                 std::range_error);
    expect_works();
  }
}

TEST(Error, IsThatOfTheFirstBlockWhateverTheWorkers) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      Options options;
      options.workers = workers;
      try {
        run(
            {"many", {64}, {32}},
            [] {
              if (blockIdx.x < 9) return;
              for (unsigned i = 0; i < (64 - blockIdx.x) * 10; ++i) __syncwarp();  // later blocks fail sooner
              (void)__shfl_sync(1u << threadIdx.x, 1, 31);
            },
            options);
        FAIL();
      } catch (const ExecutorError& error) {
        EXPECT_NE(std::string(error.what()).find("block (9,0,0)"), std::string::npos) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace assay::executor
