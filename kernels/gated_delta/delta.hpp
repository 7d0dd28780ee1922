// Decode steps of the gated delta rule: the problem a route takes, and the routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/runtime/route.hpp"

namespace assay::kernels::gated_delta {

/// Format of q, k, v, a, b and o (`Io`), and of the state in memory (`State`).
enum class Io : std::uint8_t { fp32, bf16 };
enum class State : std::uint8_t { fp32, bf16 };

/// How a state matrix S lies in memory: S[k][v] with v running fastest, or with k running fastest.
enum class Layout : std::uint8_t { kv, vk };

/// What gives decay and strength: g and beta as they are, or A_log, dt_bias, a and b (schedules.md).
enum class Gates : std::uint8_t { precomputed, raw };

/// x / sqrt(sum + eps), or x * rsqrt(sum + eps).
enum class Norm : std::uint8_t { division, rsqrt };

/// What is added to a sum of squares: 1e-6 or 1e-12, rounded to fp32.
enum class Epsilon : std::uint8_t { e6, e12 };

/// log(1 + e^x): rounded once; or, linear over 20, of functions that are rounded each: log1p(exp(x)), or
/// log(1 + exp(x)). Only for raw gates.
enum class Softplus : std::uint8_t { once, log1p, log };

/// Whether beta is used as the fp32 that it is, or rounded to bf16 first.
enum class Beta : std::uint8_t { fp32, bf16 };

/// The form of a kernel in registers: that for small problems (in [K,V] a column a lane, in [V,K] stores by
/// the lanes), that for large ones (two columns a lane; bulk copies out of shared memory), or as the size
/// says.
enum class Tuning : std::uint8_t { by_size, small, large };

struct Contracts {
  Io io{};
  State state{};
  Layout layout{};
  Gates gates{};
  Norm norm{};
  Epsilon epsilon{};
  Softplus softplus{};
  Beta beta{};
};

/// `steps` tokens of each of `batch` sequences, one after the other; schedules.md has the arithmetic.
///
/// Pointers are device pointers; all tensors are row-major, contiguous where no stride is named. A token is
/// [sequence, step]. The state of sequence i is slot slots[i] of the pool, read and written in place; a
/// negative slot means a sequence that is not there: its o is +0 and no state is touched.
struct Problem {
  const void* q = nullptr;  ///< [batch, steps, key_heads, key_dim]
  const void* k = nullptr;  ///< likewise
  const void* v = nullptr;  ///< [batch, steps, value_heads, value_dim]
  // Gates::raw
  const void* a = nullptr;         ///< [batch * steps, a_stride], of which the first value_heads count
  const void* b = nullptr;         ///< [batch * steps, b_stride], likewise
  const float* a_log = nullptr;    ///< [value_heads]
  const float* dt_bias = nullptr;  ///< [value_heads]
  // Gates::precomputed
  const float* g = nullptr;     ///< [batch, steps, value_heads], the logarithm of the decay
  const float* beta = nullptr;  ///< [batch, steps, value_heads]
  void* state = nullptr;        ///< [pool, value_heads, key_dim, value_dim], or the last two exchanged
  const std::int32_t* slots = nullptr;          ///< [batch]
  std::span<const std::int32_t> slots_on_host;  ///< the same: duplicates are refused before anything runs
  void* o = nullptr;                            ///< [batch, steps, value_heads, value_dim]
  void* workspace = nullptr;  ///< workspace_bytes(), 256-byte aligned; holds nothing between runs
  std::int64_t batch = 0, steps = 1, pool = 0;
  std::int64_t key_heads = 0,
               value_heads = 0;  ///< head h of values has head h / (value_heads / key_heads) of keys
  std::int64_t key_dim = 0, value_dim = 0;
  std::int64_t a_stride = 0, b_stride = 0;  ///< elements from a token to the next
  float scale = 0;                          ///< of q; key_dim^-1/2 where nobody says otherwise
  Tuning tuning{};                          ///< of the route `register`; changes no bit
  Contracts contracts;
};

/// What a route may ask of the memory behind Problem::workspace: room for the decayed states of all sequences
/// in fp32, where the state itself is bf16 and so cannot hold them. Depends on shape and contracts alone.
std::size_t workspace_bytes(const Problem&);

struct Route {
  RouteInfo info;
  /// Decides from everything but the pointed-to contents on the device (alignment of the pointers included).
  /// In this order, the first that holds, by both routes:
  ///   "no elements"                           batch, steps or heads below 1
  ///   "an extent past 32 bits"                steps of 2^31, batch of 2^30, value_heads of 2^28 or more
  ///   "key_dim is not 64, 128 or 256"         "value_dim is not 64, 128 or 256"
  ///   "value_heads % key_heads != 0"
  ///   "slot past the pool"                    an id of pool or more
  ///   "two sequences in one slot"
  /// two_pass:  "state layout is [V,K]"
  /// register:  "state not 16-byte aligned", "no bulk copies before sm_90" (Tuning::large in [V,K])
  Support (*supports)(const Problem&, DeviceKind);
  /// Launches on context.device; returns before completion on cuda. Throws DeviceError or ExecutorError.
  void (*run)(LaunchContext& context, const Problem&);
};

/// The routes built for that device, in this order; empty for cuda in a build without the toolkit.
///   register   production: recurrent_register_kv or recurrent_register_vk, by layout. A thread has its part
///              of the state in registers, and on chip over all steps: one read and one write of each
///              element. Counts bulk_stores where a state in [V,K] goes back so
///   two_pass   legacy: recurrent_two_pass, [K,V] alone. The decayed state goes through memory between its
///              passes, in place, or through the workspace where the state is bf16
std::span<const Route> routes(DeviceKind);

}  // namespace assay::kernels::gated_delta
