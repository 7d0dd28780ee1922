#include "properties/mxfp8_cast/workload.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <optional>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "kernels/mxfp8_cast/cast.hpp"
#include "oracles/formats/codec.hpp"
#include "properties/gate/float_format.hpp"
#include "properties/gate/threads.hpp"
#include "properties/gate/token.hpp"
#include "properties/mxfp8_cast/diagnosis.hpp"
#include "properties/mxfp8_cast/rules.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

namespace cast = kernels::mxfp8_cast;
using formats::Format;

std::size_t width(Format format) { return static_cast<std::size_t>(formats::storage_bytes(format)); }

cast::Input kernel_input(Format format) {
  return format == Format::fp32   ? cast::Input::fp32
         : format == Format::fp16 ? cast::Input::fp16
                                  : cast::Input::bf16;
}

cast::Direction kernel_direction(Direction direction) {
  switch (direction) {
    case Direction::rowwise:
      return cast::Direction::rowwise;
    case Direction::colwise:
      return cast::Direction::colwise;
    case Direction::bidimensional:
      return cast::Direction::bidimensional;
  }
  assert(false && "unknown direction");
  return {};
}

/// The problem as a kernel sees it, on device pointers in the order of inputs() and outputs(); the
/// enumerations of oracle and kernel are separate on purpose and meet only here.
cast::Problem problem_of(const Point& point, const void* x, std::span<void* const> outputs) {
  cast::Problem problem;
  problem.x = x;
  problem.rows = static_cast<std::int64_t>(point.shape.rows);
  problem.cols = static_cast<std::int64_t>(point.shape.cols);
  problem.direction = kernel_direction(point.direction);
  std::size_t next = 0;
  for (const auto direction : point.directions()) {
    cast::Output& output = direction == oracle::Direction::rowwise ? problem.rowwise : problem.colwise;
    output.data = static_cast<std::uint8_t*>(outputs[next++]);
    output.scales = static_cast<std::uint8_t*>(outputs[next++]);
    output.scale_rows = static_cast<std::int64_t>(point.shape.extent(direction).rows);
    output.scale_stride = static_cast<std::int64_t>(point.shape.extent(direction).stride);
  }
  problem.scale_layout = point.contracts.layout == oracle::ScaleLayout::swizzled ? cast::ScaleLayout::swizzled
                                                                                 : cast::ScaleLayout::linear;
  problem.input = kernel_input(point.input);
  problem.element = point.contracts.element == Format::e4m3 ? cast::Element::e4m3 : cast::Element::e5m2;
  switch (point.contracts.scale_rule) {
    case oracle::ScaleRule::rceil:
      problem.scale_rule = cast::ScaleRule::rceil;
      break;
    case oracle::ScaleRule::floor:
      problem.scale_rule = cast::ScaleRule::floor;
      break;
    case oracle::ScaleRule::ceil:
      problem.scale_rule = cast::ScaleRule::ceil;
      break;
    case oracle::ScaleRule::even:
      problem.scale_rule = cast::ScaleRule::even;
      break;
  }
  switch (point.contracts.specials) {
    case oracle::SpecialBlocks::poison:
      problem.specials = cast::SpecialBlocks::poison;
      break;
    case oracle::SpecialBlocks::te_staged:
      problem.specials = cast::SpecialBlocks::te_staged;
      break;
    case oracle::SpecialBlocks::te_register:
      problem.specials = cast::SpecialBlocks::te_register;
      break;
  }
  problem.padding =
      point.contracts.padding == oracle::Padding::zero ? cast::Padding::zero : cast::Padding::untouched;
  return problem;
}

/// x * 2^exp for every finite code, which must be exact.
void shift_exponents(std::vector<std::byte>& x, const Point& point) {
  const int bytes = static_cast<int>(width(point.input));
  for (std::size_t i = 0; i < x.size() / width(point.input); ++i) {
    const std::uint32_t code = arithmetic::load_code(x, bytes, i);
    const formats::Exact value = formats::decode(point.input, code);
    if (value.kind != formats::Kind::finite) continue;
    const std::uint32_t moved = formats::encode(point.input, formats::scaled(value, point.exp));
    const formats::Exact back = formats::scaled(formats::decode(point.input, moved), -point.exp);
    if (back.kind != formats::Kind::finite || formats::compare_magnitude(back, value) != 0) {
      throw BadInput(
          case_refusal(print(point), fmt::format("exp={} is not exact for element {}", point.exp, i)));
    }
    arithmetic::store_code(x, bytes, i, moved);
  }
}

