// MXFP8 rowwise cast staged through shared memory: the legacy route.
//
// A thread block widens a tile of 64 rows by two blocks of 32 to fp32 in shared memory; after a barrier each
// thread reduces one block and derives its scale; after another all threads cast what they staged. Takes any
// number of whole blocks a row and any alignment of the element type. Shares no scale arithmetic with the
// register route: it works by comparison and division in fp32 where that one works on bits.
#include "kernels/device/arithmetic.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/padding.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Element;
using kernels::mxfp8_cast::Input;
using kernels::mxfp8_cast::Padding;
using kernels::mxfp8_cast::Problem;
using kernels::mxfp8_cast::ScaleRule;
using kernels::mxfp8_cast::SpecialBlocks;

namespace {

constexpr unsigned tile_rows = 64;
constexpr unsigned tile_columns = 2;  ///< in blocks
constexpr unsigned tile_blocks = tile_rows * tile_columns;
constexpr unsigned threads = tile_blocks;  ///< one a block in the reduction
constexpr unsigned block_elements = 32;
constexpr unsigned group = 4;  ///< elements a thread moves at a time
constexpr unsigned groups_per_block = block_elements / group;
/// Floats from one staged block to the next. The four more than 32 make 16-byte accesses free of bank
/// conflicts both along a block (staging, casting) and across blocks (reducing).
constexpr unsigned pitch = block_elements + 4;

struct alignas(16) Tile {
  float value[tile_blocks][pitch];
};
using Reciprocals = float[tile_blocks];

struct Params {
  const std::byte* x;
  std::uint8_t* data;
  ScaleArray scales;
  std::uint32_t tiles_per_row;
  Element element;
  ScaleRule scale_rule;
  SpecialBlocks specials;
  bool zero_padding;
  bool wide_loads;   ///< x is aligned to a group
  bool wide_stores;  ///< data is aligned to a group
};

struct alignas(16) Group {
  float value[group];
};

template <Input kInput>
__device__ __forceinline__ float widen(std::uint32_t code) {
  if constexpr (kInput == Input::fp32) return std::bit_cast<float>(code);
  return kInput == Input::bf16 ? cvt_f32_bf16(code) : cvt_f32_f16(code);
}

template <Input kInput>
__device__ __forceinline__ Group load_group(const std::byte* from, bool wide) {
  Group out;
  if constexpr (kInput == Input::fp32) {
    if (wide) return load_as<Group>(from);
    for (unsigned i = 0; i < group; ++i) out.value[i] = load_as<float>(from + 4 * i);
  } else if (wide) {
    const auto pairs = load_as<Bits64>(from);
    for (unsigned i = 0; i < group; ++i) {
      out.value[i] = widen<kInput>(pairs.word[i / 2] >> (16 * (i % 2)) & 0xFFFFu);
    }
  } else {
    for (unsigned i = 0; i < group; ++i) out.value[i] = widen<kInput>(load_as<std::uint16_t>(from + 2 * i));
  }
  return out;
}

/// What the reduction learns of a block.
struct BlockSummary {
  float largest = 0;  ///< magnitude, NaN left out
  unsigned nans = 0;
};

__device__ __forceinline__ BlockSummary summarise(const float (&block)[pitch]) {
  BlockSummary summary;
  for (unsigned i = 0; i < block_elements; i += group) {
    const auto part = load_as<Group>(block + i);
    for (unsigned j = 0; j < group; ++j) {
      const float magnitude = part.value[j] < 0 ? -part.value[j] : part.value[j];
      summary.nans += magnitude != magnitude;
      if (magnitude > summary.largest) summary.largest = magnitude;  // false for NaN
    }
  }
  return summary;
}

/// The scale byte of a block with a finite largest magnitude: the exponent of `value`, one more if value
/// exceeds `bound` times the power of two at or below it (reaches it, where `inclusive`), less `bias`, but at
/// least 0.
__device__ __forceinline__ unsigned exponent_code(float value, float bound, bool inclusive, unsigned bias) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const unsigned exponent = bits >> 23;
  const float power = exponent == 0 ? 0x1p-127f : std::bit_cast<float>(bits & 0x7F800000u);
  const float limit = mul_rn_f32(power, bound);
  const unsigned code = exponent + (value > limit || (inclusive && value == limit));
  return code > bias ? code - bias : 0;
}

__device__ __forceinline__ unsigned finite_scale(float largest, ScaleRule rule, Element element) {
  const bool e4m3 = element == Element::e4m3;
  const unsigned bias = e4m3 ? 8 : 15;
  switch (rule) {
    case ScaleRule::rceil:
      return exponent_code(mul_rn_f32(largest, e4m3 ? 1.0f / 448 : 1.0f / 57344), 1, false, 0);
    case ScaleRule::ceil:
      return exponent_code(largest, 1, false, bias);
    // Rounding to 3 or 2 mantissa bits reaches the next power of two from half a step below it on: that tie
    // is even.
    case ScaleRule::even:
      return exponent_code(largest, e4m3 ? 1.9375f : 1.875f, true, bias);
    case ScaleRule::floor:
      break;
  }
  return exponent_code(largest, 2, false, bias);
}

