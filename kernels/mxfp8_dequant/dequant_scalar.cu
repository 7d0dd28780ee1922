// Dequantisation with one element a thread, decoded by its fields: the legacy path. It takes any shape and
// any alignment.
#include "kernels/mxfp8_dequant/kernels.hpp"
#include "kernels/mxfp8_dequant/product.hpp"
#include "kernels/mxfp8_dequant/scale.hpp"
#include "kernels/runtime/launch.hpp"

namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant {
namespace {

constexpr unsigned threads = 256;

struct Params {
  const std::uint8_t* data;
  void* y;
  ScaleArray scales;
  std::int64_t elements, cols;
};

/// The value of a code from its fields, without the conversion instructions that GPUs before sm_89 lack.
template <Element kElement>
__device__ __forceinline__ float decoded_by_fields(std::uint32_t code) {
  constexpr bool is_e4m3 = kElement == Element::e4m3;
  constexpr std::uint32_t mantissa_bits = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15;
  constexpr std::uint32_t largest = is_e4m3 ? 0x7Eu : 0x7Bu;
  constexpr float subnormal_step = is_e4m3 ? 0x1p-9f : 0x1p-16f;
  const std::uint32_t magnitude = code & 0x7Fu;
  std::uint32_t bits = (magnitude << (23 - mantissa_bits)) + ((127 - bias) << 23);
  if (magnitude >> mantissa_bits == 0)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * subnormal_step);
  if (magnitude > largest) {
    const bool infinite = !is_e4m3 && magnitude == largest + 1;
    bits = infinite ? infinity_f32 : canonical_nan_f32;
  }
  return std::bit_cast<float>(bits | (code & 0x80u) << 24);
}

template <Element kElement, Output kOutput, Direction kDirection>
__global__ void dequant_scalar(const Params p) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= p.elements) return;
  const std::int64_t row = i / p.cols, col = i - row * p.cols;
  const float scale = p.scales.of_element<kDirection>(row, col);
  const std::uint32_t code = product_code<kOutput>(decoded_by_fields<kElement>(p.data[i]), scale);
  if constexpr (kOutput == Output::fp32) {
    static_cast<std::uint32_t*>(p.y)[i] = code;
  } else {
    static_cast<std::uint16_t*>(p.y)[i] = static_cast<std::uint16_t>(code);
  }
}

template <Element kElement, Output kOutput>
void launch(LaunchContext& context, const Problem& problem) {
  const std::int64_t elements = problem.rows * problem.cols;
  const Params params{problem.data, problem.y, ScaleArray::of(problem), elements, problem.cols};
  const auto grid = static_cast<unsigned>((elements + threads - 1) / threads);
  if (problem.direction == Direction::rowwise) {
    ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0,
                 (dequant_scalar<kElement, kOutput, Direction::rowwise>), params);
  } else {
    ASSAY_LAUNCH(context, dim3(grid), dim3(threads), 0,
                 (dequant_scalar<kElement, kOutput, Direction::colwise>), params);
  }
}

template <Element kElement>
void launch(LaunchContext& context, const Problem& problem) {
  switch (problem.output) {
    case Output::fp32:
      return launch<kElement, Output::fp32>(context, problem);
    case Output::fp16:
      return launch<kElement, Output::fp16>(context, problem);
    case Output::bf16:
      return launch<kElement, Output::bf16>(context, problem);
  }
}

}  // namespace

void launch_dequant_scalar(LaunchContext& context, const Problem& problem) {
  if (problem.element == Element::e4m3) return launch<Element::e4m3>(context, problem);
  launch<Element::e5m2>(context, problem);
}

}  // namespace assay::kernels::ASSAY_DEVICE_NAMESPACE::mxfp8_dequant
