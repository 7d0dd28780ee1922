// What every wrapper header of this folder needs: which instructions the current compilation may use.
//
// A wrapper is the PTX instruction when it is compiled for a GPU that has it, and its host twin otherwise;
// the twin is the meaning, and on a GPU the two are compared (twin_probe.hpp). Twins are integer code, so
// that they mean the same to every compiler, and short, because the executor runs them for every element.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/device/cuda.hpp"

/// Compute capability times ten of the code being generated (sm_90: 90); 0 in any code for a CPU.
#if defined(__CUDA_ARCH__)
#define ASSAY_SM (__CUDA_ARCH__ / 10)
#else
#define ASSAY_SM 0
#endif

/// Unrolls the loop that follows on a GPU, where an array in registers needs constant indices.
#if ASSAY_ON_GPU
#define ASSAY_UNROLL _Pragma("unroll")
#else
#define ASSAY_UNROLL
#endif

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

/// Binary16 and bfloat16 values are passed as their bits, and pairs of them packed in one 32-bit word with
/// element 0 in the low half; the project's own types, because it builds where there is no CUDA toolkit.
using Code16 = std::uint32_t;  ///< one 16-bit code in the low half; the high half is zero

inline constexpr std::uint32_t canonical_nan_f32 =
    0x7FFFFFFFu;                                            ///< what NVIDIA arithmetic returns for every NaN
inline constexpr std::uint32_t canonical_nan_16 = 0x7FFFu;  ///< likewise for fp16 and bf16
inline constexpr std::uint32_t infinity_f32 = 0x7F800000u;
inline constexpr std::uint32_t infinity_f16 = 0x7C00u;
inline constexpr std::uint32_t infinity_bf16 = 0x7F80u;

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
