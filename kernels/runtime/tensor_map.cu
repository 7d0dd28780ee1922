// Host code only; it is a .cu file because there is one such function for each device.
#include <bit>
#include <string>

#include "kernels/runtime/launch.hpp"
#include "kernels/runtime/tensor_map.hpp"

#if ASSAY_ON_GPU
#include <cuda.h>
#endif

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {
namespace {

/// CUDA driver API, cuTensorMapEncodeTiled: what it asks of a map without interleaving and swizzling.
void require_encodable(const MatrixView& m, unsigned box_rows, unsigned box_cols) {
  const auto refuse = [&](const char* rule) {
    throw DeviceError("tensor map of '" + std::string(m.name) + "': " + rule);
  };
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;  // coordinates are 32-bit integers
  if (m.element_bytes != 1 && m.element_bytes != 2 && m.element_bytes != 4) {
    refuse("elements are not of 1, 2 or 4 bytes");
  }
  if (m.rows < 1 || m.cols < 1 || m.rows > most || m.cols > most)
    refuse("an extent is not from 1 to 2^31 - 1");
  if (reinterpret_cast<std::uintptr_t>(m.base) % 16 != 0) refuse("the base is not 16-byte aligned");
  if (m.row_stride % 16 != 0) refuse("the row stride is not a multiple of 16 bytes");
  if (m.row_stride < m.cols * m.element_bytes) refuse("the row stride is less than a row");
  if (m.row_stride >= std::int64_t{1} << 40) refuse("the row stride is 2^40 bytes or more");
  if (box_rows < 1 || box_cols < 1 || box_rows > 256 || box_cols > 256) {
    refuse("an extent of the box is not from 1 to 256");
  }
  if (box_cols * m.element_bytes % 16 != 0) refuse("a row of the box is not a multiple of 16 bytes");
}

#if ASSAY_ON_GPU
using Encode = decltype(&cuTensorMapEncodeTiled);

/// From the driver that is loaded anyhow, so that nothing links against it.
Encode find_encode() {
  int device = 0, major = 0;
  detail::throw_if_failed(cudaGetDevice(&device), "asking for the device");
  detail::throw_if_failed(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                          "asking for the compute capability");
  if (major < 9) throw DeviceError("bulk tensor copies need sm_90 or later");
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  detail::throw_if_failed(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
      "looking for cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess || function == nullptr) {
    throw DeviceError("the driver has no cuTensorMapEncodeTiled; it is older than CUDA 12.0");
  }
  return reinterpret_cast<Encode>(function);
}
#endif

}  // namespace

TensorMap2d make_tensor_map_2d(const MatrixView& m, unsigned box_rows, unsigned box_cols) {
  require_encodable(m, box_rows, box_cols);
#if ASSAY_ON_GPU
  static const Encode encode = find_encode();
  CUtensorMap encoded{};
  const CUtensorMapDataType type = m.element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : m.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                          : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(m.cols), static_cast<cuuint64_t>(m.rows)};
  const cuuint64_t strides[] = {
      static_cast<cuuint64_t>(m.row_stride)};  // of all dimensions but the innermost
  const cuuint32_t box[] = {box_cols, box_rows};
  const cuuint32_t steps[] = {1, 1};
  const CUresult status = encode(&encoded, type, 2, const_cast<void*>(m.base), extents, strides, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw DeviceError("tensor map of '" + std::string(m.name) + "': cuTensorMapEncodeTiled failed with " +
                      std::to_string(static_cast<int>(status)));
  }
  static_assert(sizeof(TensorMap2d) == sizeof(CUtensorMap) && alignof(TensorMap2d) >= alignof(CUtensorMap));
  return std::bit_cast<TensorMap2d>(encoded);
#else
  return {static_cast<std::byte*>(const_cast<void*>(m.base)),
          m.rows,
          m.cols,
          m.row_stride,
          box_rows,
          box_cols,
          m.element_bytes};
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
