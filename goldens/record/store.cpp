#include "goldens/record/store.hpp"

#include <algorithm>
#include <system_error>

#include "fixtures/files/messages.hpp"
#include "goldens/record/atomic_file.hpp"

namespace assay::goldens {

namespace {

constexpr std::string_view approved_ending = ".h5", pending_ending = ".pending.h5";

std::string without(std::string_view name, std::string_view ending) {
  return std::string(name.substr(0, name.size() - ending.size()));
}

/// `name`: of the file from the family's folder, with '/'.
StoredFile classified(const std::filesystem::path& path, const std::filesystem::path& name) {
  const std::string file = name.filename().string();
  const std::filesystem::path folder = name.parent_path();
  const bool in_hardware = folder == hardware_folder;
  StoredFile stored{path, FileKind::other, {}};
  if (file == "CMakeLists.txt" || file == ".gitkeep") {
    stored.kind = FileKind::build;
  } else if (in_hardware && (file == "cases.txt" || file == "expected.txt")) {
    stored.kind = FileKind::list;
  } else if (in_hardware || folder.empty()) {
    const std::string target = target_of_temporary(file);
    const std::string& record = target.empty() ? file : target;
    const bool pending = record.ends_with(pending_ending);
    // A hidden file is no record.
    if (!record.ends_with(approved_ending) || record.starts_with('.')) return stored;
    stored.kind = !target.empty() ? FileKind::temporary : pending ? FileKind::pending : FileKind::approved;
    stored.record = (folder / without(record, pending ? pending_ending : approved_ending)).generic_string();
  }
  return stored;
}

}  // namespace

std::filesystem::path Store::folder(std::string_view family) const { return root / family; }

std::filesystem::path Store::approved(std::string_view family, std::string_view record) const {
  return folder(family) / (std::string(record) + std::string(approved_ending));
}

std::filesystem::path Store::pending(std::string_view family, std::string_view record) const {
  return folder(family) / (std::string(record) + std::string(pending_ending));
}

std::vector<StoredFile> Store::files(std::string_view family) const {
  std::vector<StoredFile> found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder(family), error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator(); entry.increment(error)) {
    const bool into = entry->is_directory(error) && !entry->is_symlink();
    if (!error && !into)
      found.push_back(classified(entry->path(), entry->path().lexically_relative(folder(family))));
    error.clear();  // of a link that leads nowhere, which is a file that nothing names
  }
  if (error) fixtures::bad_file(folder(family), "cannot be listed: " + error.message());
  std::ranges::sort(found, {}, &StoredFile::path);
  return found;
}

}  // namespace assay::goldens
