// Tensors of a file as states or as keys.
#pragma once

#include "fixtures/tensor/tensor.hpp"
#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

/// Rows of this many elements are what a tensor is cut into: a key, or a row of a state.
inline constexpr std::size_t row_elements = 64;

/// The point with the shape that a tensor is given, one head of 64 x 64: as states, all of it, one state
/// after the other in as many sequences as they fill; as keys, its first `most_keys` rows (each costs as much
/// as a state does), dealt out over up to 64 sequences, each token after the last. Throws BadInput naming the
/// tensor and the reason: its last dimension is not a multiple of 64.
Point point_for(const fixtures::Tensor&, Point, std::size_t most_keys);

/// The operands of the point with its states, or its k, replaced by the elements of a tensor in their order,
/// rounded once to the format of the buffer; keys, as many as the point has tokens. Behind the tensor's last
/// element the generated ones stay, and all else is generated. Throws BadInput naming the tensor and the
/// reason.
fixture::Operands operands_of(const fixtures::Tensor&, const Point&);

}  // namespace assay::properties::gated_delta
