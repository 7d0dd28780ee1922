#include "oracles/matmul_nbits/exact_sum.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <limits>
#include <span>

#include "oracles/formats/definition.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Dyadic;
using boost::multiprecision::cpp_int;
using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Spec;
__extension__ using Wide = __int128;
__extension__ using WideUnsigned = unsigned __int128;

constexpr int fp16_unit = -24;      ///< exponent of the smallest fp16 number
constexpr int exponents = 2 * 254;  ///< the largest sum of two exponent fields of finite numbers

bool finite(const Exact& x) { return x.kind == Kind::zero || x.kind == Kind::finite; }

/// A number of fp16 in units of 2^-24.
std::int64_t fixed_point(const Exact& x) {
  if (x.kind != Kind::finite) return 0;
  const auto units = static_cast<std::int64_t>(x.significand << (x.exponent - fp16_unit));
  return x.negative ? -units : units;
}

std::int64_t signed_significand(const Exact& x) {
  const auto significand = static_cast<std::int64_t>(x.kind == Kind::finite ? x.significand : 0);
  return x.negative ? -significand : significand;
}

/// The exponent field as if counted from the smallest number: 1 of subnormals and of the first binade.
int exponent_field(const Spec& s, const Exact& x) { return x.exponent + s.bias + s.mantissa_bits; }

/// A wide two's complement integer: the sum of integers times powers of two up to 2^exponents.
class Accumulator {
 public:
  /// Adds x * 2^power.
  void add(Wide x, int power) {
    const std::size_t first = static_cast<std::size_t>(power) / 64;
    const int shift = power % 64;
    const auto low = static_cast<WideUnsigned>(x) << shift;
    // The bits that went out at the top of 128, with the sign above them.
    const auto high = static_cast<std::uint64_t>(shift == 0 ? x >> 127 : x >> (128 - shift));
    const std::uint64_t sign = x < 0 ? ~std::uint64_t{0} : 0;
    const std::array<std::uint64_t, 3> words = {static_cast<std::uint64_t>(low),
                                                static_cast<std::uint64_t>(low >> 64), high};
    WideUnsigned carry = 0;
    for (std::size_t i = first; i < words_.size(); ++i) {
      const std::uint64_t word = i - first < words.size() ? words[i - first] : sign;
      carry += WideUnsigned{words_[i]} + word;
      words_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
  }

  /// The integer times 2^unit.
  Dyadic times_power(int unit) {
    const bool negative = words_.back() >> 63 != 0;
    if (negative) negate();
    cpp_int magnitude;
    boost::multiprecision::import_bits(magnitude, words_.begin(), words_.end(), 64, false);
    return {negative ? cpp_int(-magnitude) : magnitude, unit};
  }

 private:
  void negate() {
    bool carry = true;
    for (std::uint64_t& word : words_) {
      word = ~word + (carry ? 1 : 0);
      carry = carry && word == 0;
    }
  }

  // 508 places of exponents, 56 bits of a product, 38 for their number, and a sign: 603.
  std::array<std::uint64_t, 10> words_{};
};

}  // namespace

ExactSums::ExactSums(Format model, const Shape& shape, const Operands& operands)
    : model_(model), shape_(shape), decoder_(model, shape, operands), ranges_(shape.m) {
  (model == Format::fp16 ? fixed_.reserve(shape.m * shape.k) : scaled_.reserve(shape.m * shape.k));
  for (std::size_t row = 0; row < shape.m; ++row) prepare_row(row);
}

void ExactSums::prepare_row(std::size_t row) {
  const Spec& s = formats::definition::spec_of(model_);
  Range& range = ranges_[row];
  range.least = std::numeric_limits<int>::max();
  for (std::size_t k = 0; k < shape_.k; ++k) {
    const Exact x = formats::definition::decode(s, decoder_.a(row, k));
    range.finite = range.finite && finite(x);
    if (model_ == Format::fp16) {
      fixed_.push_back(fixed_point(x));
      continue;
    }
    // A zero has any exponent; it takes one that is in the range.
    const int exponent = x.kind == Kind::finite ? exponent_field(s, x) : std::max(range.most, 1);
    scaled_.push_back({static_cast<std::int32_t>(signed_significand(x)), exponent});
    range.least = std::min(range.least, exponent);
    range.most = std::max(range.most, exponent);
  }
}

