#include "properties/mxfp8_dequant/workload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "kernels/mxfp8_dequant/dequant.hpp"
#include "properties/gate/float_format.hpp"
#include "properties/gate/threads.hpp"
#include "properties/gate/token.hpp"
#include "properties/mxfp8_dequant/diagnosis.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

namespace cast = oracles::mxfp8_cast;
namespace dequant = kernels::mxfp8_dequant;
using formats::Format;

/// The problem as a kernel sees it; the enumerations of oracle and kernel are separate on purpose and meet
/// only here.
dequant::Problem problem_of(const Point& point) {
  const oracle::Shape& shape = point.shape;
  dequant::Problem problem;
  problem.rows = static_cast<std::int64_t>(shape.rows);
  problem.cols = static_cast<std::int64_t>(shape.cols);
  problem.scale_rows = static_cast<std::int64_t>(shape.scale_rows);
  problem.scale_stride = static_cast<std::int64_t>(shape.scale_stride);
  problem.direction = shape.direction == oracle::Direction::rowwise ? dequant::Direction::rowwise
                                                                    : dequant::Direction::colwise;
  problem.scale_layout = shape.layout == oracle::ScaleLayout::linear ? dequant::ScaleLayout::linear
                                                                     : dequant::ScaleLayout::swizzled;
  problem.element = point.contracts.element == Format::e4m3 ? dequant::Element::e4m3 : dequant::Element::e5m2;
  problem.output = point.contracts.output == Format::fp32   ? dequant::Output::fp32
                   : point.contracts.output == Format::fp16 ? dequant::Output::fp16
                                                            : dequant::Output::bf16;
  return problem;
}

/// The row-major [rows, cols] matrix of bytes, transposed.
std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::size_t rows, std::size_t cols) {
  std::vector<std::byte> result(matrix.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) result[c * rows + r] = matrix[r * cols + c];
  return result;
}

fixture::Blocks blocks_of(const oracle::Shape& shape) {
  return {shape.rows, shape.cols, shape.direction == oracle::Direction::colwise};
}

Codes with_data(std::vector<std::byte> data, std::vector<std::byte> scales) {
  Codes codes;
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(data));
  codes.data = *owner;
  codes.owner = std::move(owner);
  codes.scales = std::move(scales);
  return codes;
}

Codes generated(const Point& point) {
  fixture::Blocks blocks = blocks_of(point.shape);
  if (point.transpose) blocks = {blocks.cols, blocks.rows, !blocks.colwise};
  auto data = fixture::build_data(point.data, point.contracts.element, blocks, point.seed);
  auto scales = fixture::build_scales(point.scales, blocks, point.seed);
  if (point.transpose) {
    data = transposed(data, blocks.rows, blocks.cols);
    scales = transposed(scales, blocks.block_rows(), blocks.block_cols());
  }
  for (std::byte& scale : scales) {
    const int code = std::to_integer<int>(scale);
    if (point.exp == 0 || code == 255) continue;
    if (code + point.exp < 0 || code + point.exp > 254)
      throw BadInput(
          case_refusal(print(point), fmt::format("exp={} takes scale {} out of 0..254", point.exp, code)));
    scale = static_cast<std::byte>(code + point.exp);
  }
  return with_data(std::move(data), std::move(scales));
}

Codes quantised(const Point& point, Format input, std::span<const std::byte> x,
                std::shared_ptr<const void> owner) {
  Quantised result = quantise(input, x, point);
  Codes codes = with_data(std::move(result.data), std::move(result.scales));
  codes.x = x;
  codes.x_owner = std::move(owner);
  return codes;
}

