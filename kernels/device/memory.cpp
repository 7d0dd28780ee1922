#include "kernels/device/memory.hpp"

#include <fmt/format.h>

#include "kernels/executor/executor.hpp"

namespace assay::kernels::cpu {

void fail_misaligned(const void* address, std::size_t alignment) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  throw executor::ExecutorError(
      executor::FaultKind::misaligned,
      fmt::format(
          "block ({}, {}, {}), lane ({}, {}, {}): misaligned access: it needs a multiple of {} bytes and "
          "is at one of {}",
          blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, alignment,
          bits & (0 - bits)));
}

}  // namespace assay::kernels::cpu
