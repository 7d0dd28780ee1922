// MXFP8 rowwise cast held in registers: the production route.
//
// Two lanes share a block of 32; each loads 16 elements with the widest loads there are, so a warp reads 16
// consecutive blocks. The block's amax is one shuffle between the two, and nothing of x or data passes
// through shared memory: that only gathers the scale bytes of the thread block, so that they leave in whole
// sectors (decisions/rowwise_scales.md). x and data are contiguous and a row holds whole blocks, so blocks
// form one flat sequence; only the place of a scale byte depends on the row, and not even that where the
// scale array is packed.
#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/padding.hpp"
#include "kernels/mxfp8_cast/register_block.hpp"
#include "kernels/mxfp8_cast/tuning.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Input;
using kernels::mxfp8_cast::Padding;
using kernels::mxfp8_cast::Problem;
using kernels::mxfp8_cast::resident_blocks;
using kernels::mxfp8_cast::Tuning;

namespace {

constexpr unsigned elements_per_lane = 16;
constexpr unsigned lanes_per_block = 2;

struct Params {
  const std::byte* x;
  std::uint8_t* data;
  ScaleArray scales;
  std::uint32_t blocks;  ///< of 32 elements, in all rows; under 2^31
  ScaleRule scale_rule;
  SpecialBlocks specials;
  bool zero_padding;
  bool aligned_32;  ///< x is 32-byte aligned, so 256-bit loads may fetch it
  bool evict_first;
  std::uint32_t wave;  ///< thread blocks resident at a time, to prefetch one wave ahead; 0: no prefetch
};

/// The 16 elements of one lane as loaded: one word each in fp32, two a word in the 16-bit formats.
template <Input kInput>
struct HalfBlock {
  static constexpr unsigned element_bytes = kInput == Input::fp32 ? 4 : 2;
  static constexpr unsigned words = elements_per_lane * element_bytes / 4;
  std::uint32_t word[words];

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
  static __device__ __forceinline__ std::uint32_t max_of_pairs(std::uint32_t a, std::uint32_t b) {
    if constexpr (kInput == Input::bf16) return max_magnitudes<kNanWins>(a, b);
    return kNanWins ? max_nan_f16x2(a, b) : max_f16x2(a, b);
  }

  /// amax of the whole block, the same in both of its lanes. Every lane of the warp takes part.
  template <bool kNanWins>
  __device__ __forceinline__ float block_amax() const {
    const float mine = amax<kNanWins>();
    return max_of<kNanWins>(mine, __shfl_xor_sync(0xFFFFFFFFu, mine, 1));
  }

  template <Element kElement>
  __device__ __forceinline__ Bits128 scaled(float reciprocal) const {
    Bits128 codes;
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t low = cvt_pair<kElement>(mul_rn_f32(element(4 * i + 1), reciprocal),
                                                   mul_rn_f32(element(4 * i), reciprocal));
      const std::uint32_t high = cvt_pair<kElement>(mul_rn_f32(element(4 * i + 3), reciprocal),
                                                    mul_rn_f32(element(4 * i + 2), reciprocal));
      codes.word[i] = high << 16 | low;
    }
    return codes;
  }
};

/// What this thread block will not read but one of the next wave will, into L2: a line of 128 bytes a thread.
template <Input kInput, unsigned kThreads>
__device__ __forceinline__ void prefetch_next_wave(const Params& p) {
  constexpr unsigned bytes_per_lane = elements_per_lane * HalfBlock<kInput>::element_bytes;
  constexpr unsigned lines = kThreads * bytes_per_lane / 128;
  const std::int64_t offset =
      (std::int64_t{blockIdx.x + p.wave} * lines + threadIdx.x) * 128;  // blockIdx.x + wave < 2^32
  if (threadIdx.x < lines && offset < std::int64_t{p.blocks} * lanes_per_block * bytes_per_lane)
    prefetch_l2(p.x + offset);
}

