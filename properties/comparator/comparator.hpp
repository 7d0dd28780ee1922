// The one comparator: is every ordered code inside its interval? It compares encodings, never floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"

namespace assay::properties {

struct Mismatch {
  std::size_t index = 0;  ///< stored element
  std::uint32_t actual = 0, lo = 0, hi = 0;
  bool untouched = false;  ///< the element had to keep its old contents (lo == hi == those)
  std::uint64_t codes_outside =
      0;  ///< distance to the interval in ordered codes; 0 when either side is a NaN
};

struct Comparison {
  std::size_t compared = 0;  ///< elements looked at; 0 is vacuous, never a pass
  std::size_t failed = 0;
  std::vector<Mismatch> first;  ///< the first `keep` mismatches, ascending index
  double worst_bound_use =
      0;  ///< over passing elements: |key(out)-key(best)| / room on that side; 0 for exact ones
  std::uint64_t worst_codes_outside = 0;
  bool passed() const { return compared > 0 && failed == 0; }
};

/// Compares one output buffer. `before` is what the buffer held before the launch (needed for
/// acceptance.untouched; may be empty when there is none). Sizes must agree (programmer error otherwise).
Comparison compare(const arithmetic::Acceptance&, std::span<const std::byte> actual,
                   std::span<const std::byte> before = {}, std::size_t keep = 16);

/// Compares a part: `window` holds the elements [first, first + window.size() / storage bytes) of the output,
/// `before` the whole buffer as above, and indices are those of the whole. A fault in a few elements of a
/// large output is thus judged by what it touched. Equal to compare() restricted to those elements.
Comparison compare_window(const arithmetic::Acceptance&, std::size_t first, std::span<const std::byte> window,
                          std::span<const std::byte> before = {}, std::size_t keep = 16);

/// Indices of all mismatching elements (slow path, for the damage report).
std::vector<std::size_t> mismatching(const arithmetic::Acceptance&, std::span<const std::byte> actual,
                                     std::span<const std::byte> before = {});

}  // namespace assay::properties
