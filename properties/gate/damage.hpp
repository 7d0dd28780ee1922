// From a failed comparison to a diagnostic: which elements, and what kind of damage.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/gate/runner.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// Findings for every output of an execution that differs from its acceptance, in either run. Empty when all
/// is right. Elements that hold the poison of both runs are reported as not written; the family is asked to
/// name the rest, unless `named` is false.
std::vector<Finding> find_damage(Workload&, const Execution&, bool named = true);

/// The finding for a witness that does not show what a run of `route` has to show; nothing when it does. The
/// pattern is "route fell back" when the kernels that ran are those of another route, else "other launches";
/// "other counters" when they are the right ones.
std::vector<Finding> check_witness(const Family&, const Workload&, std::size_t route,
                                   const kernels::Witness&);

/// The finding for a device whose routes, in name, order or declared kernels, are not those the family
/// requires.
std::vector<Finding> check_routes(const Family& family, kernels::DeviceKind);

}  // namespace assay::properties
