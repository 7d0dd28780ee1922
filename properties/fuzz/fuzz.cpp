#include "properties/fuzz/fuzz.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

namespace assay::fuzz {
namespace {

std::vector<Target>& known() {
  static std::vector<Target> list;
  return list;
}

void check_tensor(const fixtures::Tensor& tensor, const fixtures::TensorInfo& info) {
  claim(info.unsupported.empty(), "read() gave a tensor that was listed as unsupported");
  claim(tensor.name == info.name && tensor.shape == info.shape, "read() gave another tensor than was listed");
  claim(fixtures::byte_count(tensor.shape, tensor.dtype) == tensor.bytes.size(), "a tensor is not whole");
  std::byte all{};
  for (const std::byte byte : tensor.bytes) all ^= byte;
  volatile auto sink = std::to_integer<unsigned char>(all);  // the bytes must really be read
  static_cast<void>(sink);
}

/// A file on disk, and not one without a name: the HDF5 library opens the target of the link in /proc.
class ScratchFile {
 public:
  ScratchFile() : path_((std::filesystem::temp_directory_path() / "assay-fuzz.XXXXXX").string()) {
    descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
    if (descriptor_ < 0) throw std::runtime_error("no file " + path_);
  }
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  /// Written before it is cut, because ext4 puts a file that was cut to nothing on the disk each time.
  void hold(Bytes bytes) const {
    if (pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
        ftruncate(descriptor_, static_cast<off_t>(bytes.size())) != 0)
      throw std::runtime_error("no space for " + path_);
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

Register::Register(Target target) { known().push_back(target); }

const std::vector<Target>& targets() { return known(); }

void check_message(std::string_view text) {
  claim(!text.empty() && text.size() <= longest_message,
        fmt::format("a message of {} bytes: {}", text.size(), text.substr(0, longest_message)));
  claim(fixtures::printable(text) == text, fmt::format("a message that is not one printable line: {}", text));
}

std::filesystem::path file_of(Bytes bytes) {
  static const ScratchFile file;
  file.hold(bytes);
  return file.path();
}

void check_tensors(const fixtures::TensorFile& file, bool may_fail) {
  std::set<std::string_view> names;
  for (const fixtures::TensorInfo& info : file.tensors()) {
    claim(names.insert(info.name).second, "two tensors of one name");
    const bool read = accepted([&] { check_tensor(file.read(info.name), info); });
    claim(read || may_fail || !info.unsupported.empty(),
          "read() refused a tensor that was listed as supported");
  }
  const std::string absent = "\n no such tensor \xff";
  claim(names.contains(absent) || !accepted([&] { file.read(absent); }),
        "a tensor that is not there was read");
}

}  // namespace assay::fuzz
