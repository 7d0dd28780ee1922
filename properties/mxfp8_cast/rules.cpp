#include "properties/mxfp8_cast/rules.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using kernels::Support;

enum Route : std::size_t { register_route, staged_route };

/// What no route takes.
Support common(const Point& point) {
  if (point.direction != Direction::rowwise) return Support::no("direction is not rowwise");
  if (point.contracts.layout != oracle::ScaleLayout::linear) return Support::no("scales are swizzled");
  return Support::yes();
}

}  // namespace

std::vector<RequiredRoute> required_routes() {
  return {{"register", {"rowwise_register"}}, {"staged", {"rowwise_staged"}}};
}

Support expected_support(const Point& point, std::size_t route) {
  if (const Support answer = common(point); !answer.supported || route == staged_route) return answer;
  if (point.shape.cols % 128 != 0) return Support::no("cols % 128 != 0");
  if (point.x_alignment() < 16) return Support::no("x not 16-byte aligned");
  if (point.data_alignment(oracle::Direction::rowwise) < 16) return Support::no("data not 16-byte aligned");
  return Support::yes();
}

ExpectedWitness expected_witness(const Point&, std::size_t route) {
  return {{route == register_route ? "rowwise_register" : "rowwise_staged"}, {}};
}

std::vector<std::string> limits() {
  return {"direction is not rowwise", "scales are swizzled", "register: cols % 128 != 0",
          "register: x not 16-byte aligned", "register: data not 16-byte aligned"};
}

}  // namespace assay::properties::mxfp8_cast
