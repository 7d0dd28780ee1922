// Guard zones: bytes around a buffer that hold a known pattern, so that a write outside the buffer is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/runtime/device.hpp"

namespace assay::kernels {

/// Byte `i` of a guard zone. It changes with i, so that neither a constant fill nor a shifted copy of the
/// zone passes.
constexpr std::byte guard_byte(std::size_t i) {
  return static_cast<std::byte>((i * 0x9Du + (i >> 8) * 0x35u + 0xC3u) & 0xFFu);
}

void fill_guard_zone(std::span<std::byte> zone);

/// Compares the zones before and after a buffer of `bytes` bytes with the pattern. Reports the first zone
/// that is damaged, from its first damaged byte to its last; offsets are relative to the buffer.
std::optional<GuardDamage> find_guard_damage(const std::string& buffer, std::size_t bytes,
                                             std::span<const std::byte> before,
                                             std::span<const std::byte> after);

/// Throws DeviceError unless 1 <= alignment <= 256 is a power of two.
void require_alignment(const std::string& buffer, std::size_t alignment);

/// Throws DeviceError unless a copy to or from `buffer` has exactly its size.
void require_size(const std::string& buffer, std::size_t bytes, std::size_t given);

}  // namespace assay::kernels
