#include "properties/bench/agree.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "oracles/arithmetic/acceptance.hpp"
#include "properties/gate/damage.hpp"
#include "properties/gate/describe.hpp"

namespace assay::properties::bench {
namespace {

using Bytes = std::vector<std::byte>;

/// The first element that differs and how many do; nothing when none does.
std::optional<Finding> difference(const OutputBuffer& output, std::string_view first_route,
                                  const Bytes& first, std::string_view route, const Bytes& actual) {
  if (std::memcmp(first.data(), actual.data(), actual.size()) == 0) return std::nullopt;
  const int width = formats::storage_bytes(output.format);
  std::size_t count = 0, at = 0;
  for (std::size_t i = output.elements; i-- > 0;) {
    if (arithmetic::load_code(first, width, i) == arithmetic::load_code(actual, width, i)) continue;
    ++count;
    at = i;
  }
  Finding finding;
  finding.code = Code::routes_differ;
  finding.summary = fmt::format("{}: {} of {} elements differ between the routes '{}' and '{}'", output.name,
                                grouped(count), grouped(output.elements), first_route, route);
  finding.notes.push_back(
      fmt::format("{}: '{}' left {}, '{}' left {}", describe_place(output, at), first_route,
                  describe_code(output.format, arithmetic::load_code(first, width, at)), route,
                  describe_code(output.format, arithmetic::load_code(actual, width, at))));
  return finding;
}

Finding finding_of(Code code, std::string summary) {
  Finding finding;
  finding.code = code;
  finding.summary = std::move(summary);
  return finding;
}

}  // namespace

Agreement check_agreement(const Family& family, const Workload& workload,
                          const std::vector<std::size_t>& routes, kernels::Device& device, const Buffers& in,
                          const Buffers& out) {
  Agreement agreement;
  const std::vector<kernels::RouteInfo> infos = family.routes();
  const std::vector<OutputBuffer> outputs = workload.outputs();
  std::size_t largest = 0;
  for (const auto& buffer : out.owned) largest = std::max(largest, buffer->bytes());
  const Bytes poison = poisoned(largest, false);
  std::vector<Bytes> first(outputs.size());
  Bytes actual;

  for (const std::size_t route : routes) {
    const std::string_view name = infos[route].name;
    if (const auto support = workload.supports(route, device.kind()); !support.supported) {
      agreement.findings = {finding_of(Code::unlisted_unsupported,
                                       fmt::format("the route '{}' refuses it ({})", name, support.reason))};
      return agreement;
    }
    for (std::size_t i = 0; i < out.owned.size(); ++i) {
      const bool in_place = i < outputs.size() && !outputs[i].initial.empty();
      out.owned[i]->upload(in_place ? outputs[i].initial : std::span(poison).first(out.owned[i]->bytes()));
    }
    kernels::Witness& witness = agreement.witnesses.emplace_back();
    if (const auto fault = launch_and_wait(workload, route, device, in, out, witness)) {
      agreement.findings = {finding_of(Code::kernel_fault, fmt::format("route '{}': {}", name, *fault))};
      agreement.stopped = true;
      return agreement;
    }
    agreement.findings = check_witness(family, workload, route, witness);
    for (Finding& finding : agreement.findings)
      finding.summary = fmt::format("'{}': {}", name, finding.summary);
    if (!agreement.findings.empty()) return agreement;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Bytes& to = route == routes.front() ? first[i] : actual;
      to.resize(out.owned[i]->bytes());
      out.owned[i]->download(to);
      if (route == routes.front()) continue;
      if (auto found = difference(outputs[i], infos[routes.front()].name, first[i], name, actual)) {
        agreement.findings = {*found};
        return agreement;
      }
    }
  }
  return agreement;
}

}  // namespace assay::properties::bench
