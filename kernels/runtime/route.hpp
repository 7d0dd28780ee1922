// Routes: the named implementations of a family.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/device.hpp"

namespace assay::kernels {

enum class RouteKind : std::uint8_t { production, legacy, experiment };
std::string_view to_string(RouteKind);

/// Whether a route takes a problem. When it does not, `reason` names the rule, e.g. "cols % 128 != 0".
struct Support {
  bool supported = true;
  std::string reason;
  static Support yes() { return {}; }
  static Support no(std::string why) { return {false, std::move(why)}; }
};

/// A route as `assay list` shows it. What one run of it must show in the witness depends on the case.
struct RouteInfo {
  std::string_view family, name;
  RouteKind kind{};
  std::vector<std::string_view> kernels;  ///< every kernel it launches for one case or another
  std::string_view summary;               ///< one line for `assay list`
};

}  // namespace assay::kernels
