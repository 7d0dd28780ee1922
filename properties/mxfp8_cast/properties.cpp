#include "properties/mxfp8_cast/properties.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "properties/mxfp8_cast/draws.hpp"
#include "properties/mxfp8_cast/rules.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using fixtures::mxfp8_cast::Pattern;
using formats::Format;

using Over = PropertiesOver<CastWorkload>;
using Points = std::vector<Point>;

/// A property that every case drawn with these fills is judged right on every route.
Property judged(std::string name, std::string sentence, std::vector<Pattern> fills,
                std::function<void(Point&)> adapt = {}) {
  return Over::judged(std::move(name), std::move(sentence), [fills, adapt] {
    Point point = any_point(fills);
    if (adapt) adapt(point);
    return point;
  });
}

/// One direction of a case's outputs as matrices.
class Cast {
 public:
  Cast(const Point& point, const Contents& contents, oracle::Direction direction)
      : scales_at_(point.shape, direction, point.contracts.layout), cols_(point.shape.cols) {
    const bool second = direction == oracle::Direction::colwise && point.has(oracle::Direction::rowwise);
    data_ = contents[second ? 2 : 0].data();
    scales_ = contents[second ? 3 : 1].data();
  }
  std::size_t scale_rows() const { return scales_at_.rows(); }
  std::size_t scale_cols() const { return scales_at_.cols(); }
  int scale(std::size_t row, std::size_t col) const {
    return std::to_integer<int>(scales_[scales_at_.index(row, col)]);
  }
  std::byte data(std::size_t row, std::size_t col) const { return data_[row * cols_ + col]; }

 private:
  oracle::ScaleMatrix scales_at_;
  std::size_t cols_;
  const std::byte *data_, *scales_;
};

/// Whether `holds(row, col)` for all of [0, rows) x [0, cols).
template <typename Holds>
bool everywhere(std::size_t rows, std::size_t cols, Holds&& holds) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      if (!holds(row, col)) return false;
    }
  }
  return true;
}

/// Whether `holds(direction)` in every direction of the point.
template <typename Holds>
bool in_every_direction(const Point& point, Holds&& holds) {
  const auto directions = point.directions();
  return std::all_of(directions.begin(), directions.end(), holds);
}

Points draw_scaled() {
  Point point = any_point({Pattern::normal, Pattern::ramps});
  Point scaled = point;
  scaled.exp = choice(1, 5);
  if (choice(0, 2) != 0) scaled.exp = -scaled.exp;
  // fp16 has no room to move in; by the same alignment, the offset of the wider type may be another.
  if (point.input == Format::fp16) point.input = scaled.input = Format::bf16;
  return {point, scaled};
}

bool scaled_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  return in_every_direction(a, [&](oracle::Direction direction) {
    const Cast before(a, from, direction), after(b, to, direction);
    return everywhere(a.shape.rows, a.shape.cols,
                      [&](auto row, auto col) { return before.data(row, col) == after.data(row, col); }) &&
           everywhere(before.scale_rows(), before.scale_cols(), [&](auto row, auto col) {
             // byte 0: a block of zeros stays at the clamp
             return before.scale(row, col) == 0 || after.scale(row, col) == before.scale(row, col) + b.exp;
           });
  });
}

Points draw_rotated() {
  const Point point = any_point({Pattern::normal, Pattern::finite_bits, Pattern::nan_lanes,
                                 Pattern::inf_lanes, Pattern::nan_counts, Pattern::tile_specials});
  Point rotated = point;
  rotated.rotate = choice<std::size_t>(1, 40);
  return {point, rotated};
}

/// Rowwise, blocks move in flat order from row to row.
bool blocks_rotated(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  const Cast before(a, from, oracle::Direction::rowwise), after(b, to, oracle::Direction::rowwise);
  const std::size_t per_row = a.shape.blocks_per_row(), blocks = a.shape.rows * per_row;
  return everywhere(a.shape.rows, per_row, [&](std::size_t row, std::size_t block) {
    const std::size_t moved = (row * per_row + block + b.rotate) % blocks;
    const std::size_t to_row = moved / per_row, to_block = moved % per_row;
    return before.scale(row, block) == after.scale(to_row, to_block) &&
           everywhere(1, oracle::block, [&](std::size_t, std::size_t lane) {
             return before.data(row, block * oracle::block + lane) ==
                    after.data(to_row, to_block * oracle::block + lane);
           });
  });
}

