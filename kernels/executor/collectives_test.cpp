// Barriers, shuffles, votes and reductions against their definitions, over block shapes, orders and worker
// counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "kernels/executor/permutation.hpp"
#include "kernels/executor/testing.hpp"

namespace assay::executor {
namespace {

using namespace testing;

/// Which lane a shuffle reads, by listing the lanes of the caller's segment. -1: its own value is kept.
int model_source(const std::string& op, int lane, int operand, int width) {
  std::vector<int> segment;
  for (int i = 0; i < 32; ++i) {
    if (i / width == lane / width) segment.push_back(i);
  }
  const int place = static_cast<int>(std::find(segment.begin(), segment.end(), lane) - segment.begin());
  if (op == "idx") return segment[static_cast<std::size_t>(operand % width)];
  const int distance = operand % 32;  // the instruction takes five bits
  if (op == "up") return place - distance >= 0 ? segment[static_cast<std::size_t>(place - distance)] : -1;
  if (op == "down")
    return place + distance < width ? segment[static_cast<std::size_t>(place + distance)] : -1;
  const int other = lane ^ distance;  // an earlier segment may be read, a later one not
  return other <= segment.back() ? other : -1;
}

TEST(Lanes, EveryIndexOfEveryShapeRunsOnce) {
  for (const Dim3 block : block_shapes()) {
    for (const Dim3 grid : {Dim3{1}, Dim3{3, 2, 2}, Dim3{1, 5}}) {
      for (const Options& options : all_orders()) {
        std::vector<unsigned> seen(grid.count() * block.count());
        const Counts counts = run(
            {"indices", grid, block},
            [&] {
              ASSERT_LT(threadIdx.x, block.x);
              ASSERT_LT(threadIdx.y, block.y);
              ASSERT_LT(threadIdx.z, block.z);
              ASSERT_LT(blockIdx.x, grid.x);
              ASSERT_LT(blockIdx.y, grid.y);
              ASSERT_LT(blockIdx.z, grid.z);
              atomicAdd(&seen[global_number()], 1u);
            },
            options);
        ASSERT_EQ(std::count(seen.begin(), seen.end(), 1u), static_cast<std::ptrdiff_t>(seen.size()));
        ASSERT_EQ(counts.blocks, grid.count());
        ASSERT_EQ(counts.lanes, seen.size());
        ASSERT_EQ(counts.barriers + counts.collectives, 0u);
      }
    }
  }
}

template <class T>
void check_shuffles(Dim3 block, const Options& options) {
  const auto lanes = static_cast<int>(block.count());
  for (const std::string op : {"idx", "up", "down", "xor"}) {
    for (const int width : {1, 2, 4, 8, 16, 32}) {
      for (const int operand : {0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 35}) {
        const auto source = [&](int i) {
          const int s = model_source(op, i % 32, operand, width);
          return s < 0 ? i : i / 32 * 32 + s;
        };
        bool readable = true;  // a lane that does not exist cannot be read
        for (int i = 0; i < lanes; ++i) readable = readable && source(i) < lanes;
        if (!readable) continue;
        const auto value = [](int i) { return static_cast<T>(detail::mix(static_cast<std::uint64_t>(i))); };
        std::vector<T> got(block.count());
        run(
            {"shuffle", {1}, block},
            [&] {
              const auto i = lane_number();
              const T v = value(static_cast<int>(i));
              if (op == "idx") got[i] = __shfl_sync(~0u, v, operand, width);
              if (op == "up") got[i] = __shfl_up_sync(~0u, v, static_cast<unsigned>(operand), width);
              if (op == "down") got[i] = __shfl_down_sync(~0u, v, static_cast<unsigned>(operand), width);
              if (op == "xor") got[i] = __shfl_xor_sync(~0u, v, operand, width);
            },
            options);
        for (int i = 0; i < lanes; ++i) {
          ASSERT_EQ(got[static_cast<std::size_t>(i)], value(source(i)))
              << op << " operand " << operand << " width " << width << " lane " << i;
        }
      }
    }
  }
}

TEST(Shuffle, ReadsTheLaneOfItsDefinition) {
  for (const Dim3 block : {Dim3{32}, Dim3{64}, Dim3{7, 3, 2}, Dim3{20}, Dim3{1}}) {
    for (const Order order : {Order::forward, Order::reverse, Order::seeded}) {
      Options options;
      options.lanes = order;
      options.seed = 7;
      check_shuffles<unsigned>(block, options);
      check_shuffles<unsigned long long>(block, options);
    }
  }
}

TEST(Shuffle, MovesFloatsAndStructsBitForBit) {
  struct Pair {
    float a;
    std::uint32_t b;
  };
  std::vector<std::uint32_t> bits(32);
  run({"bits", {1}, {32}}, [&] {
    const Pair p = __shfl_down_sync(~0u, Pair{__uint_as_float(0x7F800001u + threadIdx.x), threadIdx.x}, 1);
    bits[threadIdx.x] = __float_as_uint(p.a) - p.b;
  });
  EXPECT_EQ(std::count(bits.begin(), bits.end(), 0x7F800001u), 32);
}

TEST(Shuffle, DisjointMasksOfOneWarpAreIndependent) {
  for (const Options& options : all_orders()) {
    std::vector<unsigned> got(64);
    run(
        {"halves", {1}, {64}},
        [&] {
          const unsigned lane = threadIdx.x % 32, third = lane % 3;
          const unsigned mask = third == 0 ? 0x49249249u : third == 1 ? 0x92492492u : 0x24924924u;
          unsigned sum = 0;  // the lanes of a third go round a different number of times
          for (unsigned round = 0; round < 3 + 5 * third; ++round) {
            sum +=
                __shfl_sync(mask, threadIdx.x + round,
                            static_cast<int>((lane + 3 * round + 3 - lane % 3 + third) % 30 / 3 * 3 + third));
          }
          __syncwarp();
          got[threadIdx.x] = sum;
        },
        options);
    for (unsigned i = 0; i < 64; ++i) {
      const unsigned lane = i % 32, third = lane % 3;
      unsigned sum = 0;
      for (unsigned round = 0; round < 3 + 5 * third; ++round) {
        sum += i - lane + ((lane + 3 * round + 3 - lane % 3 + third) % 30 / 3 * 3 + third) + round;
      }
      ASSERT_EQ(got[i], sum) << i;
    }
  }
}

TEST(Vote, CountsTheLanesOfTheMask) {
  for (const Dim3 block : block_shapes()) {
    for (const Options& options : all_orders()) {
      const auto holds = [](unsigned i, unsigned salt) { return detail::mix(i * 8 + salt) % 4 < salt; };
      std::vector<std::array<unsigned, 4>> got(block.count());
      run(
          {"vote", {1}, block},
          [&] {
            const unsigned i = lane_number();
            const unsigned mask = i % 2 == 0 ? 0x55555555u : 0xAAAAAAAAu;
            for (unsigned salt = 0; salt < 5; ++salt) {
              const int p = holds(i, salt);
              got[i] = {__ballot_sync(~0u, p), __ballot_sync(mask, p),
                        static_cast<unsigned>(__any_sync(mask, p)),
                        static_cast<unsigned>(__all_sync(mask, p))};
              unsigned all = 0;
              for (unsigned j = i / 32 * 32; j < std::min(i / 32 * 32 + 32, block_lanes()); ++j) {
                all |= static_cast<unsigned>(holds(j, salt)) << (j % 32);
              }
              const unsigned present =
                  block_lanes() - i / 32 * 32 >= 32 ? ~0u : (1u << block_lanes() % 32) - 1;
              ASSERT_EQ(got[i][0], all);
              ASSERT_EQ(got[i][1], all & mask);
              ASSERT_EQ(got[i][2], (all & mask) != 0);
              ASSERT_EQ(got[i][3], (all & mask) == (present & mask));
            }
          },
          options);
    }
  }
}

TEST(Reduce, FoldsTheLanesOfTheMask) {
  for (const Options& options : all_orders()) {
    run(
        {"reduce", {2}, {45}},
        [&] {
          const unsigned i = threadIdx.x;
          const auto value = [](unsigned j) {
            return static_cast<unsigned>(detail::mix(j + 100 * blockIdx.x));
          };
          const unsigned mask = i % 4 == 0 ? 0x11111111u : 0xEEEEEEEEu;
          unsigned sum = 0, low = ~0u, high = 0;
          int slow = std::numeric_limits<int>::max(), shigh = std::numeric_limits<int>::min();
          for (unsigned j = i / 32 * 32; j < std::min(i / 32 * 32 + 32, 45u); ++j) {
            if ((mask >> (j % 32) & 1u) == 0) continue;
            sum += value(j);
            low = std::min(low, value(j));
            high = std::max(high, value(j));
            slow = std::min(slow, static_cast<int>(value(j)));
            shigh = std::max(shigh, static_cast<int>(value(j)));
          }
          ASSERT_EQ(__reduce_add_sync(mask, value(i)), sum);
          ASSERT_EQ(__reduce_add_sync(mask, static_cast<int>(value(i))), static_cast<int>(sum));
          ASSERT_EQ(__reduce_min_sync(mask, value(i)), low);
          ASSERT_EQ(__reduce_max_sync(mask, value(i)), high);
          ASSERT_EQ(__reduce_min_sync(mask, static_cast<int>(value(i))), slow);
          ASSERT_EQ(__reduce_max_sync(mask, static_cast<int>(value(i))), shigh);
        },
        options);
  }
}

TEST(Barrier, SeparatesWritesFromReads) {
  using Row = unsigned[1024];
  for (const Dim3 block : block_shapes()) {
    for (const Options& options : all_orders()) {
      std::vector<unsigned> got(3 * block.count());
      const Counts counts = run(
          {"rotate", {3}, block},
          [&] {
            ASSAY_SHARED(Row, row);
            const unsigned i = lane_number(), n = block_lanes();
            unsigned v = i + block_number();
            for (unsigned round = 0; round < 3; ++round) {  // n values, each moved by 1, 2, 3 places
              row[i] = v;
              __syncthreads();
              v = row[(i + round + 1) % n];
              __syncthreads();
            }
            got[global_number()] = v;
          },
          options);
      const auto n = static_cast<unsigned>(block.count());
      for (unsigned i = 0; i < 3 * n; ++i) ASSERT_EQ(got[i], (i % n + 6) % n + i / n);
      ASSERT_EQ(counts.barriers, 3u * 6u);
    }
  }
}

TEST(Barrier, CountsPredicatesOfTheLiving) {
  for (const Dim3 block : block_shapes()) {
    const auto n = static_cast<int>(block.count());
    for (const Options& options : all_orders()) {
      run(
          {"predicates", {1}, block},
          [&] {
            const auto i = static_cast<int>(lane_number());
            if (i % 5 == 4) return;  // leaves before any barrier
            const int living = n - n / 5;
            ASSERT_EQ(__syncthreads_count(i % 5 != 3), living - (n + 1) / 5);
            ASSERT_EQ(__syncthreads_or(i == n - 1), (n - 1) % 5 != 4);
            ASSERT_EQ(__syncthreads_or(0), 0);
            ASSERT_EQ(__syncthreads_and(1), 1);
            ASSERT_EQ(__syncthreads_and(i != 0), 0);
          },
          options);
    }
  }
}

TEST(Barrier, LanesMayLeaveBetweenBarriers) {
  using Total = unsigned;
  for (const Dim3 block : block_shapes()) {
    for (const Options& options : all_orders()) {
      std::vector<unsigned> seen(block.count());
      run(
          {"leave", {1}, block},
          [&] {
            ASSAY_SHARED(Total, total);
            const unsigned i = lane_number(), n = block_lanes();
            for (unsigned round = 0; round < 4; ++round) {
              if (i == 0) total = 0;
              __syncthreads();
              atomicAdd(&total, 1u);
              __syncthreads();
              seen[i] = total;
              __syncthreads();
              if (i != 0 && i % 4 == round) return;
            }
            (void)n;
          },
          options);
      const auto n = static_cast<unsigned>(block.count());
      for (unsigned i = 0; i < n; ++i) {
        const unsigned last = i == 0 ? 3 : i % 4;  // the round of its last barriers
        unsigned living = 0;
        for (unsigned j = 0; j < n; ++j) living += j == 0 || j % 4 >= last;
        ASSERT_EQ(seen[i], living) << "lane " << i;
      }
    }
  }
}

TEST(Barrier, NestsInLoopsWithCollectives) {
  using Sums = unsigned[32];
  for (const Options& options : all_orders()) {
    std::vector<unsigned> got(4 * 192);
    const Counts counts = run(
        {"nested", {4}, {192}},
        [&] {
          ASSAY_SHARED(Sums, sums);
          unsigned v = global_number();
          for (unsigned outer = 0; outer < 3; ++outer) {
            for (unsigned inner = 0; inner <= outer; ++inner) {
              unsigned sum = v;
              for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
              if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
              __syncthreads();
              v = v * 3 + sums[(threadIdx.x / 32 + 1) % 6];
              __syncthreads();
            }
            v ^= static_cast<unsigned>(__syncthreads_count(static_cast<int>(v & 1u)));
          }
          got[global_number()] = v;
        },
        options);
    for (unsigned b = 0; b < 4; ++b) {
      std::vector<unsigned> v(192);
      std::iota(v.begin(), v.end(), b * 192);
      for (unsigned outer = 0; outer < 3; ++outer) {
        for (unsigned inner = 0; inner <= outer; ++inner) {
          std::array<unsigned, 6> sums{};
          for (unsigned i = 0; i < 192; ++i) sums[i / 32] += v[i];
          for (unsigned i = 0; i < 192; ++i) v[i] = v[i] * 3 + sums[(i / 32 + 1) % 6];
        }
        const auto odd =
            static_cast<unsigned>(std::count_if(v.begin(), v.end(), [](unsigned x) { return x & 1u; }));
        for (unsigned& x : v) x ^= odd;
      }
      ASSERT_TRUE(std::equal(v.begin(), v.end(), got.begin() + b * 192));
    }
    ASSERT_EQ(counts.barriers, 4u * (6 * 2 + 3));
    ASSERT_EQ(counts.collectives, 4u * 6 * 6 * 5);
  }
}

}  // namespace
}  // namespace assay::executor
