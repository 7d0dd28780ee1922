// Decode steps over a state S[v][k]: every element is read once, kept on chip over all steps, and written
// once.
//
// A column's four chains are one after the other in memory. A lane has a chain, and a warp eight columns:
// contiguous memory, which goes to and from shared memory in pieces of 16 bytes, lane beside lane. From there
// a lane takes its chain into registers for a step. Slices meet by shuffles, so that warps wait for each
// other once a step, for the token.
//
// Where states are large, the finished columns are put together in shared memory, and the copy engine stores
// them. That takes the stores from the lanes, but a thread block has to wait for it at its end, so where
// states are small the lanes store.
//
// The state is on its way before anything is computed: decay, strength and norms hide behind it, and need no
// registers beside it.
#include "kernels/device/async_copy.hpp"
#include "kernels/device/bulk_copy.hpp"
#include "kernels/gated_delta/state.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {
namespace {

constexpr unsigned warps = 4, threads = 32 * warps;
constexpr unsigned columns_of_warp = 32 / slices, columns_of_block = warps * columns_of_warp;

template <unsigned kKeyDim_, State kState_, bool kBulkStores_>
struct Form {
  static constexpr unsigned kKeyDim = kKeyDim_;
  static constexpr State kState = kState_;
  static constexpr bool kBulkStores = kBulkStores_;
  static constexpr unsigned rows = kKeyDim / slices;        ///< of a chain
  static constexpr unsigned piece = 16 / bytes_of<kState>;  ///< elements that are moved at a time
  static constexpr unsigned pieces = rows / piece;          ///< of a chain
  /// On a multiprocessor, as registers for a chain and about 60 more allow.
  static constexpr unsigned resident_blocks = rows == 64 ? 4 : 5;
};

/// The chains of a warp on chip, in the format of memory: a bf16 state is rounded by every step. The odd
/// number of pieces to a row spreads eight lanes that read the same piece of their chains over all banks.
///
/// Finished columns lie there whole, as bulk copies take them, a piece apart.
template <class F>
class Chains {
 public:
  using StatePart = Part<F::rows, 1>;
  using Piece = Cells<F::kState, F::piece>;
  using Copies = AsyncCopies<F::pieces>;

  /// `from` is where the memory of the warp begins. A lane's chain is there when all lanes have waited.
  __device__ __forceinline__ void start(Copies& copies, const char* from) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) copies.start(&at(i), from + i * bytes_a_time + lane() * 16);
  }
  __device__ __forceinline__ void store(char* to) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) store_as(to + i * bytes_a_time + lane() * 16, at(i));
  }
  __device__ __forceinline__ StatePart unpacked() const {
    StatePart part;
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) {
      const auto piece = std::bit_cast<Piece>(chain(lane())[i]);
      ASSAY_UNROLL
      for (unsigned e = 0; e < F::piece; ++e) part.s[i * F::piece + e][0] = piece.get(e);
    }
    return part;
  }
  __device__ __forceinline__ void pack(const StatePart& part) {
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i)
      chain(lane())[i] = std::bit_cast<Bits128>(Piece::of(part.s[i * F::piece]));
  }
  /// In the place of chains that all lanes have read.
  __device__ __forceinline__ void pack_finished(const StatePart& part) {
    Bits128* const to = column(lane() / slices) + lane() % slices * F::pieces;
    ASSAY_UNROLL
    for (unsigned i = 0; i < F::pieces; ++i) to[i] = std::bit_cast<Bits128>(Piece::of(part.s[i * F::piece]));
  }
  /// Returns when nothing of it is read any more.
  __device__ __forceinline__ void store_finished(char* to) {
    constexpr unsigned bytes = slices * F::pieces * 16;
    fence_proxy_async();
    __syncwarp();
    if (lane() % slices != 0) return;
    bulk_store_1d(to + lane() / slices * bytes, column(lane() / slices), bytes);
    bulk_commit_group();
    bulk_wait_group_read<0>();
  }

 private:
  static constexpr unsigned bytes_a_time = 32 * 16;
  static __device__ __forceinline__ unsigned lane() { return threadIdx.x % 32; }
  /// The i-th piece that this lane moves.
  __device__ __forceinline__ Bits128& at(unsigned i) {
    return chain(i * (32 / F::pieces) + lane() / F::pieces)[lane() % F::pieces];
  }
  __device__ __forceinline__ Bits128* chain(unsigned of_lane) { return piece_ + of_lane * (F::pieces + 1); }
  __device__ __forceinline__ const Bits128* chain(unsigned of_lane) const {
    return piece_ + of_lane * (F::pieces + 1);
  }
  __device__ __forceinline__ Bits128* column(unsigned i) { return piece_ + i * (slices * F::pieces + 1); }

  Bits128 piece_[32 * (F::pieces + 1)];
};

