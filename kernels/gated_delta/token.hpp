// What the kernels share: a problem as they take it, and what a step needs of its token beside the state:
// decay, strength and both normalised vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/math.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/gated_delta/kernels.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta {

using kernels::gated_delta::Beta;
using kernels::gated_delta::Contracts;
using kernels::gated_delta::Epsilon;
using kernels::gated_delta::Gates;
using kernels::gated_delta::Io;
using kernels::gated_delta::Layout;
using kernels::gated_delta::Norm;
using kernels::gated_delta::Problem;
using kernels::gated_delta::Softplus;
using kernels::gated_delta::State;
using kernels::gated_delta::Tuning;

inline constexpr unsigned slices = 4;  ///< of the rows, each with a chain of its own (schedules.md)

struct Params {
  const void *q, *k, *v, *a, *b;
  const float *a_log, *dt_bias, *g, *beta;
  void* state;
  const std::int32_t* slots;
  void* o;
  void* workspace;
  std::size_t a_stride, b_stride;
  std::uint32_t batch, steps, key_heads, value_heads, value_dim;
  std::uint32_t heads_per_key;  ///< value heads that share a head of keys
  float scale, epsilon;
  Contracts contracts;
  bool inputs_first;  ///< the first token is asked for beside the slot, not behind it

  static Params of(const Problem& problem) {
    // The decimal literals are rounded once, to the nearest fp32.
    return {problem.q,
            problem.k,
            problem.v,
            problem.a,
            problem.b,
            problem.a_log,
            problem.dt_bias,
            problem.g,
            problem.beta,
            problem.state,
            problem.slots,
            problem.o,
            problem.workspace,
            static_cast<std::size_t>(problem.a_stride),
            static_cast<std::size_t>(problem.b_stride),
            static_cast<std::uint32_t>(problem.batch),
            static_cast<std::uint32_t>(problem.steps),
            static_cast<std::uint32_t>(problem.key_heads),
            static_cast<std::uint32_t>(problem.value_heads),
            static_cast<std::uint32_t>(problem.value_dim),
            static_cast<std::uint32_t>(problem.value_heads / problem.key_heads),
            problem.scale,
            problem.contracts.epsilon == Epsilon::e6 ? 1e-6f : 1e-12f,
            problem.contracts,
            false};
  }
};

/// The thread blocks of a launch: those of a sequence side by side, so many for each of its heads. The
/// sequences go over two extents, because one holds 65535 at most.
inline constexpr std::uint32_t sequences_of_row = 32768;

inline dim3 grid_of(const Problem& problem, std::int64_t parts) {
  const std::int64_t rows = (problem.batch + sequences_of_row - 1) / sequences_of_row;
  return dim3(static_cast<unsigned>(problem.value_heads * parts),
              static_cast<unsigned>(rows == 1 ? problem.batch : sequences_of_row),
              static_cast<unsigned>(rows));
}

/// Which part of which head of which sequence a thread block works on.
struct Place3 {
  std::uint32_t sequence, head, key_head, part;

  __device__ __forceinline__ Place3(const Params& p, std::uint32_t parts) {
    sequence = blockIdx.z * sequences_of_row + blockIdx.y;
    head = blockIdx.x / parts;
    part = blockIdx.x % parts;
    key_head = head / p.heads_per_key;
  }
  __device__ __forceinline__ std::size_t token(const Params& p, std::uint32_t step) const {
    return std::size_t{sequence} * p.steps + step;
  }
  /// Where the state of this head begins, in elements. The slot, which is not negative, is widened as an
  /// unsigned number: a sign would be taken from it as soon as it can be, and the thread would wait for it
  /// there, ahead of loads that need no slot.
  __device__ __forceinline__ std::size_t state(const Params& p, std::int32_t slot, unsigned key_dim) const {
    return (std::size_t{static_cast<std::uint32_t>(slot)} * p.value_heads + head) * p.value_dim * key_dim;
  }
  /// Where a token's v and o of this head begin.
  __device__ __forceinline__ std::size_t values(const Params& p, std::uint32_t step) const {
    return (token(p, step) * p.value_heads + head) * p.value_dim;
  }
};

/// An element of the format of the inputs as it lies in memory, so that nothing waits for it here.
__device__ __forceinline__ std::uint32_t load_io(const Params& p, const void* from, std::size_t at) {
  if (p.contracts.io == Io::bf16) return static_cast<const std::uint16_t*>(from)[at];
  return static_cast<const std::uint32_t*>(from)[at];
}
__device__ __forceinline__ float value_io(const Params& p, std::uint32_t word) {
  return p.contracts.io == Io::bf16 ? cvt_f32_bf16(word) : std::bit_cast<float>(word);
}
__device__ __forceinline__ void store_io(const Params& p, void* to, std::size_t at, float value) {
  if (p.contracts.io == Io::bf16) {
    static_cast<std::uint16_t*>(to)[at] = static_cast<std::uint16_t>(cvt_rn_bf16_f32(value));
  } else {
    static_cast<float*>(to)[at] = value;
  }
}

/// Four neighbouring numbers in shared memory.
struct alignas(16) Four {
  float of[4];
};

/// What all threads of a block read of a token.
///
/// The second pass over a slice reads k again, from beside q: a compiler that finds the same number at the
/// same place in both passes keeps it in a register in between, and a slice's k fill as many as its state.
/// Slices are 16 bytes apart from whole rows of banks, for lanes that read several slices at a time.
template <unsigned kKeyDim>
struct Token {
  static constexpr unsigned rows = kKeyDim / slices;  ///< of a slice

