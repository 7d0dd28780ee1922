// Every misuse of bulk copies and mbarriers that is planted here shows on the executor, under every order of
// lanes and blocks: as a fault, or as the poison that is read.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/device/bulk_copy.hpp"
#include "kernels/device/bulk_copy_testing.hpp"

namespace assay::kernels::cpu {
namespace {

using namespace testing;

// ---- misuse that reads poison ------------------------------------------------------------------

/// What lane 0 and another see of a box when `early` lets them look before the bytes are there.
template <class Early>
void expect_poison(const Early& early) {
  for (Options options : all_orders()) {
    for (const std::uint8_t poison : {std::uint8_t{0xFF}, std::uint8_t{0x5C}}) {
      options.shared_poison = poison;
      Matrix from;
      const TensorMap2d map = from.map();
      std::array<std::uint32_t, 32> seen{};
      executor::run(
          one_warp,
          [&] {
            ASSAY_SHARED(Box, box);
            ASSAY_SHARED(Mbarrier, full);
            early(full, box, map);
            seen[threadIdx.x] = box.word[0][threadIdx.x % box_cols];
            __syncthreads();
            mbarrier_wait(full, 0);
          },
          options);
      for (const std::uint32_t word : seen) EXPECT_EQ(word, poison * 0x01010101u);
    }
  }
}

TEST(BulkCopyMisuse, ReadingBeforeTheWaitSeesPoison) {
  expect_poison([](Mbarrier& full, Box& box, const TensorMap2d& map) {
    start_load(full, box, map);
    __syncthreads();
  });
}

TEST(BulkCopyMisuse, WaitingForTheOtherParitySeesPoison) {
  expect_poison([](Mbarrier& full, Box& box, const TensorMap2d& map) {
    start_load(full, box, map);
    __syncthreads();
    mbarrier_wait(full, 1);
  });
}

TEST(BulkCopyMisuse, WaitingForThePhaseBeforeSeesPoison) {
  // The second load of a buffer, awaited by the parity of the first.
  for (const Options& options : all_orders()) {
    Matrix from;
    const TensorMap2d map = from.map();
    std::array<std::uint32_t, 32> seen{};
    executor::run(
        one_warp,
        [&] {
          ASSAY_SHARED(Box, box);
          ASSAY_SHARED(Mbarrier, full);
          start_load(full, box, map);
          __syncthreads();
          mbarrier_wait(full, 0);
          __syncthreads();
          if (threadIdx.x == 0) {
            mbarrier_arrive_expect_tx(full, box_bytes);
            bulk_load_2d(&box, map, 0, 0, full);
          }
          __syncthreads();
          mbarrier_wait(full, 0);
          seen[threadIdx.x] = box.word[0][threadIdx.x % box_cols];
          __syncthreads();
          mbarrier_wait(full, 1);
        },
        options);
    for (const std::uint32_t word : seen) EXPECT_EQ(word, 0xFFFFFFFFu);
  }
}

/// What the lanes read of a box that lane 0 loads again with no barrier in between.
std::array<std::uint32_t, 32> load_again(const Options& options) {
  Matrix from;
  const TensorMap2d map = from.map();
  std::array<std::uint32_t, 32> seen{};
  executor::run(
      one_warp,
      [&] {
        ASSAY_SHARED(Box, box);
        ASSAY_SHARED(Mbarrier, full);
        start_load(full, box, map);
        __syncthreads();
        mbarrier_wait(full, 0);
        if (threadIdx.x == 0) {
          mbarrier_arrive_expect_tx(full, box_bytes);
          bulk_load_2d(&box, map, 8, 0, full);
        }
        seen[threadIdx.x] = box.word[0][threadIdx.x % box_cols];
        __syncthreads();
        mbarrier_wait(full, 1);
      },
      options);
  return seen;
}

#if !defined(ASSAY_EXECUTOR_TSAN)
TEST(BulkCopyMisuse, LoadingAgainBeforeAllHaveReadShowsInSomeOrder) {
  unsigned damaged = 0;
  for (const Options& options : all_orders()) {
    const auto seen = load_again(options);
    for (unsigned i = 1; i < seen.size(); ++i) {
      damaged += seen[i] != Matrix().at(0, static_cast<int>(i % box_cols));
    }
  }
  EXPECT_GT(damaged, 0u);
}
#else  // there, the race itself is reported
TEST(BulkCopyMisuse, LoadingAgainBeforeAllHaveReadIsReportedByThreadSanitizer) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        load_again({});
        std::exit(0);
      },
      ::testing::ExitedWithCode(66), "data race");
}
#endif

