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
constexpr double infinity = std::numeric_limits<double>::infinity();

/// One addend: (-1)^negative * magnitude * 2^(exponent - places).
struct Addend {
  std::uint64_t magnitude = 0;
  int exponent = 0;
  int places = 0;
  bool negative = false;
};

Addend accumulator(std::uint32_t code) {
  const int field = static_cast<int>(code >> fp32_mantissa & 0xFF);
  const std::uint32_t mantissa = code & ((1u << fp32_mantissa) - 1);
  const std::uint32_t hidden = field > 0 ? 1u << fp32_mantissa : 0;
  return {hidden | mantissa, std::max(field, 1) - fp32_bias, fp32_mantissa, (code & fp32_sign) != 0};
}

/// What the sum has taken in so far.
struct Aligned {
  int exponent = 0;  ///< the largest
  int fractional_bits = 0;
  std::int64_t sum = 0;  ///< in units of 2^(exponent - fractional_bits)
  int cut = 0;           ///< addends that lost bits

  [[gnu::always_inline]] void add(const Addend& x) {
    // Left by the bits the addend lacks of fractional_bits, right by its distance to the largest exponent.
    const std::uint64_t wide = x.magnitude << (fractional_bits - x.places);
    const int distance = std::min(exponent - x.exponent, 63);
    const std::uint64_t kept = wide >> distance;
    cut += (kept << distance) != wide;
    sum += x.negative ? -static_cast<std::int64_t>(kept) : static_cast<std::int64_t>(kept);
  }
};

/// The sum as fp32, cut toward zero, with its error.
TensorSum narrowed(const Aligned& aligned) {
  TensorSum result;
  const int unit = aligned.exponent - aligned.fractional_bits;
  result.error = std::ldexp(aligned.cut, unit);
  if (aligned.sum == 0) return result;
  const std::uint32_t sign = aligned.sum < 0 ? fp32_sign : 0;
  const auto magnitude = static_cast<std::uint64_t>(aligned.sum < 0 ? -aligned.sum : aligned.sum);
  const int binade = std::max(63 - std::countl_zero(magnitude) + unit, fp32_least);
  assert(binade <= fp32_bias && "sums of fp16 products stay in the range of fp32");
  const int spacing = binade - fp32_mantissa;
  const int drop = spacing - unit;
  const std::uint64_t units = drop > 0 ? magnitude >> drop : magnitude << -drop;
  // Exact in double: |sum| < 2^(fractional_bits + 7), so spacing - unit is at most 9, or 2 among subnormals.
  if (drop > 0 && (units << drop) != magnitude) result.error += std::ldexp(1.0, spacing);
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
  return {nan ? fp32_nan : down ? fp32_infinity | fp32_sign : fp32_infinity, infinity};
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
  x.exponent = static_cast<std::int16_t>(std::max(field, 1) - fp16_bias);
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

TensorSum tensor_sum(std::span<const TensorOperand> a, std::span<const TensorOperand> b, std::uint32_t acc,
                     int fractional_bits) {
  constexpr std::size_t most = 16;
  constexpr int none = std::numeric_limits<int>::min();
  const std::size_t count = a.size();
  assert(b.size() == count && count <= most && fractional_bits >= fp32_mantissa);
  std::array<Addend, most> products;
  int largest = none;
  bool special = (acc & ~fp32_sign) >= fp32_infinity;
  for (std::size_t i = 0; i < count; ++i) {
    special = special || a[i].special || b[i].special;
    const std::uint32_t magnitude = std::uint32_t{a[i].significand} * b[i].significand;
    const int exponent = a[i].exponent + b[i].exponent;
    products[i] = {magnitude, exponent, 2 * fp16_mantissa, a[i].negative != b[i].negative};
    if (magnitude != 0) largest = std::max(largest, exponent);
  }
  if (special) return special_sum(a, b, acc);
  const Addend c = accumulator(acc);
  if (c.magnitude != 0) largest = std::max(largest, c.exponent);
  if (largest == none) return {};  // all zero: +0
  Aligned aligned{largest, fractional_bits};
  for (std::size_t i = 0; i < count; ++i) {
    if (products[i].magnitude != 0) aligned.add(products[i]);
  }
  if (c.magnitude != 0) aligned.add(c);
  return narrowed(aligned);
}

}  // namespace assay::oracles::matmul_nbits
