#include "properties/gated_delta/rules.hpp"

#include <algorithm>
#include <cassert>
#include <map>

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

Support bulk_copies_there(kernels::DeviceKind kind) {
  const kernels::Device* const device = kernels::device(kind);
  return device != nullptr && device->capability().sm >= 90 ? Support::yes()
                                                            : Support::no("no bulk copies before sm_90");
}

/// What the register route shows of a state in [V,K]: bulk copies in the form for large problems, which are
/// those of 256 MiB of fp32 states or more.
std::map<std::string, std::uint64_t> counters_of_vk(const Point& point) {
  const oracle::Shape& shape = point.shape;
  const std::size_t bytes = shape.batch * shape.value_heads * shape.key_dim * shape.value_dim * sizeof(float);
  const bool large = point.contracts.state == formats::Format::fp32 && bytes >> 28 != 0;
  const bool bulk = point.tuning == Tuning::by_size ? large : point.tuning == Tuning::large;
  if (bulk) return {{"bulk_stores", 1}};
  return {};
}

}  // namespace

std::vector<RequiredRoute> required_routes() {
  return {{"register", {"recurrent_register_kv", "recurrent_register_vk"}},
          {"two_pass", {"recurrent_two_pass"}}};
}

Support expected_support(const Point& point, std::size_t route, kernels::DeviceKind kind) {
  if (const Support answer = common(point); !answer.supported) return answer;
  switch (route) {
    case register_route:
      if (point.state_alignment < 16) return Support::no("state not 16-byte aligned");
      return point.contracts.layout == Layout::vk && point.tuning == Tuning::large ? bulk_copies_there(kind)
                                                                                   : Support::yes();
    case two_pass_route:
      return point.contracts.layout == Layout::kv ? Support::yes() : Support::no("state layout is [V,K]");
  }
  assert(false && "the family has two routes");
  return {};
}

ExpectedWitness expected_witness(const Point& point, std::size_t route) {
  switch (route) {
    case register_route:
      if (point.contracts.layout == Layout::kv) return {{"recurrent_register_kv"}, {}};
      return {{"recurrent_register_vk"}, counters_of_vk(point)};
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
          "two_pass: states in layout [V,K]",
          "register: a state that is not 16-byte aligned",
          "register on cuda before sm_90: the form for large problems of [V,K]"};
}

}  // namespace assay::properties::gated_delta
