// Shared by the tests of bulk copies: a matrix, and a warp that loads a box of it.
#pragma once

#include <array>
#include <numeric>

#include "kernels/device/bulk_copy.hpp"
#include "kernels/executor/testing.hpp"
#include "kernels/runtime/tensor_map.hpp"

namespace assay::kernels::cpu::testing {

using executor::FaultKind;
using executor::Launch;
using executor::Options;
using executor::testing::all_orders;
using executor::testing::expect_fault;

inline constexpr unsigned rows = 20, cols = 24, box_rows = 8, box_cols = 16,
                          box_bytes = box_rows * box_cols * 4;

struct alignas(128) Box {
  std::uint32_t word[box_rows][box_cols];
};

/// A matrix of distinct words, and the map of it.
struct Matrix {
  alignas(16) std::array<std::uint32_t, rows * cols> word{};
  Matrix() { std::iota(word.begin(), word.end(), 1000u); }
  TensorMap2d map() {
    return make_tensor_map_2d({"matrix", word.data(), rows, cols, cols * 4, 4}, box_rows, box_cols);
  }
  std::uint32_t at(int row, int col) const {
    const bool inside = row >= 0 && row < int{rows} && col >= 0 && col < int{cols};
    return inside ? word[static_cast<std::size_t>(row) * cols + static_cast<std::size_t>(col)] : 0;
  }
};

inline const Launch one_warp{"copies", {1}, {32}};

/// Initialises the mbarrier for `arrivals`, makes it known and starts a load, by lane 0.
inline void start_load(Mbarrier& full, Box& box, const TensorMap2d& map, unsigned bytes = box_bytes,
                       unsigned arrivals = 1) {
  if (threadIdx.x != 0) return;
  mbarrier_init(full, arrivals);
  fence_proxy_async();
  mbarrier_arrive_expect_tx(full, bytes);
  bulk_load_2d(&box, map, 0, 0, full);
}

}  // namespace assay::kernels::cpu::testing
