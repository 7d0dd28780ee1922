// What a matrix multiplication with n-bit weights must give: exactly, to the bit of its schedule, or within
// its running error bound.
//
// The schedules are written out in kernels/matmul_nbits/schedules.md; they are a contract, restated here in
// code of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/format.hpp"

namespace assay::oracles::matmul_nbits {

enum class Schedule : std::uint8_t { split_k, multicol, natural, tile, mma };
enum class TensorCores : std::uint8_t { hopper, ampere };
enum class BiasRound : std::uint8_t { once, twice };

/// What a result is held to: the bits of the schedule, or every code within the running error bound of the
/// schedule around the exact value (outside the bound's reach, after overflow or NaN: the bits).
enum class Judge : std::uint8_t { bits, bound };

struct Contracts {
  formats::Format model = formats::Format::bf16;  ///< fp16, bf16 or fp32: of A, scales, bias and Y
  Schedule schedule{};
  std::size_t k_split = 2;     ///< of split_k
  TensorCores tensor_cores{};  ///< of mma
  BiasRound bias_round{};
  Judge judge{};
};

struct Shape {
  std::size_t m = 1, n = 8, k = 32;
  std::size_t bits = 4, block = 32;

  std::size_t blocks() const { return (k + block - 1) / block; }
  std::size_t row_bytes() const { return blocks() * block * bits / 8; }  ///< of the weights of a column
  std::size_t zero_point_row_bytes() const { return (blocks() * bits + 7) / 8; }
};

/// A [m, k], b [n, row_bytes()], scales [n, blocks()], zero_points [n, zero_point_row_bytes()] or empty
/// (2^(bits - 1)), bias [n] or empty; little-endian codes.
struct Operands {
  std::span<const std::byte> a, b, scales, zero_points, bias;
};

/// The acceptance of Y [m, n] in `contracts.model`; NaN is a class. `threads`: 0 means one per core; the
/// result does not depend on it. Operands of other sizes and contracts that schedules.md rules out are
/// programmer errors.
arithmetic::Acceptance accept(const Contracts&, const Shape&, const Operands&, unsigned threads = 0);

/// The true value of Y[row, col] without bias: no rounding anywhere, neither of the inputs. All operands of
/// that element must be finite.
arithmetic::Dyadic exact_element(formats::Format model, const Shape&, const Operands&, std::size_t row,
                                 std::size_t col);

/// A known fault: what it would have made of Y, for naming damage.
enum class Fault : std::uint8_t {
  nibbles_swapped,             ///< elements of a byte in reverse order: the odd one from its low bits
  code_off_by_one,             ///< every code one less
  codes_signed,                ///< codes taken as two's complement, zero points ignored
  zero_point_ignored,          ///< z = 0 everywhere
  zero_point_default,          ///< z = 2^(bits - 1) though zero points are given
  zero_points_swapped,         ///< of a pair of blocks, the unused bits of a row included
  zero_points_not_padded,      ///< indexed as n * blocks + b, without the padding of a row
  row_stride_without_padding,  ///< b row stride k * bits / 8
  scale_of_next_block,         ///< in memory: after the last of a column, the first of the next
  scales_transposed,           ///< scales read as [blocks, n]
  scale_ignored,               ///< 1
  tail_dropped,                ///< elements of the last block that is cut off, or of the last group of 8
  last_block_dropped,
  last_split_dropped,  ///< the partial sum of the last slice
  splits_stop_early,   ///< of the first slice alone
  bias_dropped,
  bias_twice_for_once,  ///< the other contract of bias_round
  direct_rounding,      ///< bf16(acc) without fp16 in between
  truncated,            ///< the last rounding goes toward zero
  saturated,            ///< a finite value that overflows fp16 gives the largest finite one
  subnormals_flushed,   ///< of the fp16 result
  zero_hoisted,         ///< fp16(q * s) + fp16(-z * s), fused as fma16(q, s, fp16(-z * s))
  weights_not_rounded,  ///< fp32 weights, multiplied and summed in fp32
  accumulated_in_fp32,  ///< the split_k schedule with fp32 lane sums
  other_pairs,          ///< pairs (2p, 2p+1) for (p, p+4), and the reverse in natural
};
inline constexpr std::size_t fault_count = static_cast<std::size_t>(Fault::other_pairs) + 1;
std::string_view to_string(Fault);

/// Y [m, n] as the fault gives it. Empty where the fault has no meaning for these contracts or shape.
std::vector<std::byte> faulty(Fault, const Contracts&, const Shape&, const Operands&);

}  // namespace assay::oracles::matmul_nbits
