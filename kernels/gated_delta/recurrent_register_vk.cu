// Decode steps over a state S[v][k]: every element read once, kept in a register over all steps, and written
// once.
//
// A column's four chains are one after the other in memory. A lane has a chain, and a warp eight columns:
// contiguous memory, of which the warp loads 16 bytes a lane side by side. In shared memory the pieces change
// hands, and again before they are stored. Slices meet by shuffles, so that warps wait for each other once a
// step, for the token.
//
// All loads of the state are under way before anything is computed: decay, strength and norms hide behind
// them.
#include "kernels/gated_delta/state.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {
namespace {

constexpr unsigned warps = 4, threads = 32 * warps;
constexpr unsigned columns_of_warp = 32 / slices, columns_of_block = warps * columns_of_warp;

template <unsigned kKeyDim_, State kState_>
struct Form {
  static constexpr unsigned kKeyDim = kKeyDim_;
  static constexpr State kState = kState_;
  static constexpr unsigned rows = kKeyDim / slices;        ///< of a chain
  static constexpr unsigned piece = 16 / bytes_of<kState>;  ///< elements that are moved at a time
  static constexpr unsigned pieces = rows / piece;          ///< of a chain
};

/// The chains of a warp, in pieces.
template <class F>
struct Exchange {
  Bits128 pieces[32 * F::pieces];

  /// Where a piece of a chain is: among those of its chain, such that eight lanes with neighbouring pieces,
  /// and eight lanes with the same piece of neighbouring chains, reach all banks.
  static __device__ __forceinline__ unsigned place(unsigned chain, unsigned i) {
    const unsigned turn = F::pieces < 8 ? chain * F::pieces / 8 : chain;
    return chain * F::pieces + (i ^ turn % (F::pieces < 8 ? F::pieces : 8));
  }
  __device__ __forceinline__ Bits128& at(unsigned chain, unsigned i) { return pieces[place(chain, i)]; }
  /// By number in memory.
  __device__ __forceinline__ Bits128& at(unsigned number) {
    return at(number / F::pieces, number % F::pieces);
  }
};

/// A lane's chain.
template <class F>
class Chain {
 public:
  using Piece = Cells<F::kState, F::piece>;

  /// `from` is where the memory of the warp begins.
  __device__ __forceinline__ void load(const char* from, Exchange<F>& exchange) {
    const unsigned lane = threadIdx.x % 32;
    Bits128 piece[F::pieces];
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) piece[i] = load_as<Bits128>(from + (i * 32 + lane) * 16);
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) exchange.at(i * 32 + lane) = piece[i];
    __syncwarp();
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) {
      const auto mine = std::bit_cast<Piece>(exchange.at(lane, i));
      ASSAY_UNROLL
      for (unsigned e = 0; e < F::piece; ++e) s_[i * F::piece + e] = mine.get(e);
    }
  }

  __device__ __forceinline__ void store(char* to, Exchange<F>& exchange) const {
    const unsigned lane = threadIdx.x % 32;
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i)
      exchange.at(lane, i) = std::bit_cast<Bits128>(Piece::of(s_ + i * F::piece));
    __syncwarp();
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) store_as(to + (i * 32 + lane) * 16, exchange.at(i * 32 + lane));
  }

  /// Decays, and returns the sum with k.
  __device__ __forceinline__ float decay(float alpha, const float* k) {
    float sum = 0;
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) {
      s_[r] = mul_rn_f32(alpha, s_[r]);
      sum = fma_rn_f32(s_[r], k[r], sum);
    }
    return sum;
  }

  /// Updates, and returns the sum with q.
  __device__ __forceinline__ float update(float u, const float* k, const float* q) {
    float sum = 0;
    ASSAY_UNROLL
    for (unsigned r = 0; r < F::rows; ++r) {
      s_[r] = fma_rn_f32(k[r], u, s_[r]);
      sum = fma_rn_f32(s_[r], q[r], sum);
    }
    return sum;
  }

  /// To what memory would hold between two steps.
  __device__ __forceinline__ void round() {
    if constexpr (F::kState == State::bf16) {
      ASSAY_UNROLL
      for (float& s : s_) s = kept(s);
    }
  }

 private:
  float s_[F::rows];
};

/// The four chains of a column, which are those of neighbouring lanes, added.
__device__ __forceinline__ float over_slices(float sum) {
  float of[slices];
  ASSAY_UNROLL
  for (unsigned i = 0; i < slices; ++i) of[i] = __shfl_sync(~0u, sum, static_cast<int>(i), slices);
  return combined(of[0], of[1], of[2], of[3]);
}

template <class F>
__global__ void __launch_bounds__(threads) recurrent_register_vk(const Params p) {
  // Two in turn: a warp may write the next while others still read this one.
  using Tokens = Token<F::kKeyDim>[2];
  using Exchanges = Exchange<F>[warps];
  ASSAY_SHARED(Tokens, tokens);
  ASSAY_SHARED(Exchanges, exchanges);
  const Place3 at(p, p.value_dim / columns_of_block);
  if (at.sequence >= p.batch) return;
  const std::int32_t slot = p.slots[at.sequence];
  const unsigned warp = threadIdx.x / 32, slice = threadIdx.x % slices;
  const std::uint32_t first = at.part * columns_of_block + warp * columns_of_warp;  // column of the warp
  const std::uint32_t column = first + threadIdx.x % 32 / slices;
  if (slot < 0) {
    for (std::uint32_t step = 0; step < p.steps && slice == 0; ++step)
      store_io(p, p.o, at.values(p, step) + column, 0.0f);
    return;
  }
  Inputs<F::kKeyDim> inputs;
  inputs.load(p, at, 0);
  std::uint32_t v = load_io(p, p.v, at.values(p, 0) + column);

  char* const mine = static_cast<char*>(p.state) +
                     ((static_cast<std::size_t>(slot) * p.value_heads + at.head) * p.value_dim + first) *
                         F::kKeyDim * bytes_of<F::kState>;
  Chain<F> chain;
  chain.load(mine, exchanges[warp]);
  for (std::uint32_t step = 0;; ++step) {
    Token<F::kKeyDim>& token = tokens[step % 2];
    inputs.publish(p, token);
    const float value = value_io(p, v);
    __syncthreads();
    if (step + 1 < p.steps) {
      inputs.load(p, at, step + 1);
      v = load_io(p, p.v, at.values(p, step + 1) + column);
    }
    const float* const k = token.k + slice * F::rows;
    const float predicted = over_slices(chain.decay(token.alpha(p), k));
    const float u = correction(value, predicted, token.beta);
    const float o = over_slices(chain.update(u, k, token.q + slice * F::rows));
    if (slice == 0) store_io(p, p.o, at.values(p, step) + column, o);
    if (step + 1 == p.steps) break;
    chain.round();
  }
  chain.store(mine, exchanges[warp]);
}

template <unsigned kKeyDim, State kState>
void launch(LaunchContext& context, const Problem& problem) {
  using F = Form<kKeyDim, kState>;
  ASSAY_LAUNCH(context, grid_of(problem, problem.value_dim / columns_of_block), dim3(threads), 0,
               recurrent_register_vk<F>, Params::of(problem));
}

template <unsigned kKeyDim>
void launch(LaunchContext& context, const Problem& problem) {
  if (problem.contracts.state == State::bf16) return launch<kKeyDim, State::bf16>(context, problem);
  launch<kKeyDim, State::fp32>(context, problem);
}

}  // namespace

void launch_recurrent_register_vk(LaunchContext& context, const Problem& problem) {
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
