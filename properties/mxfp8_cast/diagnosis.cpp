#include "properties/mxfp8_cast/diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <unordered_set>

#include "properties/comparator/comparator.hpp"
#include "properties/gate/threads.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using oracle::Misplacement;
using oracle::ScaleMatrix;

struct NamedFault {
  oracle::Fault fault;
  std::string_view pattern, detail;
};
constexpr NamedFault named_faults[] = {
    {oracle::Fault::element_truncated, "truncation",
     "every element is the exact quotient rounded toward zero"},
    {oracle::Fault::element_ties_away, "ties away from zero", "ties are rounded away from zero, not to even"},
    {oracle::Fault::element_through_fp16, "double rounding", "elements were rounded to fp16 and then to fp8"},
    {oracle::Fault::element_overflow_to_nan, "overflow to NaN",
     "magnitudes over the largest finite code became NaN or Inf"},
    {oracle::Fault::element_subnormal_flushed, "subnormal flushed",
     "elements in the subnormal range became zero"},
    {oracle::Fault::element_zero_sign_lost, "sign of zero lost", "-0 became +0"},
    {oracle::Fault::nan_dropped_by_max, "NaN dropped by max",
     "the block's amax is that of its other elements"},
    {oracle::Fault::last_left_out_of_amax, "last element left out of amax",
     "the block's amax is that of all its elements but the last"},
    {oracle::Fault::scale_one_up, "scale off by one", "every scale byte is one higher, the data to match"},
    {oracle::Fault::scale_one_down, "scale off by one", "every scale byte is one lower, the data to match"},
    {oracle::Fault::scale_from_divided_amax, "exponent taken after the division",
     "the scale is that of floor(log2(amax / max))"},
    {oracle::Fault::scale_exact_power_doubled, "exact power of two doubled",
     "the exponent came from a frexp-like rounding up"},
    {oracle::Fault::reciprocal_254_flushed, "reciprocal of 254 flushed",
     "2^-127 is subnormal in fp32 and was taken as zero"},
    {oracle::Fault::reciprocal_0_is_one, "reciprocal of 0 taken as 1", "scale byte 0 means 2^-127"},
    {oracle::Fault::zero_block_nan, "zero block divided by zero", "a block of zeros became NaN"},
};

/// The place of scales that a misplacement explains, in words.
Diagnosis describe(Misplacement how, const Point& point, oracle::Direction direction) {
  const oracle::ScaleExtent extent = point.shape.extent(direction), scales = point.shape.scales(direction);
  switch (how) {
    case Misplacement::logical_stride:
      return {"logical stride",
              fmt::format("rows of scales lie {} apart, as if the row stride of {} were their count",
                          scales.stride, extent.stride)};
    case Misplacement::transposed:
      return {"scales transposed",
              fmt::format("the {} x {} scales lie column by column", scales.rows, scales.stride)};
    case Misplacement::not_swizzled:
      return {"swizzle ignored", fmt::format("the scales lie row by row, {} apart", extent.stride)};
    case Misplacement::groups_transposed:
      return {"swizzle transposed",
              "within a tile, the groups of 32 and the blocks have changed places: (i%128)/32 and j%4"};
    case Misplacement::axes_swapped:
      return {"swizzle transposed", "i and j have changed places in the swizzle"};
  }
  assert(false && "unknown misplacement");
  return {};
}

/// Whether the scales stand where the misplacement puts them, as far as that is in the buffer. Where the
/// kernel zeroes padding, it may have zeroed some of them since.
bool explains(Misplacement how, const ScaleMatrix& matrix, bool zeroed, const DirectionOutput& output) {
  if (!matrix.can_show(how)) return false;
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::size_t col = 0; col < matrix.cols(); ++col) {
      const std::size_t at = matrix.misplaced(how, row, col);
      if (at >= output.scales.size()) continue;
      if (zeroed && output.scales[at] == std::byte{0} && !matrix.place(at)) continue;
      if (output.scales[at] != output.expected_scales.lo[matrix.index(row, col)]) return false;
    }
  }
  return true;
}

/// The data of 32 rows, from a multiple of 32 on, as a problem of their own: no block crosses into them, so
/// what explains the data of the whole output explains theirs.
class Band {
 public:
  /// The band of that element.
  Band(const Point& point, std::span<const std::byte> x, const DirectionOutput& output, std::size_t element)
      : point_(point), contracts_(point.contracts) {
    const std::size_t cols = point.shape.cols, begin = element / cols / oracle::block * oracle::block;
    shape_.rows = std::min(point.shape.rows - begin, oracle::block);
    shape_.cols = cols;
    contracts_.layout = oracle::ScaleLayout::linear;
    const auto width = static_cast<std::size_t>(formats::storage_bytes(point.input));
    x_ = x.subspan(begin * cols * width, shape_.rows * cols * width);
    data_ = output.data.subspan(begin * cols, shape_.rows * cols);
    before_ = output.data_before.subspan(begin * cols, shape_.rows * cols);
  }

  bool has(oracle::Direction direction, oracle::Fault fault) const {
    oracle::Shape shape = shape_;
    shape.extent(direction) = shape.scales(direction);
    const auto faulty = oracle::accept(point_.input, x_, shape, direction, contracts_, fault);
    return compare(faulty.data, data_, before_).passed();
  }

