// MXFP8 rowwise cast held in registers: the production route.
//
// Two lanes share a block of 32; each loads 16 elements with the widest loads there are, so a warp reads 16
// consecutive blocks. The block's amax is one shuffle between the two; there is no shared memory and no
// barrier. x and data are contiguous and a row holds whole blocks, so blocks form one flat sequence; only the
// place of a scale byte depends on the row, and not even that where the scale array is packed.
#include <type_traits>

#include "kernels/device/cvt.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/padding.hpp"
#include "kernels/mxfp8_cast/scale.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Input;
using kernels::mxfp8_cast::Padding;
using kernels::mxfp8_cast::Problem;
using kernels::mxfp8_cast::SpecialBlocks;

namespace {

constexpr unsigned elements_per_lane = 16;
constexpr unsigned lanes_per_block = 2;
constexpr unsigned max_threads = 256;

struct Params {
  const std::byte* x;
  std::uint8_t* data;
  ScaleArray scales;
  std::uint32_t blocks;  ///< of 32 elements, in all rows; under 2^31
  ScaleRule scale_rule;
  SpecialBlocks specials;
  bool zero_padding;
  bool aligned_32;  ///< x is 32-byte aligned, so one 256-bit load may fetch 16 two-byte elements
};

/// The 16 elements of one lane as loaded: one word each in fp32, two a word in the 16-bit formats.
template <Input kInput>
struct HalfBlock {
  static constexpr unsigned element_bytes = kInput == Input::fp32 ? 4 : 2;
  static constexpr unsigned words = elements_per_lane * element_bytes / 4;
  std::uint32_t word[words];

  __device__ __forceinline__ void load(const std::byte* from, bool aligned_32) {
    const CachePolicy policy = evict_first_policy();
    if constexpr (kInput != Input::fp32) {
      if (has_256_bit_loads && aligned_32) {
        const Bits256 all = load_nc_256(from, policy);
        ASSAY_UNROLL
        for (unsigned i = 0; i < words; ++i) word[i] = all.word[i];
        return;
      }
    }
    ASSAY_UNROLL
    for (unsigned i = 0; i < words; i += 4) {
      const Bits128 part = load_nc_128(from + 4 * i, policy);
      ASSAY_UNROLL
      for (unsigned j = 0; j < 4; ++j) word[i + j] = part.word[j];
    }
  }

  __device__ __forceinline__ float element(unsigned i) const {
    if constexpr (kInput == Input::fp32) return std::bit_cast<float>(word[i]);
    const std::uint32_t code = i % 2 == 0 ? word[i / 2] & 0xFFFFu : word[i / 2] >> 16;
    return kInput == Input::bf16 ? cvt_f32_bf16(code) : cvt_f32_f16(code);
  }

  /// Largest magnitude. With kNanWins any NaN makes it NaN, otherwise only NaN throughout does.
  template <bool kNanWins>
  __device__ __forceinline__ float amax() const {
    if constexpr (kInput == Input::fp32) {
      float largest = abs_f32(element(0));
      ASSAY_UNROLL
      for (unsigned i = 1; i < words; ++i) largest = max_of<kNanWins>(largest, abs_f32(element(i)));
      return largest;
    } else {
      std::uint32_t pair = abs_x2(word[0]);
      ASSAY_UNROLL
      for (unsigned i = 1; i < words; ++i) pair = max_of_pairs<kNanWins>(pair, abs_x2(word[i]));
      const HalfBlock folded{{pair}};
      return max_of<kNanWins>(folded.element(0), folded.element(1));
    }
  }

  template <bool kNanWins>
  static __device__ __forceinline__ float max_of(float a, float b) {
    return kNanWins ? max_nan_f32(a, b) : max_f32(a, b);
  }

  template <bool kNanWins>
  static __device__ __forceinline__ std::uint32_t max_of_pairs(std::uint32_t a, std::uint32_t b) {
    if constexpr (kInput == Input::bf16) return kNanWins ? max_nan_bf16x2(a, b) : max_bf16x2(a, b);
    return kNanWins ? max_nan_f16x2(a, b) : max_f16x2(a, b);
  }

