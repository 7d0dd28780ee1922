// Shared by the executor's tests: shapes, options, and the check that a fault is reported and leaves nothing
// behind.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/executor/cuda_words.hpp"
#include "kernels/executor/executor.hpp"
#include "kernels/executor/sanitizers.hpp"

namespace assay::executor::testing {

/// Blocks of one lane up to 1024, full and partial warps, one to three dimensions. Fewer and smaller under
/// ThreadSanitizer, where a switch costs a hundred times as much.
inline const std::vector<Dim3>& block_shapes() {
  static const std::vector<Dim3> few{{1}, {31}, {33}, {95}, {8, 4, 4}, {7, 1, 13}, {260}};
  if (detail::tsan) return few;
  static const std::vector<Dim3> shapes{{1},        {2},       {31},        {32},        {33},
                                        {64},       {95},      {256},       {1000},      {1024},
                                        {3, 5, 7},  {8, 4, 4}, {1, 33},     {16, 16},    {1, 1, 64},
                                        {7, 1, 13}, {32, 32},  {5, 11, 17}, {512, 1, 2}, {1, 1024}};
  return shapes;
}

inline std::vector<Options> all_orders(unsigned workers = 0) {
  std::vector<Options> all;
  for (const Order lanes : {Order::forward, Order::reverse, Order::seeded}) {
    for (const Order blocks : {Order::forward, Order::reverse, Order::seeded}) {
      if (detail::tsan && lanes != blocks) continue;
      Options options;
      options.lanes = lanes;
      options.blocks = blocks;
      options.seed = 20260 + all.size();
      options.workers = workers;
      all.push_back(options);
    }
  }
  return all;
}

/// The lane's number within its block, x fastest; and within the launch.
inline unsigned lane_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
inline unsigned block_number() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
inline unsigned block_lanes() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned global_number() { return block_number() * block_lanes() + lane_number(); }

/// A kernel with barriers, shuffles and shared memory gives its known result.
inline void expect_works() {
  using Sums = unsigned[8];
  unsigned total = 0;
  run({"healthy", {1}, {256}}, [&] {
    ASSAY_SHARED(Sums, sums);
    unsigned v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (const unsigned s : sums) total += s;
    }
  });
  EXPECT_EQ(total, 255u * 256u / 2);
}

/// Running `lane` is the fault `kind`, its message has every one of `words`, and the executor works
/// afterwards. Under every order and for one and several workers.
template <class Lane>
void expect_fault(FaultKind kind, const Launch& launch, const std::vector<std::string>& words,
                  const Lane& lane) {
  for (Options options : all_orders()) {
    for (const unsigned workers : {1u, 3u}) {
      options.workers = workers;
      try {
        run(launch, lane, options);
        ADD_FAILURE() << "no fault was reported";
      } catch (const ExecutorError& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        for (const std::string& word : words) {
          EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
              << "no '" << word << "' in: " << error.what();
        }
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
      expect_works();
    }
  }
}

}  // namespace assay::executor::testing
