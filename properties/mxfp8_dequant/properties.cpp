#include "properties/mxfp8_dequant/properties.hpp"

#include <algorithm>
#include <cmath>

#include "oracles/formats/codec.hpp"
#include "properties/gate/search.hpp"
#include "properties/mxfp8_dequant/workload.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

namespace cast = oracles::mxfp8_cast;
using fixture::DataPattern;
using fixture::PaddingFill;
using fixture::ScalePattern;
using fixtures::mxfp8_cast::Pattern;
using formats::Format;
using oracle::Direction;
using oracle::ScaleLayout;
using Over = PropertiesOver<DequantWorkload>;

template <class T>
T one_of(const std::vector<T>& list) {
  return list[choice<std::size_t>(0, list.size())];
}

/// Two in four 16 bytes, one 256, one a power of two below 16.
std::size_t any_alignment(std::size_t least) {
  switch (choice(0, 4)) {
    case 2:
      return 256;
    case 3:
      return std::max<std::size_t>(least, std::size_t{1} << choice(0, 4));
    default:
      return 16;
  }
}

/// Three in four have whole blocks of columns, which the vector route needs; of these one is tall.
void set_any_shape(oracle::Shape& shape) {
  const int kind = choice(0, 4);
  shape.cols = kind == 3 ? *rc::gen::inRange<std::size_t>(1, 140)
                         : oracle::block * *rc::gen::inRange<std::size_t>(1, kind == 2 ? 3 : 10);
  // 4,096 elements at most, so that a thousand draws stay a matter of seconds.
  const std::size_t most = std::min<std::size_t>(kind == 2 ? 300 : 70, 4096 / shape.cols);
  shape.rows = *rc::gen::inRange<std::size_t>(1, most + 1);
}

void set_any_padding(Point& point) {
  const int kind = choice(0, 4);
  set_scale_extents(point.shape, kind == 0 ? 0 : choice<std::size_t>(0, 4),
                    kind == 0   ? 0
                    : kind == 3 ? 8 * choice<std::size_t>(1, 36)
                                : choice<std::size_t>(0, 8));
  point.pad = PaddingFill{choice<std::uint8_t>(0, 4)};
}

/// Anything a route could be given, shrinking toward one block of the simplest contract.
Point any_point(const std::vector<DataPattern>& data, const std::vector<ScalePattern>& scales) {
  Point point;
  point.contracts = {one_of<Format>({Format::e4m3, Format::e5m2}),
                     one_of<Format>({Format::bf16, Format::fp16, Format::fp32})};
  point.shape.direction = Direction{choice<std::uint8_t>(0, 2)};
  point.shape.layout = ScaleLayout{choice<std::uint8_t>(0, 2)};
  set_any_shape(point.shape);
  set_any_padding(point);
  point.data_alignment = any_alignment(1);
  point.y_alignment = any_alignment(output_width(point));
  point.scale_alignment = any_alignment(1);
  point.data = one_of(data);
  point.scales = one_of(scales);
  point.seed = choice<std::uint64_t>(1, 1000);
  return point;
}

/// The cast of X, to fp32 so that every product is the output to the bit.
Point any_quantised(const std::vector<Pattern>& fills, const std::vector<cast::ScaleRule>& rules) {
  Point point = any_point({DataPattern::every_code}, {ScalePattern::every_code});
  point.contracts.output = Format::fp32;
  point.y_alignment = std::max<std::size_t>(point.y_alignment, 4);
  point.shape.cols = (point.shape.cols + oracle::block - 1) / oracle::block * oracle::block;
  set_any_padding(point);
  point.source = Source::quantised;
  point.fill = one_of(fills);
  point.input = one_of<Format>({Format::bf16, Format::fp16, Format::fp32});
  point.rule = one_of(rules);
  return point;
}

Property judged(std::string name, std::string sentence, std::vector<DataPattern> data,
                std::vector<ScalePattern> scales, std::function<void(Point&)> adapt = {}) {
  return Over::judged(std::move(name), std::move(sentence), [data, scales, adapt] {
    Point point = any_point(data, scales);
    if (adapt) adapt(point);
    return point;
  });
}

bool same_output(const Point&, const Contents& a, const Point&, const Contents& b) { return a == b; }

/// Another filling of the same padding, of which there is some.
Over::Points draw_paddings() {
  Point point = any_point({DataPattern::any_bits, DataPattern::ordinary}, {ScalePattern::realistic});
  set_scale_extents(point.shape, choice<std::size_t>(0, 3), choice<std::size_t>(1, 40));
  Point other = point;
  other.pad = PaddingFill{static_cast<std::uint8_t>((static_cast<int>(point.pad) + choice(1, 4)) % 4)};
  return {point, other};
}

