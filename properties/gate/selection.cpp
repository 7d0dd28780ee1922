#include "properties/gate/selection.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "fixtures/tensor/printable.hpp"
#include "properties/gate/battery.hpp"

namespace assay::properties {
namespace {

void check(std::string_view what, const std::vector<std::string>& asked,
           const std::vector<std::string>& known) {
  for (const std::string& name : asked) {
    if (std::count(known.begin(), known.end(), name)) continue;
    throw BadInput(fmt::format("unknown {} {}; the nearest is '{}' (see: assay list)", what,
                               fixtures::in_quotes(name), fixtures::nearest(name, known)));
  }
}

}  // namespace

Selection::Selection(const GateOptions& options) : options_(options) {
  std::vector<std::string> names, route_names;
  const auto add = [&](std::string_view family, std::string_view route) {
    route_names.emplace_back(route);
    route_names.push_back(fmt::format("{}/{}", family, route));
  };
  for (const Family* family : families()) {
    names.emplace_back(family->name());
    for (const auto& route : family->routes()) add(family->name(), route.name);
  }
  for (const Battery* battery : batteries()) {
    names.emplace_back(battery->name);
    for (const auto& route : battery->routes()) add(battery->name, route);
  }
  check("family", options.families, names);
  check("route", options.routes, route_names);
}

bool Selection::family(std::string_view name) const {
  return options_.families.empty() ||
         std::count(options_.families.begin(), options_.families.end(), name) > 0;
}

bool Selection::route(std::string_view family_name, std::string_view route) const {
  if (options_.routes.empty()) return true;
  const std::string full = fmt::format("{}/{}", family_name, route);
  return std::any_of(options_.routes.begin(), options_.routes.end(),
                     [&](const std::string& asked) { return asked == route || asked == full; });
}

}  // namespace assay::properties
