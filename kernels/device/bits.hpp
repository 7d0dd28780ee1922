// Byte and bit permutations.
#pragma once

#include "kernels/device/arch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

namespace twin {

/// Byte i of the result is byte (selector nibble i & 7) of the eight bytes b:a (a holds bytes 0 to 3); nibble
/// bit 3 replicates that byte's sign over all eight bits instead.
__host__ __device__ __forceinline__ constexpr std::uint32_t prmt(std::uint32_t a, std::uint32_t b,
                                                                 std::uint32_t selector) {
  const std::uint64_t source = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i) & 0xFu;
    std::uint32_t byte = static_cast<std::uint32_t>(source >> (8 * (nibble & 7u))) & 0xFFu;
    if (nibble & 8u) byte = byte & 0x80u ? 0xFFu : 0u;
    result |= byte << (8 * i);
  }
  return result;
}

/// Every bit of the result is bit (a<<2 | b<<1 | c) of the truth table.
template <std::uint8_t kTable>
__host__ __device__ __forceinline__ constexpr std::uint32_t lop3(std::uint32_t a, std::uint32_t b,
                                                                 std::uint32_t c) {
  std::uint32_t result = 0;
  for (std::uint32_t row = 0; row < 8; ++row) {
    if (!(kTable >> row & 1)) continue;
    result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  return result;
}

}  // namespace twin

__device__ __forceinline__ std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
#if ASSAY_SM >= 20
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
#else
  return twin::prmt(a, b, selector);
#endif
}

/// kTable is the function applied to a = 0xF0, b = 0xCC, c = 0xAA; (a & b) | c is 0xEA.
template <std::uint8_t kTable>
__device__ __forceinline__ std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#if ASSAY_SM >= 50
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(kTable));
  return result;
#else
  return twin::lop3<kTable>(a, b, c);
#endif
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
