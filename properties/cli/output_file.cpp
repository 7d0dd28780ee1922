#include "properties/cli/output_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/gate/gate.hpp"

namespace assay::cli {
namespace {

std::string reason_of(int error) { return std::error_code(error, std::generic_category()).message(); }

std::string named(const std::string& path) { return fixtures::printable(path); }

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw BadInput(fmt::format("{}: it cannot be written: {}", named(path), reason));
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw properties::EnvironmentError(
      fmt::format("{}: it cannot be written: {}", named(path), reason_of(error)));
}

/// What a path leads to.
struct Target {
  std::filesystem::path file;      ///< what the last symbolic link names
  bool direct = false;             ///< neither regular nor absent: written in place
  std::optional<mode_t> old_mode;  ///< permissions of the regular file that will be replaced
};

/// The path with symbolic links in its last component followed, to a file that may not exist.
std::filesystem::path followed(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel's own limit
  std::filesystem::path file = path;
  std::error_code ignored;
  for (int i = 0; i < most_links; ++i) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored))) return file;
    file = file.parent_path() / std::filesystem::read_symlink(file, ignored);
  }
  refuse(path, reason_of(ELOOP));
}

void check_folder(const std::string& path, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    refuse(path, fmt::format("the folder {} does not exist", named(folder.string())));
  }
  if (access(folder.c_str(), W_OK) != 0) {
    refuse(path, fmt::format("the folder {}: {}", named(folder.string()), reason_of(errno)));
  }
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

Target target_of(const std::string& path) {
  if (path.empty()) throw BadInput("the name of the file to write is empty");
  if (path == "-") throw BadInput("-: only --json takes standard output; './-' names a file");
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) refuse(path, reason_of(errno));
    Target target{followed(path), false, std::nullopt};
    check_folder(path, folder_of(target.file));
    if (!target.file.has_filename()) refuse(path, "it names a folder");
    return target;
  }
  if (S_ISDIR(status.st_mode)) refuse(path, "it is a folder");
  if (access(path.c_str(), W_OK) != 0) refuse(path, reason_of(errno));
  if (!S_ISREG(status.st_mode)) return {path, true, std::nullopt};
  struct stat output {};
  if (fstat(STDOUT_FILENO, &output) == 0 && output.st_dev == status.st_dev &&
      output.st_ino == status.st_ino) {
    refuse(path, "standard output goes there already; '-' writes to standard output alone");
  }
  Target target{followed(path), false, status.st_mode & 07777};
  check_folder(path, folder_of(target.file));
  return target;
}

/// A descriptor that is closed, and a name that is removed, unless all went well.
class Written {
 public:
  Written(const std::string& path, const Target& target) : path_(path) {
    if (target.direct) {
      descriptor_ = open(target.file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
      create_beside(target.file);
    }
    if (descriptor_ < 0) fail(path_, errno);
    if (target.old_mode && fchmod(descriptor_, *target.old_mode) != 0) {
      const int error = errno;
      discard();
      fail(path_, error);
    }
  }
  ~Written() { discard(); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(path_, errno);
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  /// Makes the bytes durable, then the name theirs.
  void finish(const Target& target) {
    if (!target.direct && fsync(descriptor_) != 0) fail(path_, errno);
    if (close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
    if (target.direct) return;
    if (rename(temporary_.c_str(), target.file.c_str()) != 0) fail(path_, errno);
    temporary_.clear();
  }

 private:
  /// A name that is taken is somebody else's, so another is tried.
  void create_beside(const std::filesystem::path& file) {
    constexpr int most_tries = 1000;
    for (int i = 0; i < most_tries; ++i) {
      temporary_ = (folder_of(file) / fmt::format(".assay-{}-{}.part", getpid(), i)).string();
      descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ >= 0) return;
      if (errno != EEXIST) break;
    }
    temporary_.clear();
  }

  void discard() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
    if (!temporary_.empty()) unlink(temporary_.c_str());
    temporary_.clear();
  }

  std::string path_, temporary_;
  int descriptor_ = -1;
};

}  // namespace

void check_writable(const std::string& path) { target_of(path); }

void check_apart(std::initializer_list<std::pair<const char*, std::string>> options) {
  std::map<std::filesystem::path, const char*> taken;
  for (const auto& [option, path] : options) {
    if (path.empty() || path == "-") continue;
    std::error_code ignored;
    auto file = std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    if (file.empty()) file = path;
    const auto [other, fresh] = taken.emplace(std::move(file), option);
    if (!fresh)
      throw BadInput(fmt::format("{}: {} and {} name the same file", named(path), other->second, option));
  }
}

void write_file(const std::string& path, const std::string& text) {
  const Target target = target_of(path);
  Written file(path, target);
  file.write(text);
  file.finish(target);
}

void show_result(const std::string& json_path, const std::function<std::string()>& json,
                 const std::string& text) {
  if (json_path == "-") {
    fmt::print("{}", json());
    return;
  }
  std::exception_ptr unwritten;
  try {
    if (!json_path.empty()) write_file(json_path, json());
  } catch (...) {
    unwritten = std::current_exception();
  }
  fmt::print("{}", text);
  if (unwritten) std::rethrow_exception(unwritten);
}

}  // namespace assay::cli
