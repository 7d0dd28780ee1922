#include "goldens/record/store.hpp"

#include <algorithm>
#include <system_error>

#include "fixtures/files/messages.hpp"

namespace assay::goldens {

std::vector<std::filesystem::path> Store::records(std::string_view family) const {
  const std::filesystem::path folder = root / family;
  std::vector<std::filesystem::path> found;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() == ".h5" && !path.filename().string().starts_with('.')) found.push_back(path);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    fixtures::bad_file(folder, "cannot be listed: " + error.message());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace assay::goldens