// ---- misuse that is a fault --------------------------------------------------------------------

/// A load of one warp that waits, with `change` in place of start_load.
template <class Start>
void expect_load_fault(FaultKind kind, const std::vector<std::string>& words, const Start& start) {
  Matrix from;
  const TensorMap2d map = from.map();
  expect_fault(kind, one_warp, words, [&] {
    ASSAY_SHARED(Box, box);
    ASSAY_SHARED(Mbarrier, full);
    start(full, box, map);
    __syncthreads();
    mbarrier_wait(full, 0);
  });
}

TEST(BulkCopyMisuse, WrongByteCountsAreDeadlocks) {
  expect_load_fault(FaultKind::deadlock,
                    {"phase 0 of mbarrier shared 'full' + 0",
                     "bulk_copy_misuse_test.cpp:", "0 of 1 arrivals are missing and 4 bytes are missing"},
                    [](auto& full, auto& box, auto& map) { start_load(full, box, map, box_bytes + 4); });
  expect_load_fault(FaultKind::deadlock, {"4 bytes more than expected came"},
                    [](auto& full, auto& box, auto& map) { start_load(full, box, map, box_bytes - 4); });
}

TEST(BulkCopyMisuse, ALoadThatNobodyExpectsIsLeftBehind) {
  using Boxes = Box[2];
  Matrix from;
  const TensorMap2d map = from.map();
  expect_fault(FaultKind::bulk_copy, one_warp, {"the block ended before anybody waited for the bulk load"},
               [&] {
                 ASSAY_SHARED(Boxes, box);
                 ASSAY_SHARED(Mbarrier, full);
                 start_load(full, box[0], map);
                 if (threadIdx.x == 0) bulk_load_2d(&box[1], map, 8, 0, full);
                 __syncthreads();
                 mbarrier_wait(full, 0);
               });
}

TEST(BulkCopyMisuse, ALoadThatNobodyWaitsForIsLeftBehind) {
  Matrix from;
  const TensorMap2d map = from.map();
  expect_fault(FaultKind::bulk_copy, one_warp, {"the block ended before anybody waited"}, [&] {
    ASSAY_SHARED(Box, box);
    ASSAY_SHARED(Mbarrier, full);
    start_load(full, box, map);
  });
}

TEST(BulkCopyMisuse, AMissingArrivalIsADeadlock) {
  expect_load_fault(FaultKind::deadlock, {"1 of 2 arrivals are missing"},
                    [](auto& full, auto& box, auto& map) { start_load(full, box, map, box_bytes, 2); });
  // Half the lanes wait for it at a barrier; the mbarrier is what is wrong.
  expect_load_fault(FaultKind::deadlock, {"1 of 2 arrivals are missing"},
                    [](auto& full, auto& box, auto& map) {
                      start_load(full, box, map, box_bytes, 2);
                      __syncwarp();
                      if (threadIdx.x < 16) mbarrier_wait(full, 0);
                    });
}

TEST(BulkCopyMisuse, OneArrivalTooMany) {
  expect_load_fault(FaultKind::bulk_copy, {"one arrival too many", "'full'"},
                    [](auto& full, auto& box, auto& map) {
                      start_load(full, box, map);
                      if (threadIdx.x == 0) mbarrier_arrive(full);
                    });
}

TEST(BulkCopyMisuse, WhatIsNoMbarrier) {
  const std::string said = "is no mbarrier";
  expect_load_fault(FaultKind::bulk_copy, {said, "mbarrier.try_wait"}, [](auto&, auto&, auto&) {});
  expect_load_fault(FaultKind::bulk_copy, {said, "mbarrier.arrive"}, [](auto& full, auto&, auto&) {
    if (threadIdx.x == 0) mbarrier_arrive(full);
  });
  expect_load_fault(FaultKind::bulk_copy, {said, "mbarrier.try_wait"}, [](auto& full, auto& box, auto& map) {
    start_load(full, box, map);
    if (threadIdx.x == 0) full.word += 1;
  });
  expect_load_fault(FaultKind::bulk_copy, {said, "bulk load"}, [](auto& full, auto& box, auto& map) {
    if (threadIdx.x != 0) return;
    mbarrier_init(full, 1);
    mbarrier_invalidate(full);
    bulk_load_2d(&box, map, 0, 0, full);
  });
  expect_load_fault(FaultKind::bulk_copy, {"already is an mbarrier"}, [](auto& full, auto&, auto&) {
    if (threadIdx.x != 0) return;
    mbarrier_init(full, 1);
    mbarrier_init(full, 1);
  });
  expect_load_fault(FaultKind::bulk_copy, {"0 arrivals"},
                    [](auto& full, auto&, auto&) { mbarrier_init(full, 0); });
  expect_load_fault(FaultKind::bulk_copy, {"not in shared memory"}, [](auto&, auto&, auto&) {
    Mbarrier on_the_stack;
    mbarrier_init(on_the_stack, 1);
  });
}

