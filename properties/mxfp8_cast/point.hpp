// One input point of the MXFP8 cast: what a case token says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fixtures/mxfp8_cast/inputs.hpp"
#include "oracles/mxfp8_cast/oracle.hpp"

namespace assay::properties::mxfp8_cast {

namespace oracle = oracles::mxfp8_cast;

/// Where X comes from.
enum class Source : std::uint8_t { pattern, reported, file };

/// Shape, contracts and the source of X. Text form, every key optional but in the order of print():
///   mxfp8_cast:in=bf16,fp8=e4m3,rule=rceil,specials=poison,padding=untouched,rows=4,cols=128,srows=4,stride=4,
///              offset=0,doffset=0,exp=0,rotate=0,fill=normal,seed=1
///   mxfp8_cast:...,reported=B07          (shape and input of a reported fault)
///   mxfp8_cast:...,on=FILE:TENSOR        (last key; takes the rest of the token)
struct Point {
  formats::Format input = formats::Format::bf16;
  oracle::Contracts contracts;
  oracle::Shape shape{4, 128, 4, 4};
  std::size_t offset = 0;  ///< elements by which X starts past a 256-byte boundary; 0 is fully aligned
  /// Elements by which the data starts past a 256-byte boundary; 0 gives it 16 bytes and no more.
  std::size_t data_offset = 0;
  Source source = Source::pattern;
  fixtures::mxfp8_cast::Pattern fill = fixtures::mxfp8_cast::Pattern::normal;
  std::uint64_t seed = 1;
  int exp = 0;             ///< every finite element of X is multiplied by 2^exp, which must be exact
  std::size_t rotate = 0;  ///< blocks of X, in flat order, are rotated forward by this many
  std::string reported;    ///< id, for Source::reported
  std::string on;          ///< "FILE:TENSOR", for Source::file
};

std::string print(const Point&);

/// Throws BadInput naming the token, the key and what is wrong with it.
Point parse(std::string_view token);

}  // namespace assay::properties::mxfp8_cast
