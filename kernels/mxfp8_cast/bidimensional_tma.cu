// MXFP8 cast of columns, or of columns and rows from one read, through a pipeline of bulk tensor copies: the
// legacy route for these directions. sm_90 and later.
//
// A thread block walks down a column of tiles of 32 rows. Tiles of x arrive in two buffers, each with an
// mbarrier; while one is cast, the next is under way. Threads cast from shared memory, first one column each,
// then one block of a row each, into tiles of codes that leave by bulk copies, again from two buffers. Scales
// are plain stores. Where the matrix ends within a tile, loads give zeros and stores write nothing.
#include <cassert>
#include <type_traits>

#include "kernels/device/bulk_copy.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/padding.hpp"
#include "kernels/mxfp8_cast/staged_scale.hpp"
#include "kernels/runtime/launch.hpp"
#include "kernels/runtime/tensor_map.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Direction;
using kernels::mxfp8_cast::Output;
using kernels::mxfp8_cast::Padding;
using kernels::mxfp8_cast::Problem;
using kernels::mxfp8_cast::ScaleLayout;

namespace {

constexpr unsigned tile_rows = block_elements;
constexpr unsigned buffers = 2;
constexpr unsigned max_tiles = 4;     ///< that a thread block walks down
constexpr unsigned chunk_bytes = 16;  ///< that a thread loads at a time along a row

/// Columns of a tile, and threads of a block. A tile of x takes 8 KB for every input.
template <Input kInput>
constexpr unsigned tile_cols = kInput == Input::fp32 ? 64 : 128;

template <Input kInput>
constexpr unsigned tile_elements = tile_rows* tile_cols<kInput>;

template <Input kInput, bool kRowwise>
struct alignas(128) Tiles {
  std::byte x[buffers][tile_elements<kInput> * input_bytes<kInput>];
  std::uint8_t colwise[buffers][tile_elements<kInput>];
  std::uint8_t rowwise[kRowwise ? buffers : 1][kRowwise ? tile_elements<kInput> : 128];
};
using Mbarriers = Mbarrier[buffers];

struct Params {
  ScalePlaces rowwise, colwise;
  std::uint32_t rows, cols;
  std::uint32_t tiles_per_row, tiles_per_block;
  ScaleRule scale_rule;
  SpecialBlocks specials;
  bool zero_padding;
};

/// The elements of one block, in any order.
struct Values {
  float value[block_elements];
};

template <bool kNanWins>
__device__ __forceinline__ float largest_magnitude(const Values& x) {
  constexpr unsigned chains = 4;  // of maxima, so that one need not wait for the other
  float largest[chains];
  ASSAY_UNROLL
  for (unsigned i = 0; i < chains; ++i) largest[i] = abs_f32(x.value[i]);
  const auto max_of = [](float a, float b) { return kNanWins ? max_nan_f32(a, b) : max_f32(a, b); };
  ASSAY_UNROLL
  for (unsigned i = chains; i < block_elements; ++i) {
    largest[i % chains] = max_of(largest[i % chains], abs_f32(x.value[i]));
  }
  return max_of(max_of(largest[0], largest[1]), max_of(largest[2], largest[3]));
}

/// The maximum is NaN when there is any NaN under the contract poison, else when there is nothing else.
__device__ __forceinline__ BlockSummary summarise(const Values& x, SpecialBlocks specials) {
  const float largest =
      specials == SpecialBlocks::poison ? largest_magnitude<true>(x) : largest_magnitude<false>(x);
  const bool nan = largest != largest;
  return {nan ? 0.0f : largest, nan, nan};
}

/// Multiplies by the reciprocal and returns elements i and i + 1 as codes, that of i in the low byte.
__device__ __forceinline__ std::uint32_t cast_two(const Values& x, unsigned i, float reciprocal,
                                                  Element element) {
  return cast_pair(mul_rn_f32(x.value[i + 1], reciprocal), mul_rn_f32(x.value[i], reciprocal), element);
}

/// Column threadIdx.x of a tile, of which `rows` rows are in the matrix.
template <Input kInput>
__device__ __forceinline__ Values load_column(const std::byte* tile, unsigned rows, SpecialBlocks specials) {
  using Code = std::conditional_t<kInput == Input::fp32, std::uint32_t, std::uint16_t>;
  Values x;
  ASSAY_UNROLL
  for (unsigned i = 0; i < tile_rows; ++i) {
    x.value[i] =
        widen<kInput>(load_as<Code>(tile + (i * tile_cols<kInput> + threadIdx.x) * input_bytes<kInput>));
  }
  if (rows < tile_rows && specials != SpecialBlocks::poison) {
    // Rows beyond the matrix are zeros, and would hide that a block holds nothing but NaN.
    ASSAY_UNROLL
    for (unsigned i = 0; i < tile_rows; ++i) {
      if (i >= rows) x.value[i] = std::bit_cast<float>(canonical_nan_f32);
    }
  }
  return x;
}

template <Input kInput, Element kElement>
__device__ __forceinline__ void cast_column(const std::byte* tile, std::uint8_t* codes, std::uint32_t row,
                                            std::uint32_t col, const Params& p) {
  constexpr unsigned pitch = tile_cols<kInput>;
  const Values x = load_column<kInput>(tile, p.rows - row, p.specials);
  const unsigned scale = scale_of(summarise(x, p.specials), p.scale_rule, p.specials, kElement);
  if (col < p.cols) {
    p.colwise.array.bytes[p.colwise(row / block_elements, col)] = static_cast<std::uint8_t>(scale);
  }
  const float reciprocal = inverse_scale(scale);
  ASSAY_UNROLL
  for (unsigned i = 0; i < tile_rows; i += 2) {
    const std::uint32_t pair = cast_two(x, i, reciprocal, kElement);
    codes[i * pitch + threadIdx.x] = static_cast<std::uint8_t>(pair);
    codes[(i + 1) * pitch + threadIdx.x] = static_cast<std::uint8_t>(pair >> 8);
  }
}

/// Block threadIdx.x of the tile, counted along its rows. Threads begin with different chunks of their
/// blocks, so that those which access shared memory together, eight in a load of 16 bytes, 16 or 32 in a
/// store of 8 or 4, meet different banks.
template <Input kInput, Element kElement>
__device__ __forceinline__ void cast_row_block(const std::byte* tile, std::uint8_t* codes, std::uint32_t row,
                                               std::uint32_t col, const Params& p) {
  constexpr unsigned block_bytes = block_elements * input_bytes<kInput>;
  constexpr unsigned chunks = block_bytes / chunk_bytes;
  constexpr unsigned per_chunk = block_elements / chunks;
  constexpr unsigned bank_bytes = 128;  // of all 32 banks
  const unsigned turn = threadIdx.x / (bank_bytes / block_bytes) + threadIdx.x / 8;
  Values x;
  ASSAY_UNROLL
  for (unsigned i = 0; i < chunks; ++i) {
    const auto chunk = load_as<Bits128>(tile + threadIdx.x * block_bytes + (i + turn) % chunks * chunk_bytes);
    ASSAY_UNROLL
    for (unsigned j = 0; j < per_chunk; ++j) {
      const std::uint32_t word = chunk.word[j * input_bytes<kInput> / 4];
      const std::uint32_t code = input_bytes<kInput> == 4 ? word : word >> (16 * (j % 2)) & 0xFFFFu;
      x.value[i * per_chunk + j] = widen<kInput>(code);
    }
  }
  const unsigned scale = scale_of(summarise(x, p.specials), p.scale_rule, p.specials, kElement);
  if (row < p.rows && col < p.cols) {
    p.rowwise.array.bytes[p.rowwise(row, col / block_elements)] = static_cast<std::uint8_t>(scale);
  }
  const float reciprocal = inverse_scale(scale);
  ASSAY_UNROLL
  for (unsigned i = 0; i < chunks; ++i) {
    std::uint32_t word[per_chunk / 4];
    ASSAY_UNROLL
    for (unsigned j = 0; j < per_chunk; j += 4) {
      word[j / 4] = cast_two(x, i * per_chunk + j, reciprocal, kElement) |
                    cast_two(x, i * per_chunk + j + 2, reciprocal, kElement) << 16;
    }
    std::uint8_t* const to = codes + threadIdx.x * block_elements + (i + turn) % chunks * per_chunk;
    if constexpr (per_chunk == 8) {
      store_as(to, Bits64{{word[0], word[1]}});
    } else {
      store_as(to, word[0]);
    }
  }
}

template <Input kInput, Element kElement, bool kRowwise>
__device__ __forceinline__ void run_pipeline(const TensorMap2d& x_map, const TensorMap2d& colwise_map,
                                             const TensorMap2d& rowwise_map, const Params& p) {
  using Shared = Tiles<kInput, kRowwise>;
  ASSAY_SHARED(Shared, tiles);
  ASSAY_SHARED(Mbarriers, full);
  constexpr unsigned blocks_per_row = tile_cols<kInput> / block_elements;
  const bool leader = threadIdx.x == 0;  // issues all copies
  const std::uint32_t first_col = blockIdx.x % p.tiles_per_row * tile_cols<kInput>;
  const std::uint32_t first_row = blockIdx.x / p.tiles_per_row * p.tiles_per_block * tile_rows;
  const std::uint32_t left = (p.rows - first_row + tile_rows - 1) / tile_rows;
  const std::uint32_t count = left < p.tiles_per_block ? left : p.tiles_per_block;
  const auto load = [&](std::uint32_t tile) {
    mbarrier_arrive_expect_tx(full[tile % buffers], sizeof tiles.x[0]);
    bulk_load_2d(tiles.x[tile % buffers], x_map, static_cast<std::int32_t>(first_row + tile * tile_rows),
                 static_cast<std::int32_t>(first_col), full[tile % buffers]);
  };

  if (leader) {
    prefetch_tensor_map(x_map);
    for (unsigned i = 0; i < buffers; ++i) mbarrier_init(full[i], 1);
    fence_proxy_async();
    for (std::uint32_t tile = 0; tile < buffers && tile < count; ++tile) load(tile);
  }
  __syncthreads();
  for (std::uint32_t tile = 0; tile < count; ++tile) {
    const unsigned buffer = tile % buffers;
    const std::uint32_t row = first_row + tile * tile_rows;
    mbarrier_wait(full[buffer], tile / buffers % 2);
    cast_column<kInput, kElement>(tiles.x[buffer], tiles.colwise[buffer], row, first_col + threadIdx.x, p);
    if constexpr (kRowwise) {
      cast_row_block<kInput, kElement>(tiles.x[buffer], tiles.rowwise[buffer],
                                       row + threadIdx.x / blocks_per_row,
                                       first_col + threadIdx.x % blocks_per_row * block_elements, p);
    }
    fence_proxy_async();
    // The codes of the tile before have been read by now, or soon: the next tile's take their place.
    if (leader) bulk_wait_group_read<0>();
    __syncthreads();
    if (!leader) continue;
    const auto store_row = static_cast<std::int32_t>(row), store_col = static_cast<std::int32_t>(first_col);
    bulk_store_2d(colwise_map, store_row, store_col, tiles.colwise[buffer]);
    if constexpr (kRowwise) bulk_store_2d(rowwise_map, store_row, store_col, tiles.rowwise[buffer]);
    bulk_commit_group();
    if (tile + buffers < count) load(tile + buffers);
  }
  if (leader) bulk_wait_group_read<0>();  // shared memory must outlive the reading
}

template <Input kInput, Element kElement, bool kRowwise>
__global__ void __launch_bounds__(tile_cols<kInput>)
    bidimensional_tma(const __grid_constant__ TensorMap2d x_map,
                      const __grid_constant__ TensorMap2d colwise_map,
                      const __grid_constant__ TensorMap2d rowwise_map, const __grid_constant__ Params p) {
  if (!has_bulk_copies) return trap_without_bulk_copies();
  run_pipeline<kInput, kElement, kRowwise>(x_map, colwise_map, rowwise_map, p);
  if (!p.zero_padding) return;
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  zero_padding(p.colwise, thread, threads);
  if constexpr (kRowwise) zero_padding(p.rowwise, thread, threads);
}

/// Thread blocks that there must be before each walks down so many tiles: every multiprocessor should have a
/// few, and for long walks two full rounds of the six that are resident, lest the last round be half empty.
/// The executor runs one after the other and never lacks any, so that there a buffer is used again for few
/// rows already.
std::int64_t blocks_wanted(Device& device, unsigned tiles) {
  if (device.kind() == DeviceKind::cpu) return 1;
  return std::int64_t{device.capability().multiprocessors} * (tiles > 2 ? 12 : 3);
}

template <Input kInput, Element kElement, bool kRowwise>
void launch(LaunchContext& context, const Problem& problem) {
  constexpr unsigned bytes = input_bytes<kInput>, columns = tile_cols<kInput>;
  const std::int64_t rows = problem.rows, cols = problem.cols;
  const TensorMap2d x =
      make_tensor_map_2d({"x", problem.x, rows, cols, cols * bytes, bytes}, tile_rows, columns);
  const auto codes_map = [&](const char* name, const Output& output) {
    return make_tensor_map_2d({name, output.data, rows, cols, cols, 1}, tile_rows, columns);
  };
  const TensorMap2d colwise = codes_map("colwise data", problem.colwise);
  const TensorMap2d rowwise = kRowwise ? codes_map("rowwise data", problem.rowwise) : colwise;

  const std::int64_t bands = (rows + tile_rows - 1) / tile_rows, across = (cols + columns - 1) / columns;
  const auto blocks_of = [&](std::int64_t tiles) { return across * ((bands + tiles - 1) / tiles); };
  unsigned tiles = max_tiles;
  while (tiles > 1 && blocks_of(tiles) < blocks_wanted(context.device, tiles)) tiles /= 2;

  const bool swizzled = problem.scale_layout == ScaleLayout::swizzled;
  const Output &by_row = problem.rowwise, &by_col = problem.colwise;
  const Params params{
      {{by_row.scales, rows, by_row.scale_rows, cols / block_elements, by_row.scale_stride}, swizzled, false},
      {{by_col.scales, bands, by_col.scale_rows, cols, by_col.scale_stride}, swizzled, true},
      static_cast<std::uint32_t>(rows),
      static_cast<std::uint32_t>(cols),
      static_cast<std::uint32_t>(across),
      tiles,
      problem.scale_rule,
      problem.specials,
      problem.padding == Padding::zero};
  ASSAY_LAUNCH(context, dim3(static_cast<unsigned>(blocks_of(tiles))), dim3(columns), 0,
               (bidimensional_tma<kInput, kElement, kRowwise>), x, colwise, rowwise, params);
}

template <Input kInput, Element kElement>
void launch(LaunchContext& context, const Problem& problem) {
  if (problem.has_rowwise()) return launch<kInput, kElement, true>(context, problem);
  launch<kInput, kElement, false>(context, problem);
}

template <Input kInput>
void launch(LaunchContext& context, const Problem& problem) {
  if (problem.element == Element::e4m3) return launch<kInput, Element::e4m3>(context, problem);
  launch<kInput, Element::e5m2>(context, problem);
}

}  // namespace

void launch_bidimensional_tma(LaunchContext& context, const Problem& problem) {
  assert(problem.has_colwise());
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
