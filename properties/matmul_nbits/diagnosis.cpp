#include "properties/matmul_nbits/diagnosis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "properties/comparator/comparator.hpp"

namespace assay::properties::matmul_nbits {
namespace {

struct NamedFault {
  oracle::Fault fault;
  std::string_view pattern, detail;
};
constexpr NamedFault named_faults[] = {
    {oracle::Fault::nibbles_swapped, "nibbles swapped", "the odd code of a byte was taken from its low bits"},
    {oracle::Fault::code_off_by_one, "codes off by one", "every code was taken one too low"},
    {oracle::Fault::codes_signed, "codes taken as signed",
     "codes were read as two's complement, without zero points"},
    {oracle::Fault::zero_point_ignored, "zero point ignored", "no zero point was subtracted"},
    {oracle::Fault::zero_point_default, "zero point left at its default",
     "2^(bits - 1) was subtracted though zero points are given"},
    {oracle::Fault::zero_points_swapped, "zero points swapped", "two blocks exchanged their zero points"},
    {oracle::Fault::zero_points_not_padded, "zero point rows without padding",
     "zero points were indexed as column * blocks + block, as if no row ended in unused bits"},
    {oracle::Fault::row_stride_without_padding, "weight rows without padding",
     "the weights of a column were taken to begin k * bits / 8 bytes after those before it"},
    {oracle::Fault::scale_of_next_block, "scale of the next block",
     "weights were multiplied by the scale of the block after theirs"},
    {oracle::Fault::scales_transposed, "scales transposed", "scales were read column by column"},
    {oracle::Fault::scale_ignored, "scale ignored", "every scale was taken as 1"},
    {oracle::Fault::tail_dropped, "tail dropped",
     "the elements of the last block, or group of 8, that K cuts off are missing from the sum"},
    {oracle::Fault::last_block_dropped, "last block dropped", "the last block is missing from the sum"},
    {oracle::Fault::last_split_dropped, "last slice dropped",
     "the partial sum of the last slice of K is missing"},
    {oracle::Fault::splits_stop_early, "first slice alone",
     "the partial sums of all slices of K but the first are missing"},
    {oracle::Fault::bias_dropped, "bias dropped", "the bias was not added"},
    {oracle::Fault::bias_twice_for_once, "bias rounded otherwise",
     "the bias was added as the other contract of bias= has it"},
    {oracle::Fault::direct_rounding, "stored without fp16",
     "the sum was rounded to bf16 alone, not to fp16 first, as staging does"},
    {oracle::Fault::truncated, "truncation", "the last rounding went toward zero"},
    {oracle::Fault::saturated, "overflow saturated",
     "sums beyond fp16 became its largest finite value, not Inf"},
    {oracle::Fault::subnormals_flushed, "subnormal flushed", "results in fp16's subnormal range became zero"},
    {oracle::Fault::zero_hoisted, "zero point hoisted",
     "weights were formed as q * scale - z * scale, whose terms overflow where (q - z) * scale does not"},
    {oracle::Fault::weights_not_rounded, "weights not rounded",
     "products were formed of weights that had not been rounded to fp16"},
    {oracle::Fault::accumulated_in_fp32, "accumulated in fp32", "the sums of a lane were kept in fp32"},
    {oracle::Fault::other_pairs, "other pairs",
     "elements were paired as the other schedule has them, (2p, 2p+1) for (p, p+4) or the reverse"},
};
static_assert(std::size(named_faults) == oracle::fault_count);

/// Judges single rows and columns of Y as the comparator would.
class Elements {
 public:
  Elements(const Point& point, const arithmetic::Acceptance& right, std::span<const std::byte> actual,
           std::span<const std::byte> before)
      : n_(point.shape.n),
        m_(point.shape.m),
        width_(element_width(point)),
        right_(right),
        actual_(actual),
        before_(before),
        wrong_(m_ * n_) {
    for (const std::size_t i : mismatching(right, actual, before)) wrong_[i] = true;
  }

