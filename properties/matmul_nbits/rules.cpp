#include "properties/matmul_nbits/rules.hpp"

#include <algorithm>
#include <cassert>

namespace assay::properties::matmul_nbits {
namespace {

using formats::Format;
using kernels::DeviceKind;
using kernels::Support;
using oracle::Schedule;

constexpr std::size_t most_rows_of_a_loop = 8;

bool one_of(std::size_t value, std::initializer_list<std::size_t> list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Support int4_blocks_of_32(const Point& point) {
  const bool built = point.shape.bits == 4 && point.shape.block == 32;
  return built ? Support::yes() : Support::no("bits or block not built");
}

Support any_weights(const Point& point) {
  const bool built = one_of(point.shape.bits, {2, 4, 8}) && one_of(point.shape.block, {16, 32, 64, 128, 256});
  return built ? Support::yes() : Support::no("bits or block not built");
}

Support model_in(const Point& point, std::initializer_list<Format> formats) {
  const bool built = std::find(formats.begin(), formats.end(), point.contracts.model) != formats.end();
  return built ? Support::yes() : Support::no("model not built");
}
Support bf16(const Point& point) { return model_in(point, {Format::bf16}); }
Support fp16(const Point& point) { return model_in(point, {Format::fp16}); }
Support half_width(const Point& point) { return model_in(point, {Format::bf16, Format::fp16}); }

Support loop_of_rows(const Point& point) {
  if (point.shape.m > most_rows_of_a_loop) return Support::no("m not built");
  if (point.shape.m > 1 && point.shape.k % 8 != 0) return Support::no("k % 8 != 0 in a row loop");
  return Support::yes();
}

Support one_row_of_whole_blocks(const Point& point) {
  if (point.shape.m != 1) return Support::no("m not built");
  return point.shape.k % 32 == 0 ? Support::yes() : Support::no("k % 32 != 0");
}

/// Weights and activations are loaded 16 bytes at a time.
Support wide_loads(const Point& point) {
  if (point.a_alignment < 16) return Support::no("a not 16-byte aligned");
  return point.b_alignment >= 16 ? Support::yes() : Support::no("b not 16-byte aligned");
}

Support tensor_cores_there(const Point& point, DeviceKind kind) {
  if (kind == DeviceKind::cpu) return Support::yes();  // the executor has both
  const kernels::Device* const device = kernels::device(kind);
  const unsigned sm = device == nullptr ? 0 : device->capability().sm;
  const bool hopper = point.contracts.tensor_cores == oracle::TensorCores::hopper;
  const bool there = hopper ? sm == 90 : sm >= 80 && sm <= 89;
  return there ? Support::yes() : Support::no("tensor cores of another generation");
}

using Gate = Support (*)(const Point&);

/// The first gate that refuses decides; the schedule is the first of all.
Support first_refusal(const Point& point, Schedule schedule, std::initializer_list<Gate> gates) {
  if (point.contracts.schedule != schedule) return Support::no("another schedule");
  for (const Gate gate : gates) {
    if (const Support answer = gate(point); !answer.supported) return answer;
  }
  return Support::yes();
}

Support direct_takes(const Point& point) {
  return first_refusal(point, Schedule::split_k, {int4_blocks_of_32, half_width, loop_of_rows, wide_loads});
}

Support mma_takes(const Point& point, DeviceKind kind) {
  const Support answer = first_refusal(point, Schedule::mma, {any_weights, half_width});
  return answer.supported ? tensor_cores_there(point, kind) : answer;
}

/// What a node of a model runs: a GEMV a row while there are few, else a GEMM.
Schedule schedule_of_node(const oracle::Shape& shape) {
  const bool gemv = shape.bits == 4 && shape.block == 32 &&
                    (shape.m == 1 || (shape.m <= most_rows_of_a_loop && shape.k % 8 == 0));
  return gemv ? Schedule::split_k : Schedule::mma;
}

/// A launch of the GEMV for every row; a bf16 model stages its result or, offered the chance, does not.
ExpectedWitness rows_of_split_k(const Point& point, bool offered) {
  const std::size_t m = point.shape.m;
  ExpectedWitness expected;
  expected.launches.assign(m, "gemv_split_k");
  if (point.contracts.model != Format::bf16) return expected;
  if (offered && m == 1) {
    expected.counters["direct_store.accepted"] = 1;
    return expected;
  }
  if (!offered) {
    expected.counters["direct_store.withheld"] = 1;
  } else {  // row 0 begins where the whole result does, the others elsewhere
    expected.counters["direct_store.declined: not the whole result"] = 1;
    expected.counters["direct_store.declined: another pointer"] = m - 1;
  }
  expected.launches.push_back("narrow_staging");
  expected.counters["cast.launches"] = 1;
  return expected;
}

/// Kernels that cannot narrow; a bf16 model needs a launch for that.
ExpectedWitness without_narrowing(const Point& point, std::vector<std::string> launches) {
  ExpectedWitness expected{std::move(launches), {}};
  if (point.contracts.model != Format::bf16) return expected;
  expected.launches.push_back("narrow_staging");
  expected.counters = {{"direct_store.declined: no narrowing store", 1}, {"cast.launches", 1}};
  return expected;
}

}  // namespace

std::vector<RequiredRoute> required_routes() {
  return {{"direct", {"gemv_split_k", "narrow_staging"}},
          {"staged", {"gemv_split_k", "narrow_staging"}},
          {"dispatch", {"gemv_split_k", "narrow_staging", "dequantize_fp16", "gemm_mma"}},
          {"tile", {"tile_16x16", "narrow_staging"}},
          {"mma", {"dequantize_fp16", "gemm_mma", "narrow_staging"}},
          {"multicol", {"gemv_multicol"}},
          {"natural", {"interleave_weights", "gemv_natural"}}};
}

Support expected_support(const Point& point, std::size_t route, DeviceKind kind) {
  switch (route) {
    case direct_route:
      return direct_takes(point);
    case staged_route:
      return first_refusal(point, Schedule::split_k, {int4_blocks_of_32, bf16, loop_of_rows, wide_loads});
    case dispatch_route:
      if (point.contracts.schedule != schedule_of_node(point.shape)) return Support::no("another schedule");
      return point.contracts.schedule == Schedule::split_k ? direct_takes(point) : mma_takes(point, kind);
    case tile_route:
      return first_refusal(point, Schedule::tile, {any_weights});
    case mma_route:
      return mma_takes(point, kind);
    case multicol_route:
    case natural_route:
      return first_refusal(point, route == natural_route ? Schedule::natural : Schedule::multicol,
                           {int4_blocks_of_32, fp16, one_row_of_whole_blocks, wide_loads});
  }
  assert(false && "the family has seven routes");
  return {};
}

ExpectedWitness expected_witness(const Point& point, std::size_t route) {
  switch (route) {
    case direct_route:
      return rows_of_split_k(point, true);
    case staged_route:
      return rows_of_split_k(point, false);
    case dispatch_route:
      if (point.contracts.schedule == Schedule::split_k) return rows_of_split_k(point, true);
      return expected_witness(point, mma_route);
    case tile_route:
      return without_narrowing(point, {"tile_16x16"});
    case mma_route:
      return without_narrowing(point, {"dequantize_fp16", "gemm_mma"});
    case multicol_route:
      return {{"gemv_multicol"}, {}};
    case natural_route:
      if (point.interleaved) return {{"gemv_natural"}, {}};
      return {{"interleave_weights", "gemv_natural"}, {}};
  }
  assert(false && "the family has seven routes");
  return {};
}

bool stores_directly(const Point& point) {
  return expected_support(point, direct_route, DeviceKind::cpu).supported &&
         expected_witness(point, direct_route).counters.contains("direct_store.accepted");
}

std::vector<std::string> limits() {
  return {"every route: another schedule",
          "direct, staged, multicol, natural: bits or block other than 4 and 32",
          "tile, mma: blocks other than 16, 32, 64, 128, 256",
          "direct, mma: model fp32",
          "staged: models fp16 and fp32",
          "multicol, natural: models bf16 and fp32",
          "direct, staged: m > 8",
          "direct, staged: 1 < m <= 8 and k % 8 != 0",
          "multicol, natural: m > 1",
          "multicol, natural: k % 32 != 0",
          "mma on cuda: tensor cores of another generation",
          "direct, staged, multicol, natural: a or b not 16-byte aligned",
          "dispatch: another schedule than that of a node, and what direct or mma then refuses"};
}

}  // namespace assay::properties::matmul_nbits
