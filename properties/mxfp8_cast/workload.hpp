// A case of the MXFP8 cast with its input built.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fixtures/tensor/tensor.hpp"
#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

class CastWorkload : public Workload {
 public:
  /// Builds X from the point alone. Throws BadInput when its source does not exist or does not fit its shape.
  explicit CastWorkload(Point point);

  /// X given: rows*cols codes of point.input; `owner` keeps the bytes alive.
  CastWorkload(Point point, std::span<const std::byte> x, std::shared_ptr<const void> owner);

  std::string token() const override { return print(point_); }
  std::vector<InputBuffer> inputs() const override;
  std::vector<OutputBuffer> outputs() const override;
  const std::vector<arithmetic::Acceptance>& acceptance() override;
  kernels::Support supports(std::size_t route, kernels::DeviceKind) const override;
  kernels::Support expected_support(std::size_t route, kernels::DeviceKind) const override;
  ExpectedWitness expected_witness(std::size_t route) const override;
  void launch(std::size_t route, kernels::LaunchContext&, std::span<void* const> inputs,
              std::span<void* const> outputs) const override;
  std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) override;
  std::vector<Reduction> reductions(std::size_t output, std::size_t element) const override;

  const Point& point() const { return point_; }
  std::span<const std::byte> x() const { return x_; }

 private:
  Point point_;
  std::span<const std::byte> x_;
  std::shared_ptr<const void> owner_;
  std::vector<arithmetic::Acceptance> acceptance_;
};

/// Bytes of X.
std::size_t x_bytes(const Point&);

/// The tensor with its elements as codes of `input`: itself where the type is the same, else a new one with
/// each element rounded once to nearest even. Throws BadInput naming the tensor for a type that is no fp32,
/// fp16 or bf16.
fixtures::Tensor as_input(const fixtures::Tensor&, formats::Format input);

/// The format of a tensor's elements; BadInput as above.
formats::Format input_format(const fixtures::Tensor&);

}  // namespace assay::properties::mxfp8_cast
