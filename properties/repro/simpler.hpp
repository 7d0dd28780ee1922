// Simpler codes of a format, for a case that shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "oracles/formats/format.hpp"

namespace assay::properties::repro {

/// Ways to make a code simpler, the simplest result first.
inline constexpr std::size_t simplifications = 16;

/// The code made simpler in way `how`; nothing where that gives zero or the code itself. Numbers: 1; the
/// power of two below it, then the same with its sign; itself without sign; then 1, 2, 3, 4, 7, 10 bits of
/// mantissa, without and with its sign. NaN: the canonical one; Inf: the positive one. A byte of packed
/// codes: 1 in its low code, in its high one, in each that is not zero; one of the two alone; the lowest bit
/// that is set.
std::optional<std::uint32_t> simplified(formats::Format, std::uint32_t code, std::size_t how);

}  // namespace assay::properties::repro
