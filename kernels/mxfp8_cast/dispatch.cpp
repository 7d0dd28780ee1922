#include "kernels/mxfp8_cast/dispatch.hpp"

#include "kernels/mxfp8_cast/support.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

/// Each scale row is followed by the next at once.
bool packed(const Problem& p) {
  return (!p.has_rowwise() || p.rowwise.scale_stride == p.cols / 32) &&
         (!p.has_colwise() || p.colwise.scale_stride == p.cols);
}

}  // namespace

Decision decide(const Problem& p) {
  if (p.input != Input::bf16) return {false, "input is not bf16"};
  if (p.scale_layout != ScaleLayout::linear) return {false, "scales are swizzled"};
  if (p.direction == Direction::rowwise) {
    if (p.cols % 128 != 0) return {false, "cols % 128 != 0"};
  } else {
    if (p.rows % 32 != 0) return {false, "rows % 32 != 0"};
    if (p.cols % 256 != 0) return {false, "cols % 256 != 0"};
  }
  if (!packed(p)) return {false, "scales are not packed"};
  if (const std::string_view why = misaligned_for_vectors(p); !why.empty()) return {false, why};
  return {true, {}};
}

std::string counter_of(const Decision& decision) {
  if (decision.use_register) return "dispatch.register";
  return "dispatch.staged: " + std::string(decision.reason);
}

}  // namespace assay::kernels::mxfp8_cast
