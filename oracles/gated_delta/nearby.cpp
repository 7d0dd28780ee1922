#include "oracles/gated_delta/nearby.hpp"

#include <cassert>
#include <cmath>
#include <limits>

#include "oracles/arithmetic/host.hpp"

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::Host;
using arithmetic::host::Pair;
using formats::Format;

/// The smallest code of F not below end.sum + end.rest, for a positive end or one that is not zero.
template <Format F>
std::uint32_t at_least(Pair end) {
  const auto near = Host<F>::rounded(end.sum);
  const auto value = static_cast<double>(near.word());
  const bool below = value < end.sum || (value == end.sum && end.rest > 0);
  // The next code up has a larger magnitude, or for a negative number a smaller one.
  if (!below) return near.code();
  return std::signbit(value) ? near.code() - 1 : near.code() + 1;
}
template <Format F>
std::uint32_t negated(std::uint32_t code) {
  return code ^ 1u << (formats::definition::spec_of(F).bits - 1);
}

template <Format F>
arithmetic::Interval nearby_of(double value, double bound) {
  // Beyond the range of doubles is beyond that of F in the same way.
  constexpr double most = std::numeric_limits<double>::max() / 4;
  const double e = std::fmin(bound, most);
  const Pair low = arithmetic::host::two_sum(value, -e), high = arithmetic::host::two_sum(value, e);
  arithmetic::Interval result;
  result.lo = low.sum == 0 ? negated<F>(0) : at_least<F>(low);
  result.hi = high.sum == 0 ? 0 : negated<F>(at_least<F>({-high.sum, -high.rest}));
  result.best = Host<F>::rounded(value).code();
  assert(formats::ordered_key(F, result.lo) <= formats::ordered_key(F, result.hi) &&
         "no code within the bound");
  return result;
}

}  // namespace

arithmetic::Interval nearby(Format format, double value, double bound) {
  assert(std::isfinite(value) && std::isfinite(bound) && bound >= 0);
  return format == Format::bf16 ? nearby_of<Format::bf16>(value, bound)
                                : nearby_of<Format::fp32>(value, bound);
}

}  // namespace assay::oracles::gated_delta
