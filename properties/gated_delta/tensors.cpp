#include "properties/gated_delta/tensors.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/formats/codec.hpp"
#include "properties/gate/float_format.hpp"

namespace assay::properties::gated_delta {
namespace {

using formats::Format;

constexpr std::size_t state_elements = row_elements * row_elements, most_sequences = 64;

[[noreturn]] void refuse(const fixtures::Tensor& tensor, const std::string& reason) {
  throw BadInput(fmt::format("tensor '{}': {}", tensor.name, reason));
}

Format format_of(const fixtures::Tensor& tensor) {
  const auto format = float_format(tensor.dtype);
  if (!format)
    refuse(tensor, fmt::format("dtype {} is not supported by gated_delta, which takes f32, f16 and bf16",
                               to_string(tensor.dtype)));
  return *format;
}

/// A code of one format in another, rounded once.
std::uint32_t converted(Format from, std::uint32_t code, Format to) {
  if (formats::is_nan(from, code)) return formats::canonical_nan(to);
  return formats::encode(to, formats::decode(from, code));
}

}  // namespace

Point point_for(const fixtures::Tensor& tensor, Point point, std::size_t most_keys) {
  format_of(tensor);
  if (tensor.elements() == 0) refuse(tensor, "it has no elements");
  if (tensor.shape.empty()) refuse(tensor, "it is a scalar; the last dimension must be divisible by 64");
  if (tensor.shape.back() % row_elements != 0)
    refuse(tensor, fmt::format("its last dimension {} is not divisible by 64", tensor.shape.back()));
  assert(point.source != Source::pattern);
  const auto up = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
  point.shape.key_heads = point.shape.value_heads = 1;
  point.shape.key_dim = point.shape.value_dim = row_elements;
  if (point.source == Source::states) {
    point.shape.batch = up(tensor.elements(), state_elements);
    return point;
  }
  const std::size_t keys = std::min(tensor.elements() / row_elements, most_keys);
  point.shape.batch = std::min(keys, most_sequences);
  point.shape.steps = up(keys, point.shape.batch);
  return point;
}

fixture::Operands operands_of(const fixtures::Tensor& tensor, const Point& point) {
  const Format from = format_of(tensor);
  fixture::Operands operands = fixture::build(request_of(point));
  const bool states = point.source == Source::states;
  const Format to = states ? point.contracts.state : point.contracts.io;
  std::vector<std::byte>& target = states ? operands.state : operands.k;
  const std::size_t room = target.size() / static_cast<std::size_t>(formats::storage_bytes(to));
  if (states && tensor.elements() > room)
    refuse(tensor, fmt::format("it has {} elements, the case has room for {}", tensor.elements(), room));
  for (std::size_t i = 0; i < std::min(tensor.elements(), room); ++i) {
    const std::uint32_t code = arithmetic::load_code(tensor.bytes, formats::storage_bytes(from), i);
    arithmetic::store_code(target, formats::storage_bytes(to), i, converted(from, code, to));
  }
  return operands;
}

}  // namespace assay::properties::gated_delta
