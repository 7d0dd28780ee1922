#include "properties/mxfp8_dequant/point.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "properties/gate/token.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

using formats::Format;

constexpr std::string_view family_name = "mxfp8_dequant";
constexpr std::array<std::string_view, 2> element_names = {"e4m3", "e5m2"};
constexpr std::array<Format, 2> element_formats = {Format::e4m3, Format::e5m2};
constexpr std::array<std::string_view, 3> wide_names = {"fp32", "fp16", "bf16"};
constexpr std::array<Format, 3> wide_formats = {Format::fp32, Format::fp16, Format::bf16};
constexpr std::array<std::string_view, 2> direction_names = {"rowwise", "colwise"};
constexpr std::array<std::string_view, 2> layout_names = {"linear", "swizzled"};
constexpr std::array<std::string_view, 4> rule_names = {"rceil", "floor", "ceil", "even"};
constexpr std::uint64_t max_extent = std::uint64_t{1} << 24;

/// Reads the values of one token into a point.
struct Setter {
  const TokenReader& reader;
  Point& point;
  std::size_t scale_rows = 0, scale_stride = 0;  ///< 0: left to the default

  template <class E, std::size_t n>
  E one_of(std::string_view key, std::string_view value, const std::array<std::string_view, n>& names) const {
    return E{static_cast<std::uint8_t>(reader.choice(key, value, names))};
  }
  template <class E>
  E one_of(std::string_view key, std::string_view value, std::span<const std::string_view> names) const {
    return E{static_cast<std::uint8_t>(reader.choice(key, value, names))};
  }
  std::size_t extent(std::string_view key, std::string_view value) const {
    return reader.number(key, value, 1, max_extent);
  }
  std::size_t alignment(std::string_view key, std::string_view value) const {
    const std::size_t bytes = reader.number(key, value, 1, 256);
    if ((bytes & (bytes - 1)) != 0) reader.refuse(fmt::format("{}={} is no power of two", key, bytes));
    return bytes;
  }

  bool set_buffers(std::string_view key, std::string_view value) {
    if (key == "rows") {
      point.shape.rows = extent(key, value);
    } else if (key == "cols") {
      point.shape.cols = extent(key, value);
    } else if (key == "srows") {
      scale_rows = extent(key, value);
    } else if (key == "stride") {
      scale_stride = extent(key, value);
    } else if (key == "dalign") {
      point.data_alignment = alignment(key, value);
    } else if (key == "yalign") {
      point.y_alignment = alignment(key, value);
    } else if (key == "salign") {
      point.scale_alignment = alignment(key, value);
    } else {
      return false;
    }
    return true;
  }

  bool set_source(std::string_view key, std::string_view value) {
    if (key == "data") {
      point.data = one_of<fixture::DataPattern>(key, value, fixture::data_pattern_names());
    } else if (key == "scales") {
      point.scales = one_of<fixture::ScalePattern>(key, value, fixture::scale_pattern_names());
    } else if (key == "exp") {
      point.exp = reader.signed_number(key, value, 254);
    } else if (key == "transpose") {
      point.transpose = reader.number(key, value, 0, 1) != 0;
    } else if (key == "quantised") {
      point.source = Source::quantised;
      point.fill = one_of<fixtures::mxfp8_cast::Pattern>(key, value, fixtures::mxfp8_cast::pattern_names());
    } else if (key == "in") {
      point.input = wide_formats[reader.choice(key, value, wide_names)];
    } else if (key == "rule") {
      point.rule = one_of<oracles::mxfp8_cast::ScaleRule>(key, value, rule_names);
    } else if (key == "seed") {
      point.seed = reader.number(key, value, 0, ~std::uint64_t{0});
    } else if (key == "on") {
      point.source = Source::file;
      point.on = value;
    } else {
      return false;
    }
    return true;
  }

  void set(std::string_view key, std::string_view value) {
    if (key == "fp8") {
      point.contracts.element = element_formats[reader.choice(key, value, element_names)];
    } else if (key == "out") {
      point.contracts.output = wide_formats[reader.choice(key, value, wide_names)];
    } else if (key == "dir") {
      point.shape.direction = one_of<oracle::Direction>(key, value, direction_names);
    } else if (key == "layout") {
      point.shape.layout = one_of<oracle::ScaleLayout>(key, value, layout_names);
    } else if (key == "pad") {
      point.pad = one_of<fixture::PaddingFill>(key, value, fixture::padding_fill_names());
    } else if (!set_buffers(key, value) && !set_source(key, value)) {
      static constexpr std::string_view keys[] = {
          "fp8",    "out",       "dir",       "layout", "rows", "cols", "srows",
          "stride", "dalign",    "yalign",    "salign", "pad",  "data", "scales",
          "exp",    "transpose", "quantised", "in",     "rule", "seed", "on"};
      reader.refuse_key(key, keys);
    }
  }
};

