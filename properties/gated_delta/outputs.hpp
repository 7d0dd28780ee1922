// What runs of a case left, element by element, and what must hold between them: for properties.
#pragma once

#include <cstddef>
#include <cstdint>

#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {

/// o and the states of a case by sequence, step, head and element, whatever the layout.
class Outputs {
 public:
  Outputs(const DeltaWorkload&, const Contents&);

  const DeltaWorkload& workload() const { return *workload_; }
  const oracle::Shape& shape() const { return shape_; }
  formats::Format io() const { return workload_->point().contracts.io; }
  formats::Format state_format() const { return workload_->point().contracts.state; }
  std::uint32_t o(std::size_t sequence, std::size_t step, std::size_t head, std::size_t v) const;
  /// Of a sequence that has a slot.
  std::uint32_t state(std::size_t sequence, std::size_t head, std::size_t k, std::size_t v) const;
  bool has_slot(std::size_t sequence) const { return workload_->operands().slots[sequence] >= 0; }

  /// Whether all slots of no sequence hold what they held before.
  bool others_untouched() const;

 private:
  const DeltaWorkload* workload_;
  const Contents* contents_;
  oracle::Shape shape_;
};

/// NaN is a class.
bool same_code(formats::Format, std::uint32_t a, std::uint32_t b);

/// Whether all o, or states, of a head of sequence i of one case are those of sequence j of the other. The
/// cases have the same steps, heads, sizes and formats.
bool same_o(const Outputs&, std::size_t i, const Outputs&, std::size_t j, std::size_t head);
bool same_state(const Outputs&, std::size_t i, const Outputs&, std::size_t j, std::size_t head);
/// Both, of all heads of all sequences; a sequence without a slot has no state.
bool same(const Outputs&, const Outputs&);

/// Whether all numbers of b are those of a times 2^exponent; neither may come near the ends of their format.
bool scaled_alike(const Outputs& a, const Outputs& b, int exponent);

/// Whether all states are what they were before, decayed and rounded step by step; of precomputed gates.
bool only_decayed(const DeltaWorkload&, const Outputs&);

}  // namespace assay::properties::gated_delta
