// Record to file content. Everything that could vary is pinned: object times off, library version bounds
// equal, attributes and links in the order of the record, one chunk a dataset, compact attributes.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "fixtures/files/hdf5_library.hpp"
#include "fixtures/files/mapped_file.hpp"
#include "fixtures/tensor/tensor.hpp"
#include "goldens/record/envelope.hpp"
#include "goldens/record/record.hpp"

namespace assay::goldens {

namespace {

using fixtures::Hdf5Id;

constexpr std::size_t largest_array = 0xFFFF'FFFFu;  // a chunk's size is a 32-bit number

/// Nothing in a record makes the library fail; when it does, memory or the system did.
void require(bool ok, const char* step) {
  if (!ok) throw std::runtime_error(fmt::format("HDF5 failed at {}: {}", step, fixtures::hdf5_reason()));
}

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

/// A file for the library to write. On disk, because the image that the library makes of a file in memory
/// (H5Fget_file_image, 1.10) has a superblock whose checksum is wrong when there is a user block. Its name
/// lasts only until the library has opened it, so that a process that is killed later leaves nothing.
class ScratchFile {
 public:
  ScratchFile() : path_((std::filesystem::temp_directory_path() / "golden.XXXXXX").string()) {
    descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
    if (descriptor_ < 0)
      throw std::runtime_error(
          fmt::format("no temporary file in {}", std::filesystem::temp_directory_path().string()));
  }
  ~ScratchFile() {
    drop_name();
    close(descriptor_);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  void drop_name() {
    if (!path_.empty()) unlink(path_.c_str());
    path_.clear();
  }

  std::vector<std::byte> content() const {
    const auto file = fixtures::MappedFile::open(fmt::format("/proc/self/fd/{}", descriptor_));
    return {file->bytes().begin(), file->bytes().end()};
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

void write_text(hid_t object, const char* name, const std::string& text) {
  assert(text.size() <= longest_text && text.find('\0') == text.npos);
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  // A string type cannot have no bytes; padding with NUL makes one NUL read as nothing.
  require(type && space && H5Tset_size(type, std::max<std::size_t>(text.size(), 1)) >= 0 &&
              H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0,
          "a text type");
  const Hdf5Id attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  require(attribute && H5Awrite(attribute, type, text.c_str()) >= 0, "an attribute");
}

/// What a group and a dataset have in common: no times, and attributes in the object header however many
/// there are.
void pin_object(hid_t creation) {
  require(H5Pset_obj_track_times(creation, false) >= 0 && H5Pset_attr_phase_change(creation, 1000, 0) >= 0,
          "object settings");
}

void pin_group(hid_t creation) {
  pin_object(creation);
  require(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0,
          "group settings");
}

Hdf5Id create_group(hid_t parent, const char* name) {
  const Hdf5Id creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  pin_group(creation);
  Hdf5Id group(H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose);
  require(static_cast<bool>(group), "a group");
  return group;
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

void write_array(hid_t group, const CodeArray& array) {
  const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  pin_object(creation);
  const std::vector<hsize_t> shape(array.shape.begin(), array.shape.end());
  if (array.bytes.empty() ||
      shape.empty()) {  // chunks, and so checksums, are for what has elements and dimensions
    require(H5Pset_layout(creation, H5D_COMPACT) >= 0, "a compact layout");
  } else {
    require(H5Pset_chunk(creation, static_cast<int>(shape.size()), shape.data()) >= 0 &&
                H5Pset_fletcher32(creation) >= 0,
            "a checksummed chunk");
  }
  const Hdf5Id space(shape.empty() ? H5Screate(H5S_SCALAR)
                                   : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                     H5Sclose);
  const hid_t type = stored_type(array.format);
  const Hdf5Id dataset(H5Dcreate2(group, array.name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose);
  require(static_cast<bool>(dataset), "a dataset");
  if (!array.bytes.empty())
    require(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.bytes.data()) >= 0, "data");
  write_text(dataset, "format", std::string(formats::spec(array.format).name));
}

void write_arrays(hid_t parent, const char* name, const std::vector<CodeArray>& arrays) {
  const Hdf5Id group = create_group(parent, name);
  for (const CodeArray& array : arrays) write_array(group, array);
}

void write_content(hid_t file, const Record& record) {
  const Hdf5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  require(static_cast<bool>(root), "the root");
  write_text(root, "record", std::string(record_title));
  write_text(root, "family", record.family);
  const Hdf5Id provenance = create_group(root, "provenance");
  for (const auto& [key, value] : record.provenance) write_text(provenance, key.c_str(), value);
  const Hdf5Id entries = create_group(root, "entries");
  for (std::size_t i = 0; i < record.entries.size(); ++i) {
    const Entry& entry = record.entries[i];
    const Hdf5Id group = create_group(entries, fmt::format("{:06}", i).c_str());
    write_text(group, "token", entry.token);
    write_text(group, "input_digest", entry.input_digest);
    write_text(group, "output_digest", entry.output_digest);
    if (!entry.route.empty()) write_text(group, "route", entry.route);
    write_arrays(group, "inputs", entry.inputs);
    write_arrays(group, "outputs", entry.outputs);
  }
}

}  // namespace

std::vector<std::byte> to_bytes(const Record& record) {
  check(record);
  const std::lock_guard lock(fixtures::hdf5_mutex());
  const fixtures::QuietHdf5 quiet;
  ScratchFile scratch;
  {
    const Hdf5Id creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    pin_group(creation);  // of the root
    // 1.10 indexes a single chunk without a B-tree. No setting here may need a superblock extension: the
    // library stamps that object with the time, whatever it is told.
    require(H5Pset_userblock(creation, envelope_bytes) >= 0 &&
                H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
                H5Pset_file_locking(access, false, true) >= 0,
            "file settings");
    const Hdf5Id file(H5Fcreate(scratch.path().c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose);
    require(static_cast<bool>(file), "a file");
    scratch.drop_name();
    write_content(file, record);
    require(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0, "a flush");
  }
  std::vector<std::byte> bytes = scratch.content();
  seal(bytes);
  return bytes;
}

}  // namespace assay::goldens
