#include "properties/mxfp8_cast/rules.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using kernels::Support;

enum Route : std::size_t { register_route, staged_route, dispatch_route };

bool rowwise_only(const Point& point) { return point.direction == Direction::rowwise; }

/// Which buffer of those in use is not 16-byte aligned, in words.
std::string misaligned(const Point& point) {
  if (point.x_alignment() < 16) return "x not 16-byte aligned";
  for (const oracle::Direction direction : point.directions()) {
    if (point.data_alignment(direction) >= 16) continue;
    return direction == oracle::Direction::rowwise ? "data not 16-byte aligned"
                                                   : "colwise data not 16-byte aligned";
  }
  return {};
}

/// The shapes of the register kernels: what the first rule that fails says, or nothing.
std::string misshapen(const Point& point) {
  const std::size_t rows = point.shape.rows, cols = point.shape.cols;
  if (rowwise_only(point)) return cols % 128 != 0 ? "cols % 128 != 0" : "";
  if (rows % 32 != 0) return "rows % 32 != 0";
  return cols % 256 != 0 ? "cols % 256 != 0" : "";
}

/// The published gates of the register kernels, likewise.
std::string declined(const Point& point) {
  if (point.input != formats::Format::bf16) return "input is not bf16";
  if (point.contracts.layout != oracle::ScaleLayout::linear) return "scales are swizzled";
  if (const std::string why = misshapen(point); !why.empty()) return why;
  const bool rowwise = point.direction != Direction::colwise, colwise = !rowwise_only(point);
  if ((rowwise && point.shape.rowwise.stride != point.shape.cols / oracle::block) ||
      (colwise && point.shape.colwise.stride != point.shape.cols))
    return "scales are not packed";
  return misaligned(point);
}

std::string refused_by_register(const Point& point) {
  if (!rowwise_only(point) && point.input != formats::Format::bf16) return "input is not bf16";
  if (point.contracts.layout != oracle::ScaleLayout::linear) return "scales are swizzled";
  if (const std::string why = misshapen(point); !why.empty()) return why;
  return misaligned(point);
}

std::string refused_by_staged(const Point& point) {
  if (point.contracts.layout != oracle::ScaleLayout::linear) return "scales are swizzled";
  return rowwise_only(point) ? "" : "direction is not rowwise";
}

const char* register_kernel(const Point& point) {
  return rowwise_only(point)                           ? "rowwise_register"
         : point.direction == Direction::bidimensional ? "bidimensional_register"
                                                       : "colwise_register";
}

}  // namespace

std::vector<RequiredRoute> required_routes() {
  return {{"register", {"rowwise_register", "colwise_register", "bidimensional_register"}},
          {"staged", {"rowwise_staged"}},
          {"dispatch", {"rowwise_register", "colwise_register", "bidimensional_register", "rowwise_staged"}}};
}

Support expected_support(const Point& point, std::size_t route) {
  const bool by_register = route == register_route || (route == dispatch_route && declined(point).empty());
  const std::string refusal = by_register ? refused_by_register(point) : refused_by_staged(point);
  return refusal.empty() ? Support::yes() : Support::no(refusal);
}

ExpectedWitness expected_witness(const Point& point, std::size_t route) {
  if (route == register_route) return {{register_kernel(point)}, {}};
  if (route == staged_route) return {{"rowwise_staged"}, {}};
  const std::string reason = declined(point);
  if (reason.empty()) return {{register_kernel(point)}, {{"dispatch.register", 1}}};
  return {{"rowwise_staged"}, {{"dispatch.staged: " + reason, 1}}};
}

std::vector<std::string> limits() {
  return {"register: cols % 128 != 0, rowwise",
          "register: rows % 32 != 0, cols % 256 != 0 or an input other than bf16, colwise and bidimensional",
          "register: scales are swizzled",
          "register: x or data not 16-byte aligned",
          "staged: direction is not rowwise",
          "staged: scales are swizzled"};
}

}  // namespace assay::properties::mxfp8_cast