Codes build(const Point& point) {
  switch (point.source) {
    case Source::pattern:
      return generated(point);
    case Source::quantised: {
      auto x = std::make_shared<const std::vector<std::byte>>(fixtures::mxfp8_cast::build(
          point.fill, point.input, point.shape.rows, point.shape.cols, point.seed));
      return quantised(point, point.input, *x, x);
    }
    case Source::file:
      break;
  }
  const auto path = fixtures::parse_tensor_path(point.on);
  if (path.tensor.empty()) throw BadInput(case_refusal(print(point), "on= names no tensor"));
  return codes_of(fixtures::open_tensor_file(path.file)->read(path.tensor), point);
}

}  // namespace

Quantised quantise(Format input, std::span<const std::byte> x, const Point& point) {
  const oracle::Shape& shape = point.shape;
  cast::Contracts contracts;
  contracts.element = point.contracts.element;
  contracts.scale_rule = point.rule;
  cast::Shape whole{shape.rows, shape.cols, {}, {}};
  whole.extent(shape.direction) = {shape.block_rows(), shape.block_cols()};
  auto result = cast::accept(input, x, whole, shape.direction, contracts, cast::Fault::none,
                             threads_for(shape.rows * shape.cols));
  return {std::move(result.data.lo), std::move(result.scales.lo)};
}

std::optional<Format> tensor_format(const fixtures::Tensor& tensor) {
  switch (tensor.dtype) {
    case fixtures::DType::f8_e4m3:
      return Format::e4m3;
    case fixtures::DType::f8_e5m2:
      return Format::e5m2;
    default:
      return float_format(tensor.dtype);
  }
}

Codes codes_of(const fixtures::Tensor& tensor, const Point& point) {
  const auto refuse = [&](const std::string& reason) {
    throw BadInput(fmt::format("tensor '{}': {}", tensor.name, reason));
  };
  const auto format = tensor_format(tensor);
  if (!format)
    refuse(fmt::format(
        "dtype {} is not supported by mxfp8_dequant, which takes f8_e4m3 and f8_e5m2 as data, and "
        "f32, f16 and bf16 to quantise first",
        to_string(tensor.dtype)));
  if (tensor.elements() != point.shape.rows * point.shape.cols)
    refuse(fmt::format("it has {} elements, not {} x {}", tensor.elements(), point.shape.rows,
                       point.shape.cols));
  if (*format == Format::e4m3 || *format == Format::e5m2) {
    if (*format != point.contracts.element)
      refuse(fmt::format("it holds {}, the case asks for {}", formats::spec(*format).name,
                         formats::spec(point.contracts.element).name));
    return {tensor.bytes,
            tensor.owner,
            fixture::build_scales(point.scales, blocks_of(point.shape), point.seed),
            {},
            {}};
  }
  if (point.shape.cols % cast::block != 0)
    refuse(fmt::format("its last dimension {} is not divisible by 32, so it is not quantised",
                       point.shape.cols));
  return quantised(point, *format, tensor.bytes, tensor.owner);
}

DequantWorkload::DequantWorkload(Point point) : DequantWorkload(point, build(point)) {}

DequantWorkload::DequantWorkload(Point point, Codes codes)
    : point_(std::move(point)), codes_(std::move(codes)) {
  const oracle::Shape& shape = point_.shape;
  const std::size_t rows = shape.block_rows(), cols = shape.block_cols();
  assert(codes_.data.size() == shape.rows * shape.cols && codes_.scales.size() == rows * cols);
  scales_ = fixture::build_padding(point_.pad, shape.scale_rows * shape.scale_stride, point_.seed);
  const oracle::ScaleMatrix matrix = shape.scale_matrix();
  for (std::size_t a = 0; a < rows; ++a)
    for (std::size_t b = 0; b < cols; ++b) scales_[matrix.index(a, b)] = codes_.scales[a * cols + b];
}

