// Orders, workers, launches: what runs when, and that it does not matter where.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "kernels/executor/permutation.hpp"
#include "kernels/executor/testing.hpp"

namespace assay::executor {
namespace {

using namespace testing;

/// The order in which the lanes of one block pass each of `intervals` stretches between barriers.
std::vector<std::vector<unsigned>> passages(unsigned lanes, unsigned intervals, const Options& options) {
  std::vector<std::vector<unsigned>> order(intervals, std::vector<unsigned>(lanes));
  std::vector<unsigned> next(intervals);
  run(
      {"passages", {1}, {lanes}},
      [&] {
        for (unsigned i = 0; i < intervals; ++i) {
          order[i][atomicAdd(&next[i], 1u)] = threadIdx.x;
          __syncthreads();
        }
      },
      options);
  return order;
}

TEST(LaneOrder, ForwardAndReverseMirrorEachOtherBetweenAllBarriers) {
  for (const unsigned lanes : {1u, 2u, 31u, 32u, 33u, 256u, 1000u}) {
    Options options;
    const auto forward = passages(lanes, 5, options);
    options.lanes = Order::reverse;
    auto reverse = passages(lanes, 5, options);
    EXPECT_TRUE(std::is_sorted(forward[0].begin(), forward[0].end()));
    for (unsigned i = 0; i < 5; ++i) {
      std::reverse(reverse[i].begin(), reverse[i].end());
      EXPECT_EQ(forward[i], reverse[i]) << lanes << " lanes, interval " << i;
    }
  }
}

TEST(LaneOrder, SeededPermutesWarpsAndLanesWithin) {
  Options options;
  options.lanes = Order::seeded;
  std::set<std::vector<unsigned>> orders;
  for (options.seed = 0; options.seed < 50; ++options.seed) {
    const auto order = passages(150, 1, options)[0];
    EXPECT_EQ(order, passages(150, 1, options)[0]) << "the same seed, another order";
    orders.insert(order);
    EXPECT_EQ(std::set<unsigned>(order.begin(), order.end()).size(), 150u);
    std::vector<unsigned> warps;  // a warp's lanes start together
    for (const unsigned lane : order) {
      if (warps.empty() || warps.back() != lane / 32) warps.push_back(lane / 32);
    }
    EXPECT_EQ(warps.size(), 5u);
  }
  EXPECT_EQ(orders.size(), 50u);
}

std::vector<unsigned> block_order(Dim3 grid, Order order, std::uint64_t seed) {
  Options options;
  options.blocks = order;
  options.seed = seed;
  options.workers = 1;
  std::vector<unsigned> started(grid.count());
  unsigned next = 0;
  run(
      {"blocks", grid, {1}}, [&] { started[atomicAdd(&next, 1u)] = block_number(); }, options);
  return started;
}

TEST(BlockOrder, ForwardReverseAndSeededCoverTheGrid) {
  for (const Dim3 grid : {Dim3{1}, Dim3{2}, Dim3{7}, Dim3{64}, Dim3{5, 3, 4}, Dim3{1000}}) {
    auto forward = block_order(grid, Order::forward, 0);
    EXPECT_EQ(forward.size(), grid.count());
    EXPECT_TRUE(std::is_sorted(forward.begin(), forward.end()));
    auto reverse = block_order(grid, Order::reverse, 0);
    std::reverse(reverse.begin(), reverse.end());
    EXPECT_EQ(forward, reverse);
    auto seeded = block_order(grid, Order::seeded, 3);
    EXPECT_EQ(seeded, block_order(grid, Order::seeded, 3));
    if (grid.count() > 50) {
      EXPECT_NE(seeded, forward);
      EXPECT_NE(seeded, block_order(grid, Order::seeded, 4));
    }
    std::sort(seeded.begin(), seeded.end());
    EXPECT_EQ(forward, seeded);
  }
}

TEST(BlockOrder, PermutationIsOneToOneForAnyCount) {
  for (std::uint64_t n = 1; n < 300; ++n) {
    const detail::IndexPermutation permute(n, n * 31);
    std::vector<bool> hit(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      ASSERT_LT(permute(i), n);
      ASSERT_FALSE(hit[permute(i)]);
      hit[permute(i)] = true;
    }
  }
}

/// Output and counts of a kernel with barriers, shuffles and shared memory.
std::pair<std::vector<unsigned>, std::uint64_t> mixed(const Options& options) {
  using Row = unsigned[96];
  std::vector<unsigned> out(37 * 96);
  const Counts counts = run(
      {"mixed", {37}, {96}},
      [&] {
        ASSAY_SHARED(Row, row);
        unsigned v = static_cast<unsigned>(detail::mix(global_number()));
        v += __shfl_xor_sync(~0u, v, static_cast<int>(blockIdx.x % 32));
        row[threadIdx.x] = v;
        __syncthreads();
        out[global_number()] = row[95 - threadIdx.x] * 5 + __ballot_sync(~0u, static_cast<int>(v & 1u));
      },
      options);
  return {out, counts.blocks * 1000003 + counts.lanes * 101 + counts.barriers * 7 + counts.collectives};
}

TEST(Workers, ResultDoesNotDependOnTheirNumberNorOnOrders) {
  const auto expected = mixed({});
  for (const unsigned workers : {1u, 2u, 3u, 8u, 64u}) {
    for (const Options& options : all_orders(workers)) EXPECT_EQ(mixed(options), expected) << workers;
  }
}

TEST(Workers, ABlockStaysOnOneThread) {
  Options options;
  options.workers = 4;
  std::vector<std::thread::id> before(64 * 64), after(64 * 64);
  run(
      {"stay", {64}, {64}},
      [&] {
        before[global_number()] = std::this_thread::get_id();
        for (int i = 0; i < 10; ++i) __syncthreads();
        after[global_number()] = std::this_thread::get_id();
      },
      options);
  EXPECT_EQ(before, after);
  for (unsigned i = 0; i < before.size(); ++i) ASSERT_EQ(before[i], before[i / 64 * 64]);
}

TEST(Workers, LaunchesFromSeveralThreadsTakeTurns) {
  const auto expected = mixed({});
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) equal += mixed({}) == expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 80);
}

