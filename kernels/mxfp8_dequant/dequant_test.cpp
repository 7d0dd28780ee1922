// Both routes on every device of this machine: against the oracle, against each other, and against their own
// promises.
#include "kernels/mxfp8_dequant/dequant.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oracles/mxfp8_dequant/oracle.hpp"

namespace assay::kernels::mxfp8_dequant {
namespace {

namespace oracle = oracles::mxfp8_dequant;
using formats::Format;

constexpr Element elements[] = {Element::e4m3, Element::e5m2};
constexpr Output outputs[] = {Output::fp32, Output::fp16, Output::bf16};
constexpr Direction directions[] = {Direction::rowwise, Direction::colwise};
constexpr ScaleLayout layouts[] = {ScaleLayout::linear, ScaleLayout::swizzled};

std::vector<Device*> devices() {
  std::vector<Device*> present{device(DeviceKind::cpu)};
  if (Device* cuda = device(DeviceKind::cuda)) present.push_back(cuda);
  return present;
}

oracle::Shape shape_of(const Problem& p) {
  return {static_cast<std::size_t>(p.rows),
          static_cast<std::size_t>(p.cols),
          static_cast<std::size_t>(p.scale_rows),
          static_cast<std::size_t>(p.scale_stride),
          oracle::Direction{static_cast<std::uint8_t>(p.direction)},
          oracle::ScaleLayout{static_cast<std::uint8_t>(p.scale_layout)}};
}

oracle::Contracts contracts_of(const Problem& p) {
  constexpr Format formats[] = {Format::fp32, Format::fp16, Format::bf16};
  return {p.element == Element::e4m3 ? Format::e4m3 : Format::e5m2, formats[static_cast<int>(p.output)]};
}

/// Scale extents with `extra` rows and columns of padding, where the layout leaves a choice.
Problem problem_of(std::int64_t rows, std::int64_t cols, Direction direction, ScaleLayout layout,
                   std::int64_t extra_rows = 0, std::int64_t extra_stride = 0) {
  Problem p;
  p.rows = rows;
  p.cols = cols;
  p.direction = direction;
  p.scale_layout = layout;
  const oracle::Shape shape = shape_of(p);
  const bool linear = layout == ScaleLayout::linear;
  p.scale_rows = static_cast<std::int64_t>(shape.least_scale_rows()) + (linear ? extra_rows : 0);
  p.scale_stride = static_cast<std::int64_t>(shape.least_scale_stride()) + (linear ? extra_stride : 0);
  return p;
}

struct Input {
  std::vector<std::byte> data, scales;
};

/// Codes of every kind; a multiplicative sequence visits all 256 of each.
Input input_of(const Problem& p) {
  Input input;
  for (std::int64_t i = 0; i < p.rows * p.cols; ++i)
    input.data.push_back(static_cast<std::byte>(i * 37 + i / 256));
  for (std::int64_t i = 0; i < p.scale_rows * p.scale_stride; ++i)
    input.scales.push_back(static_cast<std::byte>(i * 91 + i / 256));
  return input;
}

constexpr std::byte before{0xA5};  ///< what the output holds before a run

struct Run {
  std::vector<std::byte> y;
  Witness witness;
};

/// Runs a route between guard zones, with buffers aligned to exactly these bytes.
Run run(Device& on, const Route& route, Problem p, const Input& input, std::size_t data_alignment = 16,
        std::size_t y_alignment = 16, std::size_t scale_alignment = 1) {
  Run result;
  const std::size_t width = p.output == Output::fp32 ? 4 : 2;
  result.y.assign(input.data.size() * width, before);
  const auto data = on.allocate("data", input.data.size(), data_alignment);
  const auto scales = on.allocate("scales", input.scales.size(), scale_alignment);
  const auto y = on.allocate("y", result.y.size(), y_alignment);
  data->upload(input.data);
  scales->upload(input.scales);
  y->upload(result.y);
  p.data = static_cast<const std::uint8_t*>(data->data());
  p.scales = static_cast<const std::uint8_t*>(scales->data());
  p.y = y->data();
  const Support support = route.supports(p);
  EXPECT_TRUE(support.supported) << route.info.name << ": " << support.reason;
  LaunchContext context{on, result.witness};
  route.run(context, p);
  on.synchronize();
  y->download(result.y);
  for (const auto* buffer : {data.get(), scales.get(), y.get()}) EXPECT_FALSE(buffer->guard_damage());
  return result;
}

void expect_as_the_oracle_says(const std::vector<std::byte>& y, const Route& route, const Problem& p,
                               const Input& input) {
  const auto accepted = oracle::accept(input.data, input.scales, shape_of(p), contracts_of(p));
  ASSERT_TRUE(accepted.exact());
  const auto [expected, actual] = std::mismatch(accepted.lo.begin(), accepted.lo.end(), y.begin(), y.end());
  EXPECT_EQ(expected, accepted.lo.end())
      << route.info.name << " " << p.rows << "x" << p.cols << " element " << static_cast<int>(p.element)
      << " output " << static_cast<int>(p.output) << " direction " << static_cast<int>(p.direction)
      << " layout " << static_cast<int>(p.scale_layout) << ": first at byte " << actual - y.begin();
}

/// Calls visit(problem) with every combination of formats, direction and layout over one shape.
template <class Visit>
void for_all_contracts(std::int64_t rows, std::int64_t cols, const Visit& visit) {
  for (const Element element : elements)
    for (const Output output : outputs)
      for (const Direction direction : directions)
        for (const ScaleLayout layout : layouts) {
          Problem p = problem_of(rows, cols, direction, layout, 2, 3);
          p.element = element;
          p.output = output;
          visit(p);
        }
}

TEST(Dequant, BothRoutesGiveWhatTheOracleSaysUnderEveryContract) {
  const std::int64_t shapes[][2] = {{1, 32}, {33, 96}, {64, 128}, {129, 160}};
  for (Device* on : devices()) {
    for (const auto& [rows, cols] : shapes) {
      for_all_contracts(rows, cols, [&](const Problem& p) {
        const Input input = input_of(p);
        for (const Route& route : routes(on->kind()))
          expect_as_the_oracle_says(run(*on, route, p, input).y, route, p, input);
      });
      if (HasFailure()) return;
    }
  }
}

TEST(Dequant, ScalarTakesAnyShapeAndAnyAlignment) {
  const std::int64_t shapes[][2] = {{1, 1}, {3, 31}, {2, 33}, {70, 45}, {300, 1}};
  for (Device* on : devices()) {
    const Route& scalar = routes(on->kind())[1];
    for (const auto& [rows, cols] : shapes) {
      for_all_contracts(rows, cols, [&](const Problem& p) {
        const Input input = input_of(p);
        const std::size_t width = p.output == Output::fp32 ? 4 : 2;
        expect_as_the_oracle_says(run(*on, scalar, p, input, 1, width).y, scalar, p, input);
      });
    }
  }
}

TEST(Dequant, WideScaleLoadsOnlyWhereScalesAreAligned) {
  for (Device* on : devices()) {
    const Route& vector = routes(on->kind())[0];
    for (const std::int64_t extra : {0, 16, 8}) {
      Problem p = problem_of(70, 64, Direction::colwise, ScaleLayout::linear, 0, extra);
      p.output = Output::bf16;
      const Input input = input_of(p);
      for (const std::size_t alignment : {1u, 8u, 16u, 256u})
        expect_as_the_oracle_says(run(*on, vector, p, input, 16, 16, alignment).y, vector, p, input);
    }
  }
}

TEST(Dequant, ResultsDoNotDependOnTheOrderOfLanesAndBlocks) {
  Device& cpu = *device(DeviceKind::cpu);
  const auto options = cpu.executor_options;
  for (const Route& route : routes(DeviceKind::cpu)) {
    const Problem p = problem_of(70, 256, Direction::colwise, ScaleLayout::swizzled);
    const Input input = input_of(p);
    cpu.executor_options = options;
    const auto forward = run(cpu, route, p, input).y;
    cpu.executor_options.lanes = cpu.executor_options.blocks = executor::Order::reverse;
    EXPECT_EQ(run(cpu, route, p, input).y, forward) << route.info.name;
    cpu.executor_options.lanes = cpu.executor_options.blocks = executor::Order::seeded;
    EXPECT_EQ(run(cpu, route, p, input).y, forward) << route.info.name;
  }
  cpu.executor_options = options;
}

TEST(Dequant, TheWitnessShowsExactlyThePromisedLaunches) {
  for (Device* on : devices()) {
    ASSERT_EQ(routes(on->kind()).size(), 2u);
    const Problem p = problem_of(130, 128, Direction::rowwise, ScaleLayout::linear);
    for (const Route& route : routes(on->kind())) {
      const Witness witness = run(*on, route, p, input_of(p)).witness;
      ASSERT_EQ(witness.launches.size(), 1u);
      EXPECT_EQ(witness.launches[0].kernel, route.info.kernels[0]);
    }
    EXPECT_EQ(routes(on->kind())[0].info.name, "vector");
    EXPECT_EQ(routes(on->kind())[0].info.kind, RouteKind::production);
    EXPECT_EQ(routes(on->kind())[1].info.name, "scalar");
    EXPECT_EQ(routes(on->kind())[1].info.kind, RouteKind::legacy);
  }
}

TEST(Dequant, SupportNamesTheRule) {
  const Route& vector = routes(DeviceKind::cpu)[0];
  const Route& scalar = routes(DeviceKind::cpu)[1];
  alignas(64) static std::uint8_t memory[64];
  const auto reason = [](const Route& route, const Problem& p) {
    const Support support = route.supports(p);
    EXPECT_EQ(support.supported, support.reason.empty());
    return support.reason;
  };
  Problem good = problem_of(34, 128, Direction::rowwise, ScaleLayout::linear);
  good.data = good.scales = memory;
  good.y = memory;
  EXPECT_EQ(reason(vector, good), "");
  EXPECT_EQ(reason(scalar, good), "");

  const auto both = [&](const char* expected, const auto& change) {
    Problem p = good;
    change(p);
    EXPECT_EQ(reason(vector, p), expected);
    EXPECT_EQ(reason(scalar, p), expected);
  };
  both("no elements", [](Problem& p) { p.rows = 0; });
  both("no elements", [](Problem& p) { p.cols = 0; });
  both("scale_rows less than the rows of blocks", [](Problem& p) { p.scale_rows = 33; });
  both("scale_stride less than the blocks of a row", [](Problem& p) { p.scale_stride = 3; });
  both("y not aligned to its element", [](Problem& p) { p.y = memory + 2; });
  both("rows * cols >= 2^36", [](Problem& p) { p.rows = p.scale_rows = std::int64_t{1} << 29; });
  both("", [](Problem& p) { p.rows = p.scale_rows = (std::int64_t{1} << 29) - 1; });
  const char* const not_whole_tiles = "swizzled scales not padded to whole tiles";
  both(not_whole_tiles, [](Problem& p) { p.scale_layout = ScaleLayout::swizzled; });
  both("", [](Problem& p) { p.scale_layout = ScaleLayout::swizzled, p.scale_rows = 128; });
  both(not_whole_tiles,
       [](Problem& p) { p.scale_layout = ScaleLayout::swizzled, p.scale_rows = 128, p.scale_stride = 8; });
  both("scale_stride less than the blocks of a row", [](Problem& p) { p.direction = Direction::colwise; });
  both("", [](Problem& p) { p.direction = Direction::colwise, p.scale_rows = 2, p.scale_stride = 128; });

  const auto only_scalar = [&](const char* expected, const auto& change) {
    Problem p = good;
    change(p);
    EXPECT_EQ(reason(vector, p), expected);
    EXPECT_EQ(reason(scalar, p), "");
  };
  only_scalar("cols % 32 != 0", [](Problem& p) { p.cols = 127; });
  only_scalar("data not 16-byte aligned", [](Problem& p) { p.data = memory + 8; });
  only_scalar("y not 16-byte aligned", [](Problem& p) { p.y = memory + 8; });
}

}  // namespace
}  // namespace assay::kernels::mxfp8_dequant
