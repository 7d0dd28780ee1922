// For the tests of this folder: problems in either direction and layout, and one launch between guard zones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/mxfp8_cast/cast.hpp"
#include "kernels/mxfp8_cast/cast_test_input.hpp"

namespace assay::kernels::mxfp8_cast::testing {

inline constexpr std::byte before{0xA5};  ///< what outputs hold before a run

/// What one direction wrote; empty when it was not asked for.
struct Side {
  std::vector<std::byte> data, scales;
  bool operator==(const Side&) const = default;
};
struct Sides {
  Side rowwise, colwise;
  Witness witness;
  bool operator==(const Sides& o) const { return rowwise == o.rowwise && colwise == o.colwise; }
};

using Launcher = std::function<void(LaunchContext&, const Problem&)>;

/// The buffers of one direction, in which `problem`'s output then lies.
struct SideBuffers {
  std::unique_ptr<DeviceBuffer> data, scales;

  SideBuffers(Device& on, const Problem& p, Output& output, Side& side, std::size_t alignment) {
    side.data.assign(static_cast<std::size_t>(p.rows * p.cols), before);
    side.scales.assign(static_cast<std::size_t>(output.scale_rows * output.scale_stride), before);
    data = on.allocate("data", side.data.size(), alignment);
    scales = on.allocate("scales", side.scales.size(), 1);
    data->upload(side.data);
    scales->upload(side.scales);
    output.data = static_cast<std::uint8_t*>(data->data());
    output.scales = static_cast<std::uint8_t*>(scales->data());
  }

  void fetch(Side& side) const {
    data->download(side.data);
    scales->download(side.scales);
    EXPECT_FALSE(data->guard_damage());
    EXPECT_FALSE(scales->guard_damage());
  }
};

/// x and data are aligned to exactly `alignment`, scales to nothing.
inline Sides run(Device& on, const Launcher& launch, Problem problem, const std::vector<std::byte>& x,
                 std::size_t alignment = 16) {
  Sides out;
  const auto x_buffer = on.allocate("x", x.size(), alignment);
  x_buffer->upload(x);
  problem.x = x_buffer->data();
  std::optional<SideBuffers> rowwise, colwise;
  if (problem.has_rowwise()) rowwise.emplace(on, problem, problem.rowwise, out.rowwise, alignment);
  if (problem.has_colwise()) colwise.emplace(on, problem, problem.colwise, out.colwise, alignment);
  LaunchContext context{on, out.witness};
  launch(context, problem);
  on.synchronize();
  std::vector<std::byte> x_after(x.size());
  x_buffer->download(x_after);
  EXPECT_EQ(x, x_after) << "the input was written";
  EXPECT_FALSE(x_buffer->guard_damage());
  if (rowwise) rowwise->fetch(out.rowwise);
  if (colwise) colwise->fetch(out.colwise);
  return out;
}

/// A problem whose scale arrays have `extra` rows and columns of padding; swizzled ones their exact extents.
inline Problem problem_of(std::int64_t rows, std::int64_t cols, Direction direction, ScaleLayout layout,
                          std::int64_t extra) {
  Problem p;
  p.rows = rows;
  p.cols = cols;
  p.direction = direction;
  p.scale_layout = layout;
  const auto up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  const std::int64_t blocks = cols / 32, bands = (rows + 31) / 32;
  p.rowwise.scale_rows = rows + extra;
  p.rowwise.scale_stride = blocks + extra;
  p.colwise.scale_rows = bands + extra;
  p.colwise.scale_stride = cols + extra;
  if (layout == ScaleLayout::swizzled) {
    p.rowwise.scale_rows = up(rows, 128);
    p.rowwise.scale_stride = up(blocks, 4);
    p.colwise.scale_rows = up(bands, 4);
    p.colwise.scale_stride = up(cols, 128);
  }
  return p;
}

inline std::string describe(const Problem& p) {
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  return std::to_string(p.rows) + "x" + std::to_string(p.cols) + " direction " + number(p.direction) +
         " input " + number(p.input) + " element " + number(p.element) + " rule " + number(p.scale_rule) +
         " specials " + number(p.specials) + " padding " + number(p.padding) + " layout " +
         number(p.scale_layout);
}

/// Every byte of every direction that was asked for, padding included (oracle_comparison_test.cpp).
void expect_as_the_oracle_says(const Sides&, const Problem&, const std::vector<std::byte>& x);

/// Calls visit with the problem under every combination of formats and contracts.
inline void for_all_contracts(Problem p, const std::function<void(const Problem&)>& visit) {
  for (const Input input : {Input::fp32, Input::fp16, Input::bf16}) {
    for (const Element element : {Element::e4m3, Element::e5m2}) {
      for (const ScaleRule rule : {ScaleRule::rceil, ScaleRule::floor, ScaleRule::ceil, ScaleRule::even}) {
        for (const SpecialBlocks specials :
             {SpecialBlocks::poison, SpecialBlocks::te_staged, SpecialBlocks::te_register}) {
          for (const Padding padding : {Padding::untouched, Padding::zero}) {
            p.input = input;
            p.element = element;
            p.scale_rule = rule;
            p.specials = specials;
            p.padding = padding;
            visit(p);
          }
        }
      }
    }
  }
}

/// As make_input, but the blocks of the classes run down the columns.
inline std::vector<std::byte> make_colwise_input(Input input, std::int64_t rows, std::int64_t cols,
                                                 std::uint32_t first_block) {
  const InputFormat f = format_of(input);
  std::vector<std::byte> bytes(static_cast<std::size_t>(rows * cols) * f.bytes());
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const std::int64_t row = i / cols, col = i % cols;
    const std::uint32_t code =
        element_code(f, first_block + static_cast<std::uint32_t>(row / 32 * cols + col),
                     static_cast<std::uint32_t>(row % 32));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * f.bytes(), &code, f.bytes());
  }
  return bytes;
}

}  // namespace assay::kernels::mxfp8_cast::testing
