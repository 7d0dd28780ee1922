// Faults of collectives and launches, planted: each must be reported as what it is, where it is, and leave
// the executor usable. Faults of memory are in memory_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "kernels/executor/testing.hpp"

namespace assay::executor {
namespace {

using namespace testing;

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
    Options options;
    options.workers = workers;
    std::atomic<bool> later_failed{false};
    try {
      run(
          {"many", {64}, {32}},
          [&] {
            if (blockIdx.x < 9) return;
            if (blockIdx.x > 9) later_failed = true;
            // The first lane holds block 9 back until a later block has failed, where workers run side by
            // side.
            for (long patience = workers == 1 ? 0 : 100000; patience > 0 && !later_failed; --patience)
              std::this_thread::yield();
            (void)__shfl_sync(1u << threadIdx.x, 1, 31);
          },
          options);
      FAIL();
    } catch (const ExecutorError& error) {
      EXPECT_NE(std::string(error.what()).find("block (9,0,0)"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace assay::executor
