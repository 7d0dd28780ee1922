// The probes: one struct an instruction, run by two kernels.
#include <array>
#include <bit>
#include <stdexcept>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/bf16x2.hpp"
#include "kernels/device/bits.hpp"
#include "kernels/device/bulk_copy.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/cvt_fp8.hpp"
#include "kernels/device/f16x2.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/device/mma_operands.hpp"
#include "kernels/device/probe_table.hpp"
#include "kernels/device/sum_operands.hpp"
#include "kernels/device/twin_operands.hpp"
#include "kernels/device/twin_probe.hpp"
#include "kernels/runtime/launch.hpp"
#include "kernels/runtime/tensor_map.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {
namespace {

using u32 = std::uint32_t;

__host__ __device__ constexpr float as_float(u32 bits) { return std::bit_cast<float>(bits); }
__host__ __device__ constexpr u32 as_bits(float value) { return std::bit_cast<u32>(value); }

// ---- conversions: the domain is every input ----

constexpr std::uint64_t every_16 = std::uint64_t{1} << 16;
constexpr std::uint64_t every_32 = std::uint64_t{1} << 32;

/// The value goes to the high code and its negation to the low one, so exchanged halves show.
#define ASSAY_PROBE_FP8(Name, wrapper, twin_function)                                                    \
  struct Name {                                                                                          \
    using Output = std::uint16_t;                                                                        \
    static __device__ u32 instruction(u32 x) { return wrapper(as_float(x), as_float(x ^ 0x80000000u)); } \
    static __host__ __device__ u32 twin_of(u32 x) {                                                      \
      return twin::twin_function(as_float(x), as_float(x ^ 0x80000000u));                                \
    }                                                                                                    \
  };
ASSAY_PROBE_FP8(ToE4m3x2, cvt_rn_satfinite_e4m3x2_f32, cvt_e4m3x2_f32)
ASSAY_PROBE_FP8(ToE5m2x2, cvt_rn_satfinite_e5m2x2_f32, cvt_e5m2x2_f32)
#undef ASSAY_PROBE_FP8

struct ToF16 {
  using Output = std::uint16_t;
  static __device__ u32 instruction(u32 x) { return cvt_rn_f16_f32(as_float(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_rn_f16_f32(as_float(x)); }
};
struct ToBf16 {
  using Output = std::uint16_t;
  static __device__ u32 instruction(u32 x) { return cvt_rn_bf16_f32(as_float(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_rn_bf16_f32(as_float(x)); }
};
struct FromF16 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return as_bits(cvt_f32_f16(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return as_bits(twin::cvt_f32_f16(x)); }
};
struct FromBf16 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return as_bits(cvt_f32_bf16(x)); }
  static __host__ __device__ u32 twin_of(u32 x) { return as_bits(twin::cvt_f32_bf16(x)); }
};

/// The value goes to the high code, and the low one gets the value with its sign and lowest bit changed.
#define ASSAY_PROBE_TO_16X2(Name, function)                                                               \
  struct Name {                                                                                           \
    using Output = u32;                                                                                   \
    static __device__ u32 instruction(u32 x) { return function(as_float(x), as_float(x ^ 0x80000001u)); } \
    static __host__ __device__ u32 twin_of(u32 x) {                                                       \
      return twin::function(as_float(x), as_float(x ^ 0x80000001u));                                      \
    }                                                                                                     \
  };
ASSAY_PROBE_TO_16X2(ToF16x2, cvt_rn_f16x2_f32)
ASSAY_PROBE_TO_16X2(ToBf16x2, cvt_rn_bf16x2_f32)
#undef ASSAY_PROBE_TO_16X2

struct FromE4m3x2 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return cvt_rn_f16x2_e4m3x2(x); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_f16x2_e4m3x2(x); }
};
struct FromE5m2x2 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) { return cvt_rn_f16x2_e5m2x2(x); }
  static __host__ __device__ u32 twin_of(u32 x) { return twin::cvt_f16x2_e5m2x2(x); }
};

// ---- two operands: the domain is a table of pairs ----

