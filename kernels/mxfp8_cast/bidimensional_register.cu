// MXFP8 cast in both directions, or colwise alone, held in registers: the production route.
//
// A thread block owns a tile of 32 rows, so a colwise block of 32 x 1 closes inside it, and reads it once. A
// thread holds 16 neighbouring columns of a few rows. Rowwise scales need one shuffle between the two lanes
// of a block of 1 x 32; for colwise ones each thread folds its own rows, and the rest is folded through
// shared memory, which holds nothing else. How many rows a thread holds depends on the size of the cast
// (Form, tuning.cpp).
#include <cassert>

#include "kernels/mxfp8_cast/kernels.hpp"
#include "kernels/mxfp8_cast/padding.hpp"
#include "kernels/mxfp8_cast/register_block.hpp"
#include "kernels/mxfp8_cast/tuning.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast {

using kernels::mxfp8_cast::Direction;
using kernels::mxfp8_cast::Output;
using kernels::mxfp8_cast::Padding;
using kernels::mxfp8_cast::Problem;
using kernels::mxfp8_cast::resident_blocks;
using kernels::mxfp8_cast::Tuning;

namespace {

constexpr unsigned band_rows = 32;
constexpr unsigned block_elements = 32;
constexpr unsigned elements_per_run = 16;  ///< of one row, as one thread loads them
constexpr unsigned words_per_run = elements_per_run / 2;

constexpr unsigned columns = 256;  ///< of a tile
constexpr unsigned runs_per_row = columns / elements_per_run;

/// When a thread casts its rows rowwise.
enum class RowwiseCast {
  none,         ///< colwise alone
  before_fold,  ///< ahead of the first barrier: hides the wait for other warps
  beside_fold,  ///< behind it: the fold comes sooner, and the cast hides the wait at the second one
};

/// How a tile of 32 x 256 is dealt to the threads of a block.
template <unsigned kRows, RowwiseCast kRowwise>
struct Form {
  static constexpr RowwiseCast rowwise = kRowwise;
  static constexpr unsigned rows = kRows;  ///< of a group; a thread holds its run of one group
  static constexpr unsigned groups = band_rows / rows;
  static constexpr unsigned threads = groups * runs_per_row;
  static constexpr unsigned folded = columns / threads;  ///< columns whose scales a thread finds
  static_assert(folded == 1 || folded == 2);
};
using TwoRows = Form<2, RowwiseCast::before_fold>;
using FourRows = Form<4, RowwiseCast::beside_fold>;
using Colwise = Form<2, RowwiseCast::none>;

struct Params {
  const std::byte* x;
  std::uint8_t* rowwise_data;
  std::uint8_t* colwise_data;
  ScaleArray rowwise, colwise;
  std::int64_t cols;
  std::uint32_t tiles_per_band, tiles;
  ScaleRule scale_rule;
  SpecialBlocks specials;
  bool zero_padding;
  bool aligned_32;  ///< x is 32-byte aligned, so one 256-bit load may fetch a run
  bool evict_first;
  std::uint32_t wave;  ///< thread blocks resident at a time, to prefetch one wave ahead; 0: no prefetch
};

/// 16 neighbouring elements of a row.
struct Run {
  std::uint32_t word[words_per_run];

  /// Largest magnitude of the block of 32 that this run is half of. Every lane of the warp takes part.
  template <bool kNanWins>
  __device__ __forceinline__ float block_amax() const {
    std::uint32_t pair = abs_x2(word[0]);
    ASSAY_UNROLL
    for (unsigned w = 1; w < words_per_run; ++w) pair = max_magnitudes<kNanWins>(pair, abs_x2(word[w]));
    return larger_of<kNanWins>(max_magnitudes<kNanWins>(pair, __shfl_xor_sync(0xFFFFFFFFu, pair, 1)));
  }

  /// Each pair of elements times its pair of scales.
  template <Element kElement>
  __device__ __forceinline__ Bits128 scaled(const std::uint32_t (&scales)[words_per_run]) const {
    Bits128 codes;
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      codes.word[i] =
          cvt_scaled_pairs<kElement>(word[2 * i], scales[2 * i], word[2 * i + 1], scales[2 * i + 1]);
    }
    return codes;
  }
};

/// Where a thread stands in its tile, and its tile in the whole.
struct Place {
  std::uint32_t band;
  unsigned group, column_in_tile;
  std::int64_t first_column, first_row, first_element;

  /// `rows`: of a group.
  __device__ __forceinline__ Place(const Params& p, unsigned rows)
      : band(blockIdx.x / p.tiles_per_band),
        group(threadIdx.x / runs_per_row),
        column_in_tile(threadIdx.x % runs_per_row * elements_per_run),
        first_column(std::int64_t{blockIdx.x % p.tiles_per_band} * columns),
        first_row(std::int64_t{band} * band_rows + group * rows),
        first_element(first_row * p.cols + first_column + column_in_tile) {}

