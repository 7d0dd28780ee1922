#include "properties/exchange/buffers_in_files.hpp"

#include <fmt/core.h>

#include <cassert>

#include "fixtures/files/messages.hpp"
#include "properties/gate/buffers.hpp"

namespace assay::properties {

namespace {

using fixtures::DType;

std::vector<std::size_t> or_flat(const std::vector<std::size_t>& shape, std::size_t bytes, DType dtype) {
  if (shape.empty()) return {bytes / fixtures::bytes_of(dtype)};
  assert(fixtures::byte_count(shape, dtype) == bytes && "the shape of a buffer is that of all of it");
  return shape;
}

}  // namespace

DType file_dtype(formats::Format format) {
  switch (format) {
    case formats::Format::e4m3:
      return DType::f8_e4m3;
    case formats::Format::e5m2:
      return DType::f8_e5m2;
    case formats::Format::fp16:
      return DType::f16;
    case formats::Format::bf16:
      return DType::bf16;
    case formats::Format::fp32:
      return DType::f32;
    case formats::Format::e8m0:
    case formats::Format::int4:
    case formats::Format::uint4:
      return DType::u8;
  }
  assert(false && "not a Format");
  return {};
}

std::vector<BufferInFile> buffers_in_files(const Workload& workload) {
  std::vector<BufferInFile> buffers;
  for (const GivenBuffer& one : given(workload)) {
    const DType dtype = one.dtype.value_or(file_dtype(one.format));
    buffers.push_back({one.name, dtype, or_flat(one.shape, one.bytes.size(), dtype), true});
  }
  for (const OutputBuffer& one : workload.outputs()) {
    const DType dtype = file_dtype(one.format);
    buffers.push_back({one.name, dtype, or_flat(one.shape, bytes_of(one), dtype), false});
  }
  return buffers;
}

bool holds_codes_of(DType offered, DType wanted) {
  if (offered == wanted) return true;
  switch (offered) {
    case DType::u8:
    case DType::i8:
    case DType::u16:
    case DType::i16:
    case DType::u32:
    case DType::i32:
      return fixtures::bytes_of(offered) == fixtures::bytes_of(wanted);
    default:
      return false;
  }
}

bool lies_like(const std::vector<std::size_t>& offered, const std::vector<std::size_t>& wanted) {
  if (offered == wanted) return true;
  if (fixtures::element_count(offered) != fixtures::element_count(wanted) || offered.empty()) return false;
  if (offered.size() == 1) return true;
  if (offered.size() == 2 && wanted.size() == 3) return offered[0] == wanted[0];  // [n, bytes of a row]
  return wanted.size() == 2 && offered.back() == wanted.back();
}

std::string misfit(DType dtype, const std::vector<std::size_t>& shape, const BufferInFile& buffer) {
  if (!holds_codes_of(dtype, buffer.dtype))
    return fmt::format("its dtype is {}, that of the case is {}", to_string(dtype), to_string(buffer.dtype));
  if (!lies_like(shape, buffer.shape))
    return fmt::format("its shape is {}, that of the case is {}", fixtures::shape_text(shape),
                       fixtures::shape_text(buffer.shape));
  return {};
}

}  // namespace assay::properties
