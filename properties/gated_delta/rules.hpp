// What each route takes, launches and counts, decided from the point alone: the kernels' rules a second time,
// so that a route cannot shrink, vanish or run something else by an edit on their side.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/gated_delta/point.hpp"

namespace assay::properties::gated_delta {

/// The routes in their order.
enum RouteIndex : std::size_t { register_route, two_pass_route };

/// The routes in that order, with the kernels that each must launch for one built-in case or another.
std::vector<RequiredRoute> required_routes();

/// The same on every device that has bulk copies.
kernels::Support expected_support(const Point&, std::size_t route, kernels::DeviceKind);
ExpectedWitness expected_witness(const Point&, std::size_t route);

/// The refusals, in words.
std::vector<std::string> limits();

}  // namespace assay::properties::gated_delta
