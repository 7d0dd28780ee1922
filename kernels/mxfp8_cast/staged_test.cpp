// The staged kernels in both directions and layouts, on every device of this machine: against the oracle,
// under every order, and what they refuse.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/mxfp8_cast/cast_test_run.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

using namespace testing;

struct Staged {
  Device* on;
  Launcher rowwise, tma;
};

std::vector<Staged> staged() {
  std::vector<Staged> all{{device(DeviceKind::cpu), cpu::mxfp8_cast::launch_rowwise_staged,
                           cpu::mxfp8_cast::launch_bidimensional_tma}};
#if defined(ASSAY_WITH_CUDA)
  if (Device* cuda = device(DeviceKind::cuda)) {
    all.push_back(
        {cuda, cuda::mxfp8_cast::launch_rowwise_staged, cuda::mxfp8_cast::launch_bidimensional_tma});
  }
#endif
  return all;
}

using Shape = std::pair<std::int64_t, std::int64_t>;

/// Both directions, then columns alone, both layouts; all inputs among them.
void expect_tma_right(const Staged& s, Problem p, std::uint32_t first_block) {
  for (const Direction direction : {Direction::bidimensional, Direction::colwise}) {
    for (const ScaleLayout layout : {ScaleLayout::linear, ScaleLayout::swizzled}) {
      const Problem q = problem_of(p.rows, p.cols, direction, layout, 3);
      p.direction = direction;
      p.scale_layout = layout;
      p.rowwise = q.rowwise;
      p.colwise = q.colwise;
      const auto x = layout == ScaleLayout::linear ? make_colwise_input(p.input, p.rows, p.cols, first_block)
                                                   : make_input(p.input, p.rows, p.cols, first_block);
      expect_as_the_oracle_says(run(*s.on, s.tma, p, x), p, x);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(BidimensionalTma, GivesWhatTheOracleSaysUnderEveryContract) {
  for (const Staged& s : staged()) {
    // A tile that is not full in either extent, and the second visit of a buffer.
    for (const auto& [rows, cols] : {Shape{3, 32}, Shape{70, 96}}) {
      std::uint32_t first_block = 0;
      for_all_contracts(problem_of(rows, cols, Direction::bidimensional, ScaleLayout::linear, 0),
                        [&](const Problem& p) {
                          if (!HasFailure()) expect_tma_right(s, p, first_block++);
                        });
    }
  }
}

TEST(BidimensionalTma, TakesEveryShapeOfWholeBlocks) {
  for (const Staged& s : staged()) {
    for (const auto& [rows, cols] :
         {Shape{1, 32}, Shape{31, 64}, Shape{32, 128}, Shape{33, 160}, Shape{127, 32}, Shape{128, 64},
          Shape{129, 96}, Shape{290, 288}, Shape{161, 352}}) {
      for (const Input input : {Input::fp32, Input::fp16, Input::bf16}) {
        Problem p = problem_of(rows, cols, Direction::bidimensional, ScaleLayout::linear, 0);
        p.input = input;
        p.specials = SpecialBlocks::te_register;
        p.padding = Padding::zero;
        expect_tma_right(s, p, static_cast<std::uint32_t>(rows + cols));
      }
    }
  }
}

TEST(BidimensionalTma, ResultsDoNotDependOnTheOrderOfLanesAndBlocks) {
  Device& on = *device(DeviceKind::cpu);
  const auto options = on.executor_options;
  for (const ScaleLayout layout : {ScaleLayout::linear, ScaleLayout::swizzled}) {
    Problem p = problem_of(203, 160, Direction::bidimensional, layout, 2);
    p.input = Input::bf16;
    p.padding = Padding::zero;
    const auto x = make_colwise_input(p.input, p.rows, p.cols, 5);
    const Sides forward = run(on, cpu::mxfp8_cast::launch_bidimensional_tma, p, x);
    on.executor_options.lanes = on.executor_options.blocks = executor::Order::reverse;
    on.executor_options.shared_poison = 0x00;
    EXPECT_EQ(run(on, cpu::mxfp8_cast::launch_bidimensional_tma, p, x), forward);
    on.executor_options.lanes = on.executor_options.blocks = executor::Order::seeded;
    for (on.executor_options.seed = 1; on.executor_options.seed < 4; ++on.executor_options.seed) {
      EXPECT_EQ(run(on, cpu::mxfp8_cast::launch_bidimensional_tma, p, x), forward);
    }
    on.executor_options = options;
  }
}

TEST(BidimensionalTma, IsOneLaunchOfThatName) {
  for (const Staged& s : staged()) {
    const Problem p = problem_of(64, 64, Direction::bidimensional, ScaleLayout::linear, 0);
    const Sides out = run(*s.on, s.tma, p, make_input(p.input, p.rows, p.cols, 0));
    ASSERT_EQ(out.witness.launches.size(), 1u);
    EXPECT_EQ(out.witness.launches[0].kernel, "bidimensional_tma");
  }
}

TEST(BidimensionalTma, RefusesWhatBulkCopiesCannotReach) {
  for (const Staged& s : staged()) {
    const Problem p = problem_of(32, 32, Direction::bidimensional, ScaleLayout::linear, 0);
    const auto x = make_input(p.input, p.rows, p.cols, 0);
    try {
      run(*s.on, s.tma, p, x, 8);
      ADD_FAILURE() << "launched";
    } catch (const DeviceError& error) {
      EXPECT_EQ(std::string(error.what()), "tensor map of 'x': the base is not 16-byte aligned");
    }
  }
}

TEST(RowwiseStaged, WritesSwizzledScalesUnderEveryContract) {
  for (const Staged& s : staged()) {
    for (const auto& [rows, cols] : {Shape{1, 32}, Shape{66, 160}, Shape{257, 128}}) {
      std::uint32_t first_block = 0;
      for_all_contracts(problem_of(rows, cols, Direction::rowwise, ScaleLayout::swizzled, 0),
                        [&](const Problem& p) {
                          if (HasFailure()) return;
                          const auto x = make_input(p.input, p.rows, p.cols, first_block++);
                          expect_as_the_oracle_says(run(*s.on, s.rowwise, p, x), p, x);
                        });
    }
  }
}

}  // namespace
}  // namespace assay::kernels::mxfp8_cast