template <Input kInput, Element kElement, bool kNanWins, unsigned kThreads>
__global__ void __launch_bounds__(kThreads) rowwise_register(const Params p) {
  constexpr unsigned blocks_here = kThreads / lanes_per_block;
  using Scales = std::uint8_t[blocks_here];
  ASSAY_SHARED(Scales, scales);
  const std::uint32_t thread = blockIdx.x * kThreads + threadIdx.x;
  const bool live = thread / lanes_per_block < p.blocks;  // no early exit: the shuffle wants the whole warp
  const std::int64_t first = std::int64_t{thread} * elements_per_lane;

  HalfBlock<kInput> x{};
  if (live) {
    load_words(x.word, p.x + first * HalfBlock<kInput>::element_bytes, p.aligned_32,
               p.evict_first ? evict_first_policy() : evict_normal_policy());
  }
  if (p.wave != 0) prefetch_next_wave<kInput, kThreads>(p);
  const std::uint32_t byte =
      block_scale(x.template block_amax<kNanWins>(), p.scale_rule, p.specials, kElement);
  if (live) {
    const float reciprocal = std::bit_cast<float>(e8m0_reciprocal_bits(byte));
    store_128(p.data + first, x.template scaled<kElement>(reciprocal), evict_normal_policy());
  }

  if (threadIdx.x % lanes_per_block == 0)
    scales[threadIdx.x / lanes_per_block] = static_cast<std::uint8_t>(byte);
  __syncthreads();
  const std::uint32_t block = blockIdx.x * blocks_here + threadIdx.x;
  if (threadIdx.x < blocks_here && block < p.blocks) {
    std::int64_t place = block;
    if (p.scales.stride != p.scales.blocks_per_row) {
      const auto per_row = static_cast<std::uint32_t>(p.scales.blocks_per_row);
      place = block / per_row * p.scales.stride + block % per_row;
    }
    store_8(p.scales.bytes + place, scales[threadIdx.x], evict_last_policy());
  }
  if (p.zero_padding) zero_padding(p.scales, thread, std::int64_t{gridDim.x} * kThreads);
}

template <Input kInput, Element kElement, bool kNanWins, unsigned kThreads>
void launch(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  const std::int64_t per_row = problem.cols / 32;
  const Params params{static_cast<const std::byte*>(problem.x),
                      problem.rowwise.data,
                      {problem.rowwise.scales, problem.rows, problem.rowwise.scale_rows, per_row,
                       problem.rowwise.scale_stride},
                      static_cast<std::uint32_t>(problem.rows * per_row),
                      problem.scale_rule,
                      problem.specials,
                      problem.padding == Padding::zero,
                      reinterpret_cast<std::uintptr_t>(problem.x) % 32 == 0,
                      tuning.evict_first,
                      tuning.prefetch ? resident_blocks(context.device.capability(), kThreads) : 0};
  const auto grid =
      static_cast<unsigned>((std::uint64_t{params.blocks} * lanes_per_block + kThreads - 1) / kThreads);
  ASSAY_LAUNCH(context, dim3(grid), dim3(kThreads), 0,
               (rowwise_register<kInput, kElement, kNanWins, kThreads>), params);
}

template <Input kInput, Element kElement, bool kNanWins>
void launch(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  if (tuning.threads == 128) return launch<kInput, kElement, kNanWins, 128>(context, problem, tuning);
  launch<kInput, kElement, kNanWins, 1024>(context, problem, tuning);
}

template <Input kInput, Element kElement>
void launch(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  if (problem.specials == SpecialBlocks::poison)
    return launch<kInput, kElement, true>(context, problem, tuning);
  launch<kInput, kElement, false>(context, problem, tuning);
}

template <Input kInput>
void launch(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  if (problem.element == Element::e4m3) return launch<kInput, Element::e4m3>(context, problem, tuning);
  launch<kInput, Element::e5m2>(context, problem, tuning);
}

}  // namespace

void launch_rowwise_register(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  switch (problem.input) {
    case Input::fp32:
      return launch<Input::fp32>(context, problem, tuning);
    case Input::fp16:
      return launch<Input::fp16>(context, problem, tuning);
    case Input::bf16:
      return launch<Input::bf16>(context, problem, tuning);
  }
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
