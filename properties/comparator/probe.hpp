// Fault probes: a pass is given only after the check has rejected the smallest relevant faults of this very
// output.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "oracles/arithmetic/acceptance.hpp"
#include "properties/comparator/comparator.hpp"

namespace assay::properties {

/// An output buffer as `rows` rows of `stride` stored elements, of which the first `cols` are data. The last
/// row may end after its data.
struct Geometry {
  std::size_t rows = 0, cols = 0, stride = 0;
};

/// One kind of fault. `applied`: this output offers a place for it. `caught`: it was rejected at every place
/// tried.
struct Probe {
  std::string_view name;
  bool applied = false;
  bool caught = false;
};

struct ProbeReport {
  std::vector<Probe> probes;
  /// Some fault could be injected, and every injected fault was rejected.
  bool earned() const;
};

/// How a probe asks for a judgement of the elements [first, ...) that it touched: compare_window, or a
/// comparator under test.
using WindowCompare =
    std::function<Comparison(const arithmetic::Acceptance&, std::size_t first,
                             std::span<const std::byte> window, std::span<const std::byte> before)>;
Comparison judge_window(const arithmetic::Acceptance&, std::size_t first, std::span<const std::byte> window,
                        std::span<const std::byte> before);

/// Injects each fault into a copy of the elements it touches, at fixed places, and has only those judged
/// again; the output itself, which must have passed, is not modified and not copied. `before` as in
/// compare(): without it the faults of stale elements do not apply.
///
/// Faults and places:
/// - one code up, down: the first code past the interval; first, last and middle element, and one in every
///   lane modulo 32, spread over the buffer
/// - element zeroed, sign flipped: where the acceptance can tell; applied and missed if some element is not
///   zero and the acceptance tells nowhere (a bound over the signal)
/// - elements swapped: the largest with the smallest among those looked at
/// - row stale: first, middle and last row, as before the launch; where those were right before, the first
///   that was not
/// - last element stale
/// - row shifted: by one column, in the first row where that makes a difference
/// - scale off by one: e8m0; first, middle and last
/// - NaN for a number, number for a NaN
/// - padding written: one bit of an element that was to stay untouched
///
/// Whether an injected code differs in judgement is decided from the definition of the acceptance and the
/// format's codec, not by the comparator that is being probed.
ProbeReport probe(const arithmetic::Acceptance&, std::span<const std::byte> passed,
                  std::span<const std::byte> before, Geometry, const WindowCompare& = judge_window);

}  // namespace assay::properties
