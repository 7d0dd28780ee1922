// Acceptance: for every stored element, the closed interval of encodings a correct kernel may produce.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracles/formats/format.hpp"

namespace assay::arithmetic {

/// Whether the NaN an element must be may be any NaN code of the format or only the canonical one.
enum class NanRule : std::uint8_t { any, canonical };

/// Half-open range of stored elements.
struct ElementRange {
  std::size_t begin = 0, end = 0;
};

/// The acceptance of one output buffer, padding included. Codes are stored as the buffer stores them
/// (little-endian, storage_bytes(format) each), so the comparator streams them beside the output.
///
/// An element i is right iff  key(lo[i]) <= key(out[i]) <= key(hi[i])  for formats::ordered_key, where a
/// lo[i] that is a NaN code (then hi[i] equals it) asks for a NaN under `nan`, and a NaN is inside no other
/// interval. Elements in `untouched` must hold exactly what the buffer held before the launch, whatever lo
/// and hi say.
struct Acceptance {
  formats::Format format{};
  std::vector<std::byte> lo;
  std::vector<std::byte> hi;  ///< empty: exact, hi is lo
  std::vector<std::byte>
      best;  ///< the correctly rounded true value; empty: lo. Only for reporting bound use.
  NanRule nan = NanRule::any;
  std::vector<ElementRange> untouched;  ///< ascending, disjoint

  std::size_t size() const { return lo.size() / static_cast<std::size_t>(formats::storage_bytes(format)); }
  bool exact() const { return hi.empty(); }
};

/// Inline, because searches for places to inject a fault are made of it.
inline std::uint32_t load_code(std::span<const std::byte> codes, int bytes, std::size_t index) {
  const auto width = static_cast<std::size_t>(bytes);
  assert(width == 1 || width == 2 || width == 4);
  assert(index < codes.size() / width);
  std::uint32_t code = 0;  // byte by byte: the files are little-endian, whatever the host is
  for (std::size_t i = 0; i < width; ++i)
    code |= std::to_integer<std::uint32_t>(codes[index * width + i]) << (8 * i);
  return code;
}
void store_code(std::span<std::byte> codes, int bytes, std::size_t index, std::uint32_t code);

}  // namespace assay::arithmetic
