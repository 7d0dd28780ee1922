// A case of the MXFP8 dequantisation with its input built.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/tensor/tensor.hpp"
#include "properties/gate/family.hpp"
#include "properties/mxfp8_dequant/point.hpp"

namespace assay::properties::mxfp8_dequant {

/// Data and scales before the scales are laid out: scales is the matrix of blocks, row-major and tight.
struct Codes {
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;  ///< keeps data alive
  std::vector<std::byte> scales;
  std::span<const std::byte> x;  ///< what was quantised; empty where nothing was
  std::shared_ptr<const void> x_owner;
};

struct Quantised {
  std::vector<std::byte> data, scales;  ///< scales as in Codes
};
/// What the cast's oracle makes of x, rows*cols codes of `input`, in the direction, element format and rule
/// of the point; NaN and Inf poison their block.
Quantised quantise(formats::Format input, std::span<const std::byte> x, const Point&);

class DequantWorkload : public Workload {
 public:
  /// Builds its input from the point alone. Throws BadInput when its source does not exist or does not fit.
  explicit DequantWorkload(Point point);

  /// Codes given: of the point's shape and element format.
  DequantWorkload(Point point, Codes codes);

  /// Data and the whole scale buffer given, its padding included.
  DequantWorkload(Point point, std::vector<std::byte> data, std::vector<std::byte> scale_buffer);

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
  const Codes& codes() const { return codes_; }

 private:
  Point point_;
  Codes codes_;
  std::vector<std::byte> scales_;  ///< the buffer: codes_.scales in place, and padding
  std::vector<arithmetic::Acceptance> acceptance_;
};

/// The format of a tensor's elements, where this family has a use for it: e4m3 and e5m2 as they are, fp32,
/// fp16 and bf16 to be quantised first.
std::optional<formats::Format> tensor_format(const fixtures::Tensor&);

/// The codes of a tensor as the point has them. Throws BadInput naming the tensor and the reason.
Codes codes_of(const fixtures::Tensor&, const Point&);

}  // namespace assay::properties::mxfp8_dequant
