// From a wrong output of a dequantisation to the known fault that gives it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "properties/mxfp8_dequant/workload.hpp"

namespace assay::properties::mxfp8_dequant {

/// What had to be written, was written, and was there before.
struct Output {
  const arithmetic::Acceptance& expected;
  std::span<const std::byte> actual, before;
};

/// Names the damage; empty when no known fault explains it. `scale_buffer` is what the kernel was given, the
/// scales of `codes` in their places.
std::vector<Diagnosis> diagnose(const Point&, const Codes&, std::span<const std::byte> scale_buffer,
                                const Output&);

}  // namespace assay::properties::mxfp8_dequant
