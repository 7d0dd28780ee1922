// Matrix multiply-add of a warp on fp16 operands with an fp32 accumulator (mma.sync): sm_80 and later; code
// for older GPUs traps.
//
// D = A * B + C for A of 16 x 16, B of 16 x 8, C and D of 16 x 8, spread over the 32 lanes of a warp as the
// PTX ISA lays out the fragments of m16n8k16. With g = lane / 4 and t = lane % 4:
//   A  r[0], r[1]: rows g, g + 8 of columns 2t, 2t+1; r[2], r[3]: likewise of columns 2t+8, 2t+9
//   B  r[0], r[1]: rows 2t, 2t+1 and 2t+8, 2t+9 of column g
//   C  r[0], r[1]: row g of columns 2t, 2t+1; r[2], r[3]: row g + 8 of them
// the element of lower column (of B: row) in the low half of a register.
#pragma once

#include "kernels/device/cvt.hpp"
#include "kernels/device/place.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

struct MmaA {
  std::uint32_t r[4];
};
struct MmaB {
  std::uint32_t r[2];
};
struct MmaC {
  float r[4];
};

/// Whose arithmetic the twin follows.
enum class MmaModel : std::uint8_t {
  hopper,  ///< 16 products and C in one sum of 25 fractional bits
  ampere,  ///< two sums, of 8 products each, of 24 fractional bits
};

namespace twin {

inline constexpr unsigned mma_rows = 16, mma_cols = 8, mma_depth = 16;

/// A row of A or a column of B, decoded.
struct MmaOperands {
  float value[mma_depth];
  std::int16_t
      exponent[mma_depth];  ///< of the value's format: subnormals have the smallest, zeros zero_exponent
  bool special;             ///< an element is Inf or NaN
};
inline constexpr std::int16_t zero_exponent = -64;  ///< makes a product's less than any that is not zero
inline constexpr std::int32_t min_product_exponent = -28;  ///< twice that of the subnormals

__host__ __device__ __forceinline__ constexpr void set_operand(MmaOperands& operands, unsigned k,
                                                               Code16 code) {
  const std::uint32_t magnitude = code & 0x7FFFu, field = magnitude >> 10;
  operands.value[k] = cvt_f32_f16(code);
  operands.exponent[k] =
      magnitude == 0 ? zero_exponent : static_cast<std::int16_t>((field == 0 ? 1 : field) - 15);
  operands.special |= field == 31;
}

/// The sum of kProducts products and c as the tensor cores of NVIDIA compute it. A product is exact, and its
/// exponent the sum of its operands', not normalised. Products and c are cut toward zero to multiples of
/// 2^(E - kFractionBits), E being the largest exponent among those that are not zero, and added exactly; the
/// sum is cut toward zero to fp32. Finite operands.
///
/// In floating point, but without rounding: a product has 22 bits, and as a number of such multiples it is
/// below 2^27, 16 of them below 2^31. (Where scaling it gets a subnormal number that is less than one
/// multiple.) A sum with a product that is not zero is a multiple of 2^-53, and no fp16 product is as much as
/// a unit of an fp32 number near overflow; so no sum is subnormal, and none overflows.
template <unsigned kProducts, unsigned kFractionBits>
__host__ __device__ __forceinline__ constexpr float mma_sum(const float* a, const std::int16_t* a_exponent,
                                                            const float* b, const std::int16_t* b_exponent,
                                                            float c) {
  std::int16_t largest = 2 * zero_exponent;
  for (unsigned k = 0; k < kProducts; ++k) {
    const auto exponent = static_cast<std::int16_t>(a_exponent[k] + b_exponent[k]);
    largest = exponent > largest ? exponent : largest;
  }
  if (largest < min_product_exponent) return c + 0.0f;  // a sum of zero is +0, even where all addends are -0
  const std::int32_t c_exponent =
      static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(c) >> 23 & 0xFFu) - 127;
  const std::int32_t exponent = c_exponent > largest ? c_exponent : largest;
  constexpr std::int32_t fraction = kFractionBits;
  const auto scale = std::bit_cast<float>(static_cast<std::uint32_t>(127 + fraction - exponent) << 23);
  std::int32_t products = 0;
  for (unsigned k = 0; k < kProducts; ++k) products += static_cast<std::int32_t>(a[k] * b[k] * scale);
  const std::int64_t sum = std::int64_t{products} + static_cast<std::int32_t>(c * scale);
  const double unit = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - fraction + exponent) << 52);
  constexpr std::uint64_t beyond_fp32 = (std::uint64_t{1} << 29) - 1;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(static_cast<double>(sum) * unit);
  return static_cast<float>(std::bit_cast<double>(bits & ~beyond_fp32));
}

/// The sum where an operand or c is Inf or NaN: by IEEE 754 it is Inf or NaN in whatever order.
__host__ __device__ constexpr float mma_special_sum(const float* a, const float* b, float c) {
  float sum = c;
  for (unsigned k = 0; k < mma_depth; ++k) sum += a[k] * b[k];
  return sum != sum ? std::bit_cast<float>(canonical_nan_f32) : sum;
}

/// One element of D.
template <MmaModel kModel>
__host__ __device__ __forceinline__ constexpr float mma_element(const MmaOperands& a, const MmaOperands& b,
                                                                float c) {
  const bool c_special = (std::bit_cast<std::uint32_t>(c) & infinity_f32) == infinity_f32;
  if (a.special || b.special || c_special) [[unlikely]]
    return mma_special_sum(a.value, b.value, c);
  if constexpr (kModel == MmaModel::hopper) {
    return mma_sum<16, 25>(a.value, a.exponent, b.value, b.exponent, c);
  } else {
    const float half = mma_sum<8, 24>(a.value, a.exponent, b.value, b.exponent, c);
    return mma_sum<8, 24>(a.value + 8, a.exponent + 8, b.value + 8, b.exponent + 8, half);
  }
}

#if !ASSAY_ON_GPU
/// What a lane brings to the executor's collective, and finds there after it: D in place of C.
struct MmaFragments {
  MmaA a;
  MmaB b;
  MmaC c;
};
/// The operation on the MmaFragments of the 32 lanes of a warp.
template <MmaModel kModel>
void mma_warp(void* const* fragments_of_lanes);
extern template void mma_warp<MmaModel::hopper>(void* const*);
extern template void mma_warp<MmaModel::ampere>(void* const*);
#endif

}  // namespace twin

/// A * B + C by all 32 lanes of a warp together, at one place of the source. On a GPU the model is the GPU's
/// own; kModel matters to the twin alone.
template <MmaModel kModel>
__device__ __forceinline__ MmaC mma_m16n8k16_f16(const MmaA& a, const MmaB& b, const MmaC& c,
                                                 [[maybe_unused]] Place place = Place::here()) {
#if ASSAY_SM >= 80
  MmaC d;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=f"(d.r[0]), "=f"(d.r[1]), "=f"(d.r[2]), "=f"(d.r[3])
      : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]), "f"(c.r[0]),
        "f"(c.r[1]), "f"(c.r[2]), "f"(c.r[3]));
  return d;
#elif ASSAY_ON_GPU
  __trap();
  return c;
#else
  twin::MmaFragments fragments{a, b, c};
  executor::detail::mma({static_cast<std::uint8_t>(kModel), twin::mma_warp<kModel>}, &fragments, place);
  return fragments.c;
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
