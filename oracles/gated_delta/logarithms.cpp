#include "oracles/gated_delta/logarithms.hpp"

#include <mpfr.h>

#include <bit>
#include <cmath>

#include "oracles/formats/codec.hpp"

namespace assay::oracles::gated_delta {
namespace {

/// Rounded down or up in that precision, then to double in the same direction.
double bound(Logarithm f, float x, mpfr_prec_t precision, mpfr_rnd_t rounding) {
  mpfr_t y;
  mpfr_init2(y, precision);
  mpfr_set_flt(y, x, MPFR_RNDN);  // exact
  f == Logarithm::log ? mpfr_log(y, y, rounding) : mpfr_log1p(y, y, rounding);
  // Through float in one rounding, which is monotonic: equal ends are the result.
  const float result = mpfr_get_flt(y, MPFR_RNDN);
  mpfr_clear(y);
  return result;
}

}  // namespace

std::uint32_t correctly_rounded(Logarithm f, std::uint32_t code) {
  const float x = std::bit_cast<float>(code), least = f == Logarithm::log ? 0.0f : -1.0f;
  if (!(x >= least)) return formats::canonical_nan(formats::Format::fp32);
  if (f == Logarithm::log1p && x == 0) return code;
  // A logarithm of a rational other than 1 is transcendental, so no midpoint.
  for (mpfr_prec_t precision = 64;; precision *= 2) {
    const auto low = static_cast<float>(bound(f, x, precision, MPFR_RNDD));
    const auto high = static_cast<float>(bound(f, x, precision, MPFR_RNDU));
    if (low == high) return std::bit_cast<std::uint32_t>(low);
  }
}

}  // namespace assay::oracles::gated_delta