  /// Flat index of the thread's run in its row r.
  __device__ __forceinline__ std::int64_t element(const Params& p, unsigned r) const {
    return first_element + r * p.cols;
  }
};

/// The tile one resident wave ahead, into L2: a line of 128 bytes at a time.
template <class Form>
__device__ __forceinline__ void prefetch_next_wave(const Params& p) {
  const std::uint32_t tile = blockIdx.x + p.wave;
  if (tile >= p.tiles) return;
  constexpr unsigned lines_per_row = columns * 2 / 128;
  const std::int64_t column = std::int64_t{tile % p.tiles_per_band} * columns;
  for (unsigned line = threadIdx.x; line < band_rows * lines_per_row; line += Form::threads) {
    const std::int64_t row = std::int64_t{tile / p.tiles_per_band} * band_rows + line / lines_per_row;
    prefetch_l2(p.x + (row * p.cols + column) * 2 + line % lines_per_row * 128);
  }
}

template <class Form>
struct alignas(16) Partials {
  std::uint32_t pair[Form::groups][columns / 2];  ///< magnitudes of two columns, of a group of rows
};
struct alignas(16) Reciprocals {
  std::uint16_t code[columns];  ///< bf16
};

template <Element kElement, bool kNanWins, unsigned kRows>
__device__ __forceinline__ void cast_rows(const Params& p, const Place& place, const Run (&x)[kRows]) {
  ASSAY_UNROLL
  for (unsigned r = 0; r < kRows; ++r) {
    const std::uint32_t byte =
        block_scale(x[r].template block_amax<kNanWins>(), p.scale_rule, p.specials, kElement);
    std::uint32_t scales[words_per_run];
    ASSAY_UNROLL
    for (unsigned w = 0; w < words_per_run; ++w) scales[w] = e8m0_reciprocal_bf16x2(byte);
    store_128(p.rowwise_data + place.element(p, r), x[r].template scaled<kElement>(scales),
              evict_normal_policy());
    if (place.column_in_tile % block_elements == 0) {
      const std::int64_t block = (place.first_column + place.column_in_tile) / block_elements;
      store_8(p.rowwise.bytes + (place.first_row + r) * p.rowwise.stride + block,
              static_cast<std::uint8_t>(byte), evict_last_policy());
    }
  }
}

/// Folds what the groups found of Form::folded columns from `first` on, and leaves scales and reciprocals.
template <Element kElement, bool kNanWins, class Form>
__device__ __forceinline__ void scale_columns(const Params& p, const Place& place,
                                              const Partials<Form>& partial, Reciprocals& reciprocal,
                                              unsigned first) {
  std::uint32_t largest = partial.pair[0][first / 2];
  ASSAY_UNROLL
  for (unsigned g = 1; g < Form::groups; ++g) {
    largest = max_magnitudes<kNanWins>(largest, partial.pair[g][first / 2]);
  }
  ASSAY_UNROLL
  for (unsigned i = 0; i < Form::folded; ++i) {
    const unsigned column = first + i;
    const std::uint32_t magnitude = column % 2 == 0 ? largest & 0xFFFFu : largest >> 16;
    const std::uint32_t byte = block_scale(cvt_f32_bf16(magnitude), p.scale_rule, p.specials, kElement);
    store_8(p.colwise.bytes + place.band * p.colwise.stride + place.first_column + column,
            static_cast<std::uint8_t>(byte), evict_normal_policy());
    reciprocal.code[column] = static_cast<std::uint16_t>(e8m0_reciprocal_bf16(byte));
  }
}

