#include "properties/matmul_nbits/weights.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"
#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/codec.hpp"
#include "properties/gate/float_format.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using formats::Format;

double value_of(Format format, std::uint32_t code) {
  const formats::Exact x = formats::decode(format, code);
  const double magnitude = std::ldexp(static_cast<double>(x.significand), x.exponent);
  return x.negative ? -magnitude : magnitude;
}

struct BlockScale {
  std::uint32_t code;
  double value;
};

/// A positive scale of the model's format.
BlockScale scale_of(Format model, double wanted) {
  const formats::Exact exact = arithmetic::Dyadic::of(wanted).exact();
  const std::uint32_t code = std::max(formats::encode(model, exact), 1u);
  return {code, value_of(model, code)};
}

/// What becomes of one block of a column.
class BlockQuantiser {
 public:
  BlockQuantiser(const Point& point, const std::vector<double>& block)
      : levels_(1u << point.shape.bits), zero_point_(levels_ / 2) {
    const auto [least, most] = std::minmax_element(block.begin(), block.end());
    const double low = std::min(*least, 0.0), high = std::max(*most, 0.0);
    const double wanted =
        point.zero_points ? (high - low) / (levels_ - 1) : std::max(-low, high) / (levels_ / 2);
    scale_ = scale_of(point.contracts.model, wanted);
    if (point.zero_points) zero_point_ = clamped(std::nearbyint(-low / scale_.value));
  }
  std::uint32_t scale() const { return scale_.code; }
  std::uint32_t zero_point() const { return zero_point_; }
  std::uint32_t code(double weight) const {
    return clamped(std::nearbyint(weight / scale_.value) + zero_point_);
  }

 private:
  std::uint32_t clamped(double code) const {
    return static_cast<std::uint32_t>(std::clamp(code, 0.0, static_cast<double>(levels_ - 1)));
  }
  std::uint32_t levels_, zero_point_;
  BlockScale scale_{};
};

}  // namespace

std::optional<Format> tensor_format(const fixtures::Tensor& tensor) { return float_format(tensor.dtype); }

fixture::Operands operands_of(const fixtures::Tensor& tensor, const Point& point) {
  const auto refuse = [&](const std::string& reason) {
    throw BadInput(fmt::format("tensor '{}': {}", tensor.name, reason));
  };
  const oracle::Shape& shape = point.shape;
  const auto format = tensor_format(tensor);
  if (!format)
    refuse(fmt::format("dtype {} is not supported by matmul_nbits, which quantises f32, f16 and bf16",
                       to_string(tensor.dtype)));
  if (tensor.elements() != shape.n * shape.k)
    refuse(fmt::format("it has {} elements, not n={} times k={}", tensor.elements(), shape.n, shape.k));
  fixture::Operands operands = fixture::build(request_of(point));
  const auto width = static_cast<int>(element_width(point));
  std::vector<double> block;
  for (std::size_t col = 0; col < shape.n; ++col) {
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      block.clear();
      const std::size_t first = b * shape.block, end = std::min(shape.k, first + shape.block);
      for (std::size_t k = first; k < end; ++k) {
        const std::uint32_t code =
            arithmetic::load_code(tensor.bytes, formats::storage_bytes(*format), col * shape.k + k);
        if (formats::is_nan(*format, code) || formats::is_infinity(*format, code))
          refuse(fmt::format("element [{}, {}] is NaN or Inf, which no code stands for", col, k));
        block.push_back(value_of(*format, code));
      }
      const BlockQuantiser quantiser(point, block);
      arithmetic::store_code(operands.scales, width, col * shape.blocks() + b, quantiser.scale());
      if (point.zero_points)
        fixture::set_packed_code(operands.zero_points, shape.zero_point_row_bytes(), shape.bits, col, b,
                                 quantiser.zero_point());
      for (std::size_t k = first; k < end; ++k)
        fixture::set_packed_code(operands.b, shape.row_bytes(), shape.bits, col, k,
                                 quantiser.code(block[k - first]));
    }
  }
  return operands;
}

}  // namespace assay::properties::matmul_nbits
