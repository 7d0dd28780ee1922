// Smaller products: rows of A, columns of the weights, and parts of K in whole blocks.
#include <algorithm>
#include <cstring>

#include "properties/gate/cuts.hpp"
#include "properties/matmul_nbits/workload.hpp"

namespace assay::properties::matmul_nbits {
namespace {

/// The point without its source: contents are given.
Point without_source(Point point) {
  const Point defaults;
  point.padding = defaults.padding;
  point.source = defaults.source;
  point.pattern = defaults.pattern;
  point.first_row = defaults.first_row;
  point.turn = defaults.turn;
  point.exponent = defaults.exponent;
  point.from_bits = defaults.from_bits;
  point.seed = defaults.seed;
  point.reported.clear();
  point.on.clear();
  return point;
}

struct Box {
  Cut m, n, k;  ///< k from the beginning of a block on
};

Point point_of(const Point& whole, const Box& box) {
  Point point = without_source(whole);
  point.shape.m = box.m.size();
  point.shape.n = box.n.size();
  point.shape.k = box.k.size();
  return point;
}

/// Lines [lines) of a row-major matrix whose lines are `line` bytes long, of each the bytes [bytes).
std::vector<std::byte> part_of(std::span<const std::byte> matrix, std::size_t line, const Cut& lines,
                               const Cut& bytes) {
  std::vector<std::byte> part(lines.size() * bytes.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::memcpy(part.data() + i * bytes.size(), matrix.data() + (lines.begin + i) * line + bytes.begin,
                bytes.size());
  return part;
}

Cut times(const Cut& cut, std::size_t factor) { return {cut.begin * factor, cut.end * factor}; }

/// Zero points share bytes, so that a cut at an odd block moves them within theirs. Unused bits behind the
/// last block of a row hold what they held, as far as there were as many.
std::vector<std::byte> zero_points_of(const oracle::Shape& from, std::span<const std::byte> packed,
                                      const oracle::Shape& to, const Cut& columns, const Cut& blocks) {
  const std::size_t bits = from.bits, line = to.zero_point_row_bytes();
  const std::size_t slots = line * 8 / bits, slots_before = from.zero_point_row_bytes() * 8 / bits;
  std::vector<std::byte> part(columns.size() * line);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const std::size_t at = origin(slot, from.blocks(), blocks);
      if (at >= slots_before) continue;
      fixture::set_packed_code(
          part, line, bits, column, slot,
          fixture::packed_code(packed, from.zero_point_row_bytes(), bits, columns.begin + column, at));
    }
  }
  return part;
}

/// In the order of given().
Contents contents_of(const MatmulWorkload& workload, const Point& point, const Box& box) {
  const Point& whole = workload.point();
  const fixture::Operands& operands = workload.operands();
  const oracle::Shape &from = whole.shape, &to = point.shape;
  const std::size_t width = element_width(whole), block_bytes = from.block * from.bits / 8;
  const Cut blocks{box.k.begin / from.block, (box.k.end + from.block - 1) / from.block};
  Contents contents;
  contents.push_back(part_of(operands.a, from.k * width, box.m, times(box.k, width)));
  contents.push_back(part_of(operands.b, from.row_bytes(), box.n, times(blocks, block_bytes)));
  contents.push_back(part_of(operands.scales, from.blocks() * width, box.n, times(blocks, width)));
  if (whole.zero_points) contents.push_back(zero_points_of(from, operands.zero_points, to, box.n, blocks));
  if (whole.bias) contents.push_back(part_of(operands.bias, width, box.n, {0, width}));
  if (whole.interleaved) contents[1] = interleaved(contents[1]);
  return contents;
}

/// The same case without one of the things that are special about its buffers.
std::vector<Point> plainer(const Point& point) {
  Plainer<Point> plain(without_source(point));
  const Point defaults;
  plain.add([&](Point& other) { other.a_alignment = defaults.a_alignment; });
  plain.add([&](Point& other) { other.b_alignment = defaults.b_alignment; });
  plain.add([&](Point& other) { other.scale_alignment = defaults.scale_alignment; });
  plain.add([&](Point& other) { other.y_alignment = defaults.y_alignment; });
  plain.add([&](Point& other) { other.prefetch = defaults.prefetch; });
  return std::move(plain.points);
}

/// Parts of K from both ends: which of its terms a sum goes wrong by is not known. The whole last.
std::vector<Cut> parts_of_k(const oracle::Shape& shape) {
  std::vector<Cut> parts = cuts_around(0, shape.k, shape.block);
  const std::vector<Cut> behind = cuts_around(shape.k - 1, shape.k, shape.block);
  parts.insert(parts.end(), behind.begin(), behind.end());
  sort_by_size(parts);
  return parts;
}

/// The row, a pair of rows, all: faults of rows are of the first, of those behind it, or of any.
std::vector<Cut> parts_of_m(const oracle::Shape& shape, std::size_t row) {
  const std::size_t pair = row / 2 * 2;
  std::vector<Cut> parts = {{row, row + 1}, {pair, std::min(pair + 2, shape.m)}, {0, row + 1}, {0, shape.m}};
  sort_by_size(parts);
  return parts;
}

}  // namespace

std::vector<Reduction> MatmulWorkload::reductions(std::size_t, std::size_t element) const {
  const oracle::Shape& shape = point_.shape;
  const std::size_t row = element / shape.n, col = element % shape.n;
  std::vector<Reduction> reductions;
  const auto add = [&](const Point& point, const Box& box) {
    reductions.push_back({print(point), [this, point, box] { return contents_of(*this, point, box); },
                          (row - box.m.begin) * box.n.size() + (col - box.n.begin)});
  };
  // Some of many sums of few terms go wrong by a fault of rounding, where the one sum that is left of them
  // would not: columns and terms are cut together.
  for (const auto& box : boxes({parts_of_m(shape, row), cuts_around(col, shape.n, 1), parts_of_k(shape)})) {
    const Box part{box[0], box[1], box[2]};
    add(point_of(point_, part), part);
  }
  const Box whole{{0, shape.m}, {0, shape.n}, {0, shape.k}};
  for (const Point& point : plainer(point_)) add(point, whole);
  return reductions;
}

}  // namespace assay::properties::matmul_nbits
