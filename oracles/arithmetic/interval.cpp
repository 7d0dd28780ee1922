#include "oracles/arithmetic/interval.hpp"

#include <cassert>
#include <cmath>

#include "oracles/formats/codec.hpp"

namespace assay::arithmetic {
namespace {

using formats::Exact;
using formats::Format;
using formats::Overflow;
using formats::Rounding;

Rounding low_rounding(Store store) {
  return store == Store::in_bound   ? Rounding::up
         : store == Store::faithful ? Rounding::down
                                    : Rounding::nearest_even;
}
Rounding high_rounding(Store store) {
  return store == Store::in_bound   ? Rounding::down
         : store == Store::faithful ? Rounding::up
                                    : Rounding::nearest_even;
}

/// The code of one end. Zero has the sign that makes the interval include both.
std::uint32_t end_code(Format format, const Dyadic& end, Rounding rounding, Overflow overflow, bool low) {
  const Exact x = end.is_zero() ? Exact::zero(low) : end.exact();
  return formats::encode(format, x, rounding, overflow);
}

}  // namespace

Interval interval(Format format, const Dyadic& value, double bound, Store store, Overflow overflow) {
  assert(std::isfinite(bound) && bound >= 0);
  const Dyadic e = Dyadic::of(bound);
  Interval result;
  result.lo = end_code(format, value - e, low_rounding(store), overflow, true);
  result.hi = end_code(format, value + e, high_rounding(store), overflow, false);
  result.best = formats::encode(format, value.exact(), Rounding::nearest_even, overflow);
  assert(formats::ordered_key(format, result.lo) <= formats::ordered_key(format, result.hi) &&
         "no code within the bound");
  return result;
}

Acceptance intervals(Format format, std::size_t size) {
  const std::size_t bytes = size * static_cast<std::size_t>(formats::storage_bytes(format));
  Acceptance a;
  a.format = format;
  a.lo.resize(bytes);
  a.hi.resize(bytes);
  a.best.resize(bytes);
  return a;
}

void set(Acceptance& a, std::size_t index, const Interval& i) {
  assert(!a.exact());
  const int bytes = formats::storage_bytes(a.format);
  store_code(a.lo, bytes, index, i.lo);
  store_code(a.hi, bytes, index, i.hi);
  store_code(a.best, bytes, index, i.best);
}

}  // namespace assay::arithmetic
