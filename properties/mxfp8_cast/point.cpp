#include "properties/mxfp8_cast/point.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "properties/gate/token.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

constexpr std::string_view family_name = "mxfp8_cast";
constexpr std::array<std::string_view, 4> rule_names = {"rceil", "floor", "ceil", "even"};
constexpr std::array<std::string_view, 3> special_names = {"poison", "te-staged", "te-register"};
constexpr std::array<std::string_view, 2> padding_names = {"untouched", "zero"};
constexpr std::array<std::string_view, 3> input_names = {"fp32", "fp16", "bf16"};
constexpr std::array<Format, 3> input_formats = {Format::fp32, Format::fp16, Format::bf16};
constexpr std::array<std::string_view, 2> element_names = {"e4m3", "e5m2"};
constexpr std::array<Format, 2> element_formats = {Format::e4m3, Format::e5m2};
/// Keeps rows*cols*4 far from any overflow; larger cases come from files.
constexpr std::uint64_t max_extent = std::uint64_t{1} << 24;

template <class E>
constexpr std::size_t ordinal(E value) {
  return static_cast<std::size_t>(value);
}

/// The scale buffer's extents as given; 0 when the token leaves them to the default (tight).
struct GivenScale {
  std::size_t rows = 0, stride = 0;
};

void set(Point& point, GivenScale& scale, const TokenReader& reader, std::string_view key,
         std::string_view value) {
  if (key == "in") {
    point.input = input_formats[reader.choice(key, value, input_names)];
  } else if (key == "fp8") {
    point.contracts.element = element_formats[reader.choice(key, value, element_names)];
  } else if (key == "rule") {
    point.contracts.scale_rule =
        oracle::ScaleRule{static_cast<std::uint8_t>(reader.choice(key, value, rule_names))};
  } else if (key == "specials") {
    point.contracts.specials =
        oracle::SpecialBlocks{static_cast<std::uint8_t>(reader.choice(key, value, special_names))};
  } else if (key == "padding") {
    point.contracts.padding =
        oracle::Padding{static_cast<std::uint8_t>(reader.choice(key, value, padding_names))};
  } else if (key == "rows") {
    point.shape.rows = reader.number(key, value, 1, max_extent);
  } else if (key == "cols") {
    point.shape.cols = reader.number(key, value, 1, max_extent);
  } else if (key == "srows") {
    scale.rows = reader.number(key, value, 1, max_extent);
  } else if (key == "stride") {
    scale.stride = reader.number(key, value, 1, max_extent);
  } else if (key == "offset") {
    point.offset = reader.number(key, value, 0, 63);
  } else if (key == "doffset") {
    point.data_offset = reader.number(key, value, 0, 63);
  } else if (key == "fill") {
    point.source = Source::pattern;
    point.fill =
        Pattern{static_cast<std::uint8_t>(reader.choice(key, value, fixtures::mxfp8_cast::pattern_names()))};
  } else if (key == "seed") {
    point.seed = reader.number(key, value, 0, ~std::uint64_t{0});
  } else if (key == "exp") {
    point.exp = reader.signed_number(key, value, 300);
  } else if (key == "rotate") {
    point.rotate = reader.number(key, value, 0, max_extent);
  } else if (key == "reported") {
    point.source = Source::reported;
    point.reported = value;
  } else if (key == "on") {
    point.source = Source::file;
    point.on = value;
  } else {
    static constexpr std::string_view keys[] = {"in",   "fp8",   "rule",   "specials", "padding", "rows",
                                                "cols", "srows", "stride", "offset",   "fill",    "reported",
                                                "seed", "exp",   "rotate", "doffset",  "on"};
    reader.refuse_key(key, keys);
  }
}

void check_shape(const Point& point, const TokenReader& reader) {
  const oracle::Shape& shape = point.shape;
  if (shape.cols % oracle::block != 0) {
    reader.refuse(fmt::format("cols={} is not divisible by the block size {}", shape.cols, oracle::block));
  }
  if (shape.scale_rows < shape.rows)
    reader.refuse(fmt::format("srows={} is less than rows={}", shape.scale_rows, shape.rows));
  if (shape.scale_stride < shape.blocks_per_row()) {
    reader.refuse(fmt::format("stride={} is less than the {} blocks of a row", shape.scale_stride,
                              shape.blocks_per_row()));
  }
  if (shape.rows * shape.cols > (std::size_t{1} << 32)) reader.refuse("rows*cols is over 2^32 elements");
}

}  // namespace

std::string print(const Point& point) {
  const auto index_in = [](const auto& list, auto value) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
  };
  std::string text = fmt::format(
      "{}:in={},fp8={},rule={},specials={},padding={},rows={},cols={},srows={},stride={}", family_name,
      input_names[index_in(input_formats, point.input)],
      element_names[index_in(element_formats, point.contracts.element)],
      rule_names[ordinal(point.contracts.scale_rule)], special_names[ordinal(point.contracts.specials)],
      padding_names[ordinal(point.contracts.padding)], point.shape.rows, point.shape.cols,
      point.shape.scale_rows, point.shape.scale_stride);
  if (point.offset) text += fmt::format(",offset={}", point.offset);
  if (point.data_offset) text += fmt::format(",doffset={}", point.data_offset);
  if (point.exp) text += fmt::format(",exp={}", point.exp);
  if (point.rotate) text += fmt::format(",rotate={}", point.rotate);
  switch (point.source) {
    case Source::pattern:
      return text + fmt::format(",fill={},seed={}", fixtures::mxfp8_cast::to_string(point.fill), point.seed);
    case Source::reported:
      return text + ",reported=" + point.reported;
    case Source::file:
      return text + ",on=" + point.on;
  }
  return text;
}

Point parse(std::string_view token) {
  const TokenReader reader(token);
  Point point;
  GivenScale scale;
  reader.for_each_pair(family_name, "on", [&](std::string_view key, std::string_view value) {
    set(point, scale, reader, key, value);
  });
  point.shape.scale_rows = scale.rows ? scale.rows : point.shape.rows;
  point.shape.scale_stride = scale.stride ? scale.stride : point.shape.cols / oracle::block;
  check_shape(point, reader);
  return point;
}

}  // namespace assay::properties::mxfp8_cast
