// Elementary functions of intervals of doubles, by MPFR: where the true values of gates and norms lie.
#pragma once

#include "oracles/arithmetic/functions.hpp"

namespace assay::oracles::gated_delta {

struct Enclosure {
  double low, high;
};

/// Holds f(x) for every x in [x.low, x.high], all functions being monotonic; ends rounded outward. Has a NaN
/// or an Inf where f has none or no bounded value somewhere in the interval, or an end is not finite.
Enclosure enclose(arithmetic::Function, Enclosure x);

/// Doubles around x - e .. x + e; NaN where e is not finite.
Enclosure around(double x, double e);

}  // namespace assay::oracles::gated_delta
