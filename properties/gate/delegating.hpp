// A workload that is another one but for what a derived class says.
#pragma once

#include <utility>

#include "properties/gate/family.hpp"

namespace assay::properties {

class DelegatingWorkload : public Workload {
 public:
  /// `base` must outlive it.
  explicit DelegatingWorkload(Workload& base) : base_(base) {}

  std::string token() const override { return base_.token(); }
  std::vector<InputBuffer> inputs() const override { return base_.inputs(); }
  std::vector<OutputBuffer> outputs() const override { return base_.outputs(); }
  std::vector<ScratchBuffer> scratch() const override { return base_.scratch(); }
  const std::vector<arithmetic::Acceptance>& acceptance() override { return base_.acceptance(); }
  kernels::Support supports(std::size_t route, kernels::DeviceKind device) const override {
    return base_.supports(route, device);
  }
  kernels::Support expected_support(std::size_t route, kernels::DeviceKind device) const override {
    return base_.expected_support(route, device);
  }
  ExpectedWitness expected_witness(std::size_t route) const override { return base_.expected_witness(route); }
  void launch(std::size_t route, kernels::LaunchContext& context, std::span<void* const> inputs,
              std::span<void* const> outputs) const override {
    base_.launch(route, context, inputs, outputs);
  }
  std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) override {
    return base_.diagnose(actual, before);
  }
  std::vector<Reduction> reductions(std::size_t output, std::size_t element) const override {
    return base_.reductions(output, element);
  }

 protected:
  Workload& base() const { return base_; }

 private:
  Workload& base_;
};

}  // namespace assay::properties