TEST(SharedMemory, EveryDeclarationAndInstantiationIsItsOwn) {
  std::set<const void*> addresses;
  std::mutex mutex;
  const auto declare = [&]<class T>(T) {
    ASSAY_SHARED(T, one);
    {
      ASSAY_SHARED(T, two);
      const std::lock_guard lock(mutex);
      addresses.insert({&one, &two});
    }
  };
  run({"distinct", {1}, {32}}, [&] {
    declare(1);
    declare(1.0f);
    declare(1.0);
  });
  EXPECT_EQ(addresses.size(), 6u);
}

TEST(SharedMemory, IsPoisonedBeforeEveryBlockAndAlignedNoFurther) {
  struct alignas(16) Quad {
    float v[4];
  };
  using Bytes = std::uint8_t[13];
  using Quads = Quad[5];
  for (const std::uint8_t poison : {std::uint8_t{0xFF}, std::uint8_t{0x00}, std::uint8_t{0x7E}}) {
    Options options;
    options.shared_poison = poison;
    run(
        {"poison", {20}, {3}, 100},
        [&] {
          ASSAY_SHARED(Bytes, bytes);
          ASSAY_SHARED(Quads, quads);
          auto* dynamic = dynamic_shared<std::uint8_t>();
          if (threadIdx.x == 0) {
            const auto poisoned = [&](const void* p, std::size_t n) {
              const auto* b = static_cast<const std::uint8_t*>(p);
              return std::count(b, b + n, poison) == static_cast<std::ptrdiff_t>(n);
            };
            ASSERT_TRUE(poisoned(&bytes, sizeof bytes));
            ASSERT_TRUE(poisoned(&quads, sizeof quads));
            ASSERT_TRUE(poisoned(dynamic, 100));
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(&quads) % 32, 16u);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(dynamic) % 1024, 0u);
          }
          __syncthreads();
          if (threadIdx.x == 1) std::memset(&bytes, 0x55, sizeof bytes);
          __syncthreads();
          std::memset(&quads[threadIdx.x], 0x55, sizeof(Quad));
          if (threadIdx.x == 0) std::memset(dynamic, 0x55, 100);
        },
        options);
  }
}

}  // namespace
}  // namespace assay::executor
