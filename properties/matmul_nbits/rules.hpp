// What each route takes, launches and counts, decided from the point alone: the kernels' rules a second time,
// so that a route cannot shrink, vanish or run something else by an edit on their side.
#pragma once

#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

/// The routes in their order.
enum RouteIndex : std::size_t {
  direct_route,
  staged_route,
  dispatch_route,
  tile_route,
  mma_route,
  multicol_route,
  natural_route
};

/// The routes in that order, with the kernels that each must launch for one built-in case or another.
std::vector<RequiredRoute> required_routes();

/// On cuda also the generation of the tensor cores that are there counts.
kernels::Support expected_support(const Point&, std::size_t route, kernels::DeviceKind);
ExpectedWitness expected_witness(const Point&, std::size_t route);

/// Whether a run of the direct route stores bf16 itself for this point.
bool stores_directly(const Point&);

/// The refusals, in words.
std::vector<std::string> limits();

}  // namespace assay::properties::matmul_nbits
