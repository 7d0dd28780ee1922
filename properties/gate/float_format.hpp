// The floating-point formats that tensors of files are taken in by every family.
#pragma once

#include <optional>

#include "fixtures/tensor/tensor.hpp"
#include "oracles/formats/format.hpp"

namespace assay::properties {

/// fp32, fp16 or bf16; nothing for any other element type.
inline std::optional<formats::Format> float_format(fixtures::DType dtype) {
  switch (dtype) {
    case fixtures::DType::f32:
      return formats::Format::fp32;
    case fixtures::DType::f16:
      return formats::Format::fp16;
    case fixtures::DType::bf16:
      return formats::Format::bf16;
    default:
      return std::nullopt;
  }
}

}  // namespace assay::properties