/// The four chains of a column, which are those of neighbouring lanes, added.
__device__ __forceinline__ float over_slices(float sum) {
  float of[slices];
  ASSAY_UNROLL
  for (unsigned i = 0; i < slices; ++i) of[i] = __shfl_sync(~0u, sum, static_cast<int>(i), slices);
  return combined(of[0], of[1], of[2], of[3]);
}

template <class F>
__global__ void __launch_bounds__(threads, F::resident_blocks) recurrent_register_vk(const Params p) {
  // Two in turn: a warp may write the next while others still read this one.
  using Tokens = Token<F::kKeyDim>[2];
  using ChainsOfBlock = Chains<F>[warps];
  ASSAY_SHARED(Tokens, tokens);
  ASSAY_SHARED(ChainsOfBlock, chains);
  const Place3 at(p, p.value_dim / columns_of_block);
  if (at.sequence >= p.batch) return;
  const std::int32_t slot = p.slots[at.sequence];
  const unsigned warp = threadIdx.x / 32, slice = threadIdx.x % slices;
  const std::uint32_t first = at.part * columns_of_block + warp * columns_of_warp;  // column of the warp
  const std::uint32_t column = first + threadIdx.x % 32 / slices;

  Inputs<F::kKeyDim> inputs;
  std::uint32_t v;
  const auto load_inputs = [&](std::uint32_t step) {
    inputs.load(p, at, step);
    v = load_io(p, p.v, at.values(p, step) + column);
  };
  if (p.inputs_first) load_inputs(0);
  if (slot < 0) {
    for (std::uint32_t step = 0; step < p.steps && slice == 0; ++step)
      store_io(p, p.o, at.values(p, step) + column, 0.0f);
    return;
  }
  if (!p.inputs_first) load_inputs(0);
  char* const mine = static_cast<char*>(p.state) +
                     (at.state(p, slot, F::kKeyDim) + std::size_t{first} * F::kKeyDim) * bytes_of<F::kState>;
  Chains<F>& state = chains[warp];
  typename Chains<F>::Copies copies;
  state.start(copies, mine);
  for (std::uint32_t step = 0; step < p.steps; ++step) {
    Token<F::kKeyDim>& token = tokens[step % 2];
    const float alpha = inputs.publish(p, token);
    const float value = value_io(p, v);
    if (step + 1 < p.steps) load_inputs(step + 1);
    if (step == 0) {
      copies.wait();
      __syncwarp();
    }
    auto part = state.unpacked();
    float sums[1];
    part.decay(alpha, token.k[slice], sums);
    const float u[1] = {correction(value, over_slices(sums[0]), token.beta)};
    part.update(u, token.k_q[slice], sums);
    const float o = over_slices(sums[0]);
    if (slice == 0) store_io(p, p.o, at.values(p, step) + column, o);
    if (F::kBulkStores && step + 1 == p.steps) {
      __syncwarp();
      state.pack_finished(part);
    } else {
      state.pack(part);
    }
  }
  if constexpr (F::kBulkStores) {
    state.store_finished(mine);
  } else {
    __syncwarp();
    state.store(mine);
  }
}

template <unsigned kKeyDim, State kState, bool kBulkStores>
void launch_form(LaunchContext& context, const Problem& problem) {
  using F = Form<kKeyDim, kState, kBulkStores>;
  const dim3 grid = grid_of(problem, problem.value_dim / columns_of_block);
  Params params = Params::of(problem);
  // A multiprocessor with one thread block has nothing else to do while it waits for a slot. Where it holds
  // several, the states of all of them are asked for sooner when the rest is not ahead of them (timed).
  params.inputs_first = problem.tuning == Tuning::by_size
                            ? grid.x * std::uint64_t{grid.y} * grid.z <=
                                  static_cast<std::uint64_t>(context.device.capability().multiprocessors)
                            : problem.tuning == Tuning::small;
  ASSAY_LAUNCH(context, grid, dim3(threads), 0, recurrent_register_vk<F>, params);
}

/// Timed, bulk copies gain 1 % and more at 256 MiB of fp32 states and above, and lose below half of that and
/// with bf16 states of any size (decisions/registers_over_two_passes.md).
template <unsigned kKeyDim, State kState>
void launch(LaunchContext& context, const Problem& problem) {
  const std::int64_t bytes_of_head = kKeyDim * problem.value_dim * bytes_of<kState>;
  const bool large =
      kState == State::fp32 && problem.batch * problem.value_heads >= (std::int64_t{1} << 28) / bytes_of_head;
  const bool there = context.device.capability().sm >= 90;
  if (problem.tuning == Tuning::by_size ? large && there : problem.tuning == Tuning::large) {
    context.witness.counters["bulk_stores"] += 1;
    return launch_form<kKeyDim, kState, true>(context, problem);
  }
  launch_form<kKeyDim, kState, false>(context, problem);
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
