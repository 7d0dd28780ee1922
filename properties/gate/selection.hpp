// What of the gate was asked for: families, batteries, routes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/gate/gate.hpp"

namespace assay::properties {

/// Which families, batteries and routes were asked for. Throws BadInput for a name that there is not, naming
/// the nearest.
class Selection {
 public:
  /// `options` must outlive it.
  explicit Selection(const GateOptions& options);
  bool family(std::string_view name) const;
  bool route(std::string_view family_name, std::string_view route) const;

 private:
  const GateOptions& options_;
};

}  // namespace assay::properties
