#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "fixtures/tensor/errors.hpp"
#include "properties/cli/commands.hpp"
#include "properties/gate/report.hpp"

namespace assay::cli {

void write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".part";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.flush();
    if (!file) {
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      throw BadInput(fmt::format("{}: it cannot be written", path));
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw BadInput(fmt::format("{}: it cannot be written: {}", path, error.message()));
  }
}

int gate(const GateArguments& arguments) {
  if (!arguments.json.empty() && arguments.json != "-") {
    // Said before the work, not after it.
    const auto folder = std::filesystem::absolute(arguments.json).parent_path();
    if (!std::filesystem::is_directory(folder) || access(folder.c_str(), W_OK) != 0) {
      throw BadInput(fmt::format("--json {}: the folder {} does not exist or cannot be written",
                                 arguments.json, folder.string()));
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const properties::GateResult result = properties::run_gate(arguments.options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!arguments.json.empty()) {
    const std::string json = properties::json_report(result, arguments.options);
    if (arguments.json == "-") {
      fmt::print("{}", json);
      return result.exit_code();
    }
    write_file(arguments.json, json);
  }
  fmt::print("{}", properties::text_report(result, seconds));
  return result.exit_code();
}

}  // namespace assay::cli
