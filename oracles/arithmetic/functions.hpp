// Elementary functions of an fp32, correctly rounded to fp32 (to nearest even): what the kernels' own must
// be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay::arithmetic {

enum class Function : std::uint8_t {
  rsqrt,     ///< 1 / sqrt(x); +-0 gives +-Inf, x < 0 NaN
  exp,       ///< e^x
  sigmoid,   ///< 1 / (1 + e^-x)
  softplus,  ///< log(1 + e^x)
  log,       ///< natural; +-0 gives -Inf, x < 0 NaN
  log1p,     ///< log(1 + x); +-0 gives x, -1 -Inf, x < -1 NaN
};

std::string_view to_string(Function);
/// All of them.
std::span<const Function> functions();

/// The code of f(x) for the fp32 code x. At infinities the limit; a NaN, whatever its payload, gives the
/// canonical one. Subnormal results are rounded once; a value over the largest finite one by half a step or
/// more is Inf.
std::uint32_t correctly_rounded(Function, std::uint32_t x);

/// The same by intervals alone: MPFR's results rounded down and up, in doubling precision until both ends
/// round to the same code (Ziv's method). Slow; what correctly_rounded() rests on and is tested with.
std::uint32_t rounded_by_intervals(Function, std::uint32_t x);

/// The same where a quick way with a proven error decides, else nothing: exact integers for rsqrt, doubles
/// with bounds that are derived in the source for the others. Leaves out special values and about one code in
/// ten million.
std::optional<std::uint32_t> rounded_quickly(Function, std::uint32_t x);

/// How far f(x) is from the nearest midpoint between two neighbouring fp32, in units of their distance: 0 to
/// 1/2, to 40 bits or more. For a finite x whose f(x) is finite, not zero, and below 2^127.
double midpoint_distance(Function, std::uint32_t x);

}  // namespace assay::arithmetic
