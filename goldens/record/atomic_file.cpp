#include "goldens/record/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// A rename or a removal lasts only once the folder is on disk. A file system that cannot flush a folder has
/// done its best.
void flush_folder_of(const std::filesystem::path& path) {
  const int descriptor = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

void tell(const AtStep& at_step, FileStep step) {
  if (at_step) at_step(step);
}

/// Closes and removes the temporary file unless it was renamed away.
class Temporary {
 public:
  explicit Temporary(const std::filesystem::path& path) : target_(path) {
    name_ = (folder_of(path) / ("." + path.filename().string() + ".XXXXXX")).string();
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

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t wrote = ::write(descriptor_, bytes.data(), bytes.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) refuse(target_, "writing");
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
  }

  void finish() {
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
                  const AtStep& at_step) {
  Temporary temporary(path);
  tell(at_step, FileStep::created);
  const std::size_t half = bytes.size() / 2;
  temporary.write(bytes.first(half));
  tell(at_step, FileStep::half_written);
  temporary.write(bytes.subspan(half));
  tell(at_step, FileStep::written);
  temporary.finish();
  tell(at_step, FileStep::flushed);
  temporary.take_place();
  tell(at_step, FileStep::renamed);
  flush_folder_of(path);
}

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to, const AtStep& at_step) {
  if (std::rename(from.c_str(), to.c_str()) != 0) refuse(to, "renaming");
  tell(at_step, FileStep::renamed);
  flush_folder_of(to);
}

void remove_file(const std::filesystem::path& path, const AtStep& at_step) {
  if (unlink(path.c_str()) != 0) refuse(path, "removing");
  tell(at_step, FileStep::removed);
  flush_folder_of(path);
}

std::string target_of_temporary(std::string_view name) {
  constexpr std::size_t random = 7;  // of ".XXXXXX"
  if (name.size() < random + 2 || name[0] != '.' || name[name.size() - random] != '.') return {};
  const std::string_view letters = name.substr(name.size() - random + 1);
  const bool usual = std::ranges::all_of(letters, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  return usual ? std::string(name.substr(1, name.size() - random - 1)) : std::string();
}

}  // namespace assay::goldens