#define ASSAY_PROBE_PAIR_F32(Name, function)                        \
  struct Name {                                                     \
    using Output = u32;                                             \
    static __device__ u32 instruction(u32 x) {                      \
      const operands::Pair p = operands::pair_f32(x);               \
      return as_bits(function(as_float(p.a), as_float(p.b)));       \
    }                                                               \
    static __host__ __device__ u32 twin_of(u32 x) {                 \
      const operands::Pair p = operands::pair_f32(x);               \
      return as_bits(twin::function(as_float(p.a), as_float(p.b))); \
    }                                                               \
  };
ASSAY_PROBE_PAIR_F32(MaxF32, max_f32)
ASSAY_PROBE_PAIR_F32(MaxNanF32, max_nan_f32)
ASSAY_PROBE_PAIR_F32(MinF32, min_f32)
ASSAY_PROBE_PAIR_F32(MinNanF32, min_nan_f32)
ASSAY_PROBE_PAIR_F32(MulRnF32, mul_rn_f32)
#undef ASSAY_PROBE_PAIR_F32

#define ASSAY_PROBE_PAIR_16X2(Name, function, mantissa_bits)          \
  struct Name {                                                       \
    using Output = u32;                                               \
    static __device__ u32 instruction(u32 x) {                        \
      const operands::Pair p = operands::pair_16x2<mantissa_bits>(x); \
      return function(p.a, p.b);                                      \
    }                                                                 \
    static __host__ __device__ u32 twin_of(u32 x) {                   \
      const operands::Pair p = operands::pair_16x2<mantissa_bits>(x); \
      return twin::function(p.a, p.b);                                \
    }                                                                 \
  };
ASSAY_PROBE_PAIR_16X2(MaxBf16x2, max_bf16x2, 7)
ASSAY_PROBE_PAIR_16X2(MaxNanBf16x2, max_nan_bf16x2, 7)
ASSAY_PROBE_PAIR_16X2(MaxF16x2, max_f16x2, 10)
ASSAY_PROBE_PAIR_16X2(MaxNanF16x2, max_nan_f16x2, 10)
ASSAY_PROBE_PAIR_16X2(MulRnBf16x2, mul_rn_bf16x2, 7)
ASSAY_PROBE_PAIR_16X2(MulRnF16x2, mul_rn_f16x2, 10)
#undef ASSAY_PROBE_PAIR_16X2

// ---- sums ----

struct AddRnF32 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Pair p = operands::SumsF32::addends(x);
    return as_bits(add_rn_f32(as_float(p.a), as_float(p.b)));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Pair p = operands::SumsF32::addends(x);
    return as_bits(twin::add_rn_f32(as_float(p.a), as_float(p.b)));
  }
};
struct FmaRnF32 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Triple t = operands::SumsF32::triple(x);
    return as_bits(fma_rn_f32(as_float(t.a), as_float(t.b), as_float(t.c)));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Triple t = operands::SumsF32::triple(x);
    return as_bits(twin::fma_rn_f32(as_float(t.a), as_float(t.b), as_float(t.c)));
  }
};
struct FmaRnF16x2 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    const operands::Triple t = operands::triple_f16x2(x);
    return fma_rn_f16x2(t.a, t.b, t.c);
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::Triple t = operands::triple_f16x2(x);
    return twin::fma_rn_f16x2(t.a, t.b, t.c);
  }
};

#define ASSAY_PROBE_ADDENDS_F16X2(Name, function)          \
  struct Name {                                            \
    using Output = u32;                                    \
    static __device__ u32 instruction(u32 x) {             \
      const operands::Pair p = operands::addends_f16x2(x); \
      return function(p.a, p.b);                           \
    }                                                      \
    static __host__ __device__ u32 twin_of(u32 x) {        \
      const operands::Pair p = operands::addends_f16x2(x); \
      return twin::function(p.a, p.b);                     \
    }                                                      \
  };
ASSAY_PROBE_ADDENDS_F16X2(AddRnF16x2, add_rn_f16x2)
ASSAY_PROBE_ADDENDS_F16X2(SubRnF16x2, sub_rn_f16x2)
#undef ASSAY_PROBE_ADDENDS_F16X2

