#include "kernels/gated_delta/support.hpp"

#include <algorithm>
#include <vector>

namespace assay::kernels::gated_delta {
namespace {

bool has_bulk_copies(DeviceKind kind) {
  const Device* const target = device(kind);
  return target != nullptr && target->capability().sm >= 90;
}

bool built(std::int64_t extent) { return extent == 64 || extent == 128 || extent == 256; }

/// What neither route takes.
Support well_formed(const Problem& p) {
  if (p.batch < 1 || p.steps < 1 || p.key_heads < 1 || p.value_heads < 1) return Support::no("no elements");
  // 65535 rows of thread blocks, and eight thread blocks of a head in a row.
  if (p.batch >= std::int64_t{1} << 30 || p.steps >= std::int64_t{1} << 31 ||
      p.value_heads >= std::int64_t{1} << 28)
    return Support::no("an extent past 32 bits");
  if (!built(p.key_dim)) return Support::no("key_dim is not 64, 128 or 256");
  if (!built(p.value_dim)) return Support::no("value_dim is not 64, 128 or 256");
  if (p.value_heads % p.key_heads != 0) return Support::no("value_heads % key_heads != 0");
  std::vector<std::int32_t> taken;
  for (const std::int32_t slot : p.slots_on_host) {
    if (slot >= p.pool) return Support::no("slot past the pool");
    if (slot >= 0) taken.push_back(slot);
  }
  std::sort(taken.begin(), taken.end());
  if (std::adjacent_find(taken.begin(), taken.end()) != taken.end())
    return Support::no("two sequences in one slot");
  return Support::yes();
}

}  // namespace

Support register_supports(const Problem& p, DeviceKind kind) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (reinterpret_cast<std::uintptr_t>(p.state) % 16 != 0) return Support::no("state not 16-byte aligned");
  if (p.contracts.layout == Layout::vk && p.tuning == Tuning::large && !has_bulk_copies(kind))
    return Support::no("no bulk copies before sm_90");
  return Support::yes();
}

Support two_pass_supports(const Problem& p, DeviceKind) {
  if (const Support s = well_formed(p); !s.supported) return s;
  if (p.contracts.layout == Layout::vk) return Support::no("state layout is [V,K]");
  return Support::yes();
}

}  // namespace assay::kernels::gated_delta
