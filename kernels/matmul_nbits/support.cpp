#include "kernels/matmul_nbits/support.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/matmul_nbits/node.hpp"

namespace assay::kernels::matmul_nbits {
namespace {

bool aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// What no route takes: a shape outside the terms of Problem, or one without an element.
Support well_formed(const Problem& p) {
  if (p.m < 1 || p.n < 1 || p.k < 1) return Support::no("no elements");
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  if (p.m >= limit || p.n >= limit || p.k >= limit / 2) return Support::no("an extent past 32 bits");
  return Support::yes();
}

bool general_weights(const Problem& p) {
  constexpr unsigned widths[] = {2, 4, 8}, blocks[] = {16, 32, 64, 128, 256};
  return std::find(std::begin(widths), std::end(widths), p.bits) != std::end(widths) &&
         std::find(std::begin(blocks), std::end(blocks), p.block) != std::end(blocks);
}

Support wide_loads(const Problem& p) {
  if (!aligned(p.a, 16)) return Support::no("a not 16-byte aligned");
  if (!aligned(p.b, 16)) return Support::no("b not 16-byte aligned");
  return Support::yes();
}

/// The GEMV, one row or row by row.
Support rows_support(const Problem& p, bool fp16) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.schedule != Schedule::split_k) return Support::no("another schedule");
  if (p.bits != 4 || p.block != 32) return Support::no("bits or block not built");
  if (p.model != Model::bf16 && !(fp16 && p.model == Model::fp16)) return Support::no("model not built");
  if (p.m > loop_max_m) return Support::no("m not built");
  if (p.m > 1 && p.k % 8 != 0) return Support::no("k % 8 != 0 in a row loop");
  return wide_loads(p);
}

Support columns_support(const Problem& p, Schedule schedule) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.schedule != schedule) return Support::no("another schedule");
  if (p.bits != 4 || p.block != 32) return Support::no("bits or block not built");
  if (p.model != Model::fp16) return Support::no("model not built");
  if (p.m != 1) return Support::no("m not built");
  if (p.k % 32 != 0) return Support::no("k % 32 != 0");
  return wide_loads(p);
}

bool has_tensor_cores(DeviceKind kind, TensorCores cores) {
  if (kind == DeviceKind::cpu) return true;  // the executor models both
  const Device* const target = device(kind);
  const unsigned sm = target == nullptr ? 0 : target->capability().sm;
  return cores == TensorCores::hopper ? sm == 90 : sm >= 80 && sm < 90;
}

}  // namespace

Support direct_supports(const Problem& p, DeviceKind) { return rows_support(p, true); }
Support staged_supports(const Problem& p, DeviceKind) { return rows_support(p, false); }

Support dispatch_supports(const Problem& p, DeviceKind kind) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.schedule != schedule_of_node(p.m, p.k, p.bits, p.block)) return Support::no("another schedule");
  return p.schedule == Schedule::split_k ? direct_supports(p, kind) : mma_supports(p, kind);
}

Support tile_supports(const Problem& p, DeviceKind) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.schedule != Schedule::tile) return Support::no("another schedule");
  if (!general_weights(p)) return Support::no("bits or block not built");
  return Support::yes();
}

Support mma_supports(const Problem& p, DeviceKind kind) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.schedule != Schedule::mma) return Support::no("another schedule");
  if (!general_weights(p)) return Support::no("bits or block not built");
  if (p.model == Model::fp32) return Support::no("model not built");
  if (!has_tensor_cores(kind, p.tensor_cores)) return Support::no("tensor cores of another generation");
  return Support::yes();
}

Support multicol_supports(const Problem& p, DeviceKind) { return columns_support(p, Schedule::multicol); }
Support natural_supports(const Problem& p, DeviceKind) { return columns_support(p, Schedule::natural); }

}  // namespace assay::kernels::matmul_nbits
