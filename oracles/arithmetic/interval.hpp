// From a true value and an error bound to the interval of codes that a correct kernel may store.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/codec.hpp"

namespace assay::arithmetic {

/// What the bound says about the rounding with which the schedule stores its result.
enum class Store : std::uint8_t {
  in_bound,      ///< the bound includes it: the codes whose values lie within [value - bound, value + bound]
  nearest_even,  ///< it follows the bound: the ends, rounded as the store rounds; rigorous because rounding
                 ///< is monotone
  faithful,      ///< it follows, and may go either way: the ends, rounded outward
};

/// Codes lo..hi of formats::ordered_key order, and the code of the true value rounded to nearest.
struct Interval {
  std::uint32_t lo = 0, hi = 0, best = 0;
};

/// The interval for a true value and a finite bound >= 0, both used exactly; the ends are rounded once. An
/// end that is exactly zero admits both zeros: the true value has no sign there. Under Overflow::propagate an
/// end may be Inf; a format without one needs saturation. With Store::in_bound some code must lie within: if
/// none does, value and bound do not belong to one schedule, which is a programmer error.
Interval interval(formats::Format, const Dyadic& value, double bound, Store,
                  formats::Overflow = formats::Overflow::propagate);

/// An acceptance of `size` elements, to be filled by set().
Acceptance intervals(formats::Format, std::size_t size);
void set(Acceptance&, std::size_t index, const Interval&);

}  // namespace assay::arithmetic
