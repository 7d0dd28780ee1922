// Smaller dequantisations: rows and columns in whole blocks, with the padding of their scales.
#include <algorithm>
#include <cstring>

#include "properties/gate/cuts.hpp"
#include "properties/mxfp8_dequant/workload.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

bool linear(const Point& point) { return point.shape.layout == oracle::ScaleLayout::linear; }
bool rowwise(const Point& point) { return point.shape.direction == oracle::Direction::rowwise; }

/// The point without its source: contents are given.
Point without_source(Point point) {
  const Point defaults;
  point.pad = defaults.pad;
  point.source = defaults.source;
  point.data = defaults.data;
  point.scales = defaults.scales;
  point.exp = defaults.exp;
  point.transpose = defaults.transpose;
  point.fill = defaults.fill;
  point.input = defaults.input;
  point.rule = defaults.rule;
  point.seed = defaults.seed;
  point.on.clear();
  return point;
}

/// The point of some rows and columns; a linear scale buffer keeps as many rows and bytes of padding as it
/// had.
Point point_of(const Point& whole, const Cut& rows, const Cut& cols) {
  Point point = without_source(whole);
  point.shape.rows = rows.size();
  point.shape.cols = cols.size();
  set_scale_extents(point.shape, whole.shape.scale_rows - whole.shape.least_scale_rows(),
                    whole.shape.scale_stride - whole.shape.least_scale_stride());
  return point;
}

/// The blocks of some elements along one dimension.
Cut blocks_of(const Cut& elements, bool along_blocks) {
  if (!along_blocks) return elements;
  return {elements.begin / oracle::block, (elements.end + oracle::block - 1) / oracle::block};
}

/// The scale buffer of the smaller case. Padding holds what it held, as far as both buffers have it at the
/// same place; of swizzled scales any byte of the larger one's padding, in turn.
std::vector<std::byte> scales_of(const Point& whole, std::span<const std::byte> scales, const Point& part,
                                 const Cut& rows, const Cut& cols) {
  const Cut block_rows = blocks_of(rows, !rowwise(whole)), block_cols = blocks_of(cols, rowwise(whole));
  const oracle::ScaleMatrix from = whole.shape.scale_matrix(), to = part.shape.scale_matrix();
  std::vector<std::byte> padding;
  for (std::size_t i = 0; !linear(whole) && i < scales.size(); ++i) {
    if (!from.place(i)) padding.push_back(scales[i]);
  }
  std::vector<std::byte> result(part.shape.scale_rows * part.shape.scale_stride);
  std::size_t used = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (const auto place = to.place(i)) {
      result[i] = scales[from.index(block_rows.begin + place->row, block_cols.begin + place->col)];
    } else if (linear(whole)) {
      const std::size_t row = i / part.shape.scale_stride, col = i % part.shape.scale_stride;
      result[i] = scales[origin(row, from.rows(), block_rows) * whole.shape.scale_stride +
                         origin(col, from.cols(), block_cols)];
    } else if (!padding.empty()) {
      result[i] = padding[used++ % padding.size()];
    }
  }
  return result;
}

/// The same case without one of the things that are special about its buffers.
std::vector<Point> plainer(const Point& point) {
  Plainer<Point> plain(without_source(point));
  const Point defaults;
  plain.add([&](Point& other) { other.data_alignment = defaults.data_alignment; });
  plain.add([&](Point& other) { other.y_alignment = defaults.y_alignment; });
  plain.add([&](Point& other) { other.scale_alignment = defaults.scale_alignment; });
  plain.add([&](Point& other) { other.shape.scale_rows = other.shape.least_scale_rows(); });
  plain.add([&](Point& other) { other.shape.scale_stride = other.shape.least_scale_stride(); });
  return std::move(plain.points);
}

}  // namespace

std::vector<Reduction> DequantWorkload::reductions(std::size_t, std::size_t element) const {
  const oracle::Shape& shape = point_.shape;
  const std::size_t row = element / shape.cols, col = element % shape.cols;
  const auto contents = [this](const Point& point, const Cut& rows, const Cut& cols) {
    std::vector<std::byte> data(rows.size() * cols.size());
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::memcpy(data.data() + r * cols.size(),
                  codes_.data.data() + (rows.begin + r) * point_.shape.cols + cols.begin, cols.size());
    return Contents{std::move(data), scales_of(point_, scales_, point, rows, cols)};
  };
  std::vector<Reduction> reductions;
  for (const auto& box : boxes({cuts_around(row, shape.rows, rowwise(point_) ? 1 : oracle::block),
                                cuts_around(col, shape.cols, rowwise(point_) ? oracle::block : 1)})) {
    const Cut rows = box[0], cols = box[1];
    const Point point = point_of(point_, rows, cols);
    reductions.push_back({print(point), [=] { return contents(point, rows, cols); },
                          (row - rows.begin) * cols.size() + (col - cols.begin)});
  }
  const Cut rows{0, shape.rows}, cols{0, shape.cols};
  for (const Point& point : plainer(point_))
    reductions.push_back({print(point), [=] { return contents(point, rows, cols); }, element});
  return reductions;
}

}  // namespace assay::properties::mxfp8_dequant
