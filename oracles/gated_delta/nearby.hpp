// arithmetic::interval() of a double and a bound in double, quickly: states have an interval for every
// element.
#pragma once

#include "oracles/arithmetic/interval.hpp"

namespace assay::oracles::gated_delta {

/// The codes of fp32 or bf16 whose values lie within [value - bound, value + bound], an end of zero being
/// either zero; `best` is the value rounded to nearest. Value and bound finite; some code lies within.
arithmetic::Interval nearby(formats::Format, double value, double bound);

}  // namespace assay::oracles::gated_delta