TEST(BulkCopyMisuse, AnMbarrierThatCopiesHaveNotSeen) {
  expect_load_fault(FaultKind::bulk_copy, {"no fence.proxy.async since mbarrier shared 'full'"},
                    [](auto& full, auto& box, auto& map) {
                      if (threadIdx.x != 0) return;
                      mbarrier_init(full, 1);
                      mbarrier_arrive_expect_tx(full, box_bytes);
                      bulk_load_2d(&box, map, 0, 0, full);
                    });
}

TEST(BulkCopyMisuse, PlacesThatABoxCannotTake) {
  expect_load_fault(FaultKind::misaligned, {"is not a multiple of 128 bytes", "'bytes' + 16"},
                    [](auto& full, auto&, auto& map) {
                      struct alignas(128) Bytes {
                        std::byte of[box_bytes + 128];
                      };
                      ASSAY_SHARED(Bytes, bytes);
                      if (threadIdx.x != 0) return;
                      mbarrier_init(full, 1);
                      fence_proxy_async();
                      bulk_load_2d(bytes.of + 16, map, 0, 0, full);
                    });
  expect_load_fault(FaultKind::out_of_bounds, {"not within one shared variable", "'box' + 128"},
                    [](auto& full, auto& box, auto& map) {
                      if (threadIdx.x != 0) return;
                      mbarrier_init(full, 1);
                      fence_proxy_async();
                      bulk_load_2d(&box.word[2], map, 0, 0, full);
                    });
}

TEST(BulkCopyMisuse, WritingWhereALoadIsInFlight) {
  expect_load_fault(FaultKind::bulk_copy, {"'box' + 0 was written while the bulk load"},
                    [](auto& full, auto& box, auto& map) {
                      start_load(full, box, map);
                      __syncthreads();
                      if (threadIdx.x == 9) box.word[3][5] = 1;
                    });
}

/// One warp fills a box; `rest` is to store it.
template <class Rest>
void expect_store_fault(const std::vector<std::string>& words, const Rest& rest) {
  Matrix to;
  const TensorMap2d map = to.map();
  expect_fault(FaultKind::bulk_copy, one_warp, words, [&] {
    ASSAY_SHARED(Box, box);
    for (unsigned i = 0; i < box_rows && threadIdx.x < box_cols; ++i) box.word[i][threadIdx.x] = i;
    rest(box, map);
  });
}

TEST(BulkCopyMisuse, StoringWhatNoFenceHasShown) {
  const std::string said = "'box' + 0 was written with no fence.proxy.async since";
  expect_store_fault({said}, [](Box& box, const TensorMap2d& map) {
    __syncthreads();
    if (threadIdx.x == 0) bulk_store_2d(map, 0, 0, &box);
  });
  expect_store_fault({said}, [](Box& box, const TensorMap2d& map) {
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 3) box.word[7][15] = 99;  // after the fence
    __syncthreads();
    if (threadIdx.x == 0) bulk_store_2d(map, 0, 0, &box);
  });
}

TEST(BulkCopyMisuse, StoringABoxThatBeginsBeforeTheMatrix) {
  for (const auto& origin : {std::pair{-4, 0}, std::pair{0, -4}, std::pair{-4, 60}}) {
    expect_store_fault({"must not begin before the matrix"}, [&](Box& box, const TensorMap2d& map) {
      fence_proxy_async();
      __syncthreads();
      if (threadIdx.x == 0) bulk_store_2d(map, origin.first, origin.second, &box);
    });
  }
}

