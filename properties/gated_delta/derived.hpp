// Cases of the gated delta rule that are made from others, for properties. Their operands are not those of
// their tokens.
#pragma once

#include <cstddef>
#include <vector>

#include "properties/gated_delta/outputs.hpp"
#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {

/// What becomes of v, fp32, of one head of one token.
using Values = void (*)(std::vector<float>& v);
void values_alone(std::vector<float>& v);       ///< v
void values_turned(std::vector<float>& v);      ///< v' = v turned by one element
void values_and_turned(std::vector<float>& v);  ///< v + v'
/// The case with states of zero and with other v.
DeltaWorkload with_values(const DeltaWorkload&, Values);

/// Whether every number of `sum` is exactly that of a and that of b together; all fp32.
bool is_sum(const Outputs& sum, const Outputs& a, const Outputs& b);

/// One step of a case of several, with the states given.
DeltaWorkload single_step(const Point&, std::size_t step, const std::vector<std::byte>& state);
/// Whether the o of one step are those of the only step of `one`.
bool same_o_of_step(const Outputs& all, std::size_t step, const Outputs& one);

/// The same case with the g and beta that its raw gates give.
DeltaWorkload with_gates_computed(const DeltaWorkload&);

/// Whether o and state are the same of every head of a sequence all of whose operands are.
bool same_where_operands_are(const Outputs& a, const Outputs& b);

}  // namespace assay::properties::gated_delta
