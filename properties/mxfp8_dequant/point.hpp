// One input point of the MXFP8 dequantisation: what a case token says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fixtures/mxfp8_cast/inputs.hpp"
#include "fixtures/mxfp8_dequant/inputs.hpp"
#include "oracles/mxfp8_cast/oracle.hpp"
#include "oracles/mxfp8_dequant/oracle.hpp"

namespace assay::properties::mxfp8_dequant {

namespace oracle = oracles::mxfp8_dequant;
namespace fixture = fixtures::mxfp8_dequant;

/// Where data and scales come from.
enum class Source : std::uint8_t {
  pattern,    ///< generated codes
  quantised,  ///< what the cast's oracle makes of a generated X, cols a multiple of 32; NaN and Inf poison
              ///< blocks
  file,       ///< a tensor: fp8 codes under generated scales, or an X that is quantised likewise
};

/// Shape, contracts, buffers and the source of the input. Text form, every key optional but in the order of
/// print(); srows and stride default to the smallest extents:
///   mxfp8_dequant:fp8=e4m3,out=bf16,dir=rowwise,layout=linear,rows=4,cols=128,srows=4,stride=4,dalign=16,
///                 yalign=16,salign=16,pad=nan,data=every_code,scales=every_code,exp=0,transpose=0,seed=1
///   mxfp8_dequant:...,quantised=normal,in=bf16,rule=floor,seed=1
///   mxfp8_dequant:...,rule=rceil,scales=realistic,seed=1,on=FILE:TENSOR   (last key; takes the rest)
struct Point {
  oracle::Contracts contracts;
  oracle::Shape shape{4, 128, 4, 4, {}, {}};
  std::size_t data_alignment = 16, y_alignment = 16, scale_alignment = 16;  ///< bytes, and exactly so
  fixture::PaddingFill pad{};
  Source source = Source::pattern;
  fixture::DataPattern data{};
  fixture::ScalePattern scales{};
  int exp = 0;             ///< added to every scale code but 255; all must stay below that
  bool transpose = false;  ///< data and scales are those of the transposed shape in the other direction
  fixtures::mxfp8_cast::Pattern fill{};           ///< of X, for Source::quantised
  formats::Format input = formats::Format::bf16;  ///< of X
  oracles::mxfp8_cast::ScaleRule rule{};          ///< that X is quantised under
  std::uint64_t seed = 1;
  std::string on;  ///< "FILE:TENSOR", for Source::file
};

std::string print(const Point&);

/// Throws BadInput naming the token, the key and what is wrong with it.
Point parse(std::string_view token);

/// The smallest scale extents that the shape allows, and `extra` more where the layout is linear.
void set_scale_extents(oracle::Shape&, std::size_t extra_rows = 0, std::size_t extra_stride = 0);

/// Bytes of one output element.
std::size_t output_width(const Point&);

}  // namespace assay::properties::mxfp8_dequant