  alignas(16) float k[slices][rows + 4];        ///< normalised
  alignas(16) float k_q[slices][2 * rows + 4];  ///< that, and beside it q, normalised and scaled
  float gate;                                   ///< alpha, or softplus of raw gates
  float rate;                                   ///< exp(A_log), of raw gates
  float beta;

  __device__ __forceinline__ void put_q(unsigned i, float q) { k_q[i / rows][i % rows * 2 + 1] = q; }
  __device__ __forceinline__ void put_k(unsigned i, float value) {
    k[i / rows][i % rows] = value;
    k_q[i / rows][i % rows * 2] = value;
  }
  /// Of raw gates every thread computes it: that is sooner done than to wait for one that does.
  __device__ __forceinline__ float alpha(const Params& p) const {
    return p.contracts.gates == Gates::raw ? exp_f32(-mul_rn_f32(rate, gate)) : gate;
  }
};

__device__ __forceinline__ float softplus_of(Softplus contract, float x) {
  if (contract == Softplus::once) return softplus_f32(x);
  if (x > 20.0f) return x;
  const float e = exp_f32(x);
  return contract == Softplus::log1p ? log1p_f32(e) : log_f32(add_rn_f32(1.0f, e));
}

/// One thread's part of the inputs of a token, as they lie in memory. The first four warps of a block divide
/// the work: q, k, the decay, and the strength with what the decay is multiplied by.
template <unsigned kKeyDim>
class Inputs {
 public:
  __device__ __forceinline__ void load(const Params& p, const Place3& at, std::uint32_t step) {
    const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::size_t token = at.token(p, step), gate = token * p.value_heads + at.head;
    const bool raw = p.contracts.gates == Gates::raw;
    if (warp < 2) {
      const std::size_t first = (token * p.key_heads + at.key_head) * kKeyDim + lane;
      ASSAY_UNROLL
      for (unsigned i = 0; i < kKeyDim / 32; ++i)
        word_[i] = load_io(p, warp == 0 ? p.q : p.k, first + i * 32);
    } else if (warp == 2) {
      word_[0] =
          raw ? load_io(p, p.a, token * p.a_stride + at.head) : std::bit_cast<std::uint32_t>(p.g[gate]);
      if (raw) word_[1] = std::bit_cast<std::uint32_t>(p.dt_bias[at.head]);
    } else if (warp == 3) {
      word_[0] =
          raw ? load_io(p, p.b, token * p.b_stride + at.head) : std::bit_cast<std::uint32_t>(p.beta[gate]);
      if (raw) word_[1] = std::bit_cast<std::uint32_t>(p.a_log[at.head]);
    }
  }

  /// Makes `token` whole, with a barrier of the block, and returns alpha.
  __device__ __forceinline__ float publish(const Params& p, Token<kKeyDim>& token) const {
    put(p, token);
    __syncthreads();
    return token.alpha(p);
  }

 private:
  __device__ __forceinline__ void put(const Params& p, Token<kKeyDim>& token) const {
    const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool raw = p.contracts.gates == Gates::raw;
    if (warp < 2) {
      normalise(p, warp == 0, lane, token);
    } else if (warp == 2 && lane == 0) {
      token.gate = raw ? softplus_of(p.contracts.softplus,
                                     add_rn_f32(value_io(p, word_[0]), std::bit_cast<float>(word_[1])))
                       : exp_f32(std::bit_cast<float>(word_[0]));
    } else if (warp == 3 && lane == 0) {
      if (raw) token.rate = exp_f32(std::bit_cast<float>(word_[1]));
      const float beta = raw ? sigmoid_f32(value_io(p, word_[0])) : std::bit_cast<float>(word_[0]);
      token.beta = p.contracts.beta == Beta::bf16 ? cvt_f32_bf16(cvt_rn_bf16_f32(beta)) : beta;
    }
  }

  __device__ __forceinline__ void normalise(const Params& p, bool of_q, std::uint32_t lane,
                                            Token<kKeyDim>& token) const {
    float sum = 0;
    ASSAY_UNROLL
    for (const std::uint32_t word : word_) sum = fma_rn_f32(value_io(p, word), value_io(p, word), sum);
    // The lanes past the schedule's tree add the same pairs in the other order: all have the sum of lane 0.
    ASSAY_UNROLL
    for (int distance = 16; distance > 0; distance /= 2)
      sum = add_rn_f32(sum, __shfl_xor_sync(~0u, sum, distance));
    const float n = add_rn_f32(sum, p.epsilon);
    const bool division = p.contracts.norm == Norm::division;
    const float r = division ? sqrt_rn_f32(n) : rsqrt_f32(n);
    ASSAY_UNROLL
    for (unsigned i = 0; i < kKeyDim / 32; ++i) {
      const float x = value_io(p, word_[i]);
      const float unit = division ? div_rn_f32(x, r) : mul_rn_f32(x, r);
      if (of_q) {
        token.put_q(lane + i * 32, mul_rn_f32(unit, p.scale));
      } else {
        token.put_k(lane + i * 32, unit);
      }
    }
  }

  std::uint32_t word_[kKeyDim / 32];
};

/// The four chains of a column, added.
__device__ __forceinline__ float combined(float p0, float p1, float p2, float p3) {
  return add_rn_f32(add_rn_f32(add_rn_f32(p0, p1), p2), p3);
}

/// u of a column.
__device__ __forceinline__ float correction(float v, float kv, float beta) {
  return mul_rn_f32(add_rn_f32(v, -kv), beta);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::gated_delta