// ---- bits ----

/// Every selector on 256 pairs of words.
struct Prmt {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    return prmt(operands::scrambled(x >> 16), operands::scrambled(~(x >> 16)), x & 0xFFFFu);
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    return twin::prmt(operands::scrambled(x >> 16), operands::scrambled(~(x >> 16)), x & 0xFFFFu);
  }
};
/// The operands whose bits run through all eight combinations; nibbles of x vary which of them are
/// complemented.
template <std::uint8_t kTable>
struct Lop3 {
  using Output = u32;
  static __device__ u32 instruction(u32 x) {
    return lop3<kTable>(operands::scrambled(x), operands::scrambled(x + 0x10000u),
                        operands::scrambled(x + 0x20000u));
  }
  static __host__ __device__ u32 twin_of(u32 x) {
    return twin::lop3<kTable>(operands::scrambled(x), operands::scrambled(x + 0x10000u),
                              operands::scrambled(x + 0x20000u));
  }
};

// ---- the two kernels ----

constexpr unsigned threads = 256;
unsigned blocks_for(u32 count) { return (count + threads - 1) / threads; }

template <class Operation>
__global__ void probe_instruction(std::uint64_t first, u32 count, typename Operation::Output* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = static_cast<typename Operation::Output>(Operation::instruction(static_cast<u32>(first + i)));
}

template <class Operation>
__global__ void probe_twin(std::uint64_t first, u32 count, typename Operation::Output* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = static_cast<typename Operation::Output>(Operation::twin_of(static_cast<u32>(first + i)));
}

/// The output buffer as what the kernel writes. A range that does not fit is the caller's error.
template <class Output>
Output* output_of(DeviceBuffer& out, u32 count) {
  if (out.bytes() < sizeof(Output) * count)
    throw DeviceError("probe: the output buffer is smaller than the range");
  return static_cast<Output*>(out.data());
}

template <class Operation>
void run_instruction(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (count == 0) return;
  ASSAY_LAUNCH(context, dim3(blocks_for(count)), dim3(threads), 0, (probe_instruction<Operation>), first,
               count, output_of<typename Operation::Output>(out, count));
}

template <class Operation>
void run_twin(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (count == 0) return;
  ASSAY_LAUNCH(context, dim3(blocks_for(count)), dim3(threads), 0, (probe_twin<Operation>), first, count,
               output_of<typename Operation::Output>(out, count));
}

template <class Operation>
constexpr WrapperProbe probe(std::string_view name, int exhaustive_bits, std::uint64_t domain) {
  return {name,
          exhaustive_bits,
          domain,
          static_cast<int>(8 * sizeof(typename Operation::Output)),
          run_instruction<Operation>,
          run_twin<Operation>,
          [](u32 input) { return Operation::twin_of(input); }};
}

// ---- loads and stores: words of a known sequence, moved by the wrapper ----

struct Sequence {
  using Output = u32;
  static __host__ __device__ u32 twin_of(u32 x) { return operands::scrambled(x); }
};

struct Load8 {
  using Chunk = u32;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    u32 word = 0;
    for (unsigned i = 0; i < 4; ++i) word |= load_nc_8(static_cast<const std::byte*>(from) + i, p) << (8 * i);
    store_as(to, word);
  }
};
struct Load16 {
  using Chunk = u32;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    const u32 low = load_nc_16(from, p), high = load_nc_16(static_cast<const std::byte*>(from) + 2, p);
    store_as(to, high << 16 | low);
  }
};
struct Load128 {
  using Chunk = Bits128;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    store_as(to, load_nc_128(from, p));
  }
};
struct Load256 {
  using Chunk = Bits256;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    store_as(to, load_nc_256(from, p));
  }
};
struct Store8 {
  using Chunk = u32;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    const auto word = load_as<u32>(from);
    for (unsigned i = 0; i < 4; ++i)
      store_8(static_cast<std::byte*>(to) + i, static_cast<std::uint8_t>(word >> (8 * i)), p);
  }
};
struct Store64 {
  using Chunk = Bits64;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    store_64(to, load_as<Bits64>(from), p);
  }
};
struct Store128 {
  using Chunk = Bits128;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    store_128(to, load_as<Bits128>(from), p);
  }
};

