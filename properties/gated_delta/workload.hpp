// A case of the gated delta rule with its operands built.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

class DeltaWorkload : public Workload {
 public:
  /// Builds its operands from the point alone. Throws BadInput when their source does not exist or does not
  /// fit.
  explicit DeltaWorkload(Point point);

  /// Operands given: of the point's shape and contracts.
  DeltaWorkload(Point point, fixture::Operands operands);

  std::string token() const override { return print(point_); }
  /// q, k, v; a, b, a_log, dt_bias or g, beta; slots.
  std::vector<InputBuffer> inputs() const override;
  /// o, and the state, which is updated in place.
  std::vector<OutputBuffer> outputs() const override;
  std::vector<ScratchBuffer> scratch() const override;
  /// Of o and the state. Not of a point that every route refuses for its slots: it has no right result.
  const std::vector<arithmetic::Acceptance>& acceptance() override;
  kernels::Support supports(std::size_t route, kernels::DeviceKind) const override;
  kernels::Support expected_support(std::size_t route, kernels::DeviceKind) const override;
  ExpectedWitness expected_witness(std::size_t route) const override;
  void launch(std::size_t route, kernels::LaunchContext&, std::span<void* const> inputs,
              std::span<void* const> outputs) const override;
  std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) override;
  std::vector<Reduction> reductions(std::size_t output, std::size_t element) const override;

  const Point& point() const { return point_; }
  const fixture::Operands& operands() const { return operands_; }

 private:
  Point point_;
  fixture::Operands operands_;
  std::vector<arithmetic::Acceptance> acceptance_;
};

/// Operands of the point's shape, all zero, with the point's slots.
fixture::Operands zero_operands(const Point&);

/// As the oracle takes them; they view the fixture's.
oracle::Operands view(const Point&, const fixture::Operands&);

}  // namespace assay::properties::gated_delta
