// What the lists of cases are made of.
#pragma once

#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

using fixture::PaddingFill;
using fixture::Pattern;
using formats::Format;
using oracle::BiasRound;
using oracle::Schedule;
using oracle::TensorCores;

inline constexpr Format halves[] = {Format::bf16, Format::fp16};
inline constexpr Format models[] = {Format::bf16, Format::fp16, Format::fp32};
inline constexpr Schedule schedules[] = {Schedule::split_k, Schedule::multicol, Schedule::natural,
                                         Schedule::tile, Schedule::mma};
inline constexpr std::size_t all_bits[] = {2, 4, 8}, all_blocks[] = {16, 32, 64, 128, 256};
/// That every sweep goes through; those behind them are of one use, with cases of their own.
inline constexpr std::size_t patterns = 15;

inline Pattern pattern_of(std::size_t turn) { return Pattern{static_cast<std::uint8_t>(turn % patterns)}; }

/// none, once, twice.
inline void set_bias(Point& point, std::size_t choice) {
  point.bias = choice % 3 != 0;
  point.contracts.bias_round = choice % 3 == 2 ? BiasRound::twice : BiasRound::once;
}

inline Point point_of(Format model, Schedule schedule, std::size_t m, std::size_t n, std::size_t k) {
  Point point;
  point.contracts.model = model;
  point.contracts.schedule = schedule;
  point.shape.m = m;
  point.shape.n = n;
  point.shape.k = k;
  return point;
}

}  // namespace assay::properties::matmul_nbits
