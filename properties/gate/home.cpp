#include "properties/gate/home.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "fixtures/tensor/errors.hpp"

namespace assay::properties {
namespace {

/// A build folder has fixtures/ and goldens/ too, but not the README.
bool has_data(const std::filesystem::path& folder) {
  return std::filesystem::is_directory(folder / "fixtures") &&
         std::filesystem::is_directory(folder / "goldens") &&
         std::filesystem::is_regular_file(folder / "README.md");
}

}  // namespace

std::filesystem::path home() {
  const char* set = std::getenv("ASSAY_HOME");
  if (set && *set) {
    if (has_data(set)) return set;
    throw BadInput(fmt::format("ASSAY_HOME='{}': no README.md, fixtures/ and goldens/ there", set));
  }
  std::error_code ignored;
  for (auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (has_data(folder)) return folder;
    if (folder == folder.root_path()) break;
  }
  if (has_data(ASSAY_SOURCE_DIR)) return ASSAY_SOURCE_DIR;
  throw BadInput(
      fmt::format("no fixtures/ and goldens/ beside the program or in {}; set ASSAY_HOME to the checkout",
                  ASSAY_SOURCE_DIR));
}

}  // namespace assay::properties
