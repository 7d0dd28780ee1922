// Permutations from a seed, the same on every machine: for the orders of blocks, warps and lanes.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>

namespace assay::executor::detail {

/// SplitMix64's output function: a bijection of 64 bits in which every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t v) {
  v += 0x9E3779B97F4A7C15u;
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9u;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBu;
  return v ^ (v >> 31);
}

/// A counter-based stream of integers, named by a seed and a position.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t position) : key_(mix(mix(seed) ^ position)) {}

  /// Below `n`, n < 2^32; the bias of under n/2^32 is of no consequence for an order.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((mix(key_ + counter_++) >> 32) * n) >> 32);
  }

  template <class T>
  void shuffle(std::span<T> items) {  // Fisher and Yates
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

/// A permutation of 0..n-1 that needs no table: a four-round Feistel network over the next even number of
/// bits, applied again while its value is out of range.
class IndexPermutation {
 public:
  IndexPermutation(std::uint64_t n, std::uint64_t seed)
      : n_(n), seed_(seed), half_((static_cast<unsigned>(std::bit_width(n > 1 ? n - 1 : 1)) + 1) / 2) {}

  std::uint64_t operator()(std::uint64_t i) const {
    do {
      i = once(i);
    } while (i >= n_);
    return i;
  }

 private:
  std::uint64_t once(std::uint64_t i) const {
    const std::uint64_t low_bits = (std::uint64_t{1} << half_) - 1;
    std::uint64_t left = i >> half_, right = i & low_bits;
    for (std::uint64_t round = 0; round < 4; ++round) {
      left = std::exchange(right, left ^ (mix(seed_ ^ mix(right + (round << 40))) & low_bits));
    }
    return left << half_ | right;
  }

  std::uint64_t n_, seed_;
  unsigned half_;
};

}  // namespace assay::executor::detail