  /// amax of the whole block, the same in both of its lanes. Every lane of the warp takes part.
  template <bool kNanWins>
  __device__ __forceinline__ float block_amax() const {
    const float mine = amax<kNanWins>();
    return max_of<kNanWins>(mine, __shfl_xor_sync(0xFFFFFFFFu, mine, 1));
  }
};

/// The scale byte under each contract for blocks with NaN or Inf. `amax` comes from the matching block_amax.
__device__ __forceinline__ std::uint32_t block_scale(float amax, const Params& p, Element element) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(amax);
  if (bits < infinity_f32) return scale_byte(amax, p.scale_rule, element);
  if (p.specials == SpecialBlocks::poison) return e8m0_nan;
  if (bits == infinity_f32) return e8m0_infinite;
  return p.specials == SpecialBlocks::te_register ? e8m0_nan : 0;  // NaN throughout
}

template <Element kElement>
__device__ __forceinline__ std::uint32_t cvt_pair(float high, float low) {
  return kElement == Element::e4m3 ? cvt_rn_satfinite_e4m3x2_f32(high, low)
                                   : cvt_rn_satfinite_e5m2x2_f32(high, low);
}

template <Input kInput, Element kElement, bool kPackedScales>
__global__ void __launch_bounds__(max_threads) rowwise_register(const Params p) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t block = thread / lanes_per_block;
  const bool live = block < p.blocks;  // no early exit: the shuffle below wants the whole warp
  const std::int64_t first = std::int64_t{thread} * elements_per_lane;

  HalfBlock<kInput> x{};
  if (live) x.load(p.x + first * HalfBlock<kInput>::element_bytes, p.aligned_32);
  const float amax =
      p.specials == SpecialBlocks::poison ? x.template block_amax<true>() : x.template block_amax<false>();
  const std::uint32_t byte = block_scale(amax, p, kElement);

  if (live) {
    const float reciprocal = std::bit_cast<float>(e8m0_reciprocal_bits(byte));
    Bits128 codes;
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t low = cvt_pair<kElement>(mul_rn_f32(x.element(4 * i + 1), reciprocal),
                                                   mul_rn_f32(x.element(4 * i), reciprocal));
      const std::uint32_t high = cvt_pair<kElement>(mul_rn_f32(x.element(4 * i + 3), reciprocal),
                                                    mul_rn_f32(x.element(4 * i + 2), reciprocal));
      codes.word[i] = high << 16 | low;
    }
    store_128(p.data + first, codes, evict_normal_policy());
    if (thread % lanes_per_block == 0) {
      std::int64_t place = block;
      if constexpr (!kPackedScales) {
        const auto per_row = static_cast<std::uint32_t>(p.scales.blocks_per_row);
        place = block / per_row * p.scales.stride + block % per_row;
      }
      p.scales.bytes[place] = static_cast<std::uint8_t>(byte);
    }
  }
  if (p.zero_padding) zero_padding(p.scales, thread, std::int64_t{gridDim.x} * blockDim.x);
}

template <Input kInput, Element kElement>
void launch(LaunchContext& context, const Problem& problem) {
  const std::int64_t per_row = problem.cols / 32;
  const Params params{static_cast<const std::byte*>(problem.x),
                      problem.rowwise.data,
                      {problem.rowwise.scales, problem.rows, problem.rowwise.scale_rows, per_row,
                       problem.rowwise.scale_stride},
                      static_cast<std::uint32_t>(problem.rows * per_row),
                      problem.scale_rule,
                      problem.specials,
                      problem.padding == Padding::zero,
                      reinterpret_cast<std::uintptr_t>(problem.x) % 32 == 0};
  // Small casts take small thread blocks, to spread over all multiprocessors.
  const unsigned threads = params.blocks <= (1u << 16) ? 128 : max_threads;
  const auto grid =
      static_cast<unsigned>((std::uint64_t{params.blocks} * lanes_per_block + threads - 1) / threads);
  if (problem.rowwise.scale_stride == per_row) {
    ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0, (rowwise_register<kInput, kElement, true>), params);
  } else {
    ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0, (rowwise_register<kInput, kElement, false>), params);
  }
}

template <Input kInput>
void launch(LaunchContext& context, const Problem& problem) {
  if (problem.element == Element::e4m3) return launch<kInput, Element::e4m3>(context, problem);
  launch<kInput, Element::e5m2>(context, problem);
}

}  // namespace

void launch_rowwise_register(LaunchContext& context, const Problem& problem) {
  switch (problem.input) {
    case Input::fp32:
      return launch<Input::fp32>(context, problem);
    case Input::fp16:
      return launch<Input::fp16>(context, problem);
    case Input::bf16:
      return launch<Input::bf16>(context, problem);
  }
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
