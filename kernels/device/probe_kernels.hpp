// What the probes share: the two kernels that run a wrapper and its twin over a range of inputs.
#pragma once

#include <bit>
#include <vector>

#include "kernels/device/arch.hpp"
#include "kernels/device/twin_operands.hpp"
#include "kernels/device/twin_probe.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE {

using u32 = std::uint32_t;

/// The parts of the table that have sources of their own.
std::vector<WrapperProbe> transfer_probes();
std::vector<WrapperProbe> matrix_probes();

__host__ __device__ constexpr float as_float(u32 bits) { return std::bit_cast<float>(bits); }
__host__ __device__ constexpr u32 as_bits(float value) { return std::bit_cast<u32>(value); }

inline constexpr unsigned threads = 256;
inline unsigned blocks_for(u32 count) { return (count + threads - 1) / threads; }

template <class Operation>
__global__ void probe_instruction(std::uint64_t first, u32 count, typename Operation::Output* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = static_cast<typename Operation::Output>(Operation::instruction(static_cast<u32>(first + i)));
}

template <class Operation>
__global__ void probe_twin(std::uint64_t first, u32 count, typename Operation::Output* out) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = static_cast<typename Operation::Output>(Operation::twin_of(static_cast<u32>(first + i)));
}

/// The output buffer as what the kernel writes. A range that does not fit is the caller's error.
template <class Output>
Output* output_of(DeviceBuffer& out, u32 count) {
  if (out.bytes() < sizeof(Output) * count)
    throw DeviceError("probe: the output buffer is smaller than the range");
  return static_cast<Output*>(out.data());
}

template <class Operation>
void run_instruction(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (count == 0) return;
  ASSAY_LAUNCH(context, dim3(blocks_for(count)), dim3(threads), 0, (probe_instruction<Operation>), first,
               count, output_of<typename Operation::Output>(out, count));
}

template <class Operation>
void run_twin(LaunchContext& context, std::uint64_t first, u32 count, DeviceBuffer& out) {
  if (count == 0) return;
  ASSAY_LAUNCH(context, dim3(blocks_for(count)), dim3(threads), 0, (probe_twin<Operation>), first, count,
               output_of<typename Operation::Output>(out, count));
}

template <class Operation>
constexpr WrapperProbe probe(std::string_view name, int exhaustive_bits, std::uint64_t domain) {
  return {name,
          exhaustive_bits,
          domain,
          static_cast<int>(8 * sizeof(typename Operation::Output)),
          run_instruction<Operation>,
          run_twin<Operation>,
          [](u32 input) { return Operation::twin_of(input); }};
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE
