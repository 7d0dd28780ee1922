// MXFP8 rowwise cast staged through shared memory: the legacy route.
//
// A thread block widens a tile of 64 rows by two blocks of 32 to fp32 in shared memory; after a barrier each
// thread reduces one block and derives its scale; after another all threads cast what they staged. Takes any
// number of whole blocks a row and any alignment of the element type. Shares no scale arithmetic with the
// register route: it works by comparison and division in fp32 where that one works on bits.
#include "kernels/device/memory.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/padding.hpp"
#include "kernels/mxfp8_cast/staged_scale.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Padding;
using kernels::mxfp8_cast::Problem;
using kernels::mxfp8_cast::ScaleLayout;

namespace {

constexpr unsigned tile_rows = 64;
constexpr unsigned tile_columns = 2;  ///< in blocks
constexpr unsigned tile_blocks = tile_rows * tile_columns;
constexpr unsigned threads = tile_blocks;  ///< one a block in the reduction
constexpr unsigned group = 4;              ///< elements a thread moves at a time
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
  ScalePlaces scales;
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

__device__ __forceinline__ BlockSummary summarise(const float (&block)[pitch]) {
  BlockSummary summary;
  unsigned nans = 0;
  for (unsigned i = 0; i < block_elements; i += group) {
    const auto part = load_as<Group>(block + i);
    for (unsigned j = 0; j < group; ++j) {
      const float magnitude = part.value[j] < 0 ? -part.value[j] : part.value[j];
      nans += magnitude != magnitude;
      if (magnitude > summary.largest) summary.largest = magnitude;  // false for NaN
    }
  }
  summary.any_nan = nans > 0;
  summary.all_nan = nans == block_elements;
  return summary;
}

__device__ __forceinline__ void store_group(std::uint8_t* to, const Group& x, float reciprocal,
                                            const Params& p) {
  float scaled[group];
  for (unsigned i = 0; i < group; ++i) scaled[i] = mul_rn_f32(x.value[i], reciprocal);
  const std::uint32_t low = cast_pair(scaled[1], scaled[0], p.element);
  const std::uint32_t high = cast_pair(scaled[3], scaled[2], p.element);
  const std::uint32_t codes = high << 16 | low;
  if (p.wide_stores) return store_as(to, codes);
  for (unsigned i = 0; i < group; ++i) to[i] = static_cast<std::uint8_t>(codes >> (8 * i));
}

template <Input kInput>
__global__ void __launch_bounds__(threads) rowwise_staged(const Params p) {
  ASSAY_SHARED(Tile, tile);
  ASSAY_SHARED(Reciprocals, reciprocal);
  const ScaleArray& scales = p.scales.array;
  const std::int64_t first_row = std::int64_t{blockIdx.x / p.tiles_per_row} * tile_rows;
  const std::int64_t first_column = std::int64_t{blockIdx.x % p.tiles_per_row} * tile_columns;
  const auto row_of = [&](unsigned block) { return first_row + block / tile_columns; };
  const auto column_of = [&](unsigned block) { return first_column + block % tile_columns; };
  const auto inside = [&](unsigned block) {
    return row_of(block) < scales.rows && column_of(block) < scales.blocks_per_row;
  };
  const auto first_element = [&](unsigned block) {
    return (row_of(block) * scales.blocks_per_row + column_of(block)) * block_elements;
  };

  for (unsigned i = threadIdx.x; i < tile_blocks * groups_per_block; i += threads) {
    const unsigned block = i / groups_per_block, offset = i % groups_per_block * group;
    if (!inside(block)) continue;
    store_as(&tile.value[block][offset],
             load_group<kInput>(p.x + (first_element(block) + offset) * input_bytes<kInput>, p.wide_loads));
  }
  __syncthreads();

  if (const unsigned block = threadIdx.x; inside(block)) {
    const unsigned code = scale_of(summarise(tile.value[block]), p.scale_rule, p.specials, p.element);
    scales.bytes[p.scales(row_of(block), column_of(block))] = static_cast<std::uint8_t>(code);
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
  const std::int64_t per_row = problem.cols / block_elements;
  const std::int64_t tiles_per_row = (per_row + tile_columns - 1) / tile_columns;
  const Params params{static_cast<const std::byte*>(problem.x),
                      problem.rowwise.data,
                      {{problem.rowwise.scales, problem.rows, problem.rowwise.scale_rows, per_row,
                        problem.rowwise.scale_stride},
                       problem.scale_layout == ScaleLayout::swizzled,
                       false},
                      static_cast<std::uint32_t>(tiles_per_row),
                      problem.element,
                      problem.scale_rule,
                      problem.specials,
                      problem.padding == Padding::zero,
                      reinterpret_cast<std::uintptr_t>(problem.x) % (group * input_bytes<kInput>) == 0,
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
