// The family mxfp8_cast as the gate sees it.
#include <fmt/core.h>

#include <cassert>
#include <map>

#include "fixtures/tensor/errors.hpp"
#include "kernels/mxfp8_cast/cast.hpp"
#include "properties/mxfp8_cast/benchmarks.hpp"
#include "properties/mxfp8_cast/cases.hpp"
#include "properties/mxfp8_cast/properties.hpp"
#include "properties/mxfp8_cast/readings.hpp"
#include "properties/mxfp8_cast/rules.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using formats::Format;

const fixtures::Tensor& converted(std::map<Format, fixtures::Tensor>& done, const fixtures::Tensor& tensor,
                                  Format input) {
  const auto found = done.find(input);
  return found != done.end() ? found->second : done.emplace(input, as_input(tensor, input)).first->second;
}

std::unique_ptr<Workload> filled(const Point& point, std::vector<std::byte> x) {
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(x));
  return std::make_unique<CastWorkload>(point, *owner, owner);
}

class CastFamily : public Family {
 public:
  std::string_view name() const override { return "mxfp8_cast"; }

  std::string_view summary() const override {
    return "MXFP8 cast along rows, columns or both: fp32 | fp16 | bf16 to e4m3 | e5m2 in blocks of 32 with "
           "e8m0 "
           "scales";
  }

  std::vector<kernels::RouteInfo> routes() const override { return routes_on(kernels::DeviceKind::cpu); }

  std::vector<std::string> cases(Level level, std::uint64_t seed) const override {
    std::vector<std::string> tokens;
    for (const Point& point : mxfp8_cast::cases(level, seed)) tokens.push_back(print(point));
    return tokens;
  }

  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    return std::make_unique<CastWorkload>(parse(token));
  }

  std::unique_ptr<Workload> blank(std::string_view token) const override {
    const Point point = parse(token);
    return filled(point, std::vector<std::byte>(x_bytes(point)));
  }

  std::unique_ptr<Workload> with_contents(std::string_view token, Contents contents) const override {
    assert(contents.size() == 1);
    return filled(parse(token), std::move(contents[0]));
  }

  std::vector<std::string> readings(std::span<const OfferedTensor> tensors,
                                    std::string_view fixed) const override {
    return mxfp8_cast::readings(tensors, fixed);
  }

  std::string tells_apart(std::string_view key) const override { return mxfp8_cast::tells_apart(key); }

  std::vector<std::string> real_inputs() const override { return {"all-MiniLM-L6-v2.slice.safetensors"}; }

  /// A tensor of any rank is judged as [product of the leading dimensions, last dimension].
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor& tensor,
                                                   const std::filesystem::path& file,
                                                   Level level) const override {
    const auto refuse = [&](const std::string& reason) {
      throw BadInput(fmt::format("{}: tensor '{}': {}", file.string(), tensor.name, reason));
    };
    Format own{};
    try {
      own = input_format(tensor);
    } catch (const BadInput& reason) {
      throw BadInput(fmt::format("{}: {}", file.string(), reason.what()));
    }
    if (tensor.elements() == 0) refuse("it has no elements");
    if (tensor.shape.empty()) refuse("it is a scalar; the last dimension must be divisible by 32");
    const std::size_t cols = tensor.shape.back();
    if (cols % oracle::block != 0) refuse(fmt::format("its last dimension {} is not divisible by 32", cols));

    std::vector<std::unique_ptr<Workload>> workloads;
    std::map<Format, fixtures::Tensor> x;  // converted once, shared by every contract
    for (Point point : contracts_for_files(level, own)) {
      const fixtures::Tensor& input = converted(x, tensor, point.input);
      const std::size_t rows = tensor.elements() / cols;
      point.shape = {rows, cols, {}, {}};
      set_default_extents(point);
      point.source = Source::file;
      point.on = fmt::format("{}:{}", file.string(), tensor.name);
      workloads.push_back(std::make_unique<CastWorkload>(point, input.bytes, input.owner));
    }
    return workloads;
  }

  std::vector<Property> properties() const override { return cast_properties(); }

  std::map<std::string, std::vector<std::string>> golden_cases() const override {
    std::map<std::string, std::vector<std::string>> records;
    for (const auto& [record, points] : mxfp8_cast::golden_cases()) {
      for (const Point& point : points) records[record].push_back(print(point));
    }
    return records;
  }

  std::vector<RequiredRoute> required_routes() const override { return mxfp8_cast::required_routes(); }

  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind device) const override {
    std::vector<kernels::RouteInfo> infos;
    for (const auto& route : kernels::mxfp8_cast::routes(device)) infos.push_back(route.info);
    return infos;
  }

  std::vector<Benchmark> benchmarks() const override { return mxfp8_cast::benchmarks(); }

  std::vector<std::string> limits() const override { return mxfp8_cast::limits(); }
};

const CastFamily family;
const Register registration(&family);

}  // namespace
}  // namespace assay::properties::mxfp8_cast
