// What decode steps of the gated delta rule must give: to the bit of the schedule, or within its running
// error bound, carried through time.
//
// The schedule is written out in kernels/gated_delta/schedules.md; it is a contract, restated here in code of
// its own.
//
// The true value is that of the schedule without any rounding, of beta and of the state to bf16 neither, and
// with softplus(x) = log(1 + e^x) at every x. The bound of a number is what the roundings of the schedule may
// have moved it from that, those to bf16 included (growth.hpp, propagation.hpp); the interval is as much
// wider as the true value itself is uncertain, some 2^-29 of that. The bound grows with the number of steps
// where nothing decays, and stays where something does. The state's, K = 64 and ordinary inputs, median in
// units of the last place of the format (bound_test.cpp):
//
//     state  decay   1 step     2    16    256    4096
//     fp32   0.5        2.9   9.1    18     18      19
//     fp32   0.99       2.9   9.9   260   3800    4100
//     fp32   1          1.8   6.9   180   5500   92000
//     bf16   0.99      0.51   1.5    40    630     690
//     bf16   1         0.51   1.5    42   1500   25000
//
// What the bound does not prove: that the schedule was kept. A kernel with other roundings, or fewer, may lie
// within: products and sums rounded apart, beta or a bf16 state that is not rounded between steps. Nor that a
// kernel outside is worse: another order of the same operations has a bound of its own. It takes every
// rounding at its worst and in the worst direction, so that after many steps errors hundreds of times those
// of a right kernel pass; faults that are small next to it, like another epsilon where sums of squares are
// large, do too. It says nothing after an overflow or a NaN, where the bits are asked for. And it speaks of
// these inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/format.hpp"

namespace assay::oracles::gated_delta {

enum class Layout : std::uint8_t { kv, vk };
enum class Gates : std::uint8_t { precomputed, raw };
enum class Norm : std::uint8_t { division, rsqrt };
enum class Epsilon : std::uint8_t { e6, e12 };
enum class Softplus : std::uint8_t { once, log1p, log };
enum class Beta : std::uint8_t { fp32, bf16 };

/// What o and state are held to: the bits of the schedule, or every code within the running error bound of
/// the schedule around the true value (outside the bound's reach, after overflow or NaN: the bits). A bound
/// of zero means the bits too.
enum class Judge : std::uint8_t { bits, bound };

struct Contracts {
  formats::Format io = formats::Format::fp32;     ///< fp32 or bf16: of q, k, v, a, b and o
  formats::Format state = formats::Format::fp32;  ///< fp32 or bf16
  Layout layout{};
  Gates gates{};
  Norm norm{};
  Epsilon epsilon{};
  Softplus softplus{};
  Beta beta{};
  Judge judge{};
};

struct Shape {
  std::size_t batch = 1, steps = 1, pool = 1;
  std::size_t key_heads = 1, value_heads = 1, key_dim = 64, value_dim = 64;
  std::size_t a_stride = 1, b_stride = 1;  ///< elements from a token to the next, at least value_heads

  std::size_t tokens() const { return batch * steps; }
  std::size_t state_elements() const { return pool * value_heads * key_dim * value_dim; }
  std::size_t out_elements() const { return tokens() * value_heads * value_dim; }
};

/// Little-endian codes, in the shapes of kernels::gated_delta::Problem: q, k [batch, steps, key_heads,
/// key_dim]; v [batch, steps, value_heads, value_dim]; a, b [tokens, stride] (the last row may end after
/// value_heads elements), a_log, dt_bias [value_heads] fp32, all four empty with precomputed gates; g, beta
/// [batch, steps, value_heads] fp32, empty with raw ones; state [pool, value_heads, key_dim, value_dim], the
/// last two exchanged in Layout::vk; slots [batch], each less than pool, no two that are not negative equal.
struct Operands {
  std::span<const std::byte> q, k, v, a, b, a_log, dt_bias, g, beta, state;
  std::span<const std::int32_t> slots;
  std::uint32_t scale = 0;  ///< code of an fp32
};

struct Accepted {
  arithmetic::Acceptance out;    ///< [batch, steps, value_heads, value_dim] in contracts.io
  arithmetic::Acceptance state;  ///< the whole pool in contracts.state; slots of no sequence are `untouched`
};

/// `threads`: 0 means one per core; the result does not depend on it. Operands of other sizes and slots that
/// are out of range or doubled are programmer errors.
Accepted accept(const Contracts&, const Shape&, const Operands&, unsigned threads = 0);

/// A known fault: what it would have made of o and state, for naming damage.
enum class Fault : std::uint8_t {
  error_before_decay,    ///< kv from the state before it is decayed
  output_before_update,  ///< o from the decayed state, without the rank-1 update
  state_transposed,      ///< k and v exchanged where the state is read and written (key_dim == value_dim)
  head_modulo,           ///< key head h % key_heads
  decay_twice,           ///< alpha = exp(exp(g))
  decay_ignored,         ///< alpha = 1
  beta_rounded,          ///< beta rounded to bf16 under the fp32 contract
  beta_unrounded,        ///< and the reverse
  beta_ignored,          ///< 1
  scale_ignored,         ///< 1
  norm_ignored,          ///< q and k as they are; q is still scaled
  epsilon_ignored,       ///< 0
  epsilon_other,         ///< the other contract's
  epsilon_outside,       ///< added to the square root
  softplus_linear,       ///< x at every x
  dt_bias_ignored,
  sign_of_g,      ///< g = exp(A_log) * s
  slots_ignored,  ///< sequence i in slot i
  state_not_written,
  state_rounded_early,  ///< bf16 state: o from the rounded state
  state_never_rounded,  ///< bf16 state of several steps: rounded after the last alone
  last_slice_dropped,   ///< of the four partial sums
  not_fused,            ///< each fma as a product and a sum, rounded each
  first_step_only,  ///< later steps leave state as the first left it, o of them poisoned or stale: here NaN
};
inline constexpr std::size_t fault_count = static_cast<std::size_t>(Fault::first_step_only) + 1;
std::string_view to_string(Fault);

struct Faulty {
  std::vector<std::byte> out, state;
};
/// What the fault gives. Both empty where it has no meaning for these contracts or this shape.
Faulty faulty(Fault, const Contracts&, const Shape&, const Operands&);

}  // namespace assay::oracles::gated_delta
