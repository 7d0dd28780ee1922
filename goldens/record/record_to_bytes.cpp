// Record to file content (fixtures/files/hdf5_writer.hpp), under a seal.
#include <fmt/format.h>

#include <cassert>
#include <set>

#include "fixtures/files/hdf5_writer.hpp"
#include "fixtures/tensor/tensor.hpp"
#include "goldens/record/envelope.hpp"
#include "goldens/record/record.hpp"

namespace assay::goldens {

namespace {

using fixtures::Hdf5Id;
using fixtures::write_hdf5_text;

constexpr std::size_t largest_array = 0xFFFF'FFFFu;  // every array of a record is one checksummed chunk

void check_arrays(const std::vector<CodeArray>& arrays) {
  std::set<std::string_view> names;
  for (const CodeArray& array : arrays) {
    assert(!array.name.empty() && array.name != "." &&
           array.name.find_first_of(std::string_view("/\0", 2)) == array.name.npos);
    assert(names.insert(array.name).second && "names are unique in their list");
    assert(array.shape.size() <= H5S_MAX_RANK);
    const auto elements = fixtures::element_count(array.shape);
    assert(elements && array.bytes.size() <= largest_array &&
           array.bytes.size() == *elements * static_cast<std::size_t>(formats::storage_bytes(array.format)));
    static_cast<void>(elements);
  }
}

void check(const Record& record) {
  assert(record.entries.size() <= 1'000'000 && "entries are numbered with six digits");
  for ([[maybe_unused]] const auto& [key, value] : record.provenance) {
    assert(!key.empty() && key.find('\0') == key.npos);
  }
  for (const Entry& entry : record.entries) {
    check_arrays(entry.inputs);
    check_arrays(entry.outputs);
    assert(entry.output_digest == digest(entry.outputs));
    assert(entry.input_digest.size() == 64 &&
           (entry.inputs.empty() || entry.input_digest == digest(entry.inputs)));
  }
}

hid_t stored_type(formats::Format format) {
  switch (formats::storage_bytes(format)) {
    case 1:
      return H5T_STD_U8LE;
    case 2:
      return H5T_STD_U16LE;
    default:
      return H5T_STD_U32LE;
  }
}

void write_arrays(hid_t parent, const char* name, const std::vector<CodeArray>& arrays) {
  const Hdf5Id group = fixtures::create_hdf5_group(parent, name);
  for (const CodeArray& array : arrays)
    fixtures::write_hdf5_array(group, {array.name.c_str(), stored_type(array.format), array.shape,
                                       array.bytes, std::string(formats::spec(array.format).name)});
}

void write_content(hid_t root, const Record& record) {
  write_hdf5_text(root, "record", std::string(record_title));
  write_hdf5_text(root, "family", record.family);
  const Hdf5Id provenance = fixtures::create_hdf5_group(root, "provenance");
  for (const auto& [key, value] : record.provenance) write_hdf5_text(provenance, key.c_str(), value);
  const Hdf5Id entries = fixtures::create_hdf5_group(root, "entries");
  for (std::size_t i = 0; i < record.entries.size(); ++i) {
    const Entry& entry = record.entries[i];
    const Hdf5Id group = fixtures::create_hdf5_group(entries, fmt::format("{:06}", i).c_str());
    write_hdf5_text(group, "token", entry.token);
    write_hdf5_text(group, "input_digest", entry.input_digest);
    write_hdf5_text(group, "output_digest", entry.output_digest);
    if (!entry.route.empty()) write_hdf5_text(group, "route", entry.route);
    write_arrays(group, "inputs", entry.inputs);
    write_arrays(group, "outputs", entry.outputs);
  }
}

}  // namespace

std::vector<std::byte> to_bytes(const Record& record) {
  check(record);
  std::vector<std::byte> bytes =
      fixtures::hdf5_file(envelope_bytes, [&](hid_t root) { write_content(root, record); });
  seal(bytes);
  return bytes;
}

}  // namespace assay::goldens