template <Element kElement, bool kNanWins, class Form>
__device__ __forceinline__ void cast_tile(const Params& p) {
  constexpr unsigned rows = Form::rows;
  ASSAY_SHARED(Partials<Form>, partial);
  ASSAY_SHARED(Reciprocals, reciprocal);
  const Place place(p, rows);
  const CachePolicy policy = p.evict_first ? evict_first_policy() : evict_normal_policy();
  Run x[rows];
  ASSAY_UNROLL
  for (unsigned r = 0; r < rows; ++r) {
    load_words(x[r].word, p.x + 2 * place.element(p, r), p.aligned_32, policy);
  }
  if (p.wave != 0) prefetch_next_wave<Form>(p);

  ASSAY_UNROLL
  for (unsigned w = 0; w < words_per_run; ++w) {
    std::uint32_t largest = abs_x2(x[0].word[w]);
    ASSAY_UNROLL
    for (unsigned r = 1; r < rows; ++r) largest = max_magnitudes<kNanWins>(largest, abs_x2(x[r].word[w]));
    partial.pair[place.group][place.column_in_tile / 2 + w] = largest;
  }
  if constexpr (Form::rowwise == RowwiseCast::before_fold) cast_rows<kElement, kNanWins>(p, place, x);
  __syncthreads();
  if constexpr (Form::rowwise == RowwiseCast::beside_fold) {
    // A loop, though of one pass: in straight-line code nvcc 13.0 spills some of x.
    for (unsigned first = threadIdx.x * Form::folded; first < columns;
         first += Form::threads * Form::folded) {
      scale_columns<kElement, kNanWins>(p, place, partial, reciprocal, first);
    }
    cast_rows<kElement, kNanWins>(p, place, x);
  } else {
    scale_columns<kElement, kNanWins>(p, place, partial, reciprocal, threadIdx.x * Form::folded);
  }
  __syncthreads();

  std::uint32_t scales[words_per_run];
  ASSAY_UNROLL
  for (unsigned w = 0; w < words_per_run; w += 4) {
    const auto four = load_as<Bits128>(reciprocal.code + place.column_in_tile + 2 * w);
    ASSAY_UNROLL
    for (unsigned i = 0; i < 4; ++i) scales[w + i] = four.word[i];
  }
  ASSAY_UNROLL
  for (unsigned r = 0; r < rows; ++r) {
    store_128(p.colwise_data + place.element(p, r), x[r].template scaled<kElement>(scales),
              evict_normal_policy());
  }
}

template <Element kElement, bool kNanWins, class Form>
__global__ void __launch_bounds__(Form::threads) bidimensional_register(const Params p) {
  cast_tile<kElement, kNanWins, Form>(p);
  if (p.zero_padding) {
    const std::int64_t thread = std::int64_t{blockIdx.x} * Form::threads + threadIdx.x;
    const std::int64_t all = std::int64_t{gridDim.x} * Form::threads;
    zero_padding(p.rowwise, thread, all);
    zero_padding(p.colwise, thread, all);
  }
}

template <Element kElement, bool kNanWins>
__global__ void __launch_bounds__(Colwise::threads) colwise_register(const Params p) {
  cast_tile<kElement, kNanWins, Colwise>(p);
  if (p.zero_padding) {
    zero_padding(p.colwise, std::int64_t{blockIdx.x} * Colwise::threads + threadIdx.x,
                 std::int64_t{gridDim.x} * Colwise::threads);
  }
}

ScaleArray scales_of(const Output& output, std::int64_t scale_rows, std::int64_t per_row) {
  return {output.scales, scale_rows, output.scale_rows, per_row, output.scale_stride};
}

template <Element kElement, bool kNanWins>
void launch(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  const auto tiles_per_band = static_cast<std::uint32_t>(problem.cols / columns);
  const auto tiles = static_cast<std::uint32_t>(problem.rows / band_rows) * tiles_per_band;
  const Params params{static_cast<const std::byte*>(problem.x),
                      problem.rowwise.data,
                      problem.colwise.data,
                      scales_of(problem.rowwise, problem.rows, problem.cols / block_elements),
                      scales_of(problem.colwise, problem.rows / band_rows, problem.cols),
                      problem.cols,
                      tiles_per_band,
                      tiles,
                      problem.scale_rule,
                      problem.specials,
                      problem.padding == Padding::zero,
                      reinterpret_cast<std::uintptr_t>(problem.x) % 32 == 0,
                      tuning.evict_first,
                      tuning.prefetch ? resident_blocks(context.device.capability(), tuning.threads) : 0};
  const auto grid = dim3(tiles), block = dim3(tuning.threads);
  if (problem.direction == Direction::colwise) {
    assert(tuning.threads == Colwise::threads);
    ASSAY_LAUNCH(context, grid, block, 0, (colwise_register<kElement, kNanWins>), params);
  } else if (tuning.threads == TwoRows::threads) {
    ASSAY_LAUNCH(context, grid, block, 0, (bidimensional_register<kElement, kNanWins, TwoRows>), params);
  } else {
    assert(tuning.threads == FourRows::threads);
    ASSAY_LAUNCH(context, grid, block, 0, (bidimensional_register<kElement, kNanWins, FourRows>), params);
  }
}

template <Element kElement>
void launch(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  if (problem.specials == SpecialBlocks::poison) return launch<kElement, true>(context, problem, tuning);
  launch<kElement, false>(context, problem, tuning);
}

}  // namespace

void launch_bidimensional_register(LaunchContext& context, const Problem& problem, const Tuning& tuning) {
  if (problem.element == Element::e4m3) return launch<Element::e4m3>(context, problem, tuning);
  launch<Element::e5m2>(context, problem, tuning);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_cast