/// Otherwise, runs of 32 columns move within the rows, and with them the blocks of either direction.
bool runs_rotated(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  return in_every_direction(a, [&](oracle::Direction direction) {
    const Cast before(a, from, direction), after(b, to, direction);
    const std::size_t cols = a.shape.cols, scale_cols = before.scale_cols();
    const std::size_t scales_moved =
        direction == oracle::Direction::rowwise ? b.rotate : b.rotate * oracle::block;
    return everywhere(a.shape.rows, cols,
                      [&](auto row, auto col) {
                        return before.data(row, col) ==
                               after.data(row, (col + b.rotate * oracle::block) % cols);
                      }) &&
           everywhere(before.scale_rows(), scale_cols, [&](auto row, auto col) {
             return before.scale(row, col) == after.scale(row, (col + scales_moved) % scale_cols);
           });
  });
}

bool rotated_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  return a.direction == Direction::rowwise ? blocks_rotated(a, from, b, to) : runs_rotated(a, from, b, to);
}

/// X rowwise, and its transpose colwise: the pattern of a transposed point is that of the shape turned round.
Points draw_transposed() {
  Point rowwise = any_point_along(Direction::rowwise,
                                  {Pattern::normal, Pattern::any_bits, Pattern::nan_counts, Pattern::ramps,
                                   Pattern::tile_specials, Pattern::subnormals, Pattern::every_exponent});
  constexpr std::size_t most = 32768;         // elements
  const bool production = choice(0, 2) == 1;  // 128 columns and 256 rows, so that register kernels take both
  const std::size_t blocks = production ? 4 : *rc::gen::inRange<std::size_t>(1, 9);
  const std::size_t bands = *rc::gen::inRange<std::size_t>(1, most / (1024 * blocks) + 1);
  rowwise.shape.cols = blocks * oracle::block;
  rowwise.shape.rows = (production ? 8 : bands) * oracle::block;
  if (production) rowwise.input = Format::bf16;
  draw_extents(rowwise);
  Point colwise = rowwise;
  colwise.direction = Direction::colwise;
  std::swap(colwise.shape.rows, colwise.shape.cols);
  colwise.transpose = true;
  draw_extents(colwise);
  draw_offsets(colwise);
  return {rowwise, colwise};
}

bool transposed_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  const Cast rowwise(a, from, oracle::Direction::rowwise), colwise(b, to, oracle::Direction::colwise);
  return everywhere(a.shape.rows, a.shape.cols,
                    [&](auto row, auto col) { return rowwise.data(row, col) == colwise.data(col, row); }) &&
         everywhere(rowwise.scale_rows(), rowwise.scale_cols(),
                    [&](auto row, auto col) { return rowwise.scale(row, col) == colwise.scale(col, row); });
}

/// The same X with more rows below.
Points draw_taller() {
  Point point = any_point({Pattern::normal, Pattern::any_bits, Pattern::tile_specials, Pattern::nan_lanes});
  point.transpose = false;  // such a pattern depends on the number of rows
  Point taller = point;
  taller.shape.rows += *rc::gen::inRange<std::size_t>(1, 70);
  draw_extents(taller);
  return {point, taller};
}

/// What lies in rows that both have, and colwise in bands that end within them.
bool upper_part_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  return in_every_direction(a, [&](oracle::Direction direction) {
    const Cast shorter(a, from, direction), taller(b, to, direction);
    const bool rowwise = direction == oracle::Direction::rowwise;
    const std::size_t bands = a.shape.rows / oracle::block;
    return everywhere(rowwise ? a.shape.rows : bands * oracle::block, a.shape.cols,
                      [&](auto row, auto col) { return shorter.data(row, col) == taller.data(row, col); }) &&
           everywhere(rowwise ? a.shape.rows : bands, shorter.scale_cols(),
                      [&](auto row, auto col) { return shorter.scale(row, col) == taller.scale(row, col); });
  });
}

const std::vector<Pattern> telling_fills = {
    Pattern::normal,     Pattern::any_bits,      Pattern::subnormals,     Pattern::midpoints,
    Pattern::nan_counts, Pattern::tile_specials, Pattern::scale_extremes, Pattern::every_exponent};

/// The same X in both directions at once and in each alone.
Points draw_both_and_each() {
  const Point both = any_point_along(Direction::bidimensional, telling_fills);
  Point rowwise = both, colwise = both;
  rowwise.direction = Direction::rowwise;
  rowwise.colwise_data_offset = 0;
  colwise.direction = Direction::colwise;
  colwise.data_offset = 0;
  return {both, rowwise, colwise};
}

/// Byte for byte, padding included, on every route that ran all three.
Property both_is_each() {
  return {"bidimensional equals rowwise plus colwise",
          "one read gives in both directions the bytes that each direction gives alone", [](Bench& bench) {
            return Over::search(bench, draw_both_and_each, [&](const Points& points, std::size_t& compared) {
              Over::ByRoute both, rowwise, colwise;
              if (!Over::outputs_of(bench, points[0], both) || !Over::outputs_of(bench, points[1], rowwise) ||
                  !Over::outputs_of(bench, points[2], colwise))
                return false;
              return std::all_of(both.begin(), both.end(), [&](const auto& entry) {
                const auto& [route, outputs] = entry;
                if (rowwise.count(route) == 0 || colwise.count(route) == 0) return true;
                ++compared;
                Contents each = rowwise[route];
                each.insert(each.end(), colwise[route].begin(), colwise[route].end());
                return outputs == each;
              });
            });
          }};
}

/// The witness says which route dispatch chose; its bytes must be that route's.
Property dispatch_is_its_choice() {
  return {"dispatch equals the route it names",
          "dispatch gives the bytes of the route whose kernel it has to launch", [](Bench& bench) {
            const auto draw = [] { return Points{any_point(telling_fills)}; };
            return Over::search(bench, draw, [&](const Points& points, std::size_t& compared) {
              Over::ByRoute outputs;
              if (!Over::outputs_of(bench, points[0], outputs)) return false;
              if (outputs.count(dispatch_route) == 0) return true;
              for (const std::size_t route : {register_route, staged_route}) {
                if (expected_witness(points[0], route).launches !=
                    expected_witness(points[0], dispatch_route).launches)
                  continue;
                if (outputs.count(route) == 0) continue;
                ++compared;
                if (outputs[route] != outputs[dispatch_route]) return false;
              }
              return true;
            });
          }};
}

}  // namespace

std::vector<Property> cast_properties() {
  return {
      judged("zero", "blocks of zeros keep a finite scale and the sign of every zero", {Pattern::zeros}),
      judged("NaN and Inf",
             "a NaN or Inf in any lane acts as the special-block contract says, and on its blocks alone",
             {Pattern::nan_lanes, Pattern::inf_lanes, Pattern::nan_counts, Pattern::tile_specials,
              Pattern::any_bits}),
      judged("both fp8 formats",
             "e4m3 and e5m2 round once, to nearest even, at every midpoint and in the subnormal range",
             {Pattern::midpoints, Pattern::subnormals, Pattern::finite_bits}),
      judged("scale boundaries",
             "the scale byte is right beside every boundary of a rule, in every binade and at both ends",
             {Pattern::amax_mantissas, Pattern::scale_extremes, Pattern::every_exponent, Pattern::ramps}),
      judged("padded scale stride",
             "scales lie at the padded stride, and padding is left alone or zeroed as agreed",
             {Pattern::ramps, Pattern::normal}, draw_padded_extents),
      Over::relation("power-of-two equivariance", "X * 2^k has the same data and scale bytes k higher",
                     draw_scaled, scaled_alike),
      Over::relation("block independence", "rotating the blocks of X rotates the blocks of the output",
                     draw_rotated, rotated_alike),
      Over::relation("rowwise of X equals colwise of its transpose",
                     "the data of the transpose is the transposed data, and so are the scales",
                     draw_transposed, transposed_alike),
      Over::relation("rows below do not matter",
                     "more rows below X change no row above, and colwise no whole band", draw_taller,
                     upper_part_alike),
      both_is_each(),
      Over::routes_agree("production equals legacy",
                         "the register and the staged route give the same bytes under the same contracts",
                         [] { return any_point(telling_fills); }),
      dispatch_is_its_choice(),
  };
}

}  // namespace assay::properties::mxfp8_cast
