// The family matmul_nbits as the gate sees it.
#include <fmt/core.h>

#include "fixtures/tensor/errors.hpp"
#include "kernels/matmul_nbits/matmul.hpp"
#include "properties/matmul_nbits/benchmarks.hpp"
#include "properties/matmul_nbits/cases.hpp"
#include "properties/matmul_nbits/properties.hpp"
#include "properties/matmul_nbits/readings.hpp"
#include "properties/matmul_nbits/rules.hpp"
#include "properties/matmul_nbits/weights.hpp"
#include "properties/matmul_nbits/workload.hpp"

namespace assay::properties::matmul_nbits {
namespace {

class MatmulFamily : public Family {
 public:
  std::string_view name() const override { return "matmul_nbits"; }

  std::string_view summary() const override {
    return "matrix multiplication with weights of 2, 4 or 8 bits in blocks with a scale: one row, rows one "
           "by "
           "one, or tiles; bf16 | fp16 | fp32";
  }

  std::vector<kernels::RouteInfo> routes() const override { return routes_on(kernels::DeviceKind::cpu); }

  std::vector<std::string> cases(Level level, std::uint64_t seed) const override {
    std::vector<std::string> tokens;
    for (const Point& point : matmul_nbits::cases(level, seed)) tokens.push_back(print(point));
    return tokens;
  }

  std::unique_ptr<Workload> materialise(std::string_view token) const override {
    return std::make_unique<MatmulWorkload>(parse(token));
  }

  std::unique_ptr<Workload> blank(std::string_view token) const override {
    const Point point = parse(token);
    return std::make_unique<MatmulWorkload>(point, zero_operands(point));
  }

  std::unique_ptr<Workload> with_contents(std::string_view token, Contents contents) const override {
    const Point point = parse(token);
    fixture::Operands operands;
    std::size_t next = 0;
    for (auto* to : {&operands.a, &operands.b, &operands.scales}) *to = std::move(contents.at(next++));
    if (point.zero_points) operands.zero_points = std::move(contents.at(next++));
    if (point.bias) operands.bias = std::move(contents.at(next++));
    if (point.interleaved) operands.b = deinterleaved(operands.b);
    return std::make_unique<MatmulWorkload>(point, std::move(operands));
  }

  std::vector<std::string> readings(std::span<const OfferedTensor> tensors,
                                    std::string_view fixed) const override {
    return matmul_nbits::readings(tensors, fixed);
  }

  std::string tells_apart(std::string_view key) const override { return matmul_nbits::tells_apart(key); }

  /// The cast's slice of real weights, quantised.
  std::vector<std::string> real_inputs() const override {
    return {"../mxfp8_cast/all-MiniLM-L6-v2.slice.safetensors"};
  }

  /// A tensor of any rank is judged as the weights [n, k] = [product of the leading dimensions, last
  /// dimension].
  std::vector<std::unique_ptr<Workload>> on_tensor(const fixtures::Tensor& tensor,
                                                   const std::filesystem::path& file,
                                                   Level level) const override {
    const auto refuse = [&](std::string_view reason) {
      throw BadInput(fmt::format("{}: tensor '{}': {}", file.string(), tensor.name, reason));
    };
    const std::size_t k = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (tensor_format(tensor)) {  // else operands_of says what is wrong with it
      if (tensor.elements() == 0) refuse("it has no elements");
      if (tensor.shape.empty()) refuse("it is a scalar; the last dimension must be divisible by 32");
      if (k % 32 != 0) refuse(fmt::format("its last dimension {} is not divisible by 32", k));
    }
    std::vector<std::unique_ptr<Workload>> workloads;
    for (Point& point : contracts_for_files(level)) {
      point.shape.n = tensor.elements() / std::max<std::size_t>(k, 1);
      point.shape.k = k;
      point.on = fmt::format("{}:{}", file.string(), tensor.name);
      try {
        workloads.push_back(std::make_unique<MatmulWorkload>(point, operands_of(tensor, point)));
      } catch (const BadInput& reason) {
        throw BadInput(fmt::format("{}: {}", file.string(), reason.what()));
      }
    }
    return workloads;
  }

  std::vector<Property> properties() const override { return matmul_properties(); }

  std::map<std::string, std::vector<std::string>> golden_cases() const override {
    std::map<std::string, std::vector<std::string>> records;
    for (const Point& point : matmul_nbits::golden_cases())
      records[std::string(schedule_name(point.contracts.schedule))].push_back(print(point));
    return records;
  }

  std::vector<RequiredRoute> required_routes() const override { return matmul_nbits::required_routes(); }

  std::vector<kernels::RouteInfo> routes_on(kernels::DeviceKind device) const override {
    std::vector<kernels::RouteInfo> infos;
    for (const auto& route : kernels::matmul_nbits::routes(device)) infos.push_back(route.info);
    return infos;
  }

  std::vector<Benchmark> benchmarks() const override { return matmul_nbits::benchmarks(); }

  std::vector<std::string> limits() const override { return matmul_nbits::limits(); }
};

const MatmulFamily family;
const Register registration(&family);

}  // namespace
}  // namespace assay::properties::matmul_nbits
