// What the lists of cases are made of.
#pragma once

#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

using fixture::Pattern;
using formats::Format;
using oracle::Beta;
using oracle::Contracts;
using oracle::Epsilon;
using oracle::Gates;
using oracle::Judge;
using oracle::Layout;
using oracle::Norm;
using oracle::Softplus;

inline constexpr Format both_formats[] = {Format::bf16, Format::fp32};
inline constexpr Layout layouts[] = {Layout::kv, Layout::vk};
inline constexpr Gates both_gates[] = {Gates::precomputed, Gates::raw};
inline constexpr std::size_t built_dims[] = {64, 128, 256};
inline constexpr std::size_t patterns = 14, contracts_count = 256;

/// Of the 256 that there are: 192 with raw gates, 64 without.
inline Contracts contracts_of(std::size_t index) {
  index %= contracts_count;
  const auto bit = [&](unsigned at) { return (index >> at & 1) != 0; };
  Contracts contracts;
  contracts.io = both_formats[bit(0)];
  contracts.state = both_formats[bit(1)];
  contracts.layout = layouts[bit(2)];
  contracts.norm = bit(3) ? Norm::rsqrt : Norm::division;
  contracts.epsilon = bit(4) ? Epsilon::e12 : Epsilon::e6;
  contracts.beta = bit(5) ? Beta::bf16 : Beta::fp32;
  const std::size_t gates = index >> 6;  // three kinds of softplus, and none
  contracts.gates = gates == 3 ? Gates::precomputed : Gates::raw;
  if (gates < 3) contracts.softplus = Softplus{static_cast<std::uint8_t>(gates)};
  return contracts;
}

/// The pattern of a turn; one that needs raw gates gives way where there are none.
inline Pattern pattern_of(std::size_t turn, Gates gates) {
  const auto pattern = Pattern{static_cast<std::uint8_t>(turn % patterns)};
  return pattern == Pattern::saturated && gates != Gates::raw ? Pattern::decays : pattern;
}

}  // namespace assay::properties::gated_delta