Over::Points draw_layouts() {
  Point linear = any_point({DataPattern::any_bits, DataPattern::specials},
                           {ScalePattern::any, ScalePattern::realistic, ScalePattern::extremes});
  Point swizzled = linear;
  linear.shape.layout = ScaleLayout::linear;
  set_scale_extents(linear.shape, choice<std::size_t>(0, 3), choice<std::size_t>(0, 40));
  swizzled.shape.layout = ScaleLayout::swizzled;
  set_scale_extents(swizzled.shape);
  return {linear, swizzled};
}

Over::Points draw_transposed() {
  Point point = any_point({DataPattern::any_bits, DataPattern::specials},
                          {ScalePattern::any, ScalePattern::realistic, ScalePattern::extremes});
  if (choice(0, 2) != 0) point.shape.rows = (point.shape.rows + 31) / 32 * 32;  // for the vector route
  set_any_padding(point);
  Point other = point;
  other.transpose = true;
  std::swap(other.shape.rows, other.shape.cols);
  other.shape.direction =
      point.shape.direction == Direction::rowwise ? Direction::colwise : Direction::rowwise;
  set_any_padding(other);
  return {point, other};
}

bool transposed_alike(const Point& a, const Contents& from, const Point&, const Contents& to) {
  const std::size_t rows = a.shape.rows, cols = a.shape.cols;
  const int width = static_cast<int>(output_width(a));
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c)
      if (arithmetic::load_code(from[0], width, r * cols + c) !=
          arithmetic::load_code(to[0], width, c * rows + r))
        return false;
  return true;
}

Over::Points draw_doubled() {
  Point point = any_point({DataPattern::finite, DataPattern::ordinary, DataPattern::subnormals},
                          {ScalePattern::realistic, ScalePattern::rounding});
  Point doubled = point;
  doubled.exp = 1;
  return {point, doubled};
}

/// In codes: an exponent field more, or Inf. Not asked of subnormals and of zero, which may gain a bit.
bool doubled_alike(const Point& a, const Contents& from, const Point&, const Contents& to) {
  const Format output = a.contracts.output;
  const int width = static_cast<int>(output_width(a));
  const std::uint32_t binade = 1u << formats::spec(output).mantissa_bits;
  const std::uint32_t magnitudes = (1u << (formats::spec(output).bits - 1)) - 1;
  for (std::size_t i = 0; i < a.shape.rows * a.shape.cols; ++i) {
    const std::uint32_t before = arithmetic::load_code(from[0], width, i);
    const std::uint32_t after = arithmetic::load_code(to[0], width, i);
    const std::uint32_t magnitude = before & magnitudes;
    if (magnitude < binade) continue;
    const bool fits = magnitude + binade <= formats::max_finite(output);
    if (fits ? after != before + binade : !formats::is_infinity(output, after)) return false;
  }
  return true;
}

double value_of(Format format, std::uint32_t code) {
  const formats::Exact x = formats::decode(format, code);
  return std::ldexp(x.negative ? -static_cast<double>(x.significand) : static_cast<double>(x.significand),
                    x.exponent);
}

/// Half the way from an element code to its neighbour on the side of a value of larger or smaller magnitude.
/// What would follow the largest code lies as far away as what precedes it.
double half_step(Format element, std::uint32_t code, bool larger) {
  const std::uint32_t magnitude = code & 0x7F;
  const bool up = (larger || magnitude == 0) && magnitude < formats::max_finite(element);
  return std::abs(value_of(element, up ? magnitude + 1 : magnitude - 1) - value_of(element, magnitude)) / 2;
}

/// |y - x| <= half a step of the element format times the scale, with the sign of x, for every number cast.
/// Doubles hold every term exactly: y has at most 4 significant bits, x at most 24, the two lie within a
/// factor of two of each other or y is zero, and steps are powers of two.
bool comes_back(const DequantWorkload& workload, const Contents& y) {
  const Point& point = workload.point();
  const Codes& codes = workload.codes();
  const int width = formats::storage_bytes(point.input);
  const bool rowwise = point.shape.direction == Direction::rowwise;
  for (std::size_t i = 0; i < codes.data.size(); ++i) {
    const std::uint32_t x_code = arithmetic::load_code(codes.x, width, i);
    const std::uint32_t y_code = arithmetic::load_code(y[0], 4, i);
    const std::size_t row = i / point.shape.cols, col = i % point.shape.cols;
    const std::size_t a = rowwise ? row : row / oracle::block, b = rowwise ? col / oracle::block : col;
    const int scale = std::to_integer<int>(codes.scales[a * point.shape.block_cols() + b]);
    if (formats::is_nan(Format::fp32, y_code) != (scale == 255)) return false;
    if (scale == 255) continue;
    const double from = value_of(point.input, x_code), back = value_of(Format::fp32, y_code);
    const double half = half_step(point.contracts.element, std::to_integer<std::uint32_t>(codes.data[i]),
                                  std::abs(from) > std::abs(back));
    if (std::abs(back - from) > std::ldexp(half, scale - 127)) return false;
    if ((y_code >> 31 != 0) != (x_code >> (8 * width - 1) != 0)) return false;
  }
  return true;
}