__device__ CachePolicy policy_of(u32 i) {
  return i == 0 ? evict_first_policy() : i == 1 ? evict_normal_policy() : evict_last_policy();
}

template <class Access>
__global__ void probe_access(const std::byte* from, std::byte* to, u32 chunks) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= chunks) return;
  const std::size_t offset = std::size_t{i} * sizeof(typename Access::Chunk);
  prefetch_l2(from + offset);
  Access::move(from + offset, to + offset, policy_of(i % 3));
}

template <class Access>
void run_access(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  constexpr u32 words = sizeof(typename Access::Chunk) / 4;
  if (count % words != 0)
    throw DeviceError("probe: a range of loads or stores is not a whole number of accesses");
  if (count == 0) return;
  auto* const to = reinterpret_cast<std::byte*>(output_of<u32>(out, count));
  const auto source = context.device.allocate("probe source", std::size_t{count} * 4, 32);
  run_twin<Sequence>(context, first, count, *source);
  ASSAY_LAUNCH(context, dim3(blocks_for(count / words)), dim3(threads), 0, (probe_access<Access>),
               static_cast<const std::byte*>(source->data()), to, count / words);
  context.device.synchronize();  // before the source goes
}

template <class Access>
constexpr WrapperProbe access_probe(std::string_view name) {
  return {name, 0, std::uint64_t{1} << 20, 32, run_access<Access>, run_twin<Sequence>, [](u32 input) {
            return Sequence::twin_of(input);
          }};
}

// ---- bulk copies: the same words as a matrix, moved by boxes that reach beyond it, loads on every side ----

constexpr u32 matrix_cols = 8;
constexpr u32 margin = 4;  ///< by which the first box of a load begins before the matrix
constexpr u32 box_rows = 32, box_cols = matrix_cols + 2 * margin;
constexpr u32 box_words = box_rows * box_cols;

struct alignas(128) Box {
  u32 word[box_words];
};

/// Where word `i` of the box of this thread block lies in the matrix; the first box begins kBefore rows and
/// columns before it.
template <u32 kBefore>
struct Cell {
  std::int32_t row, col;
  __device__ explicit Cell(u32 i)
      : row(static_cast<std::int32_t>(blockIdx.x * box_rows + i / box_cols) -
            static_cast<std::int32_t>(kBefore)),
        col(static_cast<std::int32_t>(i % box_cols) - static_cast<std::int32_t>(kBefore)) {}
  __device__ u32 word() const { return static_cast<u32>(row) * matrix_cols + static_cast<u32>(col); }
  __device__ bool inside(u32 rows) const {
    return row >= 0 && static_cast<u32>(row) < rows && col >= 0 && static_cast<u32>(col) < matrix_cols;
  }
};

/// Loads by box, stores word by word; what lies outside the matrix must be zero, or it changes every word.
__global__ void probe_bulk_load(const __grid_constant__ TensorMap2d from, u32 rows, u32* to) {
  ASSAY_SHARED(Box, box);
  ASSAY_SHARED(Mbarrier, full);
  if (threadIdx.x == 0) {
    prefetch_tensor_map(from);
    mbarrier_init(full, 1);
    fence_proxy_async();
    mbarrier_arrive_expect_tx(full, sizeof box);
    bulk_load_2d(&box, from, Cell<margin>(0).row, Cell<margin>(0).col, full);
  }
  __syncthreads();
  mbarrier_wait(full, 0);
  u32 outside = 0;
  for (u32 i = 0; i < box_words; ++i) outside |= Cell<margin>(i).inside(rows) ? 0 : box.word[i];
  for (u32 i = threadIdx.x; i < box_words; i += threads) {
    if (const Cell<margin> cell(i); cell.inside(rows)) to[cell.word()] = box.word[i] ^ outside;
  }
}

