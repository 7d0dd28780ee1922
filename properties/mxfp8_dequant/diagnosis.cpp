#include "properties/mxfp8_dequant/diagnosis.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "properties/comparator/comparator.hpp"
#include "properties/gate/threads.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

struct NamedFault {
  oracle::Fault fault;
  std::string_view pattern, detail;
};
constexpr NamedFault named_faults[] = {
    {oracle::Fault::scale_0_flushed, "scale 0 flushed",
     "the subnormal scale 2^-127 of code 0 was taken as zero"},
    {oracle::Fault::scale_0_is_one, "scale 0 taken as 1", "scale code 0 was taken as 1.0 in place of 2^-127"},
    {oracle::Fault::scale_254_infinite, "scale 254 taken as Inf", "scale code 254 is 2^127, not Inf"},
    {oracle::Fault::scale_254_flushed, "scale 254 flushed", "scale code 254 was taken as zero"},
    {oracle::Fault::scale_255_infinite, "scale 255 taken as Inf",
     "scale code 255 is NaN, and was read as the fp32 exponent of Inf"},
    {oracle::Fault::scale_255_power, "scale 255 taken as a number", "scale code 255 was taken as 2^128"},
    {oracle::Fault::scale_one_up, "scale off by one", "every product is one binade too high"},
    {oracle::Fault::scale_one_down, "scale off by one", "every product is one binade too low"},
    {oracle::Fault::element_specials_as_numbers, "NaN or Inf decoded as a number",
     "data codes of NaN and Inf were decoded as if their exponent were an ordinary one"},
    {oracle::Fault::element_subnormal_flushed, "subnormal flushed",
     "subnormal data codes were taken as zero"},
    {oracle::Fault::element_pairs_swapped, "pairs swapped",
     "the two elements of every pair within a row changed places"},
    {oracle::Fault::product_sign_of_zero_lost, "sign of zero lost", "negative zeros became positive"},
    {oracle::Fault::product_subnormal_flushed, "subnormal output flushed",
     "outputs in the output format's subnormal range became zero"},
    {oracle::Fault::product_truncated, "truncation", "products were rounded toward zero"},
    {oracle::Fault::product_overflow_saturated, "overflow saturated",
     "products beyond the output format became its largest finite value, not Inf"},
    {oracle::Fault::product_through_fp16, "double rounding", "products were rounded to fp16 on their way"},
    {oracle::Fault::last_partial_block_stale, "last partial block dropped",
     "the elements of blocks that hold fewer than 32 were not written"},
};

struct NamedMisplacement {
  oracle::Misplacement how;
  std::string_view pattern, detail;
};
constexpr NamedMisplacement named_misplacements[] = {
    {oracle::Misplacement::logical_stride, "logical stride",
     "scales were read as if the row stride of their buffer were the block count"},
    {oracle::Misplacement::transposed, "scales transposed", "scales were read column by column"},
    {oracle::Misplacement::not_swizzled, "swizzle ignored",
     "a swizzled scale buffer was read as if it were linear"},
    {oracle::Misplacement::groups_transposed, "swizzle transposed",
     "within a tile, the groups of 32 and the blocks changed places: (i%128)/32 and j%4"},
    {oracle::Misplacement::axes_swapped, "swizzle transposed", "i and j changed places in the swizzle"},
};
static_assert(std::size(named_misplacements) == oracle::misplacements);

/// 32 rows in which something is wrong, from a multiple of 32 on, as a problem of their own: no block crosses
/// into them, so a fault that gives the whole output gives theirs.
class Band {
 public:
  Band(const Point& point, const Codes& codes, const Output& output) : shape_(point.shape) {
    const std::size_t rows = point.shape.rows, cols = point.shape.cols;
    const auto wrong = compare(output.expected, output.actual, output.before, 1).first;
    const std::size_t begin = wrong.empty() ? 0 : wrong[0].index / cols / oracle::block * oracle::block;
    shape_.rows = std::min(rows - begin, oracle::block);
    shape_.layout = oracle::ScaleLayout::linear;
    shape_.scale_rows = shape_.block_rows();
    shape_.scale_stride = shape_.block_cols();
    const std::size_t first_block = point.shape.direction == oracle::Direction::rowwise ? begin : begin / 32;
    data_ = codes.data.subspan(begin * cols, shape_.rows * cols);
    scales_ = std::span(codes.scales)
                  .subspan(first_block * shape_.scale_stride, shape_.scale_rows * shape_.scale_stride);
    const auto width = static_cast<std::size_t>(formats::storage_bytes(output.expected.format));
    actual_ = output.actual.subspan(begin * cols * width, shape_.rows * cols * width);
    before_ = output.before.subspan(begin * cols * width, shape_.rows * cols * width);
  }

  bool has(const oracle::Contracts& contracts, oracle::Fault fault) const {
    return compare(oracle::accept(data_, scales_, shape_, contracts, fault), actual_, before_).passed();
  }

 private:
  oracle::Shape shape_;
  std::span<const std::byte> data_, scales_, actual_, before_;
};

}  // namespace

std::vector<Diagnosis> diagnose(const Point& point, const Codes& codes,
                                std::span<const std::byte> scale_buffer, const Output& output) {
  std::vector<Diagnosis> found;
  const Band band(point, codes, output);
  const unsigned threads = threads_for(codes.data.size());
  for (const NamedFault& named : named_faults) {
    if (!band.has(point.contracts, named.fault)) continue;
    const auto faulty =
        oracle::accept(codes.data, scale_buffer, point.shape, point.contracts, named.fault, threads);
    if (compare(faulty, output.actual, output.before).passed())
      found.push_back({std::string(named.pattern), std::string(named.detail)});
  }
  const oracle::ScaleMatrix matrix = point.shape.scale_matrix();
  for (const NamedMisplacement& named : named_misplacements) {
    if (!matrix.can_show(named.how)) continue;
    const auto faulty =
        oracle::accept_misplaced(codes.data, scale_buffer, point.shape, point.contracts, named.how);
    if (compare(faulty, output.actual, output.before).passed())
      found.push_back({std::string(named.pattern), std::string(named.detail)});
  }
  return found;
}

}  // namespace assay::properties::mxfp8_dequant
