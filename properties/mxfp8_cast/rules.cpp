#include "properties/mxfp8_cast/rules.hpp"

#include <fmt/core.h>

#include <cassert>

namespace assay::properties::mxfp8_cast {
namespace {

using formats::Format;
using kernels::Support;

bool rowwise_only(const Point& point) { return point.direction == Direction::rowwise; }

std::string register_kernel(const Point& point) {
  switch (point.direction) {
    case Direction::rowwise:
      return "rowwise_register";
    case Direction::colwise:
      return "colwise_register";
    case Direction::bidimensional:
      return "bidimensional_register";
  }
  assert(false && "unknown direction");
  return {};
}

std::string staged_kernel(const Point& point) {
  return rowwise_only(point) ? "rowwise_staged" : "bidimensional_tma";
}

/// Wide loads and stores, and tensor copies, move 16 bytes at a time.
Support aligned(const Point& point) {
  if (point.x_alignment() < 16) return Support::no("x not 16-byte aligned");
  for (const auto direction : point.directions()) {
    if (point.data_alignment(direction) >= 16) continue;
    const bool rowwise = direction == oracle::Direction::rowwise;
    return Support::no(rowwise ? "data not 16-byte aligned" : "colwise data not 16-byte aligned");
  }
  return Support::yes();
}

/// A CTA of the colwise kernels owns a band of 32 rows and 256 columns of it.
Support register_shape(const Point& point) {
  if (rowwise_only(point)) {
    return point.shape.cols % 128 == 0 ? Support::yes() : Support::no("cols % 128 != 0");
  }
  if (point.shape.rows % 32 != 0) return Support::no("rows % 32 != 0");
  return point.shape.cols % 256 == 0 ? Support::yes() : Support::no("cols % 256 != 0");
}

Support linear(const Point& point) {
  return point.contracts.layout == oracle::ScaleLayout::linear ? Support::yes()
                                                               : Support::no("scales are swizzled");
}

Support bf16(const Point& point) {
  return point.input == Format::bf16 ? Support::yes() : Support::no("input is not bf16");
}

Support packed(const Point& point) {
  for (const auto direction : point.directions()) {
    if (point.shape.extent(direction).stride != point.shape.scales(direction).stride)
      return Support::no("scales are not packed");
  }
  return Support::yes();
}

using Gate = Support (*)(const Point&);

/// The first gate that refuses decides.
Support first_refusal(const Point& point, std::initializer_list<Gate> gates) {
  for (const Gate gate : gates) {
    if (const Support answer = gate(point); !answer.supported) return answer;
  }
  return Support::yes();
}

Support register_takes(const Point& point) {
  if (rowwise_only(point)) return first_refusal(point, {linear, register_shape, aligned});
  return first_refusal(point, {bf16, linear, register_shape, aligned});
}

Support staged_takes(const Point& point) { return rowwise_only(point) ? Support::yes() : aligned(point); }

/// What dispatch sends to the register kernels; the reason is the one that it counts.
Support dispatched_to_register(const Point& point) {
  return first_refusal(point, {bf16, linear, register_shape, packed, aligned});
}

}  // namespace

std::vector<RequiredRoute> required_routes() {
  return {{"register", {"rowwise_register", "colwise_register", "bidimensional_register"}},
          {"staged", {"rowwise_staged", "bidimensional_tma"}},
          {"dispatch",
           {"rowwise_register", "colwise_register", "bidimensional_register", "rowwise_staged",
            "bidimensional_tma"}},
          {"register-sm100", {"rowwise_register", "colwise_register", "bidimensional_register"}}};
}

Support expected_support(const Point& point, std::size_t route) {
  switch (route) {
    case register_route:
    case register_sm100_route:  // another tuning of the same kernels
      return register_takes(point);
    case staged_route:
      return staged_takes(point);
    case dispatch_route:
      return dispatched_to_register(point).supported ? Support::yes() : staged_takes(point);
  }
  assert(false && "the cast has four routes");
  return {};
}

ExpectedWitness expected_witness(const Point& point, std::size_t route) {
  switch (route) {
    case register_route:
    case register_sm100_route:  // another tuning of the same kernels
      return {{register_kernel(point)}, {}};
    case staged_route:
      return {{staged_kernel(point)}, {}};
    case dispatch_route: {
      const Support choice = dispatched_to_register(point);
      if (choice.supported) return {{register_kernel(point)}, {{"dispatch.register", 1}}};
      return {{staged_kernel(point)}, {{fmt::format("dispatch.staged: {}", choice.reason), 1}}};
    }
  }
  assert(false && "the cast has four routes");
  return {};
}

std::vector<std::string> limits() {
  return {"register, register-sm100: scales are swizzled",
          "register, register-sm100; rowwise: cols % 128 != 0",
          "register, register-sm100; colwise or bidimensional: input is not bf16",
          "register, register-sm100; colwise or bidimensional: rows % 32 != 0",
          "register, register-sm100; colwise or bidimensional: cols % 256 != 0",
          "register, register-sm100: x not 16-byte aligned",
          "register, register-sm100: data not 16-byte aligned",
          "register, register-sm100: colwise data not 16-byte aligned",
          "staged, colwise or bidimensional: x not 16-byte aligned",
          "staged, colwise or bidimensional: data not 16-byte aligned",
          "staged, colwise or bidimensional: colwise data not 16-byte aligned",
          "dispatch: what the route that it would choose refuses"};
}

}  // namespace assay::properties::mxfp8_cast
