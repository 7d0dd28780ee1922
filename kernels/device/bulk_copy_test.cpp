// Bulk copies and mbarriers on the executor move what they should, under every order of lanes and blocks. The
// probes compare them with the hardware; bulk_copy_misuse_test.cpp shows what is caught.
#include "kernels/device/bulk_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/device/bulk_copy_testing.hpp"

namespace assay::kernels::cpu {
namespace {

using namespace testing;

TEST(BulkCopy, MovesBoxesWhereverTheyLie) {
  for (const Options& options : all_orders()) {
    for (const int row : {-9, -8, -3, 0, 5, 12, 15, 19, 20}) {
      for (const int col : {-16, -5, 0, 3, 8, 20, 24}) {
        Matrix from, to;
        to.word.fill(7);
        const TensorMap2d load = from.map(), store = to.map();
        const int to_row = std::max(row, 0), to_col = std::max(col, 0);  // a store may not begin before
        std::array<std::uint32_t, box_rows * box_cols> seen{};
        executor::run(
            one_warp,
            [&] {
              ASSAY_SHARED(Box, box);
              ASSAY_SHARED(Mbarrier, full);
              if (threadIdx.x == 0) {
                mbarrier_init(full, 1);
                fence_proxy_async();
                mbarrier_arrive_expect_tx(full, box_bytes);
                bulk_load_2d(&box, load, row, col, full);
              }
              __syncthreads();
              mbarrier_wait(full, 0);
              for (unsigned i = threadIdx.x; i < seen.size(); i += 32) {
                seen[i] = box.word[i / box_cols][i % box_cols];
                box.word[i / box_cols][i % box_cols] = seen[i] + 1;
              }
              fence_proxy_async();
              __syncthreads();
              if (threadIdx.x != 0) return;
              bulk_store_2d(store, to_row, to_col, &box);
              bulk_commit_group();
              bulk_wait_group<0>();
            },
            options);
        for (int i = 0; i < int{box_rows * box_cols}; ++i) {
          const int r = row + i / int{box_cols}, c = col + i % int{box_cols};
          ASSERT_EQ(seen[static_cast<std::size_t>(i)], from.at(r, c)) << row << " " << col << " word " << i;
        }
        for (int r = 0; r < int{rows}; ++r) {
          for (int c = 0; c < int{cols}; ++c) {
            const bool in_box =
                r >= to_row && r < to_row + int{box_rows} && c >= to_col && c < to_col + int{box_cols};
            ASSERT_EQ(to.at(r, c), in_box ? from.at(r - to_row + row, c - to_col + col) + 1 : 7)
                << row << " " << col << " at " << r << " " << c;
          }
        }
      }
    }
  }
}

TEST(BulkCopy, APipelineOfTwoBuffersKeepsItsPhasesApart) {
  using Boxes = Box[2];
  using Mbarriers = Mbarrier[2];
  constexpr unsigned stages = 7;
  Matrix from;
  const TensorMap2d map = from.map();
  for (const Options& options : all_orders()) {
    std::array<std::uint64_t, stages> sums{};
    executor::run(
        {"pipeline", {1}, {128}},
        [&] {
          ASSAY_SHARED(Boxes, box);
          ASSAY_SHARED(Mbarriers, full);
          const auto load = [&](unsigned stage) {
            mbarrier_arrive_expect_tx(full[stage % 2], box_bytes);
            bulk_load_2d(&box[stage % 2], map, static_cast<int>(stage), 2, full[stage % 2]);
          };
          if (threadIdx.x == 0) {
            for (Mbarrier& m : full) mbarrier_init(m, 1);
            fence_proxy_async();
            load(0);
            load(1);
          }
          __syncthreads();
          for (unsigned stage = 0; stage < stages; ++stage) {
            mbarrier_wait(full[stage % 2], stage / 2 % 2);
            const unsigned i = threadIdx.x;
            atomicAdd(reinterpret_cast<unsigned long long*>(&sums[stage]),
                      static_cast<unsigned long long>(box[stage % 2].word[i / box_cols][i % box_cols]));
            __syncthreads();
            if (threadIdx.x == 0 && stage + 2 < stages) load(stage + 2);
          }
        },
        options);
    for (unsigned stage = 0; stage < stages; ++stage) {
      std::uint64_t expected = 0;
      for (unsigned i = 0; i < box_rows * box_cols; ++i) {
        expected += from.at(static_cast<int>(stage + i / box_cols), static_cast<int>(2 + i % box_cols));
      }
      EXPECT_EQ(sums[stage], expected) << stage;
    }
  }
}

TEST(Mbarrier, IsABarrierPhaseAfterPhase) {
  using Slots = unsigned[64];
  for (const Options& options : all_orders()) {
    std::array<unsigned, 64> seen{};
    executor::run(
        {"rounds", {1}, {64}},
        [&] {
          ASSAY_SHARED(Slots, slot);
          ASSAY_SHARED(Mbarrier, all);
          if (threadIdx.x == 5) mbarrier_init(all, 64);
          __syncthreads();
          unsigned value = threadIdx.x, phase = 0;
          const auto meet = [&] {
            mbarrier_arrive(all);
            mbarrier_wait(all, phase++ % 2);
          };
          for (unsigned round = 0; round < 5; ++round) {
            slot[threadIdx.x] = value;
            meet();
            value += slot[(threadIdx.x + 1) % 64];
            meet();
          }
          seen[threadIdx.x] = value;
        },
        options);
    std::array<unsigned, 64> expected{}, next{};
    std::iota(expected.begin(), expected.end(), 0u);
    for (unsigned round = 0; round < 5; ++round) {
      for (unsigned i = 0; i < 64; ++i) next[i] = expected[i] + expected[(i + 1) % 64];
      expected = next;
    }
    EXPECT_EQ(seen, expected);
  }
}

/// Two lanes store rows of a few sizes, each from a place and to a place that is a multiple of 16 and no
/// more.
TEST(BulkCopy, MovesBytesInARow) {
  struct alignas(16) Words {
    std::uint32_t of[64];
  };
  for (const Options& options : all_orders()) {
    for (const unsigned bytes : {16u, 32u, 48u, 80u}) {
      alignas(16) std::array<std::uint32_t, 64> to;
      to.fill(7);
      executor::run(
          one_warp,
          [&] {
            ASSAY_SHARED(Words, words);
            words.of[threadIdx.x] = threadIdx.x;
            words.of[32 + threadIdx.x] = 100 + threadIdx.x;
            fence_proxy_async();
            __syncwarp();
            if (threadIdx.x >= 2) return;
            bulk_store_1d(&to[4 + threadIdx.x * 32], &words.of[threadIdx.x * 32 + 8], bytes);
            bulk_commit_group();
            bulk_wait_group_read<0>();
          },
          options);
      for (unsigned i = 0; i < 64; ++i) {
        const unsigned at = i % 32;
        const bool inside = at >= 4 && at < 4 + bytes / 4;
        ASSERT_EQ(to[i], inside ? i / 32 * 100 + at + 4 : 7) << bytes << " bytes, word " << i;
      }
    }
  }
}

TEST(BulkCopy, AWaitForAllButTheLastGroupFreesTheOthers) {
  using Boxes = Box[2];
  Matrix to;
  const TensorMap2d map = to.map();
  executor::run(one_warp, [&] {
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
    box[0].word[0][0] = 99;
    bulk_wait_group_read<0>();
  });
  for (int row = 0; row < 16; ++row) EXPECT_EQ(to.at(row, 3), static_cast<std::uint32_t>(row));
  EXPECT_EQ(to.at(0, 0), 0u);
}

}  // namespace
}  // namespace assay::kernels::cpu
