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
constexpr std::array<std::string_view, 3> direction_names = {"rowwise", "colwise", "bidimensional"};
constexpr std::array<std::string_view, 2> layout_names = {"linear", "swizzled"};
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

/// The extents of the scale buffers as given; 0 when the token leaves them to the default.
struct GivenScales {
  oracle::ScaleExtent rowwise, colwise;
};

/// Keys of the contracts; false for any other.
bool set_contract(Point& point, const TokenReader& reader, std::string_view key, std::string_view value) {
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
  } else if (key == "dir") {
    point.direction = Direction{static_cast<std::uint8_t>(reader.choice(key, value, direction_names))};
  } else if (key == "scales") {
    point.contracts.layout =
        oracle::ScaleLayout{static_cast<std::uint8_t>(reader.choice(key, value, layout_names))};
  } else {
    return false;
  }
  return true;
}

/// Keys of shapes and places; false for any other.
bool set_extent(Point& point, GivenScales& scales, const TokenReader& reader, std::string_view key,
                std::string_view value) {
  const auto extent = [&](std::size_t& to) { to = reader.number(key, value, 1, max_extent); };
  const auto offset = [&](std::size_t& to) { to = reader.number(key, value, 0, 256); };
  if (key == "rows") {
    extent(point.shape.rows);
  } else if (key == "cols") {
    extent(point.shape.cols);
  } else if (key == "srows") {
    extent(scales.rowwise.rows);
  } else if (key == "stride") {
    extent(scales.rowwise.stride);
  } else if (key == "csrows") {
    extent(scales.colwise.rows);
  } else if (key == "cstride") {
    extent(scales.colwise.stride);
  } else if (key == "offset") {
    offset(point.offset);
  } else if (key == "doffset") {
    offset(point.data_offset);
  } else if (key == "cdoffset") {
    offset(point.colwise_data_offset);
  } else {
    return false;
  }
  return true;
}

/// Keys of X; false for any other.
bool set_source(Point& point, const TokenReader& reader, std::string_view key, std::string_view value) {
  if (key == "fill") {
    point.source = Source::pattern;
    point.fill =
        Pattern{static_cast<std::uint8_t>(reader.choice(key, value, fixtures::mxfp8_cast::pattern_names()))};
  } else if (key == "seed") {
    point.seed = reader.number(key, value, 0, ~std::uint64_t{0});
  } else if (key == "transpose") {
    point.transpose = reader.number(key, value, 0, 1) != 0;
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
    return false;
  }
  return true;
}

void set(Point& point, GivenScales& scales, const TokenReader& reader, std::string_view key,
         std::string_view value) {
  if (set_contract(point, reader, key, value) || set_extent(point, scales, reader, key, value) ||
      set_source(point, reader, key, value))
    return;
  static constexpr std::string_view keys[] = {
      "in",   "fp8",   "rule",   "specials", "padding",  "dir",       "scales", "rows",
      "cols", "srows", "stride", "csrows",   "cstride",  "offset",    "fill",   "reported",
      "seed", "exp",   "rotate", "doffset",  "cdoffset", "transpose", "on"};
  reader.refuse_key(key, keys);
}

/// Extents of one direction against the scales they have to hold.
void check_scales(const Point& point, oracle::Direction direction, const TokenReader& reader) {
  const bool rowwise = direction == oracle::Direction::rowwise;
  const std::string_view rows = rowwise ? "srows" : "csrows", stride = rowwise ? "stride" : "cstride";
  const oracle::ScaleExtent given = point.shape.extent(direction), least = point.shape.scales(direction);
  if (point.contracts.layout == oracle::ScaleLayout::swizzled) {
    const oracle::ScaleExtent exact = point.shape.swizzled(direction);
    if (given == exact) return;
    reader.refuse(fmt::format("{}={}, {}={} is not the {} x {} of swizzled scales", rows, given.rows, stride,
                              given.stride, exact.rows, exact.stride));
  }
  if (given.rows < least.rows) {
    reader.refuse(
        rowwise ? fmt::format("srows={} is less than rows={}", given.rows, least.rows)
                : fmt::format("csrows={} is less than the {} blocks of a column", given.rows, least.rows));
  }
  if (given.stride < least.stride) {
    reader.refuse(
        rowwise ? fmt::format("stride={} is less than the {} blocks of a row", given.stride, least.stride)
                : fmt::format("cstride={} is less than cols={}", given.stride, least.stride));
  }
  if (given.rows * given.stride > (std::size_t{1} << 32))
    reader.refuse(fmt::format("{}*{} is over 2^32 bytes", rows, stride));
}

void check_shape(const Point& point, const TokenReader& reader) {
  const oracle::Shape& shape = point.shape;
  if (shape.cols % oracle::block != 0) {
    reader.refuse(fmt::format("cols={} is not divisible by the block size {}", shape.cols, oracle::block));
  }
  for (const oracle::Direction direction : point.directions()) check_scales(point, direction, reader);
  if (point.transpose && point.source != Source::pattern) reader.refuse("transpose=1 is of a fill= only");
  if (shape.rows * shape.cols > (std::size_t{1} << 32)) reader.refuse("rows*cols is over 2^32 elements");
}

}  // namespace

std::vector<oracle::Direction> Point::directions() const {
  std::vector<oracle::Direction> asked;
  for (const auto one : {oracle::Direction::rowwise, oracle::Direction::colwise}) {
    if (has(one)) asked.push_back(one);
  }
  return asked;
}

std::size_t Point::x_alignment() const {
  const std::size_t bytes = offset * static_cast<std::size_t>(formats::storage_bytes(input));
  return bytes == 0 ? 256 : std::min<std::size_t>(bytes & (~bytes + 1), 256);
}

std::size_t Point::data_alignment(oracle::Direction asked) const {
  const std::size_t bytes = asked == oracle::Direction::rowwise ? data_offset : colwise_data_offset;
  return bytes == 0 ? 16 : bytes & (~bytes + 1);
}

void set_default_extents(Point& point) {
  for (const auto direction : {oracle::Direction::rowwise, oracle::Direction::colwise}) {
    point.shape.extent(direction) = point.contracts.layout == oracle::ScaleLayout::swizzled
                                        ? point.shape.swizzled(direction)
                                        : point.shape.scales(direction);
  }
}

std::string print(const Point& point) {
  const auto index_in = [](const auto& list, auto value) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
  };
  std::string text = fmt::format("{}:in={},fp8={},rule={},specials={},padding={}", family_name,
                                 input_names[index_in(input_formats, point.input)],
                                 element_names[index_in(element_formats, point.contracts.element)],
                                 rule_names[ordinal(point.contracts.scale_rule)],
                                 special_names[ordinal(point.contracts.specials)],
                                 padding_names[ordinal(point.contracts.padding)]);
  // What is younger than the first goldens is told only where it is not the default: a case keeps its token.
  if (point.direction != Direction::rowwise)
    text += fmt::format(",dir={}", direction_names[ordinal(point.direction)]);
  if (point.contracts.layout != oracle::ScaleLayout::linear) text += ",scales=swizzled";
  text += fmt::format(",rows={},cols={}", point.shape.rows, point.shape.cols);
  if (point.has(oracle::Direction::rowwise))
    text += fmt::format(",srows={},stride={}", point.shape.rowwise.rows, point.shape.rowwise.stride);
  if (point.has(oracle::Direction::colwise))
    text += fmt::format(",csrows={},cstride={}", point.shape.colwise.rows, point.shape.colwise.stride);
  if (point.offset) text += fmt::format(",offset={}", point.offset);
  if (point.data_offset) text += fmt::format(",doffset={}", point.data_offset);
  if (point.colwise_data_offset) text += fmt::format(",cdoffset={}", point.colwise_data_offset);
  if (point.exp) text += fmt::format(",exp={}", point.exp);
  if (point.rotate) text += fmt::format(",rotate={}", point.rotate);
  if (point.transpose) text += ",transpose=1";
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
  GivenScales scales;
  reader.for_each_pair(family_name, "on", [&](std::string_view key, std::string_view value) {
    set(point, scales, reader, key, value);
  });
  set_default_extents(point);
  const auto override_with = [](oracle::ScaleExtent& extent, const oracle::ScaleExtent& given) {
    if (given.rows) extent.rows = given.rows;
    if (given.stride) extent.stride = given.stride;
  };
  override_with(point.shape.rowwise, scales.rowwise);
  override_with(point.shape.colwise, scales.colwise);
  check_shape(point, reader);
  return point;
}

}  // namespace assay::properties::mxfp8_cast