/// Loads word by word, stores by box; what lies outside the matrix must not be written.
__global__ void probe_bulk_store(const u32* from, u32 rows, const __grid_constant__ TensorMap2d to) {
  ASSAY_SHARED(Box, box);
  for (u32 i = threadIdx.x; i < box_words; i += threads) {
    const Cell<0> cell(i);
    box.word[i] = cell.inside(rows) ? from[cell.word()] : 0xDEADBEEFu;
  }
  fence_proxy_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store_2d(to, Cell<0>(0).row, Cell<0>(0).col, &box);
    bulk_commit_group();
    bulk_wait_group<0>();
  }
}

/// How a range is seen as a matrix, and the map of it that boxes are moved by.
TensorMap2d map_of(void* words, u32 count) {
  return make_tensor_map_2d({"probe", words, count / matrix_cols, matrix_cols, 4 * matrix_cols, 4}, box_rows,
                            box_cols);
}

template <bool kLoads>
void run_bulk(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (count % matrix_cols != 0)
    throw DeviceError("probe: a range of bulk copies is not a whole number of rows");
  if (count == 0) return;
  u32* const to = output_of<u32>(out, count);
  const auto source = context.device.allocate("probe source", std::size_t{count} * 4, 32);
  run_twin<Sequence>(context, first, count, *source);
  const u32 rows = count / matrix_cols;
  const dim3 grid((rows + margin + box_rows - 1) / box_rows);
  if constexpr (kLoads) {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, probe_bulk_load, map_of(source->data(), count), rows, to);
  } else {
    ASSAY_LAUNCH(context, grid, dim3(threads), 0, probe_bulk_store, static_cast<const u32*>(source->data()),
                 rows, map_of(to, count));
  }
  context.device.synchronize();  // before the source goes
}

template <bool kLoads>
constexpr WrapperProbe bulk_probe(std::string_view name) {
  return {name, 0, std::uint64_t{1} << 20, 32, run_bulk<kLoads>, run_twin<Sequence>, [](u32 input) {
            return Sequence::twin_of(input);
          }};
}

// ---- matrix multiply-adds: an output is an element of D, and a warp computes a tile of them ----

constexpr u32 tile_outputs = operands::tile_outputs;

template <MmaModel kModel>
struct MmaF16 {
  using Output = u32;
  static constexpr MmaModel model = kModel;
  static __host__ __device__ u32 twin_of(u32 x) {
    const operands::MmaTile tile{x / tile_outputs};
    const u32 row = x % tile_outputs / twin::mma_cols, col = x % twin::mma_cols;
    twin::MmaOperands a{}, b{};
    for (u32 k = 0; k < twin::mma_depth; ++k) {
      twin::set_operand(a, k, tile.a(row, k));
      twin::set_operand(b, k, tile.b(k, col));
    }
    return as_bits(twin::mma_element<kModel>(a, b, tile.c(row, col)));
  }
};

template <MmaModel kModel>
__global__ void probe_mma(u32 first_tile, u32 tiles, u32* out) {
  const u32 index = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (index >= tiles) return;
  const operands::MmaTile tile{first_tile + index};
  const u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4 * 2;
  const auto a_pair = [&](u32 row, u32 k) { return tile.a(row, k) | tile.a(row, k + 1) << 16; };
  const auto b_pair = [&](u32 k) { return tile.b(k, g) | tile.b(k + 1, g) << 16; };
  const MmaC d =
      mma_m16n8k16_f16<kModel>({{a_pair(g, t), a_pair(g + 8, t), a_pair(g, t + 8), a_pair(g + 8, t + 8)}},
                               {{b_pair(t), b_pair(t + 8)}},
                               {{tile.c(g, t), tile.c(g, t + 1), tile.c(g + 8, t), tile.c(g + 8, t + 1)}});
  u32* const to = out + std::size_t{index} * tile_outputs + g * twin::mma_cols + t;
  to[0] = as_bits(d.r[0]);
  to[1] = as_bits(d.r[1]);
  to[8 * twin::mma_cols] = as_bits(d.r[2]);
  to[8 * twin::mma_cols + 1] = as_bits(d.r[3]);
}