  std::size_t rows() const { return m_; }
  std::size_t cols() const { return n_; }
  bool right(std::size_t row, std::size_t col) const { return !wrong_[row * n_ + col]; }
  bool unwritten(std::size_t row, std::size_t col) const {
    const std::size_t at = (row * n_ + col) * width_;
    return std::equal(actual_.begin() + static_cast<std::ptrdiff_t>(at),
                      actual_.begin() + static_cast<std::ptrdiff_t>(at + width_),
                      before_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// Whether the element holds what is right for another place.
  bool holds(std::size_t row, std::size_t col, std::size_t from_row, std::size_t from_col) const {
    return compare_window(right_, from_row * n_ + from_col,
                          actual_.subspan((row * n_ + col) * width_, width_), before_, 0)
        .passed();
  }
  bool row_right(std::size_t row) const {
    for (std::size_t col = 0; col < n_; ++col)
      if (!right(row, col)) return false;
    return true;
  }

 private:
  std::size_t n_, m_, width_;
  const arithmetic::Acceptance& right_;
  std::span<const std::byte> actual_, before_;
  std::vector<bool> wrong_;
};

/// Every wrong element is +0 where -0 is right.
bool sign_of_zero_lost(const Point& point, const arithmetic::Acceptance& right,
                       std::span<const std::byte> actual, std::span<const std::byte> before) {
  const std::size_t width = element_width(point);
  std::vector<std::byte> negative(actual.begin(), actual.end());
  for (const std::size_t i : mismatching(right, actual, before)) {
    const auto element = std::span(negative).subspan(i * width, width);
    if (std::ranges::any_of(element, [](std::byte byte) { return byte != std::byte{0}; })) return false;
    element.back() = std::byte{0x80};
  }
  return compare(right, negative, before, 0).passed();
}

/// Row 0 is right and every later row holds what was there before.
bool later_rows_stale(const Elements& y) {
  if (y.rows() < 2 || !y.row_right(0)) return false;
  for (std::size_t row = 1; row < y.rows(); ++row)
    for (std::size_t col = 0; col < y.cols(); ++col)
      if (!y.unwritten(row, col)) return false;
  return true;
}

/// Every row holds what is right for row 0, and some row is wrong.
bool first_row_repeated(const Elements& y) {
  if (y.rows() < 2) return false;
  for (std::size_t row = 0; row < y.rows(); ++row)
    for (std::size_t col = 0; col < y.cols(); ++col)
      if (!y.holds(row, col, 0, col)) return false;
  return true;
}

/// Neighbouring columns hold what is right for each other.
bool columns_exchanged(const Elements& y) {
  if (y.cols() < 2) return false;
  for (std::size_t row = 0; row < y.rows(); ++row)
    for (std::size_t col = 0; col < y.cols(); ++col)
      if ((col ^ 1) < y.cols() && !y.holds(row, col, row, col ^ 1)) return false;
  return true;
}

/// Every element holds what is right for the one `by` columns away, where there is one.
bool columns_shifted(const Elements& y, int by) {
  const auto n = static_cast<int>(y.cols());
  if (n < 3) return false;
  for (std::size_t row = 0; row < y.rows(); ++row)
    for (int col = 0; col < n; ++col) {
      const int from = col + by;
      if (from < 0 || from >= n) continue;
      if (!y.holds(row, static_cast<std::size_t>(col), row, static_cast<std::size_t>(from))) return false;
    }
  return true;
}

/// The number of columns at the end that nobody wrote, if all the others are right; else 0.
std::size_t last_columns_unwritten(const Elements& y) {
  std::size_t kept = y.cols();
  const auto stale = [&](std::size_t col) {
    for (std::size_t row = 0; row < y.rows(); ++row)
      if (y.right(row, col) || !y.unwritten(row, col)) return false;
    return true;
  };
  while (kept > 0 && stale(kept - 1)) --kept;
  if (kept == 0 || kept == y.cols()) return 0;
  for (std::size_t row = 0; row < y.rows(); ++row)
    for (std::size_t col = 0; col < kept; ++col)
      if (!y.right(row, col)) return 0;
  return y.cols() - kept;
}

/// Whether whole columns alone are wrong: their number, or 0 when a column is wrong in part of its rows.
std::size_t wrong_columns(const Elements& y) {
  std::size_t wrong = 0;
  for (std::size_t col = 0; col < y.cols(); ++col) {
    const bool first = y.right(0, col);
    for (std::size_t row = 1; row < y.rows(); ++row)
      if (y.right(row, col) != first) return 0;
    wrong += !first;
  }
  return wrong < y.cols() && y.rows() > 1 ? wrong : 0;
}

std::vector<Diagnosis> structural(const Elements& y) {
  std::vector<Diagnosis> found;
  if (later_rows_stale(y))
    found.push_back({"rows 1.. stale", "row 0 is right, every later row holds what was there before"});
  if (first_row_repeated(y))
    found.push_back({"rows repeat row 0", "every row holds what is right for row 0"});
  if (columns_exchanged(y))
    found.push_back({"columns exchanged", "columns 2j and 2j + 1 hold what is right for each other"});
  for (const int by : {-1, 1})
    if (columns_shifted(y, by))
      found.push_back({"columns shifted",
                       fmt::format("column j holds what is right for column j {} 1", by < 0 ? '-' : '+')});
  if (const std::size_t columns = last_columns_unwritten(y))
    found.push_back(
        {"last columns unwritten", fmt::format("the last {} columns hold what was there before", columns)});
  if (!found.empty()) return found;
  if (const std::size_t columns = wrong_columns(y))
    found.push_back({"whole columns wrong", fmt::format("{} columns are wrong in every row", columns)});
  return found;
}

/// Whether Y is that of weights whose eight codes of a word lie in another order: of raw words taken for
/// interleaved ones, or the reverse.
bool in_another_order(const Point& point, const oracle::Operands& operands, bool interleaved,
                      std::span<const std::byte> actual) {
  const oracle::Shape& shape = point.shape;
  const bool columns = point.contracts.schedule == oracle::Schedule::multicol ||
                       point.contracts.schedule == oracle::Schedule::natural;
  if (!columns) return false;
  std::vector<std::byte> b(operands.b.begin(), operands.b.end());
  for (std::size_t col = 0; col < shape.n; ++col) {
    for (std::size_t k = 0; k < shape.blocks() * shape.block; ++k) {
      const std::size_t word = k / 8 * 8, e = k % 8;
      const std::size_t to = interleaved ? e / 2 + e % 2 * 4 : e % 4 * 2 + e / 4;
      fixture::set_packed_code(b, shape.row_bytes(), shape.bits, col, word + to,
                               fixture::packed_code(operands.b, shape.row_bytes(), shape.bits, col, k));
    }
  }
  oracle::Operands other = operands;
  other.b = b;
  return compare(oracle::accept(point.contracts, shape, other), actual).passed();
}

}  // namespace

std::vector<Diagnosis> diagnose(const Point& point, const oracle::Operands& operands,
                                const arithmetic::Acceptance& right, std::span<const std::byte> actual,
                                std::span<const std::byte> before) {
  std::vector<Diagnosis> found;
  if (compare(right, actual, before, 0).passed()) return found;
  // Alone: whatever else makes +0 of such a sum would explain it as well.
  if (sign_of_zero_lost(point, right, actual, before)) return {{"sign of zero lost", "-0 became +0"}};
  oracle::Contracts contracts = point.contracts;
  contracts.judge = oracle::Judge::bits;
  for (const NamedFault& named : named_faults) {
    arithmetic::Acceptance faulty;
    faulty.format = right.format;
    faulty.lo = oracle::faulty(named.fault, contracts, point.shape, operands);
    if (!faulty.lo.empty() && compare(faulty, actual, before, 0).passed())
      found.push_back({std::string(named.pattern), std::string(named.detail)});
  }
  for (const bool interleaved : {false, true}) {
    if (!in_another_order(point, operands, interleaved, actual)) continue;
    found.push_back({"weights in another order",
                     interleaved ? "interleaved words of eight codes were taken for raw ones"
                                 : "raw words of eight codes were taken for interleaved ones"});
  }
  if (!found.empty()) return found;
  return structural(Elements(point, right, actual, before));
}

}  // namespace assay::properties::matmul_nbits
