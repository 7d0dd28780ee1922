// How the buffers of a case stand in files: names, element types and shapes as frameworks see them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fixtures/tensor/tensor.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

/// A buffer as a tensor of a file: x [rows, cols], a padded buffer [rows, stride], a state [pool, heads, K,
/// V].
struct BufferInFile {
  std::string name;  ///< of given() or outputs()
  fixtures::DType dtype{};
  std::vector<std::size_t> shape;
  bool given = false;  ///< the case begins with it; else it is an output
};

/// Those of given(), then those of outputs(), in their orders. fp16, bf16, fp32, e4m3 and e5m2 have types of
/// their own; e8m0 and packed codes are u8, slots i32.
std::vector<BufferInFile> buffers_in_files(const Workload&);

/// The type that elements of a format have.
fixtures::DType file_dtype(formats::Format);

/// Whether elements of `offered` can be codes of `wanted`: the same type, or integers of its width.
bool holds_codes_of(fixtures::DType offered, fixtures::DType wanted);

/// Whether row-major elements of one shape lie as those of the other: equal shapes; a `wanted` matrix whose
/// rows are spread over leading dimensions ([batch, tokens, cols] for [rows, cols]); a matrix of as many rows
/// for [rows, groups, elements of a group]; or all in one dimension.
bool lies_like(const std::vector<std::size_t>& offered, const std::vector<std::size_t>& wanted);

/// Why the tensor cannot be the buffer, in words that follow "tensor 'NAME': "; empty when it can.
std::string misfit(fixtures::DType, const std::vector<std::size_t>& shape, const BufferInFile&);

}  // namespace assay::properties
