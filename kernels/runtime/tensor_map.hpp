// Tensor maps for the bulk copies of kernels/device/bulk_copy.hpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/device/tensor_map.hpp"

namespace assay::kernels {

/// A row-major matrix in device memory.
struct MatrixView {
  std::string_view name;  ///< for diagnostics
  const void* base = nullptr;
  std::int64_t rows = 0, cols = 0;  ///< in elements
  std::int64_t row_stride = 0;      ///< in bytes
  unsigned element_bytes = 0;       ///< 1, 2 or 4; the element's type is of no consequence to a copy
};

namespace ASSAY_DEVICE_NAMESPACE {

/// The map by which boxes of box_rows x box_cols elements of the matrix are loaded or stored. Throws
/// DeviceError when the hardware's rules do not allow it (base and row stride multiples of 16 bytes, rows of
/// a box too, extents of a box at most 256), or the device has no bulk tensor copies.
TensorMap2d make_tensor_map_2d(const MatrixView&, unsigned box_rows, unsigned box_cols);

}  // namespace ASSAY_DEVICE_NAMESPACE
}  // namespace assay::kernels
