// Every tuning that a table may choose gives the same bytes; which one is chosen is a matter of speed alone.
#include "kernels/mxfp8_cast/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/mxfp8_cast/cast_test_run.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

/// A few tiles of both kernels, the last thread blocks of the rowwise one not full; padded scales.
Problem problem(Direction direction) {
  Problem p = testing::problem_of(96, 768, direction, ScaleLayout::linear, 3);
  p.input = Input::bf16;
  p.padding = Padding::zero;
  return p;
}

testing::Sides cast(Device& on, const Problem& p, const Tuning& tuning) {
  auto* launch = p.direction == Direction::rowwise ? cpu::mxfp8_cast::launch_rowwise_register
                                                   : cpu::mxfp8_cast::launch_bidimensional_register;
#if defined(ASSAY_WITH_CUDA)
  if (on.kind() == DeviceKind::cuda) {
    launch = p.direction == Direction::rowwise ? cuda::mxfp8_cast::launch_rowwise_register
                                               : cuda::mxfp8_cast::launch_bidimensional_register;
  }
#endif
  return testing::run(
      on, [&](LaunchContext& context, const Problem& placed) { launch(context, placed, tuning); }, p,
      make_input(p.input, p.rows, p.cols, 0));
}

/// Sizes of thread block that the kernels are built for.
std::vector<unsigned> threads_for(Direction direction) {
  switch (direction) {
    case Direction::rowwise:
      return {128, 1024};
    case Direction::colwise:
      return {256};
    case Direction::bidimensional:
      return {256, 128};
  }
  return {};
}

bool holds(const std::vector<unsigned>& all, unsigned one) {
  return std::ranges::find(all, one) != all.end();
}

TEST(Tuning, NoChoiceChangesAByte) {
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    Device* const on = device(kind);
    if (on == nullptr) continue;
    for (const Direction direction : {Direction::rowwise, Direction::colwise, Direction::bidimensional}) {
      const Problem p = problem(direction);
      const bool rowwise = direction == Direction::rowwise;
      const auto first = cast(*on, p, {rowwise ? 128u : 256u, false, false});
      const auto& data = rowwise ? first.rowwise.data : first.colwise.data;
      EXPECT_NE(data, std::vector<std::byte>(data.size(), testing::before));
      for (const unsigned threads : threads_for(direction)) {
        for (const bool evict_first : {false, true}) {
          for (const bool prefetch : {false, true}) {
            EXPECT_TRUE(cast(*on, p, {threads, evict_first, prefetch}) == first)
                << threads << " threads, evict_first " << evict_first << ", prefetch " << prefetch;
          }
        }
      }
    }
  }
}

TEST(Tuning, TablesHoldOnlyWhatTheKernelsAreBuiltFor) {
  for (const unsigned sm : {80u, 90u, 100u, 120u}) {
    for (int power = 5; power < 40; ++power) {
      const Capability device{sm, 132};
      const std::int64_t elements = std::int64_t{1} << power;
      EXPECT_TRUE(holds(threads_for(Direction::rowwise), rowwise_tuning(device, elements).threads));
      EXPECT_TRUE(holds(threads_for(Direction::colwise), colwise_tuning(device, elements).threads));
      EXPECT_TRUE(
          holds(threads_for(Direction::bidimensional), bidimensional_tuning(device, elements).threads));
    }
  }
  EXPECT_EQ(resident_blocks({90, 132}, 128), 132u * 16);
}

TEST(Tuning, RowsAThreadGoBySizeForEachMultiprocessor) {
  const auto threads = [](unsigned multiprocessors, std::int64_t elements) {
    return bidimensional_tuning({90, multiprocessors}, elements).threads;
  };
  constexpr std::int64_t most = 4 * 32 * 256;  // elements for each multiprocessor
  EXPECT_EQ(threads(1, most), 256u);
  EXPECT_EQ(threads(1, most + 1), 128u);
  EXPECT_EQ(threads(132, 1024 * 1024), 256u);
  EXPECT_EQ(threads(132, 132 * most), 256u);
  EXPECT_EQ(threads(132, 132 * (most + 1)), 128u);
  EXPECT_EQ(threads(132, std::int64_t{1} << 30), 128u);
  EXPECT_EQ(colwise_tuning({90, 1}, most + 1).threads, 256u);
}

TEST(Tuning, PartsDiffer) {
  const std::int64_t large = std::int64_t{1} << 30;
  EXPECT_FALSE(rowwise_tuning({90, 132}, large).prefetch);
  EXPECT_TRUE(rowwise_tuning({100, 148}, large).prefetch);
  EXPECT_TRUE(rowwise_tuning({90, 132}, 1024).evict_first);
}

}  // namespace
}  // namespace assay::kernels::mxfp8_cast
