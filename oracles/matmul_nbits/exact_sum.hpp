// Sums of products without any rounding, fast: the true values that bounds are put around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/matmul_nbits/operands.hpp"

namespace assay::oracles::matmul_nbits {

/// What Y is before rounding and bias: sum over k of a[row, k] * (q - z)[col, k] * scale[col, block], for
/// operands of any finite value, subnormals included.
///
/// fp16: every number is a whole number of 2^-24 below 2^40. A block is a dot product in 64 bits (40 + 8 bits
/// a product, 8 for up to 256 of them), and times its scale goes into a sum of 128 (96 a block).
/// bf16, fp32: a product is an integer, of the significands and q - z, times two to the sum of the exponents;
/// integers of the same exponent are added in a bucket of their own, and buckets meet once, at the end. The
/// integer has 8 + 8 + 8 bits (bf16; buckets of 64) or 24 + 24 + 8 (fp32; buckets of 128), which leaves room
/// for 2^38 of them: more than any K in memory, so no bucket ever needs emptying before the end.
class ExactSums {
 public:
  ExactSums(formats::Format model, const Shape&, const Operands&);

  /// The weights of a column, as the sums take them.
  class Weights {
    friend class ExactSums;
    Column column;
    std::vector<std::int64_t> integers;  ///< fp16: q - z; else times the significand of the scale
    std::vector<std::int64_t> scales;    ///< fp16: in units of 2^-24
    std::vector<int> exponents;          ///< else: of the scale, from 1 on
    int least = 0, most = 0;             ///< of those
    bool finite = true;
  };
  void prepare(std::size_t col, Weights&) const;

  /// The sum of row and the column prepared; both must be finite.
  arithmetic::Dyadic sum(std::size_t row, const Weights&) const;

 private:
  /// A number of A: significand * 2^(exponent - bias - mantissa bits), exponent from 1 on.
  struct Scaled {
    std::int32_t significand;
    std::int32_t exponent;
  };
  struct Range {
    int least = 0, most = 0;  ///< exponents of a row
    bool finite = true;
  };

  void prepare_row(std::size_t row);
  arithmetic::Dyadic fixed_point_sum(std::size_t row, const Weights&) const;
  template <class Bucket>
  arithmetic::Dyadic bucket_sum(std::size_t row, const Weights&) const;

  formats::Format model_;
  Shape shape_;
  Decoder decoder_;
  std::vector<std::int64_t> fixed_;  ///< [m, k] of fp16
  std::vector<Scaled> scaled_;       ///< [m, k] of the others
  std::vector<Range> ranges_;        ///< [m]
};

}  // namespace assay::oracles::matmul_nbits
