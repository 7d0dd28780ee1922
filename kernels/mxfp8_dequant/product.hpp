// The arithmetic that both kernels share: an element times its scale, narrowed.
#pragma once

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/mxfp8_dequant/dequant.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant {

using kernels::mxfp8_dequant::Element;
using kernels::mxfp8_dequant::Output;

template <Output kOutput>
inline constexpr unsigned output_bytes = kOutput == Output::fp32 ? 4 : 2;

/// value * scale as a code of the output format, in the low bits. The product is exact in fp32 unless it
/// overflows, so narrowing it is the only rounding.
template <Output kOutput>
__device__ __forceinline__ std::uint32_t product_code(float value, float scale) {
  const float product = mul_rn_f32(value, scale);
  if constexpr (kOutput == Output::fp32) return std::bit_cast<std::uint32_t>(product);
  return kOutput == Output::fp16 ? cvt_rn_f16_f32(product) : cvt_rn_bf16_f32(product);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant
