// What each route of the cast takes, launches and counts, decided from the point alone: the kernels' rules a
// second time, so that a route cannot shrink, vanish or run something else by an edit on their side.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/mxfp8_cast/point.hpp"

namespace assay::properties::mxfp8_cast {

inline constexpr std::size_t register_route = 0, staged_route = 1, dispatch_route = 2,
                             register_sm100_route = 3;

/// The routes in order, with the kernels that each must launch for one built-in case or another.
std::vector<RequiredRoute> required_routes();

/// `route` counts in the order of required_routes().
kernels::Support expected_support(const Point&, std::size_t route);
ExpectedWitness expected_witness(const Point&, std::size_t route);

/// The refusals, in words.
std::vector<std::string> limits();

}  // namespace assay::properties::mxfp8_cast
