// Decode steps over a state S[k][v]: every element is read once, kept in a register over all steps, and
// written once.
//
// Columns do not depend on each other, so a thread block takes 32 kColumns of one head. A warp has one slice
// of the rows, a lane kColumns neighbouring columns of it: a row of a slice is one load of the warp, of
// contiguous memory. The chains of the schedule are those of a lane; slices meet in shared memory.
//
// All loads of the state are under way before anything is computed: decay, strength and norms hide behind
// them.
#include "kernels/gated_delta/state.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {
namespace {

constexpr unsigned threads = 32 * slices;

template <unsigned kKeyDim_, unsigned kValueDim_, State kState_, unsigned kColumns_>
struct Form {
  static constexpr unsigned kKeyDim = kKeyDim_, kValueDim = kValueDim_, kColumns = kColumns_;
  static constexpr State kState = kState_;
  static constexpr unsigned rows = kKeyDim / slices;  ///< of a slice
  static constexpr unsigned columns_of_block = 32 * kColumns;
  static constexpr unsigned parts = kValueDim / columns_of_block;
  static constexpr std::size_t stride = std::size_t{kValueDim} * bytes_of<kState>;  ///< bytes, of rows
  /// On a multiprocessor, as registers for the state and about 80 more allow; lanes with one column are for
  /// problems of few thread blocks.
  static constexpr unsigned resident_blocks = rows * kColumns == 128  ? 2
                                              : rows * kColumns == 64 ? 3
                                              : kColumns == 1         ? 3
                                                                      : 5;
};

/// A sum of every slice for every column of the block.
template <class F>
struct Partials {
  float of[slices][F::columns_of_block];

  __device__ __forceinline__ float column(unsigned i) const {
    return combined(of[0][i], of[1][i], of[2][i], of[3][i]);
  }
};

/// The state as a lane has it over the steps, in the format of memory: a bf16 state is rounded by every step.
template <class F>
struct Rows {
  using Row = Cells<F::kState, F::kColumns>;
  using StatePart = Part<F::rows, F::kColumns>;
  Row row[F::rows];

  __device__ __forceinline__ void load(const char* from) {
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) row[r] = load_as<Row>(from + r * F::stride);
  }
  __device__ __forceinline__ void store(char* to) const {
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) store_as(to + r * F::stride, row[r]);
  }
  __device__ __forceinline__ StatePart unpacked() const {
    StatePart part;
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) {
      ASSAY_UNROLL
      for (unsigned c = 0; c < F::kColumns; ++c) part.s[r][c] = row[r].get(c);
    }
    return part;
  }
  __device__ __forceinline__ void pack(const StatePart& part) {
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) row[r] = Row::of(part.s[r]);
  }
};

template <class F>
__global__ void __launch_bounds__(threads, F::resident_blocks) recurrent_register_kv(const Params p) {
  ASSAY_SHARED(Token<F::kKeyDim>, token);
  ASSAY_SHARED(Partials<F>, predicted);
  ASSAY_SHARED(Partials<F>, out);
  const Place3 at(p, F::parts);
  if (at.sequence >= p.batch) return;
  const std::int32_t slot = p.slots[at.sequence];
  const unsigned slice = threadIdx.x / 32, first = threadIdx.x % 32 * F::kColumns;  // column of the block
  const std::uint32_t block_column = at.part * F::columns_of_block;

  Inputs<F::kKeyDim> inputs;
  std::uint32_t v[F::kColumns];
  const auto load_inputs = [&](std::uint32_t step) {
    inputs.load(p, at, step);
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c)
      v[c] = load_io(p, p.v, at.values(p, step) + block_column + first + c);
  };
  if (slot < 0) {
    for (std::uint32_t step = 0; step < p.steps && threadIdx.x < F::columns_of_block; ++step)
      store_io(p, p.o, at.values(p, step) + block_column + threadIdx.x, 0.0f);
    return;
  }
  load_inputs(0);
  char* const mine = static_cast<char*>(p.state) +
                     (at.state(p, slot, F::kKeyDim) + block_column + first) * bytes_of<F::kState> +
                     slice * F::rows * F::stride;
  Rows<F> state;
  state.load(mine);
  for (std::uint32_t step = 0;; ++step) {
    const bool last = step + 1 == p.steps;
    const float alpha = inputs.publish(p, token);
    float u[F::kColumns], sums[F::kColumns];
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) u[c] = value_io(p, v[c]);
    if (!last) load_inputs(step + 1);
    auto part = state.unpacked();
    part.decay(alpha, token.k[slice], sums);
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) predicted.of[slice][first + c] = sums[c];
    __syncthreads();
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c)
      u[c] = correction(u[c], predicted.column(first + c), token.beta);
    part.update(u, token.k_q[slice], sums);
    state.pack(part);
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) out.of[slice][first + c] = sums[c];
    if (last) state.store(mine);
    __syncthreads();
    if (threadIdx.x < F::columns_of_block)
      store_io(p, p.o, at.values(p, step) + block_column + threadIdx.x, out.column(threadIdx.x));
    if (last) return;
  }
}

template <unsigned kKeyDim, unsigned kValueDim, State kState, unsigned kColumns>
void launch_form(LaunchContext& context, const Problem& problem) {
  using F = Form<kKeyDim, kValueDim, kState, kColumns>;
  ASSAY_LAUNCH(context, grid_of(problem, F::parts), dim3(threads), 0, recurrent_register_kv<F>,
               Params::of(problem));
}

template <unsigned kKeyDim, unsigned kValueDim, State kState>
void launch(LaunchContext& context, const Problem& problem) {
  // One column a lane where all thread blocks of that form run at a time, four on a multiprocessor; the cpu
  // device, which has one, runs both forms.
  const std::int64_t blocks = problem.batch * problem.value_heads * (kValueDim / 32);
  const bool small = blocks <= 4 * static_cast<std::int64_t>(context.device.capability().multiprocessors);
  if (problem.tuning == Tuning::by_size ? !small : problem.tuning == Tuning::large)
    return launch_form<kKeyDim, kValueDim, kState, 2>(context, problem);
  launch_form<kKeyDim, kValueDim, kState, 1>(context, problem);
}

template <unsigned kKeyDim, unsigned kValueDim>
void launch(LaunchContext& context, const Problem& problem) {
  if (problem.contracts.state == State::bf16)
    return launch<kKeyDim, kValueDim, State::bf16>(context, problem);
  launch<kKeyDim, kValueDim, State::fp32>(context, problem);
}

template <unsigned kKeyDim>
void launch(LaunchContext& context, const Problem& problem) {
  switch (problem.value_dim) {
    case 64:
      return launch<kKeyDim, 64>(context, problem);
    case 128:
      return launch<kKeyDim, 128>(context, problem);
    default:
      return launch<kKeyDim, 256>(context, problem);
  }
}

}  // namespace

void launch_recurrent_register_kv(LaunchContext& context, const Problem& problem) {
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
