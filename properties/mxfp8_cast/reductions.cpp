// Smaller casts: rows and columns of X in whole blocks.
#include <algorithm>
#include <cstring>

#include "properties/gate/cuts.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

bool linear(const Point& point) { return point.contracts.layout == oracle::ScaleLayout::linear; }

/// The point without its source: contents are given.
Point without_source(Point point) {
  const Point defaults;
  point.source = defaults.source;
  point.fill = defaults.fill;
  point.seed = defaults.seed;
  point.transpose = defaults.transpose;
  point.exp = defaults.exp;
  point.rotate = defaults.rotate;
  point.reported.clear();
  point.on.clear();
  return point;
}

/// The point of some rows and columns; scale buffers keep as many rows and bytes of padding as they had.
Point point_of(const Point& whole, const Cut& rows, const Cut& cols) {
  Point point = without_source(whole);
  point.shape = {rows.size(), cols.size(), {}, {}};
  set_default_extents(point);
  if (!linear(point)) return point;
  for (const auto direction : point.directions()) {
    const oracle::ScaleExtent given = whole.shape.extent(direction), least = whole.shape.scales(direction);
    point.shape.extent(direction).rows += given.rows - least.rows;
    point.shape.extent(direction).stride += given.stride - least.stride;
  }
  return point;
}

/// Row and column of X, the first of its block, that an element of an output is made of.
struct Place {
  std::size_t row = 0, col = 0;
};

oracle::Direction direction_of(const Point& point, std::size_t output) {
  return point.directions().at(output / 2);
}

Place place_in_x(const Point& point, std::size_t output, std::size_t element) {
  const oracle::Shape& shape = point.shape;
  if (output % 2 == 0) return {element / shape.cols, element % shape.cols};
  const auto direction = direction_of(point, output);
  const oracle::ScaleMatrix matrix(shape, direction, point.contracts.layout);
  const auto scale = matrix.place(element);
  Place place;
  if (scale) {
    place = {scale->row, scale->col};
  } else if (linear(point)) {  // padding: the scale nearest to it
    const std::size_t stride = shape.extent(direction).stride;
    place = {std::min(element / stride, matrix.rows() - 1), std::min(element % stride, matrix.cols() - 1)};
  }
  (direction == oracle::Direction::rowwise ? place.col : place.row) *= oracle::block;
  return place;
}

/// Where the element is in the smaller case; 0 for padding of swizzled scales, which has no counterpart.
std::size_t moved_element(const Point& whole, const Point& part, const Cut& rows, const Cut& cols,
                          std::size_t output, std::size_t element) {
  if (output % 2 == 0) {
    const std::size_t width = whole.shape.cols;
    return (element / width - rows.begin) * cols.size() + (element % width - cols.begin);
  }
  const auto direction = direction_of(whole, output);
  const bool rowwise = direction == oracle::Direction::rowwise;
  const Cut scale_rows = rowwise ? rows : Cut{rows.begin / oracle::block, 0};
  const Cut scale_cols = rowwise ? Cut{cols.begin / oracle::block, 0} : cols;
  const oracle::ScaleMatrix from(whole.shape, direction, whole.contracts.layout),
      to(part.shape, direction, part.contracts.layout);
  if (const auto place = from.place(element))
    return to.index(place->row - scale_rows.begin, place->col - scale_cols.begin);
  if (!linear(whole)) return 0;
  const std::size_t stride = whole.shape.extent(direction).stride;
  const auto moved_to = [](std::size_t at, std::size_t data, std::size_t begin, std::size_t kept) {
    return moved(at, data, {begin, begin + kept});
  };
  return moved_to(element / stride, from.rows(), scale_rows.begin, to.rows()) *
             part.shape.extent(direction).stride +
         moved_to(element % stride, from.cols(), scale_cols.begin, to.cols());
}

/// The same case without one of the things that are special about its buffers.
std::vector<Point> plainer(const Point& point) {
  Plainer<Point> plain(without_source(point));
  plain.add([](Point& other) { other.offset = 0; });
  plain.add([](Point& other) { other.data_offset = 0; });
  plain.add([](Point& other) { other.colwise_data_offset = 0; });
  if (!linear(point)) return std::move(plain.points);
  for (const auto direction : point.directions()) {
    const oracle::ScaleExtent least = point.shape.scales(direction);
    plain.add([&](Point& other) { other.shape.extent(direction).rows = least.rows; });
    plain.add([&](Point& other) { other.shape.extent(direction).stride = least.stride; });
  }
  return std::move(plain.points);
}

/// Where an element of a scale buffer comes to lie when only the padding changes; 0 where it was padding.
std::size_t element_in_plainer(const Point& whole, const Point& part, std::size_t output,
                               std::size_t element) {
  if (output % 2 == 0) return element;
  const auto direction = direction_of(whole, output);
  const oracle::ScaleMatrix from(whole.shape, direction, whole.contracts.layout),
      to(part.shape, direction, part.contracts.layout);
  const auto place = from.place(element);
  return place ? to.index(place->row, place->col) : 0;
}

}  // namespace

std::vector<Reduction> CastWorkload::reductions(std::size_t output, std::size_t element) const {
  const oracle::Shape& shape = point_.shape;
  const Place place = place_in_x(point_, output, element);
  // A colwise block that loses rows is another block.
  const std::size_t rows_together = point_.has(oracle::Direction::colwise) ? oracle::block : 1;
  std::vector<Reduction> reductions;
  for (const auto& box : boxes({cuts_around(place.row, shape.rows, rows_together),
                                cuts_around(place.col, shape.cols, oracle::block)})) {
    const Cut rows = box[0], cols = box[1];
    const Point point = point_of(point_, rows, cols);
    const auto given = [this, rows, cols] {
      const std::size_t bytes = x_bytes(point_) / (point_.shape.rows * point_.shape.cols);
      std::vector<std::byte> x(rows.size() * cols.size() * bytes);
      for (std::size_t r = 0; r < rows.size(); ++r)
        std::memcpy(x.data() + r * cols.size() * bytes,
                    x_.data() + ((rows.begin + r) * point_.shape.cols + cols.begin) * bytes,
                    cols.size() * bytes);
      return Contents{std::move(x)};
    };
    reductions.push_back({print(point), given, moved_element(point_, point, rows, cols, output, element)});
  }
  for (const Point& point : plainer(point_))
    reductions.push_back({print(point),
                          [this] {
                            return Contents{{x_.begin(), x_.end()}};
                          },
                          element_in_plainer(point_, point, output, element)});
  return reductions;
}

}  // namespace assay::properties::mxfp8_cast
