#include "oracles/gated_delta/enclosure.hpp"

#include <mpfr.h>

#include <cmath>
#include <limits>

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::Function;

/// An MPFR number with some bits more than a double.
class Real {
 public:
  explicit Real(double x) {
    mpfr_init2(value_, 80);
    mpfr_set_d(value_, x, MPFR_RNDN);  // exact
  }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

mpfr_rnd_t opposite(mpfr_rnd_t rounding) { return rounding == MPFR_RNDD ? MPFR_RNDU : MPFR_RNDD; }

/// f(x), not above it for MPFR_RNDD and not below it for MPFR_RNDU: every step is monotonic in the one
/// before.
double directed(Function f, double x, mpfr_rnd_t rounding) {
  Real y(x);
  switch (f) {
    case Function::rsqrt:
      if (!(x > 0)) return std::numeric_limits<double>::quiet_NaN();
      mpfr_rec_sqrt(y, y, rounding);
      break;
    case Function::exp:
      mpfr_exp(y, y, rounding);
      break;
    case Function::sigmoid:
      mpfr_neg(y, y, MPFR_RNDN);
      mpfr_exp(y, y, opposite(rounding));
      mpfr_add_ui(y, y, 1, opposite(rounding));
      mpfr_ui_div(y, 1, y, rounding);
      break;
    case Function::softplus: {  // max(x, 0) + log(1 + e^-|x|)
      mpfr_set_d(y, -std::fabs(x), MPFR_RNDN);
      mpfr_exp(y, y, rounding);
      mpfr_log1p(y, y, rounding);
      if (x > 0) mpfr_add_d(y, y, x, rounding);
      break;
    }
    case Function::log:
      mpfr_log(y, y, rounding);
      break;
    case Function::log1p:
      mpfr_log1p(y, y, rounding);
      break;
  }
  return mpfr_get_d(y, rounding);
}

}  // namespace

Enclosure enclose(Function f, Enclosure x) {
  if (f == Function::rsqrt) return {directed(f, x.high, MPFR_RNDD), directed(f, x.low, MPFR_RNDU)};
  return {directed(f, x.low, MPFR_RNDD), directed(f, x.high, MPFR_RNDU)};
}

Enclosure around(double x, double e) {
  if (e == 0) return {x, x};
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(e)) return {nan, nan};
  return {std::nextafter(x - e, -infinity), std::nextafter(x + e, infinity)};
}

}  // namespace assay::oracles::gated_delta