void rotate_blocks(std::vector<std::byte>& x, const Point& point) {
  const std::size_t block_bytes = oracle::block * width(point.input), per_row = point.shape.blocks_per_row();
  const std::size_t run = point.direction == Direction::rowwise ? point.shape.rows * per_row : per_row;
  const auto length = static_cast<std::ptrdiff_t>(run * block_bytes);
  const auto distance = static_cast<std::ptrdiff_t>(point.rotate % run * block_bytes);
  for (auto first = x.begin(); first != x.end(); first += length)
    std::rotate(first, first + length - distance, first + length);
}

std::vector<std::byte> reported_input(const Point& point) {
  static const auto all = fixtures::mxfp8_cast::reported();
  for (const auto& reported : all) {
    if (reported.id != point.reported) continue;
    const std::size_t expected = point.shape.rows * point.shape.cols * width(point.input);
    if (reported.input != point.input || reported.x.size() != expected) {
      throw BadInput(case_refusal(
          print(point), fmt::format("reported fault {} is {} x {} of {}", reported.id, reported.rows,
                                    reported.cols, formats::spec(reported.input).name)));
    }
    return reported.x;
  }
  throw BadInput(case_refusal(print(point), fmt::format("there is no reported fault '{}'", point.reported)));
}

std::vector<std::byte> pattern_input(const Point& point) {
  const auto build = point.transpose ? fixtures::mxfp8_cast::build_transposed : fixtures::mxfp8_cast::build;
  return build(point.fill, point.input, point.shape.rows, point.shape.cols, point.seed);
}

std::string output_name(oracle::Direction direction, const char* what) {
  return direction == oracle::Direction::rowwise ? what : fmt::format("{} colwise", what);
}

OutputBuffer data_buffer(const Point& point, oracle::Direction direction) {
  const oracle::Shape& shape = point.shape;
  OutputBuffer buffer;
  buffer.name = output_name(direction, "data");
  buffer.format = point.contracts.element;
  buffer.elements = shape.rows * shape.cols;
  buffer.alignment = point.data_alignment(direction);
  buffer.rows = shape.rows;
  buffer.cols = buffer.stride = shape.cols;
  buffer.elements_per_block = oracle::block;
  buffer.blocks_in_columns = direction == oracle::Direction::colwise;
  buffer.shape = {shape.rows, shape.cols};
  return buffer;
}

OutputBuffer scale_buffer(const Point& point, oracle::Direction direction) {
  const oracle::ScaleExtent extent = point.shape.extent(direction), scales = point.shape.scales(direction);
  OutputBuffer buffer;
  buffer.name = output_name(direction, "scales");
  buffer.format = Format::e8m0;
  buffer.elements = extent.rows * extent.stride;
  buffer.alignment = 1;
  buffer.rows = scales.rows;
  buffer.cols = scales.stride;
  buffer.stride = extent.stride;
  buffer.shape = {extent.rows, extent.stride};
  if (point.contracts.layout == oracle::ScaleLayout::swizzled) {
    buffer.rows = extent.rows;
    buffer.cols = extent.stride;
    const oracle::ScaleMatrix matrix(point.shape, direction, point.contracts.layout);
    buffer.place = [matrix](std::size_t index) -> std::optional<std::pair<std::size_t, std::size_t>> {
      const auto place = matrix.place(index);
      if (!place) return std::nullopt;
      return std::pair(place->row, place->col);
    };
  }
  return buffer;
}

std::vector<std::byte> rounded(const fixtures::Tensor& tensor, Format from, Format to) {
  const std::size_t count = tensor.elements();
  std::vector<std::byte> x(count * width(to));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t code = arithmetic::load_code(tensor.bytes, static_cast<int>(width(from)), i);
    arithmetic::store_code(x, static_cast<int>(width(to)), i,
                           formats::encode(to, formats::decode(from, code), formats::Rounding::nearest_even,
                                           formats::Overflow::propagate));
  }
  return x;
}

}  // namespace

