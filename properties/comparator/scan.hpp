// The comparator's hot loops: is anything in this run of elements worth a closer look?
#pragma once

#include <cstddef>
#include <cstdint>

#include "oracles/arithmetic/acceptance.hpp"

namespace assay::properties::detail {

/// The largest share of its bound that a passing element has used, kept as an exact fraction so that no
/// result depends on floating-point evaluation. room > 0.
struct BoundUse {
  std::uint32_t used = 0, room = 1;
};

/// What a scan saw, over all its elements together.
struct Flags {
  bool wrong = false;      ///< some element is not right
  bool malformed = false;  ///< some interval is none: lo over hi, best outside, or a NaN on one side only
  bool record = false;     ///< some right element uses more of its bound than the fraction given
};

/// Little-endian codes, any alignment. hi and best are null when the acceptance has none.
struct Streams {
  const std::byte* out = nullptr;
  const std::byte* lo = nullptr;
  const std::byte* hi = nullptr;
  const std::byte* best = nullptr;
};

/// Reads each element once and branches on none. Compiled for the baseline and for AVX2, chosen at run time;
/// integer only, so both give the same flags.
enum class Vectors : std::uint8_t { widest, baseline };
using Scan = Flags (*)(const Streams&, std::size_t count, BoundUse worst);
Scan scan_for(formats::Format, arithmetic::NanRule, bool exact, bool has_best, Vectors = Vectors::widest);

}  // namespace assay::properties::detail
