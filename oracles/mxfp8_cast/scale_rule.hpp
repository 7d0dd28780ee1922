// From the amax of a block to the exponent of its scale: the four rules, and the known ways to get them
// wrong.
#pragma once

#include "oracles/formats/exact.hpp"
#include "oracles/formats/format.hpp"
#include "oracles/mxfp8_cast/oracle.hpp"

namespace assay::oracles::mxfp8_cast {

/// Bias of e8m0: byte = exponent + scale_bias, exponent in [-127, 127].
inline constexpr int scale_bias = 127;

/// fl32(1 / M), M the largest value of the element format: 0x3B124925 for e4m3, 0x37924925 for e5m2.
formats::Exact fp32_reciprocal_of_largest(formats::Format element);

/// The scale's exponent for a finite amax, clamped to what e8m0 holds; -127 for amax = 0. Of the faults only
/// the two that are about the exponent's arithmetic matter here: scale_from_divided_amax and
/// scale_exact_power_doubled.
int scale_exponent(const formats::Exact& amax, formats::Format element, ScaleRule, Fault = Fault::none);

}  // namespace assay::oracles::mxfp8_cast