CastWorkload::CastWorkload(Point point) : point_(std::move(point)) {
  if (point_.source == Source::file) {
    const auto path = fixtures::parse_tensor_path(point_.on);
    if (path.tensor.empty()) throw BadInput(case_refusal(token(), "on= names no tensor"));
    const fixtures::Tensor tensor =
        as_input(fixtures::open_tensor_file(path.file)->read(path.tensor), point_.input);
    if (tensor.elements() != point_.shape.rows * point_.shape.cols) {
      throw BadInput(
          case_refusal(token(), fmt::format("tensor '{}' has {} elements", tensor.name, tensor.elements())));
    }
    x_ = tensor.bytes;
    owner_ = tensor.owner;
    return;
  }
  auto x = std::make_shared<std::vector<std::byte>>(
      point_.source == Source::reported ? reported_input(point_) : pattern_input(point_));
  if (point_.exp != 0) shift_exponents(*x, point_);
  if (point_.rotate != 0) rotate_blocks(*x, point_);
  x_ = *x;
  owner_ = std::move(x);
}

CastWorkload::CastWorkload(Point point, std::span<const std::byte> x, std::shared_ptr<const void> owner)
    : point_(std::move(point)), x_(x), owner_(std::move(owner)) {
  assert(x_.size() == x_bytes(point_));
}

std::size_t x_bytes(const Point& point) { return point.shape.rows * point.shape.cols * width(point.input); }

Format input_format(const fixtures::Tensor& tensor) {
  if (const auto format = float_format(tensor.dtype)) return *format;
  throw BadInput(
      fmt::format("tensor '{}': dtype {} is not supported by mxfp8_cast, which takes f32, f16 and bf16",
                  tensor.name, to_string(tensor.dtype)));
}

fixtures::Tensor as_input(const fixtures::Tensor& tensor, Format input) {
  const Format from = input_format(tensor);
  if (from == input) return tensor;
  auto codes = std::make_shared<std::vector<std::byte>>(rounded(tensor, from, input));
  fixtures::Tensor converted = tensor;
  converted.dtype = input == Format::fp32   ? fixtures::DType::f32
                    : input == Format::fp16 ? fixtures::DType::f16
                                            : fixtures::DType::bf16;
  converted.bytes = *codes;
  converted.owner = std::move(codes);
  return converted;
}

std::vector<InputBuffer> CastWorkload::inputs() const {
  InputBuffer x{"x", point_.input, x_, point_.x_alignment()};
  x.shape = {point_.shape.rows, point_.shape.cols};
  return {x};
}

std::vector<OutputBuffer> CastWorkload::outputs() const {
  std::vector<OutputBuffer> outputs;
  for (const auto direction : point_.directions()) {
    outputs.push_back(data_buffer(point_, direction));
    outputs.push_back(scale_buffer(point_, direction));
  }
  return outputs;
}

const std::vector<arithmetic::Acceptance>& CastWorkload::acceptance() {
  if (!acceptance_.empty()) return acceptance_;
  for (const auto direction : point_.directions()) {
    auto expected = oracle::accept(point_.input, x_, point_.shape, direction, point_.contracts,
                                   oracle::Fault::none, threads_for(point_.shape.rows * point_.shape.cols));
    acceptance_.push_back(std::move(expected.data));
    acceptance_.push_back(std::move(expected.scales));
  }
  return acceptance_;
}

kernels::Support CastWorkload::supports(std::size_t route, kernels::DeviceKind device) const {
  // Addresses of the alignment that the buffers will have; a route may look at nothing else of them.
  const auto x = reinterpret_cast<void*>(point_.x_alignment());
  std::vector<void*> addresses;
  for (const OutputBuffer& output : outputs()) addresses.push_back(reinterpret_cast<void*>(output.alignment));
  return cast::routes(device)[route].supports(problem_of(point_, x, addresses));
}

kernels::Support CastWorkload::expected_support(std::size_t route, kernels::DeviceKind) const {
  return mxfp8_cast::expected_support(point_, route);
}

ExpectedWitness CastWorkload::expected_witness(std::size_t route) const {
  return mxfp8_cast::expected_witness(point_, route);
}

void CastWorkload::launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> inputs,
                          std::span<void* const> outputs) const {
  cast::routes(context.device.kind())[route].run(context, problem_of(point_, inputs[0], outputs));
}

std::vector<Diagnosis> CastWorkload::diagnose(const Contents& actual, const Contents& before) {
  std::vector<Diagnosis> found;
  const auto directions = point_.directions();
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const std::size_t data = 2 * i, scales = 2 * i + 1;
    const DirectionOutput output{acceptance()[data], acceptance()[scales], actual[data],
                                 actual[scales],     before[data],         before[scales]};
    for (Diagnosis& one : mxfp8_cast::diagnose(point_, x_, directions[i], output)) {
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const Diagnosis& other) { return other.pattern == one.pattern; });
      if (!known) found.push_back(std::move(one));
    }
  }
  return found;
}

}  // namespace assay::properties::mxfp8_cast
