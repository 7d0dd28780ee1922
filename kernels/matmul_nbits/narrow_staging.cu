// The cast launch behind a staging buffer: fp16 to bf16, one element a thread. What a direct store leaves
// out.
#include "kernels/matmul_nbits/operands.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits {
namespace {

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads)
    narrow_staging(const std::uint16_t* staging, std::uint16_t* y, const std::uint64_t elements) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < elements) y[i] = static_cast<std::uint16_t>(bf16_of_fp16(staging[i]));
}

}  // namespace

void launch_narrow_staging(LaunchContext& context, const void* staging, void* y, std::int64_t elements) {
  const auto count = static_cast<std::uint64_t>(elements);
  ASSAY_LAUNCH(context, dim3(static_cast<unsigned>((count + threads - 1) / threads)), dim3(threads), 0,
               narrow_staging, static_cast<const std::uint16_t*>(staging), static_cast<std::uint16_t*>(y),
               count);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::matmul_nbits
