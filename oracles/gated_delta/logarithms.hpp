// Logarithms of an fp32, correctly rounded to fp32, until oracles/arithmetic/functions.hpp has them.
#pragma once

#include <cstdint>

namespace assay::oracles::gated_delta {

enum class Logarithm : std::uint8_t { log, log1p };

/// log(x) or log(1 + x). -Inf where the argument of the logarithm is zero, NaN where it is below.
std::uint32_t correctly_rounded(Logarithm, std::uint32_t x);

}  // namespace assay::oracles::gated_delta
