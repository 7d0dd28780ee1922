#include "goldens/record/record.hpp"

#include <array>

#include "fixtures/files/mapped_file.hpp"
#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/sha256.hpp"
#include "goldens/record/atomic_file.hpp"

namespace assay::goldens {

namespace {

void add_number(Sha256& sha, std::uint64_t value) {
  std::array<std::byte, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  sha.update(bytes);
}

void add_text(Sha256& sha, std::string_view text) {
  add_number(sha, text.size());
  sha.update(text);
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) { return Sha256().update(bytes).hex(); }

std::string digest(const std::vector<CodeArray>& arrays) {
  Sha256 sha;
  for (const CodeArray& array : arrays) {
    add_text(sha, array.name);
    add_text(sha, formats::spec(array.format).name);
    add_number(sha, array.shape.size());
    for (const std::size_t dimension : array.shape) add_number(sha, dimension);
    add_number(sha, array.bytes.size());
    sha.update(array.bytes);
  }
  return sha.hex();
}

void write(const std::filesystem::path& path, const Record& record) { replace_file(path, to_bytes(record)); }

Record read(const std::filesystem::path& path) {
  const auto file = fixtures::MappedFile::open(path);
  try {
    return from_bytes(file->bytes());
  } catch (const BadInput& error) {
    fixtures::bad_file(path, error.what());
  }
}

}  // namespace assay::goldens