/// Lane 0 stores `bytes` from `shared` bytes into a box to `global` bytes into a matrix.
void expect_row_fault(FaultKind kind, const std::vector<std::string>& words, unsigned global, unsigned shared,
                      unsigned bytes) {
  Matrix to;
  expect_fault(kind, one_warp, words, [&] {
    ASSAY_SHARED(Box, box);
    for (unsigned i = 0; i < box_rows && threadIdx.x < box_cols; ++i) box.word[i][threadIdx.x] = i;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x != 0) return;
    bulk_store_1d(reinterpret_cast<std::byte*>(to.word.data()) + global,
                  reinterpret_cast<const std::byte*>(&box) + shared, bytes);
    bulk_commit_group();
    bulk_wait_group<0>();
  });
}

TEST(BulkCopyMisuse, PlacesAndSizesThatARowCannotHave) {
  expect_row_fault(FaultKind::misaligned, {"'box' + 8 is not a multiple of 16 bytes"}, 0, 8, 32);
  expect_row_fault(FaultKind::misaligned, {"global memory is not a multiple of 16 bytes"}, 4, 0, 32);
  expect_row_fault(FaultKind::bulk_copy, {"24 bytes; a multiple of 16, not 0"}, 0, 0, 24);
  expect_row_fault(FaultKind::bulk_copy, {"0 bytes; a multiple of 16, not 0"}, 0, 0, 0);
  expect_row_fault(FaultKind::out_of_bounds,
                   {"32 bytes from shared 'box' + 496 are not within one shared variable"}, 0, box_bytes - 16,
                   32);
}

TEST(BulkCopyMisuse, StoringARowAgainstTheRules) {
  const auto store = [](const TensorMap2d& map, const Box& box) {
    bulk_store_1d(map.base, &box, 64);
    bulk_commit_group();
  };
  expect_store_fault({"'box' + 0 was written with no fence.proxy.async since"},
                     [&](Box& box, const TensorMap2d& map) {
                       __syncthreads();
                       if (threadIdx.x == 0) store(map, box);
                     });
  expect_store_fault({"it ended before it waited for the bulk store"}, [&](Box& box, const TensorMap2d& map) {
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) store(map, box);
  });
  expect_store_fault({"'box' + 0 was written before the bulk store", "had read it"},
                     [&](Box& box, const TensorMap2d& map) {
                       fence_proxy_async();
                       __syncthreads();
                       if (threadIdx.x != 0) return;
                       store(map, box);
                       box.word[0][15] = 99;
                       bulk_wait_group_read<0>();
                     });
}

TEST(BulkCopyMisuse, WritingBeforeTheStoreHasRead) {
  expect_store_fault({"'box' + 0 was written before the bulk store", "had read it"},
                     [](Box& box, const TensorMap2d& map) {
                       fence_proxy_async();
                       __syncthreads();
                       if (threadIdx.x == 0) {
                         bulk_store_2d(map, 0, 0, &box);
                         bulk_commit_group();
                       }
                       __syncthreads();
                       if (threadIdx.x == 20) box.word[2][4] = 99;
                       __syncthreads();
                       if (threadIdx.x == 0) bulk_wait_group_read<0>();
                     });
}

TEST(BulkCopyMisuse, AWaitThatLeavesTheLastGroupOutDoesNotCoverIt) {
  using Boxes = Box[2];
  Matrix to;
  const TensorMap2d map = to.map();
  expect_fault(FaultKind::bulk_copy, one_warp, {"'box' + 512 was written before", "had read it"}, [&] {
    ASSAY_SHARED(Boxes, box);
    for (unsigned i = 0; i < 2 * box_rows && threadIdx.x < box_cols; ++i) {
      box[i / box_rows].word[i % box_rows][threadIdx.x] = i;
    }
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 0; i < 2; ++i) {
      bulk_store_2d(map, 8 * i, 0, &box[i]);
      bulk_commit_group();
    }
    bulk_wait_group_read<1>();
    box[1].word[0][0] = 99;
    bulk_wait_group_read<0>();
  });
}

TEST(BulkCopyMisuse, EndingBeforeTheStoreHasRead) {
  const std::string said = "it ended before it waited for the bulk store";
  expect_store_fault({said}, [](Box& box, const TensorMap2d& map) {
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x != 0) return;
    bulk_store_2d(map, 0, 0, &box);
    bulk_commit_group();
  });
  expect_store_fault({said},
                     [](Box& box, const TensorMap2d& map) {  // a wait does not cover what is not committed
                       fence_proxy_async();
                       __syncthreads();
                       if (threadIdx.x != 0) return;
                       bulk_store_2d(map, 0, 0, &box);
                       bulk_wait_group<0>();
                     });
}

}  // namespace
}  // namespace assay::kernels::cpu
