#include <fmt/core.h>

#include <filesystem>

#include "properties/cli/commands.hpp"
#include "properties/gate/golden.hpp"
#include "properties/gate/report.hpp"

namespace assay::cli {

int golden_verify(const std::vector<std::string>& files) {
  const std::vector<std::filesystem::path> paths =
      files.empty() ? properties::approved_goldens()
                    : std::vector<std::filesystem::path>(files.begin(), files.end());
  const properties::GateResult result = properties::verify_goldens(paths);
  for (const auto& path : paths) fmt::print("record {}\n", path.string());
  fmt::print("{}", properties::text_report(result, std::nullopt));
  return result.exit_code();
}

int golden_regen(const std::string& folder) {
  for (const auto& path : properties::regenerate_goldens(folder)) fmt::print("wrote {}\n", path.string());
  return properties::exit_pass;
}

}  // namespace assay::cli
