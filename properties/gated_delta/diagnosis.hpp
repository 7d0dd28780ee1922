// Naming the damage of wrong outputs and states.
#pragma once

#include <vector>

#include "properties/gate/family.hpp"
#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

/// The known faults whose o and state these are, element for element; where none is, what the wrong elements
/// have in common. Acceptances and contents are those of o and of the state; `before` is what the buffers
/// held before the launch, `right` what they have to hold after it.
std::vector<Diagnosis> diagnose(const Point&, const oracle::Operands&,
                                const std::vector<arithmetic::Acceptance>& right, const Contents& actual,
                                const Contents& before);

}  // namespace assay::properties::gated_delta
