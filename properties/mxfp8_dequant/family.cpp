// The family mxfp8_dequant as the gate sees it.
#include <fmt/core.h>

#include <cassert>

#include "fixtures/tensor/errors.hpp"
#include "kernels/mxfp8_dequant/dequant.hpp"
#include "properties/mxfp8_dequant/cases.hpp"
#include "properties/mxfp8_dequant/properties.hpp"
#include "properties/mxfp8_dequant/readings.hpp"
#include "properties/mxfp8_dequant/workload.hpp"

namespace assay::properties::mxfp8_dequant {
namespace {

using formats::Format;

class DequantFamily : public Family {
 public:
  std::string_view name() const override { return "mxfp8_dequant"; }

  std::string_view summary() const override {
    return "MXFP8 dequantisation: e4m3 | e5m2 in blocks of 32 with e8m0 scales, rowwise or colwise, to fp32 "
           "| "
           "fp16 | bf16";
  }

  std::vector<kernels::RouteInfo> routes() const override { return routes_on(kernels::DeviceKind::cpu); }

  std::vector<std::string> cases(Level level, std::uint64_t seed) const override {
    std::vector<std::string> tokens;
    for (const Point& point : mxfp8_dequant::cases(level, seed)) tokens.push_back(print(point));
    return tokens;
  }

  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    return std::make_unique<DequantWorkload>(parse(token));
  }

  std::unique_ptr<Workload> blank(std::string_view token) const override {
    const Point point = parse(token);
    const oracle::Shape& shape = point.shape;
    return std::make_unique<DequantWorkload>(point, std::vector<std::byte>(shape.rows * shape.cols),
                                             std::vector<std::byte>(shape.scale_rows * shape.scale_stride));
  }

  std::unique_ptr<Workload> with_contents(std::string_view token, Contents contents) const override {
    assert(contents.size() == 2);
    return std::make_unique<DequantWorkload>(parse(token), std::move(contents[0]), std::move(contents[1]));
  }

  std::vector<std::string> readings(std::span<const OfferedTensor> tensors,
                                    std::string_view fixed) const override {
    return mxfp8_dequant::readings(tensors, fixed);
  }

  std::string tells_apart(std::string_view key) const override { return mxfp8_dequant::tells_apart(key); }

  /// The cast's slice of real weights, quantised.
  std::vector<std::string> real_inputs() const override {
    return {"../mxfp8_cast/all-MiniLM-L6-v2.slice.safetensors"};
  }

  /// A tensor of any rank is judged as [product of the leading dimensions, last dimension]: fp8 tensors as
  /// data under generated scales, since a file says nothing of where theirs are; wider ones as what the cast
  /// makes of them.
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor& tensor,
                                                   const std::filesystem::path& file,
                                                   Level level) const override {
    const auto refuse = [&](std::string_view reason) {
      throw BadInput(fmt::format("{}: tensor '{}': {}", file.string(), tensor.name, reason));
    };
    const auto format = tensor_format(tensor);
    const std::size_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (format && tensor.elements() == 0) refuse("it has no elements");
    std::vector<Point> points = contracts_for_files(level, format.value_or(Format::bf16));
    std::vector<std::unique_ptr<Workload>> workloads;
    Codes codes;  // the same for every output format and layout
    const Point* built_for = nullptr;
    for (Point& point : points) {
      point.shape.rows = tensor.elements() / std::max<std::size_t>(cols, 1);
      point.shape.cols = cols;
      set_scale_extents(point.shape);
      point.on = fmt::format("{}:{}", file.string(), tensor.name);
      const bool again = built_for != nullptr && built_for->contracts.element == point.contracts.element &&
                         built_for->shape.direction == point.shape.direction;
      try {
        if (!again) codes = codes_of(tensor, point);
      } catch (const BadInput& reason) {
        throw BadInput(fmt::format("{}: {}", file.string(), reason.what()));
      }
      built_for = &point;
      workloads.push_back(std::make_unique<DequantWorkload>(point, codes));
    }
    return workloads;
  }

  std::vector<Property> properties() const override { return dequant_properties(); }

  std::map<std::string, std::vector<std::string>> golden_cases() const override {
    std::map<std::string, std::vector<std::string>> records;
    for (const Point& point : mxfp8_dequant::golden_cases())
      records[std::string(formats::spec(point.contracts.output).name)].push_back(print(point));
    return records;
  }

  std::vector<RequiredRoute> required_routes() const override {
    return {{"vector", {"dequant_vector"}}, {"scalar", {"dequant_scalar"}}};
  }

  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind device) const override {
    std::vector<kernels::RouteInfo> infos;
    for (const auto& route : kernels::mxfp8_dequant::routes(device)) infos.push_back(route.info);
    return infos;
  }

  std::vector<Benchmark> benchmarks() const override {
    std::vector<Benchmark> benchmarks;
    for (const std::size_t extent : {4096u, 8192u, 16384u}) {
      Point point;
      point.data = fixture::DataPattern::finite;
      point.scales = fixture::ScalePattern::realistic;
      point.shape.rows = point.shape.cols = extent;
      set_scale_extents(point.shape);
      const std::uint64_t elements = std::uint64_t{extent} * extent;
      benchmarks.push_back({fmt::format("dequantise rowwise, e4m3 to bf16, {} x {}", extent, extent),
                            print(point),
                            {"vector", "scalar"},
                            elements + elements / oracle::block,
                            2 * elements});
    }
    return benchmarks;
  }

  std::vector<std::string> limits() const override {
    return {"vector: cols % 32 != 0", "vector: data not 16-byte aligned", "vector: y not 16-byte aligned"};
  }
};

const DequantFamily family;
const Register registration(&family);

}  // namespace
}  // namespace assay::properties::mxfp8_dequant
