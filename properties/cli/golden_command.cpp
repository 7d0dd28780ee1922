#include <fmt/core.h>

#include <filesystem>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/golden.hpp"
#include "properties/gate/home.hpp"
#include "properties/gate/report.hpp"

namespace assay::cli {

namespace {

/// A checkout without a family's records must not pass as one whose records hold.
void check_golden_folders() {
  for (const properties::Family* family : properties::families()) {
    const auto folder = properties::home() / "goldens" / family->name();
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
      throw BadInput(fmt::format("{}: the folder of approved records of {} is missing", folder.string(),
                                 family->name()));
    }
  }
}

}  // namespace

int golden_verify(const std::vector<std::string>& files) {
  if (files.empty()) check_golden_folders();
  for (const std::string& file : files) {
    if (file.empty()) throw BadInput("golden verify '': it needs the name of a record");
  }
  const std::vector<std::filesystem::path> paths =
      files.empty() ? properties::approved_goldens()
                    : std::vector<std::filesystem::path>(files.begin(), files.end());
  const properties::GateResult result = properties::verify_goldens(paths);
  for (const auto& path : paths) fmt::print("record {}\n", path.string());
  fmt::print("{}", properties::text_report(result, std::nullopt));
  return result.exit_code();
}

int golden_regen(const std::string& folder) {
  if (folder.empty()) throw BadInput("--out '': it needs a folder");
  for (const auto& path : properties::regenerate_goldens(folder))
    fmt::print("wrote {}\n", fixtures::printable(path.string()));
  return properties::exit_pass;
}

}  // namespace assay::cli
