// Dequantisation with 16 elements a lane: one 128-bit load, 128-bit stores, nothing shared.
//
// The lanes take the matrix as a flat sequence of runs of 16 elements. A run lies inside one row and,
// rowwise, inside one block, so it has one scale there; colwise it has 16, side by side in a linear scale
// array.
#include "kernels/device/cvt_fp8.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/mxfp8_dequant/kernels.hpp"
#include "kernels/mxfp8_dequant/product.hpp"
#include "kernels/mxfp8_dequant/scale.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant {
namespace {

constexpr unsigned elements_per_lane = 16;
constexpr unsigned max_threads = 256;

struct Params {
  const std::uint8_t* data;
  std::byte* y;
  ScaleArray scales;
  std::uint32_t runs, runs_per_row;
  bool wide_scales;  ///< colwise: the 16 scales of every run are one aligned 128-bit word
};

/// The scales of the 16 elements from (row, col) on.
template <Direction kDirection>
struct RunScales {
  float one;           ///< rowwise
  Bits128 codes = {};  ///< colwise

  __device__ __forceinline__ void load(const Params& p, std::int64_t row, std::int64_t col) {
    if constexpr (kDirection == Direction::rowwise) {
      one = p.scales.of_element<kDirection>(row, col);
    } else if (p.wide_scales) {
      codes = load_nc_128(p.scales.codes + p.scales.place<kDirection>(row / 32, col), evict_normal_policy());
    } else {
      ASSAY_UNROLL
      for (unsigned i = 0; i < elements_per_lane; ++i) {
        const std::uint32_t code = p.scales.codes[p.scales.place<kDirection>(row / 32, col + i)];
        codes.word[i / 4] |= code << (8 * (i % 4));
      }
    }
  }
  __device__ __forceinline__ float operator[](unsigned i) const {
    if constexpr (kDirection == Direction::rowwise) return one;
    return std::bit_cast<float>(scale_bits(codes.word[i / 4] >> (8 * (i % 4)) & 0xFFu));
  }
};

/// The two codes in the low 16 bits.
template <Element kElement>
__device__ __forceinline__ PairF32 decoded(std::uint32_t codes) {
  return cvt_f32x2_f16x2(kElement == Element::e4m3 ? cvt_rn_f16x2_e4m3x2(codes) : cvt_rn_f16x2_e5m2x2(codes));
}

template <Element kElement, Output kOutput, Direction kDirection>
__global__ void __launch_bounds__(max_threads) dequant_vector(const Params p) {
  const std::uint32_t run = blockIdx.x * blockDim.x + threadIdx.x;
  if (run >= p.runs) return;
  const std::uint32_t row = run / p.runs_per_row;
  const std::int64_t col = std::int64_t{run - row * p.runs_per_row} * elements_per_lane;
  const std::int64_t first = std::int64_t{run} * elements_per_lane;

  const Bits128 data = load_nc_128(p.data + first, evict_first_policy());
  RunScales<kDirection> scales;
  scales.load(p, row, col);

  constexpr unsigned per_word = 4 / output_bytes<kOutput>, per_store = 4 * per_word;
  std::byte* const to = p.y + first * output_bytes<kOutput>;
  ASSAY_UNROLL
  for (unsigned base = 0; base < elements_per_lane; base += per_store) {
    Bits128 codes;
    ASSAY_UNROLL
    for (unsigned i = 0; i < per_store; i += 2) {
      const unsigned at = base + i;
      const PairF32 pair = decoded<kElement>(data.word[at / 4] >> (8 * (at % 4)));
      const std::uint32_t low = product_code<kOutput>(pair.low, scales[at]);
      const std::uint32_t high = product_code<kOutput>(pair.high, scales[at + 1]);
      if constexpr (kOutput == Output::fp32) {
        codes.word[i] = low;
        codes.word[i + 1] = high;
      } else {
        codes.word[i / 2] = high << 16 | low;
      }
    }
    store_128(to + base * output_bytes<kOutput>, codes, evict_normal_policy());
  }
}

template <Element kElement, Output kOutput>
void launch(LaunchContext& context, const Problem& problem) {
  const std::int64_t runs_per_row = problem.cols / elements_per_lane;
  const Params params{problem.data,
                      static_cast<std::byte*>(problem.y),
                      ScaleArray::of(problem),
                      static_cast<std::uint32_t>(problem.rows * runs_per_row),
                      static_cast<std::uint32_t>(runs_per_row),
                      problem.scale_layout == ScaleLayout::linear && problem.scale_stride % 16 == 0 &&
                          reinterpret_cast<std::uintptr_t>(problem.scales) % 16 == 0};
  // Small problems take small thread blocks, to spread over all multiprocessors.
  const unsigned threads = params.runs <= (1u << 17) ? 128 : max_threads;
  const auto grid = static_cast<unsigned>((std::uint64_t{params.runs} + threads - 1) / threads);
  if (problem.direction == Direction::rowwise) {
    ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0,
                 (dequant_vector<kElement, kOutput, Direction::rowwise>), params);
  } else {
    ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0,
                 (dequant_vector<kElement, kOutput, Direction::colwise>), params);
  }
}

template <Element kElement>
void launch(LaunchContext& context, const Problem& problem) {
  switch (problem.output) {
    case Output::fp32:
      return launch<kElement, Output::fp32>(context, problem);
    case Output::fp16:
      return launch<kElement, Output::fp16>(context, problem);
    case Output::bf16:
      return launch<kElement, Output::bf16>(context, problem);
  }
}

}  // namespace

void launch_dequant_vector(LaunchContext& context, const Problem& problem) {
  if (problem.element == Element::e4m3) return launch<Element::e4m3>(context, problem);
  launch<Element::e5m2>(context, problem);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant
