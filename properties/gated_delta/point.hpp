// One input point of the gated delta rule: what a case token says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fixtures/gated_delta/inputs.hpp"
#include "oracles/gated_delta/oracle.hpp"

namespace assay::properties::gated_delta {

namespace oracle = oracles::gated_delta;
namespace fixture = fixtures::gated_delta;

/// Which slot each sequence has: as the generator's first three; or, for every route to refuse, the last
/// sequence in the slot of the first, or in the slot after the pool's last.
enum class Slots : std::uint8_t { in_order, permuted, holes, doubled, past };

/// The size of problem that the form of a kernel is meant for, by which no bit changes.
enum class Tuning : std::uint8_t { by_size, small, large };

/// Where the operands come from.
enum class Source : std::uint8_t {
  pattern,  ///< generated
  states,   ///< the states are a tensor's elements, in order; the rest is generated
  keys,     ///< k is, token by token
};

/// Shape, contracts, buffers and the source of the operands. Text form, every key optional but in the order
/// of print(); softplus, astride and bstride are of gates=raw:
///   gated_delta:io=bf16,state=fp32,layout=kv,gates=raw,norm=division,eps=1e-6,softplus=once,beta=fp32,
///               judge=bits,batch=1,steps=1,pool=1,h=1,hv=1,k=64,v=64,astride=1,bstride=1,slots=in_order,
///               tuning=by_size,scale=auto,ialign=16,salign=16,pattern=ordinary,vexp=0,sequence=0,step=0,seed=1
///   gated_delta:...,as=states,on=FILE:TENSOR   (last key; takes the rest of the token)
/// eps is 1e-6 or 1e-12; scale is auto, which is k^-1/2, or the code of an fp32 (0x3F800000).
struct Point {
  oracle::Contracts contracts{.io = formats::Format::bf16};
  /// As in the token; zeros for: pool = batch, a_stride and b_stride = value_heads. shape_of() has them
  /// filled in.
  oracle::Shape shape{.pool = 0, .a_stride = 0, .b_stride = 0};
  Slots slots{};
  Tuning tuning{};
  std::optional<std::uint32_t> scale;  ///< code of an fp32; else key_dim^-1/2
  /// Bytes, and exactly so: of q, k, v, a, b and o, and of the state.
  std::size_t io_alignment = 16, state_alignment = 16;
  Source source = Source::pattern;
  fixture::Pattern pattern{};
  int v_exponent = 0;                              ///< as in fixture::Request, like the next two
  std::size_t first_sequence = 0, first_step = 0;  //
  std::uint64_t seed = 1;
  std::string on;  ///< "FILE:TENSOR", for the other sources
};

std::string print(const Point&);

/// Throws BadInput naming the token, the key and what is wrong with it.
Point parse(std::string_view token);

/// The shape with nothing left open.
oracle::Shape shape_of(const Point&);

/// The code of the scale of q.
std::uint32_t scale_of(const Point&);

/// What a generator is asked for the point.
fixture::Request request_of(const Point&);

}  // namespace assay::properties::gated_delta
