#include "properties/gated_delta/workload.hpp"

#include <fmt/core.h>

#include <bit>
#include <cassert>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "kernels/gated_delta/delta.hpp"
#include "properties/gate/threads.hpp"
#include "properties/gate/token.hpp"
#include "properties/gated_delta/diagnosis.hpp"
#include "properties/gated_delta/rules.hpp"
#include "properties/gated_delta/tensors.hpp"

namespace assay::properties::gated_delta {
namespace {

namespace delta = kernels::gated_delta;
using formats::Format;

/// The enumerations of oracle and kernel are separate on purpose and meet only here.
delta::Contracts kernel_contracts(const oracle::Contracts& contracts) {
  delta::Contracts result;
  result.io = contracts.io == Format::bf16 ? delta::Io::bf16 : delta::Io::fp32;
  result.state = contracts.state == Format::bf16 ? delta::State::bf16 : delta::State::fp32;
  result.layout = contracts.layout == oracle::Layout::kv ? delta::Layout::kv : delta::Layout::vk;
  result.gates = contracts.gates == oracle::Gates::raw ? delta::Gates::raw : delta::Gates::precomputed;
  result.norm = contracts.norm == oracle::Norm::division ? delta::Norm::division : delta::Norm::rsqrt;
  result.epsilon = contracts.epsilon == oracle::Epsilon::e6 ? delta::Epsilon::e6 : delta::Epsilon::e12;
  result.softplus = contracts.softplus == oracle::Softplus::once    ? delta::Softplus::once
                    : contracts.softplus == oracle::Softplus::log1p ? delta::Softplus::log1p
                                                                    : delta::Softplus::log;
  result.beta = contracts.beta == oracle::Beta::fp32 ? delta::Beta::fp32 : delta::Beta::bf16;
  return result;
}

/// The problem as a kernel sees it, without pointers.
delta::Problem problem_of(const Point& point, const fixture::Operands& operands) {
  const oracle::Shape shape = shape_of(point);
  delta::Problem problem;
  problem.slots_on_host = operands.slots;
  problem.batch = static_cast<std::int64_t>(shape.batch);
  problem.steps = static_cast<std::int64_t>(shape.steps);
  problem.pool = static_cast<std::int64_t>(shape.pool);
  problem.key_heads = static_cast<std::int64_t>(shape.key_heads);
  problem.value_heads = static_cast<std::int64_t>(shape.value_heads);
  problem.key_dim = static_cast<std::int64_t>(shape.key_dim);
  problem.value_dim = static_cast<std::int64_t>(shape.value_dim);
  problem.a_stride = static_cast<std::int64_t>(shape.a_stride);
  problem.b_stride = static_cast<std::int64_t>(shape.b_stride);
  problem.scale = std::bit_cast<float>(scale_of(point));
  problem.tuning = point.tuning == Tuning::small   ? delta::Tuning::small
                   : point.tuning == Tuning::large ? delta::Tuning::large
                                                   : delta::Tuning::by_size;
  problem.contracts = kernel_contracts(point.contracts);
  return problem;
}

bool raw(const Point& point) { return point.contracts.gates == oracle::Gates::raw; }

std::size_t width_of(Format format) { return static_cast<std::size_t>(formats::storage_bytes(format)); }

/// Slots that every route has to refuse.
void misplace_last_sequence(const Point& point, std::vector<std::int32_t>& slots) {
  if (point.slots == Slots::doubled) slots.back() = slots.front();
  if (point.slots == Slots::past) slots.back() = static_cast<std::int32_t>(shape_of(point).pool);
}

fixture::Operands build(const Point& point) {
  fixture::Operands operands;
  if (point.source == Source::pattern) {
    try {
      operands = fixture::build(request_of(point));
    } catch (const BadInput& reason) {
      throw BadInput(case_refusal(print(point), reason.what()));
    }
  } else {
    const auto path = fixtures::parse_tensor_path(point.on);
    if (path.tensor.empty()) throw BadInput(case_refusal(print(point), "on= names no tensor"));
    const auto tensor = fixtures::open_tensor_file(path.file)->read(path.tensor);
    try {
      operands = operands_of(tensor, point);
    } catch (const BadInput& reason) {
      throw BadInput(fmt::format("{}: {}", path.file.string(), reason.what()));
    }
  }
  misplace_last_sequence(point, operands.slots);
  return operands;
}

/// Work of the oracle, in elements that cost as much as those of a cast.
unsigned threads_of(const oracle::Shape& shape) {
  return threads_for(shape.tokens() * shape.value_heads * shape.key_dim * shape.value_dim);
}

}  // namespace

fixture::Operands zero_operands(const Point& point) {
  const oracle::Shape shape = shape_of(point);
  const std::size_t io = width_of(point.contracts.io), tokens = shape.tokens();
  fixture::Operands operands;
  operands.q.resize(tokens * shape.key_heads * shape.key_dim * io);
  operands.k.resize(operands.q.size());
  operands.v.resize(shape.out_elements() * io);
  if (raw(point)) {
    operands.a.resize(tokens * shape.a_stride * io);
    operands.b.resize(tokens * shape.b_stride * io);
    operands.a_log.resize(shape.value_heads * sizeof(float));
    operands.dt_bias.resize(shape.value_heads * sizeof(float));
  } else {
    operands.g.resize(tokens * shape.value_heads * sizeof(float));
    operands.beta.resize(tokens * shape.value_heads * sizeof(float));
  }
  operands.state.resize(shape.state_elements() * width_of(point.contracts.state));
  operands.slots = fixture::slots_of(request_of(point));
  misplace_last_sequence(point, operands.slots);
  return operands;
}

oracle::Operands view(const Point& point, const fixture::Operands& operands) {
  return {operands.q,       operands.k, operands.v,    operands.a,     operands.b,     operands.a_log,
          operands.dt_bias, operands.g, operands.beta, operands.state, operands.slots, scale_of(point)};
}

DeltaWorkload::DeltaWorkload(Point point) : DeltaWorkload(point, build(point)) {}

DeltaWorkload::DeltaWorkload(Point point, fixture::Operands operands)
    : point_(std::move(point)), operands_(std::move(operands)) {
  [[maybe_unused]] const oracle::Shape shape = shape_of(point_);
  assert(operands_.q.size() ==
         shape.tokens() * shape.key_heads * shape.key_dim * width_of(point_.contracts.io));
  assert(operands_.v.size() == shape.out_elements() * width_of(point_.contracts.io));
  assert(operands_.state.size() == shape.state_elements() * width_of(point_.contracts.state));
  assert(operands_.slots.size() == shape.batch);
}

std::vector<InputBuffer> DeltaWorkload::inputs() const {
  const oracle::Shape shape = shape_of(point_);
  std::vector<InputBuffer> inputs;
  const auto add_io = [&](const char* name, const std::vector<std::byte>& codes,
                          std::vector<std::size_t> extents) {
    inputs.push_back({name, point_.contracts.io, codes, point_.io_alignment, false, std::move(extents)});
  };
  const auto add_fp32 = [&](const char* name, const std::vector<std::byte>& codes,
                            std::vector<std::size_t> extents) {
    inputs.push_back({name, Format::fp32, codes, alignof(float), false, std::move(extents)});
  };
  add_io("q", operands_.q, {shape.batch, shape.steps, shape.key_heads, shape.key_dim});
  add_io("k", operands_.k, {shape.batch, shape.steps, shape.key_heads, shape.key_dim});
  add_io("v", operands_.v, {shape.batch, shape.steps, shape.value_heads, shape.value_dim});
  if (raw(point_)) {
    add_io("a", operands_.a, {shape.batch, shape.steps, shape.a_stride});
    add_io("b", operands_.b, {shape.batch, shape.steps, shape.b_stride});
    add_fp32("a_log", operands_.a_log, {shape.value_heads});
    add_fp32("dt_bias", operands_.dt_bias, {shape.value_heads});
  } else {
    add_fp32("g", operands_.g, {shape.batch, shape.steps, shape.value_heads});
    add_fp32("beta", operands_.beta, {shape.batch, shape.steps, shape.value_heads});
  }
  // 32-bit integers, for which there is no format: as their bytes.
  inputs.push_back({"slots",
                    Format::uint4,
                    std::as_bytes(std::span(operands_.slots)),
                    alignof(std::int32_t),
                    true,
                    {shape.batch},
                    fixtures::DType::i32});
  return inputs;
}

std::vector<OutputBuffer> DeltaWorkload::outputs() const {
  const oracle::Shape shape = shape_of(point_);
  const bool kv = point_.contracts.layout == oracle::Layout::kv;
  const std::size_t cols = kv ? shape.value_dim : shape.key_dim;
  OutputBuffer state{"state",
                     point_.contracts.state,
                     shape.state_elements(),
                     point_.state_alignment,
                     shape.state_elements() / cols,
                     cols,
                     cols};
  state.initial = operands_.state;
  state.shape = kv ? std::vector{shape.pool, shape.value_heads, shape.key_dim, shape.value_dim}
                   : std::vector{shape.pool, shape.value_heads, shape.value_dim, shape.key_dim};
  OutputBuffer o{"o",
                 point_.contracts.io,
                 shape.out_elements(),
                 point_.io_alignment,
                 shape.tokens() * shape.value_heads,
                 shape.value_dim,
                 shape.value_dim};
  o.shape = {shape.batch, shape.steps, shape.value_heads, shape.value_dim};
  return {o, state};
}

std::vector<ScratchBuffer> DeltaWorkload::scratch() const {
  const std::size_t bytes = delta::workspace_bytes(problem_of(point_, operands_));
  if (bytes == 0) return {};
  return {{"workspace", bytes, 256}};
}

const std::vector<arithmetic::Acceptance>& DeltaWorkload::acceptance() {
  assert(point_.slots != Slots::doubled && point_.slots != Slots::past && "every route refuses it");
  if (acceptance_.empty()) {
    const oracle::Shape shape = shape_of(point_);
    oracle::Accepted accepted =
        oracle::accept(point_.contracts, shape, view(point_, operands_), threads_of(shape));
    acceptance_.push_back(std::move(accepted.out));
    acceptance_.push_back(std::move(accepted.state));
  }
  return acceptance_;
}

kernels::Support DeltaWorkload::supports(std::size_t route, kernels::DeviceKind device) const {
  delta::Problem problem = problem_of(point_, operands_);
  // Addresses of the alignment that the buffers will have; a route may look at nothing else of them.
  const auto at = [](std::size_t alignment) { return reinterpret_cast<void*>(alignment); };
  const auto floats = [&] { return static_cast<const float*>(at(alignof(float))); };
  problem.q = problem.k = problem.v = at(point_.io_alignment);
  problem.o = at(point_.io_alignment);
  if (raw(point_)) {
    problem.a = problem.b = at(point_.io_alignment);
    problem.a_log = problem.dt_bias = floats();
  } else {
    problem.g = problem.beta = floats();
  }
  problem.slots = static_cast<const std::int32_t*>(at(alignof(std::int32_t)));
  problem.state = at(point_.state_alignment);
  problem.workspace = at(256);
  return delta::routes(device)[route].supports(problem, device);
}

kernels::Support DeltaWorkload::expected_support(std::size_t route, kernels::DeviceKind device) const {
  return gated_delta::expected_support(point_, route, device);
}

ExpectedWitness DeltaWorkload::expected_witness(std::size_t route) const {
  return gated_delta::expected_witness(point_, route);
}

void DeltaWorkload::launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> inputs,
                           std::span<void* const> outputs) const {
  delta::Problem problem = problem_of(point_, operands_);
  std::size_t next = 0;
  problem.q = inputs[next++];
  problem.k = inputs[next++];
  problem.v = inputs[next++];
  if (raw(point_)) {
    problem.a = inputs[next++];
    problem.b = inputs[next++];
    problem.a_log = static_cast<const float*>(inputs[next++]);
    problem.dt_bias = static_cast<const float*>(inputs[next++]);
  } else {
    problem.g = static_cast<const float*>(inputs[next++]);
    problem.beta = static_cast<const float*>(inputs[next++]);
  }
  problem.slots = static_cast<const std::int32_t*>(inputs[next++]);
  problem.o = outputs[0];
  problem.state = outputs[1];
  if (outputs.size() > 2) problem.workspace = outputs[2];
  delta::routes(context.device.kind())[route].run(context, problem);
}

std::vector<Diagnosis> DeltaWorkload::diagnose(const Contents& actual, const Contents& before) {
  return gated_delta::diagnose(point_, view(point_, operands_), acceptance(), actual, before);
}

}  // namespace assay::properties::gated_delta
