#include "oracles/matmul_nbits/tensor_core.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace assay::oracles::matmul_nbits {
namespace {

constexpr int fp16_mantissa = 10, fp16_bias = 15;
constexpr int fp32_mantissa = 23, fp32_bias = 127, fp32_least = -126;
constexpr std::uint32_t fp32_infinity = 0x7F800000, fp32_nan = 0x7FFFFFFF, fp32_sign = 0x80000000;

/// What the sum has taken in so far.
struct Aligned {
  int exponent = 0;  ///< the largest
  int fractional_bits = 0;
  std::int64_t sum = 0;  ///< in units of 2^(exponent - fractional_bits)
  int cut = 0;           ///< addends that lost bits

  /// Adds (-1)^negative * magnitude * 2^(its_exponent - places): left by the bits that it lacks of
  /// fractional_bits, right by its distance to the largest exponent.
  [[gnu::always_inline]] void add(std::uint64_t magnitude, int its_exponent, int places, bool negative) {
    const std::uint64_t wide = magnitude << (fractional_bits - places);
    const int distance = std::min(exponent - its_exponent, 63);
    const std::uint64_t kept = wide >> distance;
    cut += (kept << distance) != wide;
    const std::int64_t sign = -std::int64_t{negative};  // no branch: signs are anything but predictable
    sum += (static_cast<std::int64_t>(kept) ^ sign) - sign;
  }
};

/// The sum as fp32, cut toward zero.
TensorSum narrowed(const Aligned& aligned) {
  TensorSum result;
  result.cut = aligned.cut;
  result.unit = aligned.exponent - aligned.fractional_bits;
  if (aligned.sum == 0) return result;
  const std::uint32_t sign = aligned.sum < 0 ? fp32_sign : 0;
  const auto magnitude = static_cast<std::uint64_t>(aligned.sum < 0 ? -aligned.sum : aligned.sum);
  const int binade = std::max(63 - std::countl_zero(magnitude) + result.unit, fp32_least);
  assert(binade <= fp32_bias && "sums of fp16 products stay in the range of fp32");
  result.spacing = binade - fp32_mantissa;
  const int drop = result.spacing - result.unit;
  const std::uint64_t units = drop > 0 ? magnitude >> drop : magnitude << -drop;
  result.narrowed = drop > 0 && (units << drop) != magnitude;
  // Subnormals have the exponent field 0 and no hidden bit; in the first binade of the normal numbers the
  // hidden bit makes the field 1, and in later ones it adds to field - 1.
  result.code = sign | ((static_cast<std::uint32_t>(binade - fp32_least) << fp32_mantissa) +
                        static_cast<std::uint32_t>(units));
  return result;
}

/// The result where an operand or acc is NaN or Inf, by the rules of IEEE 754 for the whole sum.
TensorSum special_sum(std::span<const TensorOperand> a, std::span<const TensorOperand> b, std::uint32_t acc) {
  bool nan = (acc & ~fp32_sign) > fp32_infinity, up = false, down = false;
  if ((acc & ~fp32_sign) == fp32_infinity) ((acc & fp32_sign) != 0 ? down : up) = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].special && !b[i].special) continue;
    for (const TensorOperand& x : {a[i], b[i]})
      nan = nan || (x.significand == 0 && !x.special) || (x.special && x.significand != 0);
    (a[i].negative != b[i].negative ? down : up) = true;
  }
  nan = nan || (up && down);
  TensorSum result;
  result.code = nan ? fp32_nan : down ? fp32_infinity | fp32_sign : fp32_infinity;
  result.finite = false;
  return result;
}

}  // namespace

TensorOperand TensorOperand::of_fp16(std::uint32_t code) {
  const int field = static_cast<int>(code >> fp16_mantissa & 0x1F);
  const std::uint32_t mantissa = code & ((1u << fp16_mantissa) - 1);
  TensorOperand x;
  x.negative = (code & 0x8000) != 0;
  x.special = field == 0x1F;
  const std::uint32_t hidden = field > 0 && !x.special ? 1u << fp16_mantissa : 0;
  x.significand = static_cast<std::uint16_t>(hidden | mantissa);
  if (x.significand != 0) x.exponent = static_cast<std::int16_t>(std::max(field, 1) - fp16_bias);
  return x;
}

TensorSteps tensor_steps(TensorCores cores) {
  switch (cores) {
    case TensorCores::hopper:
      return {16, 25};
    case TensorCores::ampere:
      return {8, 24};
  }
  assert(false && "unknown tensor cores");
  return {};
}

double TensorSum::error() const {
  if (!finite) return std::numeric_limits<double>::infinity();
  // Exact in double: at most 17 units, and |sum| < 2^(fractional bits + 7) of them, so that a spacing is at
  // most 2^9 units, or 2^2 among subnormals.
  return std::ldexp(cut, unit) + (narrowed ? std::ldexp(1.0, spacing) : 0);
}

TensorSum tensor_sum(std::span<const TensorOperand> a, std::span<const TensorOperand> b, std::uint32_t acc,
                     int fractional_bits) {
  constexpr std::size_t most = 16;
  const std::size_t count = a.size();
  assert(b.size() == count && count <= most && fractional_bits >= fp32_mantissa);
  const int field = static_cast<int>(acc >> fp32_mantissa & 0xFF);
  const std::uint32_t hidden = field > 0 ? 1u << fp32_mantissa : 0;
  const std::uint32_t acc_magnitude = hidden | (acc & ((1u << fp32_mantissa) - 1));
  const int acc_exponent = std::max(field, 1) - fp32_bias;

  std::array<std::uint32_t, most> magnitudes;
  std::array<std::int32_t, most> exponents;
  int largest = acc_magnitude != 0 ? acc_exponent : 2 * TensorOperand::exponent_of_zero;
  bool special = (acc & ~fp32_sign) >= fp32_infinity;
  for (std::size_t i = 0; i < count; ++i) {
    special |= a[i].special | b[i].special;
    magnitudes[i] = std::uint32_t{a[i].significand} * b[i].significand;
    exponents[i] = a[i].exponent + b[i].exponent;
    largest = std::max(largest, exponents[i]);
  }
  if (special) return special_sum(a, b, acc);
  if (largest < TensorOperand::exponent_of_zero / 2) return {};  // all zero: +0
  Aligned aligned{largest, fractional_bits};
  for (std::size_t i = 0; i < count; ++i)
    aligned.add(magnitudes[i], exponents[i], 2 * fp16_mantissa, a[i].negative != b[i].negative);
  aligned.add(acc_magnitude, acc_exponent, fp32_mantissa, (acc & fp32_sign) != 0);
  return narrowed(aligned);
}

}  // namespace assay::oracles::matmul_nbits
