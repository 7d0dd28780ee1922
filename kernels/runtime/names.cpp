#include "kernels/runtime/launch.hpp"
#include "kernels/runtime/route.hpp"

namespace assay::kernels {

std::string_view base_name(std::string_view symbol) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  // What a macro argument brings along: "(ns::f<int>)" and "&f" name f.
  while (!symbol.empty() && std::string_view("(& ").find(symbol.front()) != std::string_view::npos &&
         !symbol.starts_with(anonymous)) {
    symbol.remove_prefix(1);
  }
  // Up to its template or function arguments, ...
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    if (symbol.substr(i).starts_with(anonymous)) i += anonymous.size();
    if (i < symbol.size() && std::string_view("<()").find(symbol[i]) != std::string_view::npos) {
      symbol = symbol.substr(0, i);
    }
  }
  // ... and from the end of its scope or of the return type.
  const std::size_t before = symbol.find_last_of(": ");
  return before == std::string_view::npos ? symbol : symbol.substr(before + 1);
}

std::string_view to_string(DeviceKind kind) { return kind == DeviceKind::cpu ? "cpu" : "cuda"; }

std::string_view to_string(RouteKind kind) {
  switch (kind) {
    case RouteKind::production:
      return "production";
    case RouteKind::legacy:
      return "legacy";
    case RouteKind::experiment:
      return "experiment";
  }
  return "unknown";
}

}  // namespace assay::kernels