/// Quantising y again gives the codes and scales it came from.
bool quantises_alike(const DequantWorkload& workload, const Contents& y) {
  const Codes& codes = workload.codes();
  const Quantised again = quantise(Format::fp32, y[0], workload.point());
  return std::equal(again.data.begin(), again.data.end(), codes.data.begin(), codes.data.end()) &&
         again.scales == codes.scales;
}

std::vector<Property> relations() {
  return {
      Over::relation("padding independence", "what the padding of a scale buffer holds changes nothing",
                     draw_paddings, same_output),
      Over::relation("swizzled equals linear", "the same scales in the order of a GEMM give the same output",
                     draw_layouts, same_output),
      Over::relation("rowwise and colwise",
                     "the transposed data under the transposed scales give the transposed output",
                     draw_transposed, transposed_alike),
      Over::relation("doubled scale",
                     "a scale code one higher moves every number by one binade, the largest to Inf",
                     draw_doubled, doubled_alike),
  };
}

}  // namespace

std::vector<Property> dequant_properties() {
  std::vector<Property> properties = {
      judged("special scale codes",
             "scale 0 is the subnormal 2^-127, 254 overflows to Inf, 255 makes every element NaN",
             {DataPattern::every_code, DataPattern::extremes, DataPattern::zeros, DataPattern::specials},
             {ScalePattern::extremes, ScalePattern::every_code}),
      judged("NaN, Inf and zero", "NaN stays NaN, Inf stays Inf, and every zero keeps its sign",
             {DataPattern::specials, DataPattern::zeros, DataPattern::any_bits},
             {ScalePattern::realistic, ScalePattern::any}),
      judged("one rounding", "products are rounded once, to nearest even, also in the subnormal ranges",
             {DataPattern::every_code, DataPattern::subnormals, DataPattern::finite},
             {ScalePattern::rounding}),
      judged("partial blocks",
             "a last block of fewer than 32 elements has its own scale and is written whole",
             {DataPattern::ordinary, DataPattern::any_bits}, {ScalePattern::realistic},
             [](Point& point) {
               std::size_t& length =
                   point.shape.direction == Direction::rowwise ? point.shape.cols : point.shape.rows;
               if (length % oracle::block == 0) length += 1 + choice<std::size_t>(0, 31);
               set_any_padding(point);
             }),
  };
  for (Property& relation : relations()) properties.push_back(std::move(relation));
  properties.push_back(Over::routes_agree(
      "production equals legacy", "the vector and the scalar route give the same bytes", [] {
        return any_point({DataPattern::any_bits, DataPattern::every_code, DataPattern::specials},
                         {ScalePattern::every_code, ScalePattern::extremes, ScalePattern::rounding});
      }));
  // Under these rules no element saturates by more than half a step: ceil and rceil choose scales under which
  // the largest element fits, but for the rounding of rceil's own product.
  properties.push_back(Over::of_output(
      "round trip", "a cast undone is within half a step of what was cast",
      [] {
        return any_quantised({Pattern::normal, Pattern::ramps, Pattern::zeros, Pattern::nan_lanes},
                             {cast::ScaleRule::rceil, cast::ScaleRule::ceil});
      },
      comes_back));
  // Under floor, amax / scale lies in [2^emax, 2^(emax+1)) and its code, saturated at most, in [2^emax,
  // 1.75 * 2^emax]: the same binade, so the same scale, under which every code is exact. Where the scale is
  // clamped at 2^-127 it stays clamped, since rounding reaches the next power of two at most.
  properties.push_back(Over::of_output(
      "idempotence", "quantising the output again under rule floor gives the same codes and scales",
      [] {
        return any_quantised({Pattern::normal, Pattern::finite_bits, Pattern::every_exponent,
                              Pattern::nan_lanes, Pattern::zeros, Pattern::subnormals},
                             {cast::ScaleRule::floor});
      },
      quantises_alike));
  return properties;
}

}  // namespace assay::properties::mxfp8_dequant
