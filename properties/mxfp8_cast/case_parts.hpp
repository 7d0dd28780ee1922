// What the cases of every direction are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

/// All 72 combinations of input, element, scale rule and special-block contract, bf16 first; padding
/// alternates.
std::vector<Point> all_contracts();
inline constexpr std::size_t contracts_of_an_input = 24;

/// Those that meet the sweep of block maxima. It holds no NaN or Inf: of fp16 and fp32, at quick, each format
/// and rule meets one of the three contracts for them, at other seeds the others.
std::vector<Point> swept_contracts(Level, std::uint64_t seed);

/// The padding of the turn-th case whose contract is taken from a list of `count`: an even count alone would
/// tie the contract to what alternates.
oracle::Padding alternating_padding(std::size_t turn, std::size_t count);

/// The scale buffers in turn: tight, a few rows more, odd strides, the tile of 128 x 4 that a block-scaled
/// GEMM reads, a stride that does not fit a byte, and swizzled. The number is coprime to those of contracts,
/// patterns and fills, so that rotation ties none to another.
inline constexpr std::size_t layouts = 11;

/// Shape and extents of both directions in that layout.
void set_layout(Point&, std::size_t rows, std::size_t cols, std::size_t layout);

}  // namespace assay::properties::mxfp8_cast
