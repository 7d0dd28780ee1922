// Decode steps over a state S[k][v]: every element read once, kept in a register over all steps, and written
// once.
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

template <unsigned kKeyDim_, State kState_, unsigned kColumns_>
struct Form {
  static constexpr unsigned kKeyDim = kKeyDim_, kColumns = kColumns_;
  static constexpr State kState = kState_;
  static constexpr unsigned rows = kKeyDim / slices;  ///< of a slice
  static constexpr unsigned columns_of_block = 32 * kColumns;
};

/// A sum of every slice for every column of the block.
template <class F>
struct Partials {
  float of[slices][F::columns_of_block];

  __device__ __forceinline__ float column(unsigned i) const {
    return combined(of[0][i], of[1][i], of[2][i], of[3][i]);
  }
};

/// A lane's part of the state: rows of its slice, neighbouring columns.
template <class F>
class Slice {
 public:
  using Row = Cells<F::kState, F::kColumns>;

  __device__ __forceinline__ void load(const char* from, std::size_t stride) {
    Row row[F::rows];
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) row[r] = load_as<Row>(from + r * stride);
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) {
      ASSAY_UNROLL
      for (unsigned c = 0; c < F::kColumns; ++c) s_[r][c] = row[r].get(c);
    }
  }

  __device__ __forceinline__ void store(char* to, std::size_t stride) const {
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) store_as(to + r * stride, Row::of(s_[r]));
  }

  /// Decays, and sums with k.
  __device__ __forceinline__ void decay(float alpha, const float* k, float* sums) {
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) sums[c] = 0;
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) {
      ASSAY_UNROLL
      for (unsigned c = 0; c < F::kColumns; ++c) {
        s_[r][c] = mul_rn_f32(alpha, s_[r][c]);
        sums[c] = fma_rn_f32(s_[r][c], k[r], sums[c]);
      }
    }
  }

  /// Updates, and sums with q.
  __device__ __forceinline__ void update(const float* u, const float* k, const float* q, float* sums) {
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) sums[c] = 0;
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) {
      ASSAY_UNROLL
      for (unsigned c = 0; c < F::kColumns; ++c) {
        s_[r][c] = fma_rn_f32(k[r], u[c], s_[r][c]);
        sums[c] = fma_rn_f32(s_[r][c], q[r], sums[c]);
      }
    }
  }

  /// To what memory would hold between two steps.
  __device__ __forceinline__ void round() {
    if constexpr (F::kState == State::bf16) {
      ASSAY_UNROLL
      for (auto& row : s_) {
        ASSAY_UNROLL
        for (float& s : row) s = kept(s);
      }
    }
  }

 private:
  float s_[F::rows][F::kColumns];
};

template <class F>
__global__ void __launch_bounds__(threads) recurrent_register_kv(const Params p) {
  ASSAY_SHARED(Token<F::kKeyDim>, token);
  ASSAY_SHARED(Partials<F>, predicted);
  ASSAY_SHARED(Partials<F>, out);
  const Place3 at(p, p.value_dim / F::columns_of_block);
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

  const std::size_t stride = std::size_t{p.value_dim} * bytes_of<F::kState>;
  char* const mine =
      static_cast<char*>(p.state) +
      ((static_cast<std::size_t>(slot) * p.value_heads + at.head) * F::kKeyDim + slice * F::rows) * stride +
      (block_column + first) * bytes_of<F::kState>;
  Slice<F> state;
  state.load(mine, stride);
  for (std::uint32_t step = 0;; ++step) {
    inputs.publish(p, token);
    float values[F::kColumns];
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) values[c] = value_io(p, v[c]);
    __syncthreads();
    if (step + 1 < p.steps) load_inputs(step + 1);
    const float* const k = token.k + slice * F::rows;
    float sums[F::kColumns], u[F::kColumns];
    state.decay(token.alpha(p), k, sums);
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) predicted.of[slice][first + c] = sums[c];
    __syncthreads();
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c)
      u[c] = correction(values[c], predicted.column(first + c), token.beta);
    state.update(u, k, token.q + slice * F::rows, sums);
    ASSAY_UNROLL
    for (unsigned c = 0; c < F::kColumns; ++c) out.of[slice][first + c] = sums[c];
    __syncthreads();
    if (threadIdx.x < F::columns_of_block)
      store_io(p, p.o, at.values(p, step) + block_column + threadIdx.x, out.column(threadIdx.x));
    if (step + 1 == p.steps) break;
    state.round();
  }
  state.store(mine, stride);
}

template <unsigned kKeyDim, State kState, unsigned kColumns>
void launch_form(LaunchContext& context, const Problem& problem) {
  using F = Form<kKeyDim, kState, kColumns>;
  ASSAY_LAUNCH(context, grid_of(problem, problem.value_dim / F::columns_of_block), dim3(threads), 0,
               recurrent_register_kv<F>, Params::of(problem));
}

template <unsigned kKeyDim, State kState>
void launch(LaunchContext& context, const Problem& problem) {
  // As many columns for a thread as leave more thread blocks than there are multiprocessors: of the cpu
  // device's single one, 64 columns run the one form and all others the other.
  const std::int64_t columns = problem.batch * problem.value_heads * problem.value_dim;
  const std::int64_t enough = std::int64_t{context.device.capability().multiprocessors} * 64;
  if (columns > enough) return launch_form<kKeyDim, kState, 2>(context, problem);
  launch_form<kKeyDim, kState, 1>(context, problem);
}

template <unsigned kKeyDim>
void launch(LaunchContext& context, const Problem& problem) {
  if (problem.contracts.state == State::bf16) return launch<kKeyDim, State::bf16>(context, problem);
  launch<kKeyDim, State::fp32>(context, problem);
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