void check(const Point& point, const TokenReader& reader) {
  const oracle::Shape& shape = point.shape;
  if (shape.rows * shape.cols > (std::size_t{1} << 32)) reader.refuse("rows*cols is over 2^32 elements");
  const std::size_t rows = shape.least_scale_rows(), stride = shape.least_scale_stride();
  if (shape.layout == oracle::ScaleLayout::swizzled &&
      (shape.scale_rows != rows || shape.scale_stride != stride)) {
    reader.refuse(fmt::format("swizzled scales of {} x {} are srows={},stride={}", shape.rows, shape.cols,
                              rows, stride));
  }
  if (shape.scale_rows < rows)
    reader.refuse(fmt::format("srows={} is less than the {} rows of blocks", shape.scale_rows, rows));
  if (shape.scale_stride < stride)
    reader.refuse(fmt::format("stride={} is less than the {} blocks of a row", shape.scale_stride, stride));
  if (shape.scale_rows * shape.scale_stride > (std::size_t{1} << 32))
    reader.refuse("srows*stride is over 2^32 bytes");
  if (point.y_alignment < output_width(point))
    reader.refuse(fmt::format("yalign={} is less than an output element", point.y_alignment));
  if (point.source == Source::quantised && shape.cols % oracle::block != 0)
    reader.refuse(
        fmt::format("cols={} is not divisible by {}, so X is not quantised", shape.cols, oracle::block));
}

template <class Value, std::size_t n>
std::size_t index_in(const std::array<Value, n>& list, Value value) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

template <class E, std::size_t n>
std::string_view name_of(const std::array<std::string_view, n>& names, E value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::size_t output_width(const Point& point) {
  return static_cast<std::size_t>(formats::storage_bytes(point.contracts.output));
}

void set_scale_extents(oracle::Shape& shape, std::size_t extra_rows, std::size_t extra_stride) {
  const bool linear = shape.layout == oracle::ScaleLayout::linear;
  shape.scale_rows = shape.least_scale_rows() + (linear ? extra_rows : 0);
  shape.scale_stride = shape.least_scale_stride() + (linear ? extra_stride : 0);
}

std::string print(const Point& point) {
  const oracle::Shape& shape = point.shape;
  std::string text = fmt::format(
      "{}:fp8={},out={},dir={},layout={},rows={},cols={},srows={},stride={}", family_name,
      element_names[index_in(element_formats, point.contracts.element)],
      wide_names[index_in(wide_formats, point.contracts.output)], name_of(direction_names, shape.direction),
      name_of(layout_names, shape.layout), shape.rows, shape.cols, shape.scale_rows, shape.scale_stride);
  const Point defaults;
  if (point.data_alignment != defaults.data_alignment)
    text += fmt::format(",dalign={}", point.data_alignment);
  if (point.y_alignment != defaults.y_alignment) text += fmt::format(",yalign={}", point.y_alignment);
  if (point.scale_alignment != defaults.scale_alignment)
    text += fmt::format(",salign={}", point.scale_alignment);
  text += fmt::format(",pad={}", to_string(point.pad));
  switch (point.source) {
    case Source::pattern:
      text += fmt::format(",data={},scales={}", to_string(point.data), to_string(point.scales));
      if (point.exp != 0) text += fmt::format(",exp={}", point.exp);
      if (point.transpose) text += ",transpose=1";
      return text + fmt::format(",seed={}", point.seed);
    case Source::quantised:
      return text + fmt::format(",quantised={},in={},rule={},seed={}", to_string(point.fill),
                                wide_names[index_in(wide_formats, point.input)],
                                name_of(rule_names, point.rule), point.seed);
    case Source::file:
      return text + fmt::format(",rule={},scales={},seed={},on={}", name_of(rule_names, point.rule),
                                to_string(point.scales), point.seed, point.on);
  }
  return text;
}

Point parse(std::string_view token) {
  const TokenReader reader(token);
  Point point;
  Setter setter{reader, point};
  reader.for_each_pair(family_name, "on",
                       [&](std::string_view key, std::string_view value) { setter.set(key, value); });
  set_scale_extents(point.shape);
  if (setter.scale_rows != 0) point.shape.scale_rows = setter.scale_rows;
  if (setter.scale_stride != 0) point.shape.scale_stride = setter.scale_stride;
  check(point, reader);
  return point;
}

}  // namespace assay::properties::mxfp8_dequant
