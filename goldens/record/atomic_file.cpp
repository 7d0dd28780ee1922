#include "goldens/record/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "fixtures/files/messages.hpp"

namespace assay::goldens {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view step) {
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  fixtures::bad_file(path, fmt::format("cannot be written: {}: {}", step, reason));
}

/// Closes and removes the temporary file unless it was renamed away.
class Temporary {
 public:
  explicit Temporary(const std::filesystem::path& path) : target_(path) {
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    name_ = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
      name_.clear();
      refuse(path, "no temporary file beside it");
    }
  }
  ~Temporary() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!name_.empty()) unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void fill(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) refuse(target_, "writing");
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    // mkostemp lets only the owner read; an approved file is for everyone.
    if (fchmod(descriptor_, 0644) != 0) refuse(target_, "setting its mode");
    if (fsync(descriptor_) != 0) refuse(target_, "flushing");
    const int descriptor = std::exchange(descriptor_, -1);
    if (close(descriptor) != 0) refuse(target_, "closing");
  }

  void take_place() {
    if (std::rename(name_.c_str(), target_.c_str()) != 0) refuse(target_, "renaming");
    name_.clear();
  }

 private:
  const std::filesystem::path& target_;
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace

void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  const std::function<void()>& before_rename) {
  Temporary temporary(path);
  temporary.fill(bytes);
  if (before_rename) before_rename();
  temporary.take_place();
  // The rename itself lasts only once the folder is on disk. A file system that cannot flush a folder has
  // done its best.
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
}

}  // namespace assay::goldens
