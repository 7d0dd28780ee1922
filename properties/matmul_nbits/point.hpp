// One input point of the matrix multiplication with n-bit weights: what a case token says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fixtures/matmul_nbits/inputs.hpp"
#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::properties::matmul_nbits {

namespace oracle = oracles::matmul_nbits;
namespace fixture = fixtures::matmul_nbits;

/// Where the operands come from.
enum class Source : std::uint8_t {
  pattern,   ///< generated
  reported,  ///< of a reported fault
  file,      ///< weights are a tensor [n, k], quantised block by block; the rest is generated
};

/// Shape, contracts, buffers and the source of the operands. Text form, every key optional but in the order
/// of print(); split is of schedule=split_k, cores of schedule=mma, interleaved of schedule=natural:
///   matmul_nbits:model=bf16,schedule=split_k,split=2,cores=hopper,bias=none,zp=packed,bits=4,block=32,
///                m=1,n=8,k=32,interleaved=0,prefetch=0,judge=bits,aalign=16,balign=16,salign=2,yalign=2,pad=zero,
///                pattern=ordinary,row=0,turn=0,exp=0,from=4,seed=1
///   matmul_nbits:...,reported=B23        (model, shape and operands of a reported fault)
///   matmul_nbits:...,on=FILE:TENSOR      (last key; takes the rest of the token)
/// bias is none, once or twice: where a bias is added. zp is none or packed.
struct Point {
  oracle::Contracts contracts;
  oracle::Shape shape;
  bool bias = false, zero_points = true;
  bool interleaved = false;  ///< of schedule=natural: the weights come as it wants them
  unsigned prefetch = 0;
  /// Bytes, and exactly so; those of scales and Y are 0 for the width of an element.
  std::size_t a_alignment = 16, b_alignment = 16, scale_alignment = 0, y_alignment = 0;
  fixture::PaddingFill padding{};
  Source source = Source::pattern;
  fixture::Pattern pattern{};
  std::size_t first_row = 0, turn = 0;  ///< as in fixture::Request
  int exponent = 0;
  std::size_t from_bits = 0;
  std::uint64_t seed = 1;
  std::string reported;  ///< id, for Source::reported
  std::string on;        ///< "FILE:TENSOR", for Source::file
};

std::string print(const Point&);

/// Throws BadInput naming the token, the key and what is wrong with it.
Point parse(std::string_view token);

/// Bytes of an element of A, scales, bias and Y.
std::size_t element_width(const Point&);

/// What a generator is asked for the point.
fixture::Request request_of(const Point&);

}  // namespace assay::properties::matmul_nbits
