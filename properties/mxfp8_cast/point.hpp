// One input point of the MXFP8 cast: what a case token says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/mxfp8_cast/inputs.hpp"
#include "oracles/mxfp8_cast/oracle.hpp"

namespace assay::properties::mxfp8_cast {

namespace oracle = oracles::mxfp8_cast;

/// Where X comes from.
enum class Source : std::uint8_t { pattern, reported, file };

enum class Direction : std::uint8_t { rowwise, colwise, bidimensional };

/// Shape, contracts and the source of X. Text form, every key optional but in the order of print():
///   mxfp8_cast:in=bf16,fp8=e4m3,rule=rceil,specials=poison,padding=untouched,dir=bidimensional,scales=linear,
///              rows=64,cols=128,srows=64,stride=4,csrows=2,cstride=128,offset=0,doffset=0,cdoffset=0,exp=0,
///              rotate=0,transpose=0,fill=normal,seed=1
///   mxfp8_cast:...,reported=B07          (shape and input of a reported fault)
///   mxfp8_cast:...,on=FILE:TENSOR        (last key; takes the rest of the token)
/// srows, stride and doffset are of the rowwise output, csrows, cstride and cdoffset of the colwise one.
/// Extents that are not given are tight, or those of swizzled scales.
struct Point {
  formats::Format input = formats::Format::bf16;
  oracle::Contracts contracts;
  Direction direction = Direction::rowwise;
  oracle::Shape shape{4, 128, {4, 4}, {}};
  std::size_t offset = 0;  ///< elements by which X starts past a 256-byte boundary; 0 is fully aligned
  /// Elements by which the data starts past a 256-byte boundary; 0 gives it 16 bytes and no more.
  std::size_t data_offset = 0, colwise_data_offset = 0;
  Source source = Source::pattern;
  fixtures::mxfp8_cast::Pattern fill = fixtures::mxfp8_cast::Pattern::normal;
  std::uint64_t seed = 1;
  bool transpose = false;  ///< of a pattern: its blocks lie in columns
  int exp = 0;             ///< every finite element of X is multiplied by 2^exp, which must be exact
  /// X is rotated forward by so many blocks: rowwise all of them in flat order; otherwise in each row, by so
  /// many runs of 32 columns.
  std::size_t rotate = 0;
  std::string reported;  ///< id, for Source::reported
  std::string on;        ///< "FILE:TENSOR", for Source::file

  bool has(oracle::Direction asked) const {
    return direction != (asked == oracle::Direction::rowwise ? Direction::colwise : Direction::rowwise);
  }
  /// The directions asked for, rowwise first.
  std::vector<oracle::Direction> directions() const;
  /// The alignment that X is given, in bytes: 256, or exactly that of `offset` elements past such a boundary.
  std::size_t x_alignment() const;
  /// The alignment that a direction's data is given: 16, or exactly that of its offset past 256 bytes.
  std::size_t data_alignment(oracle::Direction) const;
};

/// Sets both extents: tight, or those of swizzled scales.
void set_default_extents(Point&);

std::string print(const Point&);

/// Throws BadInput naming the token, the key and what is wrong with it.
Point parse(std::string_view token);

}  // namespace assay::properties::mxfp8_cast