DequantWorkload::DequantWorkload(Point point, std::vector<std::byte> data,
                                 std::vector<std::byte> scale_buffer)
    : point_(std::move(point)), scales_(std::move(scale_buffer)) {
  const oracle::Shape& shape = point_.shape;
  const std::size_t rows = shape.block_rows(), cols = shape.block_cols();
  assert(data.size() == shape.rows * shape.cols && scales_.size() == shape.scale_rows * shape.scale_stride);
  std::vector<std::byte> scales(rows * cols);
  const oracle::ScaleMatrix matrix = shape.scale_matrix();
  for (std::size_t a = 0; a < rows; ++a)
    for (std::size_t b = 0; b < cols; ++b) scales[a * cols + b] = scales_[matrix.index(a, b)];
  codes_ = with_data(std::move(data), std::move(scales));
}

std::vector<InputBuffer> DequantWorkload::inputs() const {
  const oracle::Shape& shape = point_.shape;
  InputBuffer data{"data", point_.contracts.element, codes_.data, point_.data_alignment};
  data.shape = {shape.rows, shape.cols};
  InputBuffer scales{"scales", Format::e8m0, scales_, point_.scale_alignment};
  scales.shape = {shape.scale_rows, shape.scale_stride};
  return {data, scales};
}

std::vector<OutputBuffer> DequantWorkload::outputs() const {
  const oracle::Shape& shape = point_.shape;
  // A colwise block is no run of a row, so places are named by row and column alone.
  const std::size_t per_block = shape.direction == oracle::Direction::rowwise ? oracle::block : 1;
  OutputBuffer y{"y",
                 point_.contracts.output,
                 shape.rows * shape.cols,
                 point_.y_alignment,
                 shape.rows,
                 shape.cols,
                 shape.cols,
                 per_block};
  y.shape = {shape.rows, shape.cols};
  return {y};
}

const std::vector<arithmetic::Acceptance>& DequantWorkload::acceptance() {
  if (acceptance_.empty())
    acceptance_.push_back(oracle::accept(codes_.data, scales_, point_.shape, point_.contracts,
                                         oracle::Fault::none, threads_for(codes_.data.size())));
  return acceptance_;
}

kernels::Support DequantWorkload::supports(std::size_t route, kernels::DeviceKind device) const {
  dequant::Problem problem = problem_of(point_);
  // Addresses of the alignment that the buffers will have; a route may look at nothing else of them.
  problem.data = reinterpret_cast<const std::uint8_t*>(point_.data_alignment);
  problem.scales = reinterpret_cast<const std::uint8_t*>(point_.scale_alignment);
  problem.y = reinterpret_cast<void*>(point_.y_alignment);
  return dequant::routes(device)[route].supports(problem);
}

kernels::Support DequantWorkload::expected_support(std::size_t route, kernels::DeviceKind) const {
  using kernels::Support;
  const std::string_view name = dequant::routes(kernels::DeviceKind::cpu)[route].info.name;
  if (name != "vector") return Support::yes();  // scalar takes whatever a point can say
  if (point_.shape.cols % 32 != 0) return Support::no("cols % 32 != 0");
  if (point_.data_alignment < 16) return Support::no("data not 16-byte aligned");
  if (point_.y_alignment < 16) return Support::no("y not 16-byte aligned");
  return Support::yes();
}

ExpectedWitness DequantWorkload::expected_witness(std::size_t route) const {
  const std::string_view name = dequant::routes(kernels::DeviceKind::cpu)[route].info.name;
  return {{name == "vector" ? "dequant_vector" : "dequant_scalar"}, {}};
}

void DequantWorkload::launch(std::size_t route, kernels::LaunchContext& context,
                             std::span<void* const> inputs, std::span<void* const> outputs) const {
  dequant::Problem problem = problem_of(point_);
  problem.data = static_cast<const std::uint8_t*>(inputs[0]);
  problem.scales = static_cast<const std::uint8_t*>(inputs[1]);
  problem.y = outputs[0];
  dequant::routes(context.device.kind())[route].run(context, problem);
}

std::vector<Diagnosis> DequantWorkload::diagnose(const Contents& actual, const Contents& before) {
  return mxfp8_dequant::diagnose(point_, codes_, scales_, {acceptance()[0], actual[0], before[0]});
}

}  // namespace assay::properties::mxfp8_dequant
