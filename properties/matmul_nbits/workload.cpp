#include "properties/matmul_nbits/workload.hpp"

#include <fmt/core.h>

#include <cassert>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/matmul_nbits/reported.hpp"
#include "fixtures/tensor/errors.hpp"
#include "kernels/matmul_nbits/matmul.hpp"
#include "properties/gate/threads.hpp"
#include "properties/gate/token.hpp"
#include "properties/matmul_nbits/diagnosis.hpp"
#include "properties/matmul_nbits/rules.hpp"
#include "properties/matmul_nbits/weights.hpp"

namespace assay::properties::matmul_nbits {
namespace {

namespace matmul = kernels::matmul_nbits;
using formats::Format;

matmul::Schedule kernel_schedule(oracle::Schedule schedule) {
  switch (schedule) {
    case oracle::Schedule::split_k:
      return matmul::Schedule::split_k;
    case oracle::Schedule::multicol:
      return matmul::Schedule::multicol;
    case oracle::Schedule::natural:
      return matmul::Schedule::natural;
    case oracle::Schedule::tile:
      return matmul::Schedule::tile;
    case oracle::Schedule::mma:
      return matmul::Schedule::mma;
  }
  assert(false && "unknown schedule");
  return {};
}

/// The problem as a kernel sees it, without pointers; the enumerations of oracle and kernel are separate on
/// purpose and meet only here.
matmul::Problem problem_of(const Point& point) {
  const oracle::Contracts& contracts = point.contracts;
  const oracle::Shape& shape = point.shape;
  matmul::Problem problem;
  problem.m = static_cast<std::int64_t>(shape.m);
  problem.n = static_cast<std::int64_t>(shape.n);
  problem.k = static_cast<std::int64_t>(shape.k);
  problem.bits = static_cast<unsigned>(shape.bits);
  problem.block = static_cast<unsigned>(shape.block);
  problem.model = contracts.model == Format::fp32   ? matmul::Model::fp32
                  : contracts.model == Format::fp16 ? matmul::Model::fp16
                                                    : matmul::Model::bf16;
  problem.schedule = kernel_schedule(contracts.schedule);
  problem.bias_round =
      contracts.bias_round == oracle::BiasRound::once ? matmul::BiasRound::once : matmul::BiasRound::twice;
  problem.tensor_cores = contracts.tensor_cores == oracle::TensorCores::hopper ? matmul::TensorCores::hopper
                                                                               : matmul::TensorCores::ampere;
  problem.k_split = static_cast<unsigned>(contracts.k_split);
  problem.interleaved = point.interleaved;
  problem.prefetch = point.prefetch;
  return problem;
}

const fixture::Reported& reported_of(const Point& point) {
  static const auto all = fixture::reported();
  for (const fixture::Reported& reported : all) {
    if (reported.id != point.reported) continue;
    const fixture::Shape& shape = reported.shape;
    const bool fits = reported.model == point.contracts.model && shape.m == point.shape.m &&
                      shape.n == point.shape.n && shape.k == point.shape.k &&
                      shape.bits == point.shape.bits && shape.block == point.shape.block &&
                      reported.operands.bias.empty() != point.bias &&
                      reported.operands.zero_points.empty() != point.zero_points;
    if (fits) return reported;
    throw BadInput(case_refusal(
        print(point),
        fmt::format("reported fault {} is model={},bias={},zp={},bits={},block={},m={},n={},k={}",
                    reported.id, formats::spec(reported.model).name,
                    reported.operands.bias.empty() ? "none" : "once",
                    reported.operands.zero_points.empty() ? "none" : "packed", shape.bits, shape.block,
                    shape.m, shape.n, shape.k)));
  }
  throw BadInput(case_refusal(print(point), fmt::format("there is no reported fault '{}'", point.reported)));
}

fixture::Operands build(const Point& point) {
  switch (point.source) {
    case Source::pattern:
      try {
        return fixture::build(request_of(point));
      } catch (const BadInput& reason) {
        throw BadInput(case_refusal(print(point), reason.what()));
      }
    case Source::reported:
      return reported_of(point).operands;
    case Source::file:
      break;
  }
  const auto path = fixtures::parse_tensor_path(point.on);
  if (path.tensor.empty()) throw BadInput(case_refusal(print(point), "on= names no tensor"));
  const auto tensor = fixtures::open_tensor_file(path.file)->read(path.tensor);
  try {
    return operands_of(tensor, point);
  } catch (const BadInput& reason) {
    throw BadInput(fmt::format("{}: {}", path.file.string(), reason.what()));
  }
}

/// Work of the oracle, in elements that cost as much as those of a cast.
unsigned threads_of(const oracle::Shape& shape) { return threads_for(shape.m * shape.n * shape.k); }

/// Moves each nibble of every 32-bit word: element e is in slot e of one form and slot_of(e) of the other.
std::vector<std::byte> moved(std::span<const std::byte> weights, bool back) {
  assert(weights.size() % 4 == 0);
  std::vector<std::byte> result(weights.size());
  for (std::size_t word = 0; word < weights.size(); word += 4) {
    for (std::size_t element = 0; element < 8; ++element) {
      const std::size_t slot = element / 2 + element % 2 * 4;
      const std::size_t from = back ? slot : element, to = back ? element : slot;
      const unsigned code = std::to_integer<unsigned>(weights[word + from / 2]) >> (from % 2 * 4) & 0xFu;
      result[word + to / 2] |= static_cast<std::byte>(code << (to % 2 * 4));
    }
  }
  return result;
}

std::size_t or_element(std::size_t alignment, const Point& point) {
  return alignment != 0 ? alignment : element_width(point);
}

}  // namespace

std::vector<std::byte> interleaved(std::span<const std::byte> weights) { return moved(weights, false); }
std::vector<std::byte> deinterleaved(std::span<const std::byte> weights) { return moved(weights, true); }

fixture::Operands zero_operands(const Point& point) {
  const oracle::Shape& shape = point.shape;
  const std::size_t width = element_width(point);
  fixture::Operands operands;
  operands.a.resize(shape.m * shape.k * width);
  operands.b.resize(shape.n * shape.row_bytes());
  operands.scales.resize(shape.n * shape.blocks() * width);
  if (point.zero_points) operands.zero_points.resize(shape.n * shape.zero_point_row_bytes());
  if (point.bias) operands.bias.resize(shape.n * width);
  return operands;
}

oracle::Operands view(const fixture::Operands& operands) {
  return {operands.a, operands.b, operands.scales, operands.zero_points, operands.bias};
}

MatmulWorkload::MatmulWorkload(Point point) : MatmulWorkload(point, build(point)) {}

MatmulWorkload::MatmulWorkload(Point point, fixture::Operands operands)
    : point_(std::move(point)), operands_(std::move(operands)) {
  assert(operands_.a.size() == point_.shape.m * point_.shape.k * element_width(point_));
  assert(operands_.b.size() == point_.shape.n * point_.shape.row_bytes());
  if (point_.interleaved) interleaved_ = interleaved(operands_.b);
}

std::vector<InputBuffer> MatmulWorkload::inputs() const {
  const Format model = point_.contracts.model;
  const oracle::Shape& shape = point_.shape;
  const std::size_t blocks = shape.blocks();
  std::vector<InputBuffer> inputs;
  const auto add = [&](const char* name, Format format, const std::vector<std::byte>& codes,
                       std::size_t alignment, std::vector<std::size_t> extents) {
    inputs.push_back({name, format, codes, alignment, false, std::move(extents)});
  };
  add("a", model, operands_.a, point_.a_alignment, {shape.m, shape.k});
  // The packed codes of a block, as ONNX MatMulNBits has them; `row_bytes` is a multiple of `blocks`.
  add("b", Format::uint4, point_.interleaved ? interleaved_ : operands_.b, point_.b_alignment,
      {shape.n, blocks, shape.row_bytes() / blocks});
  add("scales", model, operands_.scales, or_element(point_.scale_alignment, point_), {shape.n, blocks});
  if (point_.zero_points)
    add("zero_points", Format::uint4, operands_.zero_points, 1, {shape.n, shape.zero_point_row_bytes()});
  if (point_.bias) add("bias", model, operands_.bias, element_width(point_), {shape.n});
  return inputs;
}

std::vector<OutputBuffer> MatmulWorkload::outputs() const {
  const oracle::Shape& shape = point_.shape;
  OutputBuffer y{"y",
                 point_.contracts.model,
                 shape.m * shape.n,
                 or_element(point_.y_alignment, point_),
                 shape.m,
                 shape.n,
                 shape.n,
                 1};
  y.shape = {shape.m, shape.n};
  return {y};
}

std::vector<ScratchBuffer> MatmulWorkload::scratch() const {
  const std::size_t bytes = matmul::workspace_bytes(problem_of(point_));
  if (bytes == 0) return {};
  return {{"workspace", bytes, 256}};
}

const std::vector<arithmetic::Acceptance>& MatmulWorkload::acceptance() {
  if (acceptance_.empty())
    acceptance_.push_back(
        oracle::accept(point_.contracts, point_.shape, view(operands_), threads_of(point_.shape)));
  return acceptance_;
}

kernels::Support MatmulWorkload::supports(std::size_t route, kernels::DeviceKind device) const {
  matmul::Problem problem = problem_of(point_);
  // Addresses of the alignment that the buffers will have; a route may look at nothing else of them.
  problem.a = reinterpret_cast<const void*>(point_.a_alignment);
  problem.b = reinterpret_cast<const std::uint8_t*>(point_.b_alignment);
  problem.scales = reinterpret_cast<const void*>(or_element(point_.scale_alignment, point_));
  if (point_.zero_points) problem.zero_points = reinterpret_cast<const std::uint8_t*>(1);
  if (point_.bias) problem.bias = reinterpret_cast<const void*>(element_width(point_));
  problem.y = reinterpret_cast<void*>(or_element(point_.y_alignment, point_));
  problem.workspace = reinterpret_cast<void*>(256);
  return matmul::routes(device)[route].supports(problem, device);
}

kernels::Support MatmulWorkload::expected_support(std::size_t route, kernels::DeviceKind device) const {
  return matmul_nbits::expected_support(point_, route, device);
}

ExpectedWitness MatmulWorkload::expected_witness(std::size_t route) const {
  return matmul_nbits::expected_witness(point_, route);
}

void MatmulWorkload::launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> inputs,
                            std::span<void* const> outputs) const {
  matmul::Problem problem = problem_of(point_);
  std::size_t next = 0;
  problem.a = inputs[next++];
  problem.b = static_cast<const std::uint8_t*>(inputs[next++]);
  problem.scales = inputs[next++];
  if (point_.zero_points) problem.zero_points = static_cast<const std::uint8_t*>(inputs[next++]);
  if (point_.bias) problem.bias = inputs[next++];
  problem.y = outputs[0];
  if (outputs.size() > 1) problem.workspace = outputs[1];
  matmul::routes(context.device.kind())[route].run(context, problem);
}

std::vector<Diagnosis> MatmulWorkload::diagnose(const Contents& actual, const Contents& before) {
  return matmul_nbits::diagnose(point_, view(operands_), acceptance()[0], actual[0], before[0]);
}

}  // namespace assay::properties::matmul_nbits
