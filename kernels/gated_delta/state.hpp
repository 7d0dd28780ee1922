// Elements of a state in memory and in registers.
#pragma once

#include <type_traits>

#include "kernels/gated_delta/token.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {

template <State kState>
inline constexpr unsigned bytes_of = kState == State::bf16 ? 2 : 4;

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

/// A lane's part of the state during a step: the rows of one slice, one column or neighbouring ones.
template <unsigned kRows, unsigned kColumns>
struct Part {
  float s[kRows][kColumns];

  /// Decays, and sums with k of the slice.
  __device__ __forceinline__ void decay(float alpha, const float* k, float (&sums)[kColumns]) {
    ASSAY_UNROLL
    for (float& sum : sums) sum = 0;
    ASSAY_UNROLL
    for (unsigned r = 0; r < kRows; r += 4) {
      const Four four = load_as<Four>(k + r);
      ASSAY_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        ASSAY_UNROLL
        for (unsigned c = 0; c < kColumns; ++c) {
          s[r + i][c] = mul_rn_f32(alpha, s[r + i][c]);
          sums[c] = fma_rn_f32(s[r + i][c], four.of[i], sums[c]);
        }
      }
    }
  }

  /// Adds k u^T, and sums with q; `k_q` are those of the slice side by side.
  __device__ __forceinline__ void update(const float (&u)[kColumns], const float* k_q,
                                         float (&sums)[kColumns]) {
    ASSAY_UNROLL
    for (float& sum : sums) sum = 0;
    ASSAY_UNROLL
    for (unsigned r = 0; r < kRows; r += 2) {
      const Four two = load_as<Four>(k_q + r * 2);
      ASSAY_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        ASSAY_UNROLL
        for (unsigned c = 0; c < kColumns; ++c) {
          s[r + i][c] = fma_rn_f32(two.of[i * 2], u[c], s[r + i][c]);
          sums[c] = fma_rn_f32(s[r + i][c], two.of[i * 2 + 1], sums[c]);
        }
      }
    }
  }
};

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta
