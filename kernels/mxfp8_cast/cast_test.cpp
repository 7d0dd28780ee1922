// The routes on every device of this machine: against the oracle, against each other, and against their own
// promises.
#include "kernels/mxfp8_cast/cast.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/mxfp8_cast/cast_test_run.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

using testing::expect_as_the_oracle_says;
using testing::run;
using testing::Sides;

constexpr Input inputs[] = {Input::fp32, Input::fp16, Input::bf16};

std::vector<Device*> devices() {
  std::vector<Device*> present{device(DeviceKind::cpu)};
  if (Device* cuda = device(DeviceKind::cuda)) present.push_back(cuda);
  return present;
}

struct Shape {
  std::int64_t rows, cols, scale_rows, scale_stride;
};

/// Runs a route that has to take the problem.
Sides run_route(Device& on, const Route& route, const Problem& problem, const std::vector<std::byte>& x,
                std::size_t alignment) {
  return run(
      on,
      [&](LaunchContext& context, const Problem& placed) {
        const Support support = route.supports(placed);
        EXPECT_TRUE(support.supported) << route.info.name << ": " << support.reason;
        route.run(context, placed);
      },
      problem, x, alignment);
}

Problem problem_of(const Shape& s, Input input, Element element) {
  Problem p = testing::problem_of(s.rows, s.cols, Direction::rowwise, ScaleLayout::linear, 0);
  p.rowwise.scale_rows = s.scale_rows;
  p.rowwise.scale_stride = s.scale_stride;
  p.input = input;
  p.element = element;
  return p;
}

std::string describe(const Route& route, const Problem& p) {
  return std::string(route.info.name) + " " + testing::describe(p);
}

/// Every route that takes the problem, under every contract; they also agree with each other.
void check_every_route(Device& on, const Problem& any_contract) {
  std::uint32_t first_block = 0;
  testing::for_all_contracts(any_contract, [&](const Problem& p) {
    const auto x = p.direction == Direction::colwise
                       ? testing::make_colwise_input(p.input, p.rows, p.cols, first_block)
                       : make_input(p.input, p.rows, p.cols, first_block);
    ++first_block;
    std::vector<Sides> by_route;
    for (const Route& route : routes(on.kind())) {
      Problem placed = p;
      alignas(16) static std::uint8_t memory[16];
      placed.x = placed.rowwise.data = placed.colwise.data = memory;
      if (!route.supports(placed).supported) continue;
      by_route.push_back(run_route(on, route, p, x, 16));
      SCOPED_TRACE(route.info.name);
      expect_as_the_oracle_says(by_route.back(), p, x);
      EXPECT_TRUE(by_route[0] == by_route.back()) << describe(route, p);
    }
    EXPECT_GE(by_route.size(), 2u) << "staged and dispatch take everything";
  });
}

TEST(Cast, EveryRouteGivesWhatTheOracleSaysUnderEveryContract) {
  // Packed scales, padded ones, pad rows, a last thread block and a last tile that are not full.
  const Shape shapes[] = {{1, 128, 1, 4}, {3, 256, 3, 11}, {67, 128, 128, 4}, {5, 384, 8, 16}};
  for (Device* on : devices()) {
    for (const Shape& shape : shapes) {
      check_every_route(*on, problem_of(shape, Input::bf16, Element::e4m3));
      if (HasFailure()) return;
    }
  }
}

