#include "kernels/device/mma.hpp"

namespace assay::kernels::cpu::twin {

template <MmaModel kModel>
void mma_warp(void* const* fragments_of_lanes) {
  const auto of_lane = [&](unsigned lane) -> MmaFragments& {
    return *static_cast<MmaFragments*>(fragments_of_lanes[lane]);
  };
  const auto set_pair = [](MmaOperands& operands, unsigned k, std::uint32_t pair) {
    set_operand(operands, k, pair & 0xFFFFu);
    set_operand(operands, k + 1, pair >> 16);
  };
  MmaOperands rows[mma_rows], cols[mma_cols];
  for (MmaOperands& row : rows) row.special = false;
  for (MmaOperands& col : cols) col.special = false;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4, k = lane % 4 * 2;
    const MmaFragments& in = of_lane(lane);
    set_pair(rows[g], k, in.a.r[0]);
    set_pair(rows[g + 8], k, in.a.r[1]);
    set_pair(rows[g], k + 8, in.a.r[2]);
    set_pair(rows[g + 8], k + 8, in.a.r[3]);
    set_pair(cols[g], k, in.b.r[0]);
    set_pair(cols[g], k + 8, in.b.r[1]);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned g = lane / 4, col = lane % 4 * 2;
    float* const r = of_lane(lane).c.r;
    r[0] = mma_element<kModel>(rows[g], cols[col], r[0]);
    r[1] = mma_element<kModel>(rows[g], cols[col + 1], r[1]);
    r[2] = mma_element<kModel>(rows[g + 8], cols[col], r[2]);
    r[3] = mma_element<kModel>(rows[g + 8], cols[col + 1], r[3]);
  }
}

template void mma_warp<MmaModel::hopper>(void* const*);
template void mma_warp<MmaModel::ampere>(void* const*);

}  // namespace assay::kernels::cpu::twin
