// Weights of a file as n-bit codes.
#pragma once

#include <optional>

#include "fixtures/tensor/tensor.hpp"
#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

/// The format of a tensor's elements, where this family can quantise them.
std::optional<formats::Format> tensor_format(const fixtures::Tensor&);

/// The operands of the point with the weights [n, k], scales and zero points of a tensor. Of each block, with
/// 0 among its elements: scale = (largest - smallest) / (levels - 1), rounded to the model's format and never
/// 0; zero point = -smallest / scale and code = w / scale + zero point, both rounded to nearest even and
/// clamped to the codes. Without zero points they are the default, and scale = largest magnitude / 2^(bits -
/// 1). Padding, A and bias are generated. Throws BadInput naming the tensor and the reason.
fixture::Operands operands_of(const fixtures::Tensor&, const Point&);

}  // namespace assay::properties::matmul_nbits