 private:
  const Point& point_;
  oracle::Contracts contracts_;
  oracle::Shape shape_;
  std::span<const std::byte> x_, data_, before_;
};

/// Whether the data, not right, is that of a cast along the other dimension; its scales may be anything.
bool quantised_along_the_other_dimension(const Point& point, std::span<const std::byte> x,
                                         oracle::Direction direction, const DirectionOutput& output,
                                         const Band& band) {
  const auto other =
      direction == oracle::Direction::rowwise ? oracle::Direction::colwise : oracle::Direction::rowwise;
  if (!band.has(other, oracle::Fault::none)) return false;
  oracle::Shape shape = point.shape;
  oracle::Contracts contracts = point.contracts;
  contracts.layout = oracle::ScaleLayout::linear;
  shape.extent(other) = shape.scales(other);
  const auto expected = oracle::accept(point.input, x, shape, other, contracts, oracle::Fault::none,
                                       threads_for(shape.rows * shape.cols));
  return compare(expected.data, output.data, output.data_before).passed();
}

/// The data of the 32 x 32 tile (band, column) as a string of its bytes; shorter at the bottom.
std::string tile_of(const Point& point, std::span<const std::byte> data, std::size_t band,
                    std::size_t column) {
  std::string tile;
  const std::size_t last = std::min((band + 1) * oracle::block, point.shape.rows);
  for (std::size_t row = band * oracle::block; row < last; ++row) {
    const auto* first = data.data() + row * point.shape.cols + column * oracle::block;
    tile.append(reinterpret_cast<const char*>(first), oracle::block);
  }
  return tile;
}

/// How many 32 x 32 tiles of data are wrong, if each holds what is right for some other tile; else 0.
std::size_t displaced_tiles(const Point& point, const DirectionOutput& output) {
  const std::size_t bands = point.shape.bands(), columns = point.shape.blocks_per_row();
  std::unordered_set<std::string> right;
  for (std::size_t band = 0; band < bands; ++band) {
    for (std::size_t column = 0; column < columns; ++column)
      right.insert(tile_of(point, output.expected_data.lo, band, column));
  }
  std::size_t wrong = 0;
  for (std::size_t band = 0; band < bands; ++band) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::string tile = tile_of(point, output.data, band, column);
      if (tile == tile_of(point, output.expected_data.lo, band, column)) continue;
      if (right.count(tile) == 0) return 0;
      ++wrong;
    }
  }
  return wrong;
}

/// When every wrong scale is a neighbour of the right one, how many there are; else 0.
std::size_t scales_off_by_one(const std::vector<std::size_t>& wrong, const DirectionOutput& output) {
  const auto differs_by_one = [&](std::size_t i) {
    const int difference =
        std::to_integer<int>(output.scales[i]) - std::to_integer<int>(output.expected_scales.lo[i]);
    return difference == 1 || difference == -1;
  };
  return std::all_of(wrong.begin(), wrong.end(), differs_by_one) ? wrong.size() : 0;
}

}  // namespace

std::vector<Diagnosis> diagnose(const Point& point, std::span<const std::byte> x, oracle::Direction direction,
                                const DirectionOutput& output) {
  std::vector<Diagnosis> found;
  const auto wrong_scales = mismatching(output.expected_scales, output.scales, output.scales_before);
  const Comparison data = compare(output.expected_data, output.data, output.data_before, 1);
  const bool data_right = data.passed();
  if (data_right && wrong_scales.empty()) return found;

  const ScaleMatrix matrix(point.shape, direction, point.contracts.layout);
  const bool zeroed = point.contracts.padding == oracle::Padding::zero;
  for (std::size_t i = 0; i < oracle::misplacements && !wrong_scales.empty(); ++i) {
    const auto how = static_cast<Misplacement>(i);
    if (explains(how, matrix, zeroed, output)) found.push_back(describe(how, point, direction));
  }
  const Band band(point, x, output, data.first.empty() ? 0 : data.first[0].index);
  if (!data_right && quantised_along_the_other_dimension(point, x, direction, output, band)) {
    found.push_back({"blocks along the wrong dimension",
                     "the data is that of blocks of 32 along the other dimension of X"});
  }
  for (const NamedFault& named : named_faults) {
    if (!band.has(direction, named.fault)) continue;
    const auto faulty = oracle::accept(point.input, x, point.shape, direction, point.contracts, named.fault,
                                       threads_for(point.shape.rows * point.shape.cols));
    if (compare(faulty.data, output.data, output.data_before).passed() &&
        compare(faulty.scales, output.scales, output.scales_before).passed()) {
      found.push_back({std::string(named.pattern), std::string(named.detail)});
    }
  }
  if (!found.empty()) return found;
  // No single fault gives all of these bits; say at least what they have in common.
  if (const std::size_t tiles = data_right ? 0 : displaced_tiles(point, output)) {
    found.push_back(
        {"tile of another place", fmt::format("{} tiles of 32 x 32 hold the data of other tiles", tiles)});
  }
  if (const std::size_t scales = scales_off_by_one(wrong_scales, output)) {
    found.push_back(
        {"scale off by one", fmt::format("{} scale bytes are a neighbour of the right one", scales)});
  }
  return found;
}

}  // namespace assay::properties::mxfp8_cast
