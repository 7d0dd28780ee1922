#include "properties/gated_delta/derived.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <span>

#include "oracles/arithmetic/functions.hpp"
#include "oracles/arithmetic/host.hpp"

namespace assay::properties::gated_delta {
namespace {

using arithmetic::Function;
using formats::Format;
using Single = arithmetic::Host<Format::fp32>;

std::size_t width_of(Format format) { return static_cast<std::size_t>(formats::storage_bytes(format)); }

float value(std::uint32_t code) { return std::bit_cast<float>(code); }

/// An element of a or b, or of fp32 parameters.
Single number(Format format, const std::vector<std::byte>& bytes, std::size_t i) {
  const std::uint32_t code = arithmetic::load_code(bytes, formats::storage_bytes(format), i);
  return Single::of_code(format == Format::bf16 ? code << 16 : code);  // its upper half
}

Single apply(Function function, Single x) {
  return Single::of_code(arithmetic::correctly_rounded(function, x.code()));
}

Single softplus(oracle::Softplus contract, Single x) {
  if (contract == oracle::Softplus::once) return apply(Function::softplus, x);
  if (value(x.code()) > 20) return x;
  const Single e = apply(Function::exp, x);
  if (contract == oracle::Softplus::log1p) return apply(Function::log1p, e);
  return apply(Function::log, Single::of_code(0x3F800000) + e);  // 1
}

void append(std::vector<std::byte>& bytes, Single x) {
  const std::uint32_t code = x.code();
  for (int byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<std::byte>(code >> (8 * byte)));
}

/// Whether the same `count` elements from `first` on are the same bytes; true of what both do not have.
bool equal(const std::vector<std::byte>& a, const std::vector<std::byte>& b, Format format, std::size_t first,
           std::size_t count) {
  const std::size_t width = width_of(format);
  assert(a.size() == b.size());
  return a.empty() || std::memcmp(a.data() + first * width, b.data() + first * width, count * width) == 0;
}

bool equal_operands(const DeltaWorkload& a, const DeltaWorkload& b, std::size_t sequence, std::size_t head) {
  const fixture::Operands &x = a.operands(), &y = b.operands();
  const oracle::Shape shape = shape_of(a.point());
  const Format io = a.point().contracts.io;
  const std::size_t key_head = head / (shape.value_heads / shape.key_heads);
  for (std::size_t step = 0; step < shape.steps; ++step) {
    const std::size_t token = sequence * shape.steps + step, row = token * shape.value_heads + head;
    const std::size_t key = (token * shape.key_heads + key_head) * shape.key_dim;
    if (!equal(x.q, y.q, io, key, shape.key_dim) || !equal(x.k, y.k, io, key, shape.key_dim) ||
        !equal(x.v, y.v, io, row * shape.value_dim, shape.value_dim) ||
        !equal(x.a, y.a, io, token * shape.a_stride + head, 1) ||
        !equal(x.b, y.b, io, token * shape.b_stride + head, 1) || !equal(x.g, y.g, Format::fp32, row, 1) ||
        !equal(x.beta, y.beta, Format::fp32, row, 1))
      return false;
  }
  const std::size_t matrix = shape.key_dim * shape.value_dim;
  const auto slot = static_cast<std::size_t>(std::max(x.slots[sequence], 0));
  return equal(x.a_log, y.a_log, Format::fp32, head, 1) &&
         equal(x.dt_bias, y.dt_bias, Format::fp32, head, 1) &&
         equal(x.state, y.state, a.point().contracts.state, (slot * shape.value_heads + head) * matrix,
               matrix);
}

}  // namespace

void values_alone(std::vector<float>&) {}
void values_turned(std::vector<float>& v) { std::rotate(v.begin(), v.begin() + 1, v.end()); }
void values_and_turned(std::vector<float>& v) {
  const float first = v.front();
  for (std::size_t i = 0; i + 1 < v.size(); ++i) v[i] += v[i + 1];
  v.back() += first;
}

DeltaWorkload with_values(const DeltaWorkload& from, Values values) {
  assert(from.point().contracts.io == Format::fp32);
  fixture::Operands operands = from.operands();
  std::fill(operands.state.begin(), operands.state.end(), std::byte{0});
  std::vector<float> v(from.point().shape.value_dim);
  const std::size_t bytes = v.size() * sizeof(float);
  for (std::size_t at = 0; at < operands.v.size(); at += bytes) {
    std::memcpy(v.data(), operands.v.data() + at, bytes);
    values(v);
    std::memcpy(operands.v.data() + at, v.data(), bytes);
  }
  return {from.point(), std::move(operands)};
}

bool is_sum(const Outputs& sum, const Outputs& a, const Outputs& b) {
  const oracle::Shape& shape = sum.shape();
  for (std::size_t i = 0; i < shape.batch; ++i) {
    for (std::size_t head = 0; head < shape.value_heads; ++head) {
      for (std::size_t v = 0; v < shape.value_dim; ++v) {
        for (std::size_t step = 0; step < shape.steps; ++step)
          if (value(sum.o(i, step, head, v)) != value(a.o(i, step, head, v)) + value(b.o(i, step, head, v)))
            return false;
        for (std::size_t k = 0; k < shape.key_dim && sum.has_slot(i); ++k)
          if (value(sum.state(i, head, k, v)) !=
              value(a.state(i, head, k, v)) + value(b.state(i, head, k, v)))
            return false;
      }
    }
  }
  return true;
}

DeltaWorkload single_step(const Point& point, std::size_t step, const std::vector<std::byte>& state) {
  Point one = point;
  one.shape.steps = 1;
  one.first_step += step;
  fixture::Operands operands = fixture::build(request_of(one));
  operands.state = state;
  return {one, std::move(operands)};
}

bool same_o_of_step(const Outputs& all, std::size_t step, const Outputs& one) {
  for (std::size_t i = 0; i < all.shape().batch; ++i)
    for (std::size_t head = 0; head < all.shape().value_heads; ++head)
      for (std::size_t v = 0; v < all.shape().value_dim; ++v)
        if (!same_code(all.io(), all.o(i, step, head, v), one.o(i, 0, head, v))) return false;
  return true;
}

DeltaWorkload with_gates_computed(const DeltaWorkload& from) {
  Point point = from.point();
  const oracle::Shape shape = shape_of(point);
  assert(point.contracts.gates == oracle::Gates::raw);
  fixture::Operands operands = from.operands();
  for (std::size_t token = 0; token < shape.tokens(); ++token) {
    for (std::size_t head = 0; head < shape.value_heads; ++head) {
      const Single x = number(point.contracts.io, operands.a, token * shape.a_stride + head) +
                       number(Format::fp32, operands.dt_bias, head);
      const Single rate = apply(Function::exp, number(Format::fp32, operands.a_log, head));
      append(operands.g, -(rate * softplus(point.contracts.softplus, x)));
      append(operands.beta,
             apply(Function::sigmoid, number(point.contracts.io, operands.b, token * shape.b_stride + head)));
    }
  }
  for (auto* raw : {&operands.a, &operands.b, &operands.a_log, &operands.dt_bias}) raw->clear();
  point.contracts.gates = oracle::Gates::precomputed;
  point.contracts.softplus = {};
  point.shape.a_stride = point.shape.b_stride = 0;
  return {point, std::move(operands)};
}

bool same_where_operands_are(const Outputs& a, const Outputs& b) {
  for (std::size_t i = 0; i < a.shape().batch; ++i)
    for (std::size_t head = 0; head < a.shape().value_heads; ++head)
      if (equal_operands(a.workload(), b.workload(), i, head) &&
          (!same_o(a, i, b, i, head) || (a.has_slot(i) && !same_state(a, i, b, i, head))))
        return false;
  return true;
}

}  // namespace assay::properties::gated_delta
