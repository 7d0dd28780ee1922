#include "goldens/record/record.hpp"

#include <array>

#include "fixtures/files/mapped_file.hpp"
#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/sha256.hpp"

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

std::string content_digest(const Record& record) {
  Sha256 sha;
  add_text(sha, record.family);
  add_number(sha, record.entries.size());
  for (const Entry& entry : record.entries) {
    for (const std::string* text : {&entry.token, &entry.route, &entry.input_digest, &entry.output_digest})
      add_text(sha, *text);
  }
  return sha.hex();
}

void write(const std::filesystem::path& path, const Record& record, const AtStep& at_step) {
  replace_file(path, to_bytes(record), at_step);
}

Record read(const std::filesystem::path& path) {
  const auto file = fixtures::MappedFile::open(path);
  try {
    return from_bytes(file->bytes());
  } catch (const BadInput& error) {
    fixtures::bad_file(path, error.what());
  }
}

}  // namespace assay::goldens
