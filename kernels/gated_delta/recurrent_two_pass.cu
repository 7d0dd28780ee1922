// Decode steps over a state S[k][v] in two passes: the first leaves the decayed state in memory, the second
// reads it back. A thread block has a whole head of a sequence, a thread a column of one slice of the rows.
//
// The decayed state is in place, or in fp32 in the workspace where the state is bf16.
#include "kernels/gated_delta/state.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {
namespace {

template <unsigned kKeyDim, State kState>
__global__ void __launch_bounds__(1024) recurrent_two_pass(const Params p) {
  using Cell = Cells<kState, 1>;
  using Decayed = Cells<State::fp32, 1>;
  using Partials = float[slices][256];
  constexpr std::uint32_t rows = kKeyDim / slices;
  ASSAY_SHARED(Token<kKeyDim>, token);
  ASSAY_SHARED(Partials, predicted);
  ASSAY_SHARED(Partials, out);
  const Place3 at(p, 1);
  if (at.sequence >= p.batch) return;
  const std::int32_t slot = p.slots[at.sequence];
  const std::uint32_t column = threadIdx.x % p.value_dim, slice = threadIdx.x / p.value_dim;
  if (slot < 0) {
    for (std::uint32_t step = 0; step < p.steps && slice == 0; ++step)
      store_io(p, p.o, at.values(p, step) + column, 0.0f);
    return;
  }
  const std::size_t head = std::size_t{kKeyDim} * p.value_dim;  // elements of a state
  const std::size_t mine = std::size_t{slice} * rows * p.value_dim + column;
  Cell* const state =
      static_cast<Cell*>(p.state) + (static_cast<std::size_t>(slot) * p.value_heads + at.head) * head + mine;
  Decayed* decayed;
  if constexpr (kState == State::fp32) {
    decayed = state;
  } else {
    decayed = static_cast<Decayed*>(p.workspace) +
              (std::size_t{at.sequence} * p.value_heads + at.head) * head + mine;
  }

  for (std::uint32_t step = 0; step < p.steps; ++step) {
    Inputs<kKeyDim> inputs;
    inputs.load(p, at, step);
    const float v = value_io(p, load_io(p, p.v, at.values(p, step) + column));
    const float alpha = inputs.publish(p, token);
    const float* const k = token.k[slice];
    const float* const k_q = token.k_q[slice];
    float sum = 0;
    for (std::uint32_t r = 0; r < rows; ++r) {
      const float s = mul_rn_f32(alpha, state[std::size_t{r} * p.value_dim].get(0));
      decayed[std::size_t{r} * p.value_dim] = Decayed::of(&s);
      sum = fma_rn_f32(s, k[r], sum);
    }
    predicted[slice][column] = sum;
    __syncthreads();
    const float u = correction(
        v, combined(predicted[0][column], predicted[1][column], predicted[2][column], predicted[3][column]),
        token.beta);
    sum = 0;
    for (std::uint32_t r = 0; r < rows; ++r) {
      const float s = fma_rn_f32(k[r], u, decayed[std::size_t{r} * p.value_dim].get(0));
      state[std::size_t{r} * p.value_dim] = Cell::of(&s);
      sum = fma_rn_f32(s, k_q[r * 2 + 1], sum);
    }
    out[slice][column] = sum;
    __syncthreads();
    if (slice == 0)
      store_io(p, p.o, at.values(p, step) + column,
               combined(out[0][column], out[1][column], out[2][column], out[3][column]));
  }
}

template <unsigned kKeyDim>
void launch(LaunchContext& context, const Problem& problem) {
  const dim3 grid = grid_of(problem, 1), block(static_cast<unsigned>(problem.value_dim) * slices);
  const Params params = Params::of(problem);
  if (problem.contracts.state == State::bf16) {
    ASSAY_LAUNCH(context, grid, block, 0, (recurrent_two_pass<kKeyDim, State::bf16>), params);
  } else {
    ASSAY_LAUNCH(context, grid, block, 0, (recurrent_two_pass<kKeyDim, State::fp32>), params);
  }
}

}  // namespace

void launch_recurrent_two_pass(LaunchContext& context, const Problem& problem) {
  switch (problem.key_dim) {
    case 64:
      return launch<64>(context, problem);
    case 128:
      return launch<128>(context, problem);
    default:
      return launch<256>(context, problem);
  }
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta
