// Running the program as a user does, for its tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace assay::cli::testing_program {

struct Ran {
  int exit_code = -1;
  std::string text;  ///< standard output and standard error
};

/// `before` stands ahead of the program on the command line; `folder` is where it runs.
inline Ran run(const std::string& arguments, const std::string& redirection = "2>&1",
               const std::string& before = "", const std::string& folder = ASSAY_SOURCE_DIR) {
  const std::string command =
      "cd '" + folder + "' && " + before + "'" ASSAY_PROGRAM "' " + arguments + " " + redirection;
  Ran ran;
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::array<char, 4096> buffer;
  std::size_t count = 0;
  while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) ran.text.append(buffer.data(), count);
  const int status = pclose(pipe);
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

inline void expect_usage_error(const std::string& arguments, const std::string& says) {
  const Ran ran = run(arguments);
  EXPECT_EQ(ran.exit_code, 2) << arguments << "\n" << ran.text;
  EXPECT_NE(ran.text.find(says), std::string::npos) << arguments << "\n" << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1) << "one line, not\n" << ran.text;
}

/// An empty folder that is gone afterwards.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (name + "." + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string quoted(const std::string& name) const { return "'" + (path_ / name).string() + "'"; }
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace assay::cli::testing_program
