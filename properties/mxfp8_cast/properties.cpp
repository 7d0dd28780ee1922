#include "properties/mxfp8_cast/properties.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "properties/gate/search.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

using Over = PropertiesOver<CastWorkload>;

/// Two in four aligned to 256 bytes, one a multiple of `step` elements (16 bytes of the widest type), one
/// anything.
std::size_t any_offset(std::size_t step) {
  switch (choice(0, 4)) {
    case 2:
      return step * choice<std::size_t>(1, 4);
    case 3:
      return choice<std::size_t>(1, 64);
    default:
      return 0;
  }
}

/// Two in three take whole runs of 128 columns, which the register route needs; of these one is tall.
oracle::Shape any_shape() {
  const int kind = choice(0, 6);
  const bool runs = kind >= 2, tall = kind == 5;
  const std::size_t blocks =
      runs ? 4 * *rc::gen::inRange<std::size_t>(1, tall ? 3 : 17) : *rc::gen::inRange<std::size_t>(1, 13);
  // 1,280 blocks at most, so that a thousand draws stay a matter of seconds.
  const std::size_t most = std::min<std::size_t>(tall ? 300 : 80, 1280 / blocks);
  const std::size_t rows = *rc::gen::inRange<std::size_t>(1, most + 1);
  oracle::Shape shape{rows, blocks * oracle::block, {rows, blocks}, {}};
  switch (choice(0, 5)) {
    case 1:
    case 2:
      shape.rowwise.rows += choice<std::size_t>(0, 4);
      shape.rowwise.stride += choice<std::size_t>(0, 6);
      break;
    case 3:  // what a block-scaled GEMM reads
      shape.rowwise.rows = (rows + 127) / 128 * 128;
      shape.rowwise.stride = (blocks + 3) / 4 * 4;
      break;
    case 4:
      shape.rowwise.stride += choice<std::size_t>(200, 300);
      break;
    default:
      break;
  }
  return shape;
}

/// A generator of points: anything a route could be given, shrinking toward one block of the simplest
/// contract. Every draw is an index into a list or a count, so RapidCheck shrinks each toward its first
/// entry.
Point any_point(const std::vector<Pattern>& fills) {
  Point point;
  constexpr Format inputs[] = {Format::bf16, Format::fp16, Format::fp32};
  constexpr Format elements[] = {Format::e4m3, Format::e5m2};
  point.input = inputs[choice<std::size_t>(0, std::size(inputs))];
  point.contracts.element = elements[choice<std::size_t>(0, std::size(elements))];
  point.contracts.scale_rule = oracle::ScaleRule{choice<std::uint8_t>(0, 4)};
  point.contracts.specials = oracle::SpecialBlocks{choice<std::uint8_t>(0, 3)};
  point.contracts.padding = oracle::Padding{choice<std::uint8_t>(0, 2)};
  point.shape = any_shape();
  point.offset = any_offset(8);
  point.data_offset = any_offset(16);
  point.fill = fills[choice<std::size_t>(0, fills.size())];
  point.seed = choice<std::uint64_t>(1, 1000);
  return point;
}

/// A property that every case drawn with these fills is judged right on every route.
Property judged(std::string name, std::string sentence, std::vector<Pattern> fills,
                std::function<void(Point&)> adapt = {}) {
  return Over::judged(std::move(name), std::move(sentence), [fills, adapt] {
    Point point = any_point(fills);
    if (adapt) adapt(point);
    return point;
  });
}

std::uint8_t scale_at(const Point& point, const Contents& contents, std::size_t flat_block) {
  const std::size_t blocks = point.shape.blocks_per_row();
  return static_cast<std::uint8_t>(
      contents[1][flat_block / blocks * point.shape.rowwise.stride + flat_block % blocks]);
}

std::size_t block_count(const Point& point) { return point.shape.rows * point.shape.blocks_per_row(); }

std::vector<Point> draw_scaled() {
  Point point = any_point({Pattern::normal, Pattern::ramps});
  Point scaled = point;
  scaled.exp = choice(1, 5);
  if (choice(0, 2) != 0) scaled.exp = -scaled.exp;
  if (point.input == Format::fp16) point.input = scaled.input = Format::bf16;  // fp16 has no room to move in
  return {point, scaled};
}

bool scaled_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  if (from[0] != to[0]) return false;
  for (std::size_t i = 0; i < block_count(a); ++i) {
    const int before = scale_at(a, from, i), after = scale_at(b, to, i);
    if (before != 0 && after != before + b.exp) return false;  // byte 0: a block of zeros stays at the clamp
  }
  return true;
}

std::vector<Point> draw_rotated() {
  const Point point = any_point(
      {Pattern::normal, Pattern::finite_bits, Pattern::nan_lanes, Pattern::inf_lanes, Pattern::nan_counts});
  Point rotated = point;
  rotated.rotate = choice<std::size_t>(1, 40);
  return {point, rotated};
}

bool rotated_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  const std::size_t blocks = block_count(a);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t moved = (i + b.rotate) % blocks;
    if (scale_at(a, from, i) != scale_at(b, to, moved)) return false;
    const auto* block_from = from[0].data() + i * oracle::block;
    if (!std::equal(block_from, block_from + oracle::block, to[0].data() + moved * oracle::block))
      return false;
  }
  return true;
}

/// Production against legacy, bit for bit, wherever both take the case.
Point draw_for_both() {
  return any_point({Pattern::normal, Pattern::any_bits, Pattern::subnormals, Pattern::midpoints,
                    Pattern::scale_extremes, Pattern::nan_counts, Pattern::every_exponent});
}

}  // namespace

std::vector<Property> cast_properties() {
  return {
      judged("zero", "blocks of zeros keep a finite scale and the sign of every zero", {Pattern::zeros}),
      judged("NaN and Inf",
             "a NaN or Inf in any lane acts as the special-block contract says, and on its block alone",
             {Pattern::nan_lanes, Pattern::inf_lanes, Pattern::nan_counts, Pattern::any_bits}),
      judged("both fp8 formats",
             "e4m3 and e5m2 round once, to nearest even, at every midpoint and in the subnormal range",
             {Pattern::midpoints, Pattern::subnormals, Pattern::finite_bits}),
      judged("scale boundaries",
             "the scale byte is right beside every boundary of a rule, in every binade and at both ends",
             {Pattern::amax_mantissas, Pattern::scale_extremes, Pattern::every_exponent, Pattern::ramps}),
      judged("padded scale stride",
             "scales lie at the padded stride, and padding is left alone or zeroed as agreed",
             {Pattern::ramps, Pattern::normal},
             [](Point& point) {
               point.shape.rowwise.stride = point.shape.blocks_per_row() + 1 + choice<std::size_t>(0, 7);
               point.shape.rowwise.rows = point.shape.rows + choice<std::size_t>(0, 5);
             }),
      Over::relation("power-of-two equivariance", "X * 2^k has the same data and scale bytes k higher",
                     draw_scaled, scaled_alike),
      Over::relation("block independence", "rotating the blocks of X rotates the blocks of the output",
                     draw_rotated, rotated_alike),
      Over::routes_agree("production equals legacy",
                         "the register and the staged route give the same bytes under the same contracts",
                         draw_for_both),
  };
}

}  // namespace assay::properties::mxfp8_cast
