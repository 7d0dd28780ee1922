// The family gated_delta as the gate sees it.
#include <fmt/core.h>

#include <cstring>
#include <map>

#include "fixtures/tensor/errors.hpp"
#include "kernels/gated_delta/delta.hpp"
#include "properties/gated_delta/benchmarks.hpp"
#include "properties/gated_delta/cases.hpp"
#include "properties/gated_delta/properties.hpp"
#include "properties/gated_delta/readings.hpp"
#include "properties/gated_delta/rules.hpp"
#include "properties/gated_delta/tensors.hpp"
#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {
namespace {

/// Contents in the order of given(), as operands.
fixture::Operands operands_from(const Point& point, Contents contents) {
  fixture::Operands operands;
  std::size_t next = 0;
  const auto take = [&](std::vector<std::byte>& to) { to = std::move(contents.at(next++)); };
  for (auto* to : {&operands.q, &operands.k, &operands.v}) take(*to);
  if (point.contracts.gates == oracle::Gates::raw) {
    for (auto* to : {&operands.a, &operands.b, &operands.a_log, &operands.dt_bias}) take(*to);
  } else {
    for (auto* to : {&operands.g, &operands.beta}) take(*to);
  }
  std::vector<std::byte> slots;
  take(slots);
  operands.slots.resize(slots.size() / sizeof(std::int32_t));
  std::memcpy(operands.slots.data(), slots.data(), slots.size());
  take(operands.state);
  return operands;
}

/// Slots that name no slot of the pool, or one twice, have no right result.
void refuse_slots(const Point& point, const std::vector<std::int32_t>& slots) {
  const auto pool = static_cast<std::int64_t>(shape_of(point).pool);
  std::map<std::int32_t, std::size_t> owner;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] >= pool)
      throw BadInput(fmt::format("slots[{}] is {}, past the pool of {}", i, slots[i], pool));
    if (slots[i] < 0) continue;
    const auto [first, fresh] = owner.emplace(slots[i], i);
    if (!fresh)
      throw BadInput(fmt::format("slots[{}] and slots[{}] are both {}", first->second, i, slots[i]));
  }
}

class DeltaFamily : public Family {
 public:
  std::string_view name() const override { return "gated_delta"; }

  std::string_view summary() const override {
    return "decode steps of the gated delta rule, the state updated in place: bf16 | fp32, [K,V] | [V,K]";
  }

  std::vector<kernels::RouteInfo> routes() const override { return routes_on(kernels::DeviceKind::cpu); }

  std::vector<std::string> cases(Level level, std::uint64_t seed) const override {
    std::vector<std::string> tokens;
    for (const Point& point : gated_delta::cases(level, seed)) tokens.push_back(print(point));
    return tokens;
  }

  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    return std::make_unique<DeltaWorkload>(parse(token));
  }

  std::unique_ptr<Workload> blank(std::string_view token) const override {
    const Point point = parse(token);
    return std::make_unique<DeltaWorkload>(point, zero_operands(point));
  }

  std::unique_ptr<Workload> with_contents(std::string_view token, Contents contents) const override {
    Point point = parse(token);
    fixture::Operands operands = operands_from(point, std::move(contents));
    refuse_slots(point, operands.slots);
    point.slots = Slots::in_order;  // whatever the token says: these are in use
    return std::make_unique<DeltaWorkload>(point, std::move(operands));
  }

  std::vector<std::string> readings(std::span<const OfferedTensor> tensors,
                                    std::string_view fixed) const override {
    return gated_delta::readings(tensors, fixed);
  }

  std::string tells_apart(std::string_view key) const override { return gated_delta::tells_apart(key); }

  /// The cast's slice of real weights, as states and as keys.
  std::vector<std::string> real_inputs() const override {
    return {"../mxfp8_cast/all-MiniLM-L6-v2.slice.safetensors"};
  }

  /// A tensor of any rank, cut into rows of 64, is judged as states, and as keys: at the quick level the
  /// first 4,096 of its rows (tensors.hpp).
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor& tensor,
                                                   const std::filesystem::path& file,
                                                   Level level) const override {
    const std::size_t most_keys = level == Level::quick ? 4096 : ~std::size_t{0};
    std::vector<std::unique_ptr<Workload>> workloads;
    for (Point& point : contracts_for_files(level)) {
      try {
        point = point_for(tensor, point, most_keys);
        point.on = fmt::format("{}:{}", file.string(), tensor.name);
        workloads.push_back(std::make_unique<DeltaWorkload>(point, operands_of(tensor, point)));
      } catch (const BadInput& reason) {
        throw BadInput(fmt::format("{}: {}", file.string(), reason.what()));
      }
    }
    return workloads;
  }

  std::vector<Property> properties() const override { return delta_properties(); }

  std::map<std::string, std::vector<std::string>> golden_cases() const override {
    std::map<std::string, std::vector<std::string>> records;
    for (const Point& point : gated_delta::golden_cases())
      records[record_name(point)].push_back(print(point));
    return records;
  }

  std::vector<RequiredRoute> required_routes() const override { return gated_delta::required_routes(); }

  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind device) const override {
    std::vector<kernels::RouteInfo> infos;
    for (const auto& route : kernels::gated_delta::routes(device)) infos.push_back(route.info);
    return infos;
  }

  std::vector<Benchmark> benchmarks() const override { return gated_delta::benchmarks(); }

  std::vector<std::string> limits() const override { return gated_delta::limits(); }
};

const DeltaFamily family;
const Register registration(&family);

}  // namespace
}  // namespace assay::properties::gated_delta
