// Sums, products, quotients and square roots of decoded values, kept exact enough to be rounded once. What
// modelled arithmetic is made of; the IEEE 754 rules for special values live here.
#pragma once

#include "oracles/formats/exact.hpp"

namespace assay::arithmetic {

/// a * b. Significands of at most 32 bits each, no sticky bits; the result has none either. NaN from NaN and
/// from 0 * Inf.
formats::Exact product(const formats::Exact& a, const formats::Exact& b);

/// a + b, with 63 leading bits and a sticky bit for the rest. Significands of at most 64 bits, no sticky
/// bits. NaN from NaN and from Inf - Inf; a sum that is exactly zero is +0 unless both operands are -0 (round
/// to nearest).
formats::Exact sum(const formats::Exact& a, const formats::Exact& b);

/// a / b, with 33 leading bits or more and a sticky bit for the rest. Significands of at most 32 bits each,
/// no sticky bits. NaN from NaN, 0 / 0 and Inf / Inf; a finite number over zero is Inf.
formats::Exact quotient(const formats::Exact& a, const formats::Exact& b);

/// The square root, with 31 leading bits or more and a sticky bit for the rest: fp32 needs 24 and one more. A
/// significand of at most 32 bits, no sticky bit. NaN from NaN and from what is below zero; of -0 it is -0.
formats::Exact square_root(const formats::Exact& x);

}  // namespace assay::arithmetic