TEST(Cast, EveryRouteTakesEveryDirectionAndLayoutThatItSays) {
  for (Device* on : devices()) {
    for (const Direction direction : {Direction::rowwise, Direction::colwise, Direction::bidimensional}) {
      for (const ScaleLayout layout : {ScaleLayout::linear, ScaleLayout::swizzled}) {
        check_every_route(*on, testing::problem_of(64, 256, direction, layout, 0));
        check_every_route(*on, testing::problem_of(37, 96, direction, layout, 2));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Cast, StagedTakesAnyWholeBlocksAndAnyAlignment) {
  const Shape shapes[] = {{1, 32, 1, 1}, {65, 96, 70, 5}, {2, 160, 4, 8}};
  for (Device* on : devices()) {
    const Route& staged = routes(on->kind())[1];
    for (const Shape& shape : shapes) {
      for (const Input input : inputs) {
        const auto x = make_input(input, shape.rows, shape.cols, 7);
        for (std::size_t alignment = format_of(input).bytes(); alignment <= 32; alignment *= 2) {
          Problem p = problem_of(shape, input, Element::e4m3);
          p.padding = Padding::zero;
          expect_as_the_oracle_says(run_route(*on, staged, p, x, alignment), p, x);
        }
      }
    }
  }
}

TEST(Cast, RegisterUsesMoreAlignmentOnlyWhereThereIsMore) {
  for (Device* on : devices()) {
    const Route& route = routes(on->kind())[0];
    for (const Input input : inputs) {
      const Problem p = problem_of({9, 128, 9, 4}, input, Element::e5m2);
      const auto x = make_input(input, p.rows, p.cols, 3);
      EXPECT_TRUE(run_route(*on, route, p, x, 16) == run_route(*on, route, p, x, 32));
      expect_as_the_oracle_says(run_route(*on, route, p, x, 256), p, x);
    }
  }
}

TEST(Cast, ResultsDoNotDependOnTheOrderOfLanesAndBlocks) {
  Device& cpu = *device(DeviceKind::cpu);
  const auto options = cpu.executor_options;
  for (const Route& route : routes(DeviceKind::cpu)) {
    Problem p = problem_of({70, 256, 72, 9}, Input::bf16, Element::e4m3);
    p.padding = Padding::zero;
    const auto x = make_input(p.input, p.rows, p.cols, 0);
    cpu.executor_options = options;
    const Sides forward = run_route(cpu, route, p, x, 16);
    cpu.executor_options.lanes = cpu.executor_options.blocks = executor::Order::reverse;
    cpu.executor_options.shared_poison = 0x00;
    EXPECT_TRUE(run_route(cpu, route, p, x, 16) == forward) << route.info.name;
    cpu.executor_options.lanes = cpu.executor_options.blocks = executor::Order::seeded;
    for (cpu.executor_options.seed = 1; cpu.executor_options.seed < 4; ++cpu.executor_options.seed) {
      EXPECT_TRUE(run_route(cpu, route, p, x, 16) == forward) << route.info.name;
    }
  }
  cpu.executor_options = options;
}

TEST(Cast, TheWitnessShowsExactlyThePromisedLaunches) {
  for (Device* on : devices()) {
    ASSERT_EQ(routes(on->kind()).size(), 4u);
    for (const Route& route : routes(on->kind())) {
      const Problem p = problem_of({130, 128, 130, 4}, Input::bf16, Element::e4m3);
      const Sides out = run_route(*on, route, p, make_input(p.input, p.rows, p.cols, 0), 16);
      ASSERT_EQ(out.witness.launches.size(), 1u);
      EXPECT_EQ(out.witness.launches[0].kernel, route.info.kernels[0]);
      EXPECT_EQ(out.witness.counters.count("dispatch.register"), route.info.name == "dispatch" ? 1u : 0u);
    }
    EXPECT_EQ(routes(on->kind())[0].info.name, "register");
    EXPECT_EQ(routes(on->kind())[0].info.kind, RouteKind::production);
    EXPECT_EQ(routes(on->kind())[1].info.name, "staged");
    EXPECT_EQ(routes(on->kind())[1].info.kind, RouteKind::legacy);
    EXPECT_EQ(routes(on->kind())[2].info.name, "dispatch");
    EXPECT_EQ(routes(on->kind())[2].info.kind, RouteKind::production);
    EXPECT_EQ(routes(on->kind())[3].info.name, "register-sm100");
    EXPECT_EQ(routes(on->kind())[3].info.kind, RouteKind::experiment);
  }
}

TEST(Cast, SupportNamesTheRule) {
  const Route& by_register = routes(DeviceKind::cpu)[0];
  const Route& staged = routes(DeviceKind::cpu)[1];
  alignas(64) static std::uint8_t memory[64];
  const auto reason = [](const Route& route, const Problem& p) {
    const Support support = route.supports(p);
    EXPECT_EQ(support.supported, support.reason.empty());
    return support.reason;
  };
  Problem good = problem_of({2, 128, 2, 4}, Input::bf16, Element::e4m3);
  good.x = good.rowwise.data = good.rowwise.scales = memory;
  EXPECT_EQ(reason(by_register, good), "");
  EXPECT_EQ(reason(staged, good), "");

  const auto both = [&](const char* expected, const auto& change) {
    Problem p = good;
    change(p);
    EXPECT_EQ(reason(by_register, p), expected);
    EXPECT_EQ(reason(staged, p), expected);
  };
  both("no elements", [](Problem& p) { p.rows = 0; });
  both("no elements", [](Problem& p) { p.cols = 0; });
  both("cols % 32 != 0", [](Problem& p) { p.cols = 144; });
  both("scale_rows < rows", [](Problem& p) { p.rowwise.scale_rows = 1; });
  both("scale_stride < cols / 32", [](Problem& p) { p.rowwise.scale_stride = 3; });
  both("x not aligned to its element", [](Problem& p) { p.x = memory + 1; });
  both("rows * cols / 32 >= 2^31", [](Problem& p) { p.rows = p.rowwise.scale_rows = std::int64_t{1} << 29; });
  both("", [](Problem& p) { p.rows = p.rowwise.scale_rows = (std::int64_t{1} << 29) - 1; });

  const auto only_staged = [&](const char* expected, const auto& change) {
    Problem p = good;
    change(p);
    EXPECT_EQ(reason(by_register, p), expected);
    EXPECT_EQ(reason(staged, p), "");
  };
  only_staged("cols % 128 != 0", [](Problem& p) { p.cols = 96; });
  only_staged("x not 16-byte aligned", [](Problem& p) { p.x = memory + 8; });
  only_staged("data not 16-byte aligned", [](Problem& p) { p.rowwise.data = memory + 4; });
}

}  // namespace
}  // namespace assay::kernels::mxfp8_cast
