// The probes of matrix multiply-adds.
#include "kernels/device/mma_operands.hpp"
#include "kernels/device/probe_kernels.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {
namespace {

// ---- matrix multiply-adds: an output is an element of D, and a warp computes a tile of them ----

constexpr u32 tile_outputs = operands::tile_outputs;

template <MmaModel kModel>
struct MmaF16 {
  using Output = u32;
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
  return {name,
          0,
          operands::mma_outputs,
          32,
          run_mma<kModel>,
          run_twin<MmaF16<kModel>>,
          [](u32 input) { return MmaF16<kModel>::twin_of(input); },
          true};
}

}  // namespace

std::vector<WrapperProbe> matrix_probes() {
  std::vector<WrapperProbe> probes{mma_probe<MmaModel::hopper>("mma_m16n8k16_f16<hopper>")};
  // What GPU there may be is taken for one of the other model: only the executor runs this one.
  if (!ASSAY_ON_GPU) probes.push_back(mma_probe<MmaModel::ampere>("mma_m16n8k16_f16<ampere>"));
  return probes;
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