__device__ __forceinline__ unsigned scale_of(const BlockSummary& block, const Params& p) {
  const bool infinite = block.largest > 0x1.fffffep127f;
  if (p.specials == SpecialBlocks::poison && (infinite || block.nans > 0)) return 0xFF;
  if (infinite) return 0xFE;
  if (p.specials == SpecialBlocks::te_register && block.nans == block_elements) return 0xFF;
  return finite_scale(block.largest, p.scale_rule, p.element);
}

/// The reciprocal of the scale by an IEEE division of powers of two, which is exact at both ends of the
/// range.
__device__ __forceinline__ float inverse_scale(unsigned code) {
  if (code == 0xFF) return std::bit_cast<float>(canonical_nan_f32);
  return __fdiv_rn(1.0f, code == 0 ? 0x1p-127f : std::bit_cast<float>(code << 23));
}

__device__ __forceinline__ void store_group(std::uint8_t* to, const Group& x, float reciprocal,
                                            const Params& p) {
  float scaled[group];
  for (unsigned i = 0; i < group; ++i) scaled[i] = mul_rn_f32(x.value[i], reciprocal);
  const std::uint32_t low = p.element == Element::e4m3 ? cvt_rn_satfinite_e4m3x2_f32(scaled[1], scaled[0])
                                                       : cvt_rn_satfinite_e5m2x2_f32(scaled[1], scaled[0]);
  const std::uint32_t high = p.element == Element::e4m3 ? cvt_rn_satfinite_e4m3x2_f32(scaled[3], scaled[2])
                                                        : cvt_rn_satfinite_e5m2x2_f32(scaled[3], scaled[2]);
  const std::uint32_t codes = high << 16 | low;
  if (p.wide_stores) return store_as(to, codes);
  for (unsigned i = 0; i < group; ++i) to[i] = static_cast<std::uint8_t>(codes >> (8 * i));
}

template <Input kInput>
__global__ void __launch_bounds__(threads) rowwise_staged(const Params p) {
  ASSAY_SHARED(Tile, tile);
  ASSAY_SHARED(Reciprocals, reciprocal);
  constexpr unsigned element_bytes = kInput == Input::fp32 ? 4 : 2;
  const std::int64_t first_row = std::int64_t{blockIdx.x / p.tiles_per_row} * tile_rows;
  const std::int64_t first_column = std::int64_t{blockIdx.x % p.tiles_per_row} * tile_columns;
  const auto row_of = [&](unsigned block) { return first_row + block / tile_columns; };
  const auto column_of = [&](unsigned block) { return first_column + block % tile_columns; };
  const auto inside = [&](unsigned block) {
    return row_of(block) < p.scales.rows && column_of(block) < p.scales.blocks_per_row;
  };
  const auto first_element = [&](unsigned block) {
    return (row_of(block) * p.scales.blocks_per_row + column_of(block)) * block_elements;
  };

  for (unsigned i = threadIdx.x; i < tile_blocks * groups_per_block; i += threads) {
    const unsigned block = i / groups_per_block, offset = i % groups_per_block * group;
    if (!inside(block)) continue;
    store_as(&tile.value[block][offset],
             load_group<kInput>(p.x + (first_element(block) + offset) * element_bytes, p.wide_loads));
  }
  __syncthreads();

  if (const unsigned block = threadIdx.x; inside(block)) {
    const unsigned code = scale_of(summarise(tile.value[block]), p);
    p.scales.bytes[row_of(block) * p.scales.stride + column_of(block)] = static_cast<std::uint8_t>(code);
    reciprocal[block] = inverse_scale(code);
  }
  __syncthreads();

  for (unsigned i = threadIdx.x; i < tile_blocks * groups_per_block; i += threads) {
    const unsigned block = i / groups_per_block, offset = i % groups_per_block * group;
    if (!inside(block)) continue;
    store_group(p.data + first_element(block) + offset, load_as<Group>(&tile.value[block][offset]),
                reciprocal[block], p);
  }
  if (p.zero_padding) {
    zero_padding(p.scales, std::int64_t{blockIdx.x} * threads + threadIdx.x,
                 std::int64_t{gridDim.x} * threads);
  }
}

template <Input kInput>
void launch(LaunchContext& context, const Problem& problem) {
  constexpr unsigned element_bytes = kInput == Input::fp32 ? 4 : 2;
  const std::int64_t per_row = problem.cols / block_elements;
  const std::int64_t tiles_per_row = (per_row + tile_columns - 1) / tile_columns;
  const Params params{static_cast<const std::byte*>(problem.x),
                      problem.rowwise.data,
                      {problem.rowwise.scales, problem.rows, problem.rowwise.scale_rows, per_row,
                       problem.rowwise.scale_stride},
                      static_cast<std::uint32_t>(tiles_per_row),
                      problem.element,
                      problem.scale_rule,
                      problem.specials,
                      problem.padding == Padding::zero,
                      reinterpret_cast<std::uintptr_t>(problem.x) % (group * element_bytes) == 0,
                      reinterpret_cast<std::uintptr_t>(problem.rowwise.data) % group == 0};
  const std::int64_t tiles = tiles_per_row * ((problem.rows + tile_rows - 1) / tile_rows);
  ASSAY_LAUNCH(context, dim3(static_cast<unsigned>(tiles)), dim3(threads), 0, (rowwise_staged<kInput>),
               params);
}

}  // namespace

void launch_rowwise_staged(LaunchContext& context, const Problem& problem) {
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
