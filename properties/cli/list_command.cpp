#include <fmt/core.h>

#include "kernels/runtime/route.hpp"
#include "properties/cli/commands.hpp"
#include "properties/gate/battery.hpp"
#include "properties/gate/family.hpp"

namespace assay::cli {

int list() {
  using namespace properties;
  fmt::print("devices\n");
  for (const auto kind : {kernels::DeviceKind::cpu, kernels::DeviceKind::cuda}) {
    if (kernels::Device* device = kernels::device(kind)) {
      fmt::print("  {:<12} {}\n", to_string(kind), device->name());
    } else {
      fmt::print("  {:<12} absent: {}\n", to_string(kind), kernels::why_absent(kind));
    }
  }
  for (const Family* family : families()) {
    fmt::print("\nfamily {}: {}\n", family->name(), family->summary());
    for (const auto& route : family->routes()) {
      fmt::print("  route {:<20} {:<11} {}\n", route.name, to_string(route.kind), route.summary);
    }
    for (const auto& property : family->properties())
      fmt::print("  property {:<26} {}\n", property.name, property.sentence);
    for (const auto& limit : family->limits()) fmt::print("  unsupported {}\n", limit);
    for (const auto level : {Level::quick, Level::full, Level::exhaustive}) {
      constexpr const char* names[] = {"quick", "full", "exhaustive"};
      fmt::print("  level {:<11} {} fixed cases\n", names[static_cast<int>(level)],
                 family->cases(level, 1).size());
    }
  }
  for (const Battery* battery : batteries()) {
    fmt::print("\nbattery {}: {}\n", battery->name, battery->summary);
    for (const auto& route : battery->routes()) fmt::print("  route {}\n", route);
  }
  return exit_pass;
}

}  // namespace assay::cli
