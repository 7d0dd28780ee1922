// The probes of loads, stores and bulk copies.
#include "kernels/device/bulk_copy.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/device/probe_kernels.hpp"
#include "kernels/runtime/tensor_map.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {
namespace {

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
struct Load64 {
  using Chunk = Bits64;
  static __device__ void move(const void* from, void* to, CachePolicy p) {
    store_as(to, load_nc_64(from, p));
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

// ---- bulk copies of bytes in a row: of every size from 16 to 256 bytes, so that each begins elsewhere ----

constexpr u32 pieces = 16, words_of_pieces = 2 * pieces * (pieces + 1);

struct alignas(16) Row {
  u32 word[words_of_pieces];
};

/// Loads word by word; thread i of a block stores the i-th piece, of 4 (i + 1) words, as far as there are
/// any.
__global__ void probe_bulk_store_1d(const u32* from, u32 count, u32* to) {
  ASSAY_SHARED(Row, row);
  const u32 first = blockIdx.x * words_of_pieces;
  for (u32 i = threadIdx.x; i < words_of_pieces && first + i < count; i += threads)
    row.word[i] = from[first + i];
  fence_proxy_async();
  __syncthreads();
  const u32 begin = 2 * threadIdx.x * (threadIdx.x + 1), end = begin + 4 * (threadIdx.x + 1);
  if (threadIdx.x >= pieces || first + begin >= count) return;
  const u32 words = (first + end < count ? end : count - first) - begin;
  bulk_store_1d(to + first + begin, &row.word[begin], words * 4);
  bulk_commit_group();
  bulk_wait_group<0>();
}

void run_bulk_1d(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (count % 4 != 0) throw DeviceError("probe: a range of bulk copies is not a whole number of 16 bytes");
  if (count == 0) return;
  if (context.device.capability().sm < 90) throw DeviceError("probe: bulk copies need sm_90");
  u32* const to = output_of<u32>(out, count);
  const auto source = context.device.allocate("probe source", std::size_t{count} * 4, 32);
  run_twin<Sequence>(context, first, count, *source);
  ASSAY_LAUNCH(context, dim3((count + words_of_pieces - 1) / words_of_pieces), dim3(threads), 0,
               probe_bulk_store_1d, static_cast<const u32*>(source->data()), count, to);
  context.device.synchronize();  // before the source goes
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

constexpr WrapperProbe bulk_1d_probe(std::string_view name) {
  return {name, 0, std::uint64_t{1} << 20, 32, run_bulk_1d, run_twin<Sequence>, [](u32 input) {
            return Sequence::twin_of(input);
          }};
}

template <bool kLoads>
constexpr WrapperProbe bulk_probe(std::string_view name) {
  return {name, 0, std::uint64_t{1} << 20, 32, run_bulk<kLoads>, run_twin<Sequence>, [](u32 input) {
            return Sequence::twin_of(input);
          }};
}

}  // namespace

std::vector<WrapperProbe> transfer_probes() {
  return {
      access_probe<Load8>("load_nc_8"),     access_probe<Load16>("load_nc_16"),
      access_probe<Load64>("load_nc_64"),   access_probe<Load128>("load_nc_128"),
      access_probe<Load256>("load_nc_256"), access_probe<Store8>("store_8"),
      access_probe<Store64>("store_64"),    access_probe<Store128>("store_128"),
      bulk_probe<true>("bulk_load_2d"),     bulk_probe<false>("bulk_store_2d"),
      bulk_1d_probe("bulk_store_1d"),
  };
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