void ExactSums::prepare(std::size_t col, Weights& weights) const {
  const Spec& s = formats::definition::spec_of(model_);
  decoder_.decode(col, weights.column);
  const Column& column = weights.column;
  weights.integers.resize(shape_.k);
  weights.scales.resize(shape_.blocks());
  weights.exponents.resize(shape_.blocks());
  weights.least = std::numeric_limits<int>::max();
  weights.most = 0;
  weights.finite = true;
  for (std::size_t block = 0; block < shape_.blocks(); ++block) {
    const Exact scale = formats::definition::decode(s, column.scales[block]);
    weights.finite = weights.finite && finite(scale);
    std::int64_t factor = 1;
    if (model_ == Format::fp16) {
      weights.scales[block] = fixed_point(scale);
    } else {
      factor = signed_significand(scale);
      const int exponent = scale.kind == Kind::finite ? exponent_field(s, scale) : std::max(weights.most, 1);
      weights.exponents[block] = exponent;
      weights.least = std::min(weights.least, exponent);
      weights.most = std::max(weights.most, exponent);
    }
    const std::size_t end = std::min((block + 1) * shape_.block, shape_.k);
    for (std::size_t k = block * shape_.block; k < end; ++k)
      weights.integers[k] = factor * (column.codes[k] - column.zeros[block]);
  }
}

Dyadic ExactSums::fixed_point_sum(std::size_t row, const Weights& weights) const {
  const std::int64_t* a = fixed_.data() + row * shape_.k;
  const std::int64_t* w = weights.integers.data();
  Wide total = 0;
  for (std::size_t block = 0; block < shape_.blocks(); ++block) {
    const std::size_t end = std::min((block + 1) * shape_.block, shape_.k);
    std::int64_t dot = 0;
    for (std::size_t k = block * shape_.block; k < end; ++k) dot += a[k] * w[k];
    total += Wide{dot} * weights.scales[block];
  }
  Accumulator sum;
  sum.add(total, 0);
  return sum.times_power(2 * fp16_unit);
}

template <class Bucket>
Dyadic ExactSums::bucket_sum(std::size_t row, const Weights& weights) const {
  const Scaled* a = scaled_.data() + row * shape_.k;
  const std::int64_t* w = weights.integers.data();
  const Range& range = ranges_[row];
  const int least = range.least + weights.least, most = range.most + weights.most;
  assert(most <= exponents);
  std::array<Bucket, exponents + 1> buckets;
  std::fill(buckets.begin() + least, buckets.begin() + most + 1, Bucket{0});
  for (std::size_t block = 0; block < shape_.blocks(); ++block) {
    Bucket* of_block = buckets.data() + weights.exponents[block];
    const std::size_t end = std::min((block + 1) * shape_.block, shape_.k);
    for (std::size_t k = block * shape_.block; k < end; ++k)
      of_block[a[k].exponent] += a[k].significand * w[k];
  }
  Accumulator sum;
  for (int i = least; i <= most; ++i) {
    const Bucket bucket = buckets[static_cast<std::size_t>(i)];
    if (bucket != 0) sum.add(bucket, i);
  }
  const Spec& s = formats::definition::spec_of(model_);
  return sum.times_power(-2 * (s.bias + s.mantissa_bits));
}

Dyadic ExactSums::sum(std::size_t row, const Weights& weights) const {
  assert(ranges_[row].finite && weights.finite && "a true value needs finite operands");
  switch (model_) {
    case Format::fp16:
      return fixed_point_sum(row, weights);
    case Format::bf16:
      return bucket_sum<std::int64_t>(row, weights);
    case Format::fp32:
      return bucket_sum<Wide>(row, weights);
    default:
      assert(false && "the model is fp16, bf16 or fp32");
      return {};
  }
}

Dyadic exact_element(Format model, const Shape& shape, const Operands& operands, std::size_t row,
                     std::size_t col) {
  assert(row < shape.m && col < shape.n);
  const auto bytes = static_cast<std::size_t>(formats::storage_bytes(model));
  const auto part = [](std::span<const std::byte> all, std::size_t index, std::size_t size) {
    return all.empty() ? all : all.subspan(index * size, size);
  };
  Shape one = shape;
  one.m = one.n = 1;
  const ExactSums sums(model, one,
                       {part(operands.a, row, shape.k * bytes),
                        part(operands.b, col, shape.row_bytes()),
                        part(operands.scales, col, shape.blocks() * bytes),
                        part(operands.zero_points, col, shape.zero_point_row_bytes()),
                        {}});
  ExactSums::Weights weights;
  sums.prepare(0, weights);
  return sums.sum(0, weights);
}

}  // namespace assay::oracles::matmul_nbits
