// A case whose outputs somebody else computed.
#pragma once

#include <optional>
#include <vector>

#include "properties/gate/delegating.hpp"

namespace assay::properties {

/// The case with NaN of its fp32, fp16 and bf16 outputs as a class. Which code their NaN has is a debt of
/// this project's kernels, held to those of the device (mxfp8_dequant), and no contract that somebody else's
/// fall under; fp8 and scale codes of NaN are fixed by the cast itself.
class WorkloadForOthers : public DelegatingWorkload {
 public:
  using DelegatingWorkload::DelegatingWorkload;

  const std::vector<arithmetic::Acceptance>& acceptance() override;
  /// Damage is named as if every NaN had the code that the case wants.
  std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) override;

 private:
  bool freed(const arithmetic::Acceptance&) const;

  std::optional<std::vector<arithmetic::Acceptance>> acceptance_;  ///< where it is not the case's own
};

}  // namespace assay::properties
