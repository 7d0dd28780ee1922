#include "properties/gated_delta/rules.hpp"

#include <algorithm>
#include <cassert>

namespace assay::properties::gated_delta {
namespace {

using kernels::Support;
using oracle::Layout;

bool built(std::size_t dim) { return dim == 64 || dim == 128 || dim == 256; }

/// What both routes ask for, in their order. An id past the pool tells before two sequences in one slot do.
Support common(const Point& point) {
  const oracle::Shape& shape = point.shape;
  if (!built(shape.key_dim)) return Support::no("key_dim is not 64, 128 or 256");
  if (!built(shape.value_dim)) return Support::no("value_dim is not 64, 128 or 256");
  if (shape.value_heads % shape.key_heads != 0) return Support::no("value_heads % key_heads != 0");
  if (point.slots == Slots::past) return Support::no("slot past the pool");
  if (point.slots == Slots::doubled) return Support::no("two sequences in one slot");
  return Support::yes();
}

}  // namespace

std::vector<RequiredRoute> required_routes() {
  return {{"register", {"recurrent_register_kv", "recurrent_register_vk"}},
          {"two_pass", {"recurrent_two_pass"}}};
}

Support expected_support(const Point& point, std::size_t route) {
  if (const Support answer = common(point); !answer.supported) return answer;
  switch (route) {
    case register_route:
      return point.state_alignment >= 16 ? Support::yes() : Support::no("state not 16-byte aligned");
    case two_pass_route:
      return point.contracts.layout == Layout::kv ? Support::yes() : Support::no("state layout is [V,K]");
  }
  assert(false && "the family has two routes");
  return {};
}

ExpectedWitness expected_witness(const Point& point, std::size_t route) {
  switch (route) {
    case register_route:
      return {{point.contracts.layout == Layout::kv ? "recurrent_register_kv" : "recurrent_register_vk"}, {}};
    case two_pass_route:
      return {{"recurrent_two_pass"}, {}};
  }
  assert(false && "the family has two routes");
  return {};
}

std::vector<std::string> limits() {
  return {"register, two_pass: key_dim or value_dim other than 64, 128, 256",
          "register, two_pass: value_heads % key_heads != 0",
          "register, two_pass: a slot past the pool, two sequences in one slot",
          "two_pass: states in layout [V,K]", "register: a state that is not 16-byte aligned"};
}

}  // namespace assay::properties::gated_delta
