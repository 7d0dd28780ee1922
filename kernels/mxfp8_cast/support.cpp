#include "kernels/mxfp8_cast/support.hpp"

#include <cstdint>

namespace assay::kernels::mxfp8_cast {
namespace {

bool aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Support well_formed_scales(const Problem& p) {
  const std::int64_t row_blocks = (p.rows + 31) / 32, column_blocks = p.cols / 32;
  const bool swizzled = p.scale_layout == ScaleLayout::swizzled;
  if (p.has_rowwise()) {
    if (p.rowwise.scale_rows < p.rows) return Support::no("scale_rows < rows");
    if (p.rowwise.scale_stride < column_blocks) return Support::no("scale_stride < cols / 32");
    if (swizzled && (p.rowwise.scale_rows != rounded_up(p.rows, 128) ||
                     p.rowwise.scale_stride != rounded_up(column_blocks, 4)))
      return Support::no("swizzled scales are not whole tiles of 128 x 4");
  }
  if (p.has_colwise()) {
    if (p.colwise.scale_rows < row_blocks) return Support::no("colwise scale_rows < rows / 32");
    if (p.colwise.scale_stride < p.cols) return Support::no("colwise scale_stride < cols");
    if (swizzled && (p.colwise.scale_rows != rounded_up(row_blocks, 4) ||
                     p.colwise.scale_stride != rounded_up(p.cols, 128)))
      return Support::no("swizzled colwise scales are not whole tiles of 4 x 128");
  }
  return Support::yes();
}

}  // namespace

Support well_formed(const Problem& p) {
  if (p.rows < 1 || p.cols < 1) return Support::no("no elements");
  if (p.cols % 32 != 0) return Support::no("cols % 32 != 0");
  if (const Support s = well_formed_scales(p); !s.supported) return s;
  if (p.cols / 32 > ((std::int64_t{1} << 31) - 1) / p.rows) return Support::no("rows * cols / 32 >= 2^31");
  const std::uintptr_t element_bytes = p.input == Input::fp32 ? 4 : 2;
  if (!aligned(p.x, element_bytes)) return Support::no("x not aligned to its element");
  return Support::yes();
}

std::string_view misaligned_for_vectors(const Problem& p) {
  if (!aligned(p.x, 16)) return "x not 16-byte aligned";
  if (p.has_rowwise() && !aligned(p.rowwise.data, 16)) return "data not 16-byte aligned";
  if (p.has_colwise() && !aligned(p.colwise.data, 16)) return "colwise data not 16-byte aligned";
  return {};
}

/// Rowwise, the kernel itself would take any whole number of blocks; it is offered for rows of whole 128-byte
/// lines of output, where it is known to be the faster one.
Support register_supports(const Problem& p) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.has_colwise() && p.input != Input::bf16) return Support::no("input is not bf16");
  if (p.scale_layout != ScaleLayout::linear) return Support::no("scales are swizzled");
  if (p.has_colwise()) {
    if (p.rows % 32 != 0) return Support::no("rows % 32 != 0");
    if (p.cols % 256 != 0) return Support::no("cols % 256 != 0");
  } else if (p.cols % 128 != 0) {
    return Support::no("cols % 128 != 0");
  }
  if (const std::string_view why = misaligned_for_vectors(p); !why.empty())
    return Support::no(std::string(why));
  return Support::yes();
}

/// Bulk tensor copies, which move all but the rowwise direction, need 16-byte aligned tensors.
Support staged_supports(const Problem& p) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (!p.has_colwise()) return Support::yes();
  if (const std::string_view why = misaligned_for_vectors(p); !why.empty())
    return Support::no(std::string(why));
  return Support::yes();
}

}  // namespace assay::kernels::mxfp8_cast