template <MmaModel kModel>
void run_mma(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (first % tile_outputs != 0 || count % tile_outputs != 0)
    throw DeviceError("probe: a range of matrix multiply-adds is not a whole number of tiles");
  if (count == 0) return;
  const u32 tiles = count / tile_outputs;
  ASSAY_LAUNCH(context, dim3(blocks_for(32 * tiles)), dim3(threads), 0, (probe_mma<kModel>),
               static_cast<u32>(first / tile_outputs), tiles, output_of<u32>(out, count));
}

template <MmaModel kModel>
constexpr WrapperProbe mma_probe(std::string_view name) {
  return {name, 0, operands::mma_outputs, 32, run_mma<kModel>, run_twin<MmaF16<kModel>>, [](u32 input) {
            return MmaF16<kModel>::twin_of(input);
          }};
}

}  // namespace

std::span<const WrapperProbe> probe_table() {
  static constexpr std::array table {
    probe<ToE4m3x2>("cvt_rn_satfinite_e4m3x2_f32", 32, every_32),
        probe<ToE5m2x2>("cvt_rn_satfinite_e5m2x2_f32", 32, every_32),
        probe<ToF16>("cvt_rn_f16_f32", 32, every_32), probe<ToBf16>("cvt_rn_bf16_f32", 32, every_32),
        probe<ToF16x2>("cvt_rn_f16x2_f32", 32, every_32), probe<ToBf16x2>("cvt_rn_bf16x2_f32", 32, every_32),
        probe<FromF16>("cvt_f32_f16", 16, every_16), probe<FromBf16>("cvt_f32_bf16", 16, every_16),
        probe<FromE4m3x2>("cvt_rn_f16x2_e4m3x2", 16, every_16),
        probe<FromE5m2x2>("cvt_rn_f16x2_e5m2x2", 16, every_16),
        probe<MaxF32>("max_f32", 0, operands::pairs_f32),
        probe<MaxNanF32>("max_nan_f32", 0, operands::pairs_f32),
        probe<MinF32>("min_f32", 0, operands::pairs_f32),
        probe<MinNanF32>("min_nan_f32", 0, operands::pairs_f32),
        probe<MulRnF32>("mul_rn_f32", 0, operands::pairs_f32),
        probe<MaxBf16x2>("max_bf16x2", 0, operands::pairs_16x2),
        probe<MaxNanBf16x2>("max_nan_bf16x2", 0, operands::pairs_16x2),
        probe<MaxF16x2>("max_f16x2", 0, operands::pairs_16x2),
        probe<MaxNanF16x2>("max_nan_f16x2", 0, operands::pairs_16x2),
        probe<MulRnBf16x2>("mul_rn_bf16x2", 0, operands::pairs_16x2),
        probe<MulRnF16x2>("mul_rn_f16x2", 0, operands::pairs_16x2),
        probe<AddRnF32>("add_rn_f32", 0, operands::sums), probe<FmaRnF32>("fma_rn_f32", 0, operands::sums),
        probe<FmaRnF16x2>("fma_rn_f16x2", 0, operands::sums),
        probe<AddRnF16x2>("add_rn_f16x2", 0, operands::sums),
        probe<SubRnF16x2>("sub_rn_f16x2", 0, operands::sums), probe<Prmt>("prmt", 0, std::uint64_t{1} << 24),
        probe<Lop3<0xEA>>("lop3<0xEA>", 0, every_16), probe<Lop3<0x6A>>("lop3<0x6A>", 0, every_16),
        probe<Lop3<0x1D>>("lop3<0x1D>", 0, every_16), access_probe<Load8>("load_nc_8"),
        access_probe<Load16>("load_nc_16"), access_probe<Load128>("load_nc_128"),
        access_probe<Load256>("load_nc_256"), access_probe<Store8>("store_8"),
        access_probe<Store64>("store_64"), access_probe<Store128>("store_128"),
        bulk_probe<true>("bulk_load_2d"), bulk_probe<false>("bulk_store_2d"),
        mma_probe<MmaModel::hopper>("mma_m16n8k16_f16<hopper>"),
#if !ASSAY_ON_GPU
        mma_probe<MmaModel::ampere>("mma_m16n8k16_f16<ampere>"),
#endif
  };
  return table;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
