// Elements of a state in memory and in registers.
#pragma once

#include <type_traits>

#include "kernels/gated_delta/token.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {

template <State kState>
inline constexpr unsigned bytes_of = kState == State::bf16 ? 2 : 4;

/// What a bf16 state keeps of an element.
__device__ __forceinline__ float kept(float s) { return cvt_f32_bf16(cvt_rn_bf16_f32(s)); }

/// Neighbouring elements of a state as they lie in memory: one load or store of 2 to 16 bytes.
template <State kState, unsigned kCount>
struct alignas(bytes_of<kState>* kCount) Cells {
  static constexpr unsigned bytes = bytes_of<kState> * kCount;
  using Word = std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>;
  Word word[bytes / sizeof(Word)];

  __device__ __forceinline__ float get(unsigned i) const {
    if constexpr (kState == State::fp32) return std::bit_cast<float>(word[i]);
    if constexpr (kState == State::bf16)
      return std::bit_cast<float>(i % 2 == 0 ? std::uint32_t{word[i / 2]} << 16 : word[i / 2] & 0xFFFF0000u);
  }

  static __device__ __forceinline__ Cells of(const float* s) {
    Cells cells;
    ASSAY_UNROLL
    for (unsigned i = 0; i < bytes / sizeof(Word); ++i) {
      if constexpr (kState == State::fp32) cells.word[i] = std::bit_cast<std::uint32_t>(s[i]);
      if constexpr (kState == State::bf16 && kCount == 1)
        cells.word[i] = static_cast<std::uint16_t>(cvt_rn_bf16_f32(s[i]));
      if constexpr (kState == State::bf16 && kCount != 1)
        cells.word[i] = cvt_rn_bf16x2_f32(s[2 * i + 1], s[2 * i]);
    }
    return cells;
  }
};

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta
