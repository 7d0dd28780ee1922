// The nodes of the battery: int4 weights made from a seed, and running one MatMulNBits node of a bf16 model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/matmul_nbits/node.hpp"
#include "kernels/runtime/device.hpp"

namespace assay::properties::decode {

using Code16 = std::uint16_t;  ///< of bf16

inline constexpr unsigned weight_bits = 4, weight_block = 32;

/// Random bytes: a function of (seed, stream, size) alone.
std::vector<std::byte> random_bytes(std::size_t bytes, std::uint64_t seed, std::uint64_t stream);

/// bf16 codes of random sign and mantissa, with exponents from `lowest` to `highest` (2^lowest <= |x| <
/// 2^(highest + 1)), all normal.
std::vector<Code16> random_bf16(std::size_t count, int lowest, int highest, std::uint64_t seed,
                                std::uint64_t stream);

/// The exponent of the scales of weights with k elements a row, such that a sum of k products of a weight and
/// an activation about 1 is about 1: (q - z) is about 2^3, and 2^3 * sqrt(k) * scale = 1, rounded down.
int scale_exponent(std::int64_t k);

std::span<const std::byte> bytes_of(const std::vector<Code16>&);

/// Weights [n, k] with scales and zero points, on a device.
class Int4Matrix {
 public:
  Int4Matrix(kernels::Device&, const std::string& name, std::int64_t n, std::int64_t k, std::uint64_t seed,
             std::uint64_t stream);

  std::int64_t n() const { return n_; }
  std::int64_t k() const { return k_; }

  /// The node y [m, n] = a [m, k] times these weights, by the schedule that a node of this shape takes.
  /// `k_split` is of the GEMV. Its workspace is still to be set.
  kernels::matmul_nbits::Problem node(std::int64_t m, const void* a, void* y, unsigned k_split,
                                      kernels::matmul_nbits::TensorCores) const;

 private:
  std::int64_t n_, k_;
  std::unique_ptr<kernels::DeviceBuffer> weights_, scales_, zero_points_;
};

/// How the tensor cores of a device sum.
kernels::matmul_nbits::TensorCores tensor_cores_of(const kernels::Device&);

/// What the witness says of direct stores and casts. The casts are counted twice: by the node's own counter,
/// and by the launches of their kernel.
struct Casts {
  std::uint64_t nodes = 0;     ///< that ran
  std::uint64_t launches = 0;  ///< of any kernel
  std::uint64_t casts = 0, cast_launches = 0;
  std::uint64_t accepted = 0;  ///< direct stores
  std::uint64_t withheld = 0;  ///< offers not made, because of the lever

  Casts& operator+=(const Casts&);
};

/// The casts of `nodes` nodes that ran with this witness.
Casts casts_of(const kernels::Witness&, std::uint64_t nodes);

}  // namespace assay::properties::decode
