#include "kernels/runtime/guard_zone.hpp"

#include <fmt/format.h>

#include <bit>

namespace assay::kernels {
namespace {

struct Range {
  std::size_t first, count;
};

std::optional<Range> damaged(std::span<const std::byte> zone) {
  std::optional<Range> range;
  for (std::size_t i = 0; i < zone.size(); ++i) {
    if (zone[i] == guard_byte(i)) continue;
    if (!range) range = Range{i, 0};
    range->count = i + 1 - range->first;
  }
  return range;
}

}  // namespace

void fill_guard_zone(std::span<std::byte> zone) {
  for (std::size_t i = 0; i < zone.size(); ++i) zone[i] = guard_byte(i);
}

std::optional<GuardDamage> find_guard_damage(const std::string& buffer, std::size_t bytes,
                                             std::span<const std::byte> before,
                                             std::span<const std::byte> after) {
  if (const auto range = damaged(before)) {
    return GuardDamage{buffer,
                       static_cast<std::ptrdiff_t>(range->first) - static_cast<std::ptrdiff_t>(before.size()),
                       range->count};
  }
  if (const auto range = damaged(after)) {
    return GuardDamage{buffer, static_cast<std::ptrdiff_t>(bytes + range->first), range->count};
  }
  return std::nullopt;
}

void require_alignment(const std::string& buffer, std::size_t alignment) {
  if (alignment >= 1 && alignment <= 256 && std::has_single_bit(alignment)) return;
  throw DeviceError(
      fmt::format("buffer '{}': alignment {} is not a power of two from 1 to 256", buffer, alignment));
}

void require_size(const std::string& buffer, std::size_t bytes, std::size_t given) {
  if (given == bytes) return;
  throw DeviceError(fmt::format("buffer '{}': a copy of {} bytes for a buffer of {}", buffer, given, bytes));
}

}  // namespace assay::kernels
