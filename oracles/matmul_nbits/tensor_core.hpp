// A step of a tensor core with fp16 operands and fp32 accumulation, in integers of its own, and the error it
// may make.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "oracles/formats/exact.hpp"
#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::oracles::matmul_nbits {

/// An fp16 number as the multipliers take it: significand * 2^(exponent - 10), not normalised. A subnormal
/// has the smallest exponent, -14.
struct TensorOperand {
  std::uint16_t significand = 0;
  std::int16_t exponent = 0;
  bool negative = false;
  bool special = false;  ///< Inf (significand 0) or NaN

  static TensorOperand of_fp16(std::uint32_t code);
};

/// How a generation of tensor cores sums: so many products at once with the accumulator, cut at so many
/// fractional bits.
struct TensorSteps {
  std::size_t products;
  int fractional_bits;
};
TensorSteps tensor_steps(TensorCores);

/// acc + sum of a[i] * b[i] as one sum of the hardware gives it, and what was cut off on the way.
struct TensorSum {
  std::uint32_t code = 0;  ///< fp32
  /// A bound on |computed - exact| of this sum alone; +Inf when the result is not finite.
  double error = 0;
};

/// Every product and acc is aligned to the largest exponent of those that are not zero and cut toward zero at
/// `fractional_bits` below it; the sum of what is left is exact, and is cut toward zero to fp32. The result
/// must lie in the range of fp32, which sums of fp16 products cannot leave.
///
/// The error. Let E be that largest exponent and F the fractional bits. An addend that loses bits moves by
/// less than 2^(E-F), toward zero; one that loses none does not move. The sum S of what is left is exact. Its
/// cut to fp32 moves it by less than 2^(max(floor log2 |S|, -126) - 23), one spacing of its binade, or not at
/// all. So with c addends that lose bits, c <= 17 (hopper) or 9 (ampere):
///     |computed - exact| <= c 2^(E-F) + [S is no number of fp32] 2^(max(floor log2 |S|, -126) - 23)
/// Sums of sums: acc may itself be off by what earlier steps did, which passes through unchanged, because the
/// exact sum is linear in acc; so the errors of the steps add up.
TensorSum tensor_sum(std::span<const TensorOperand> a, std::span<const TensorOperand> b, std::uint32_t acc,
                     int fractional_bits);

}  // namespace assay::oracles::matmul_nbits
