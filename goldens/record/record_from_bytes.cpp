// File content to record. The seal has shown that the bytes are as some program sealed them, which any
// program can do; what is checked here is that this is the structure of a record, all of it and nothing else.
// The HDF5 library, which such a file can crash, reads it in a child process.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "fixtures/files/hdf5_library.hpp"
#include "fixtures/files/isolate.hpp"
#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/tensor.hpp"
#include "goldens/record/content.hpp"
#include "goldens/record/envelope.hpp"
#include "goldens/record/parcel.hpp"
#include "goldens/record/record.hpp"

namespace assay::goldens {

namespace {

using fixtures::Hdf5Id;
using fixtures::in_quotes;
using Texts = std::map<std::string, std::string>;

[[noreturn]] void refuse(const std::string& where, std::string_view reason) {
  constexpr std::size_t longest_place = 300;  // names in it are the file's
  throw BadInput(
      fmt::format("is not a well-formed record: {}: {}", fixtures::excerpt(where, longest_place), reason));
}

void require(bool ok, const std::string& where, std::string_view what) {
  if (!ok) refuse(where, fmt::format("{} (HDF5: {})", what, fixtures::printable(fixtures::hdf5_reason())));
}

std::vector<std::string> attribute_names(hid_t object, const std::string& where) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) noexcept -> herr_t {
    static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  require(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) >= 0, where,
          "its attributes cannot be read");
  return names;
}

std::string read_text(hid_t object, const std::string& name, const std::string& where) {
  const Hdf5Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(attribute ? H5Aget_type(attribute) : H5I_INVALID_HID, H5Tclose);
  const Hdf5Id space(attribute ? H5Aget_space(attribute) : H5I_INVALID_HID, H5Sclose);
  require(attribute && type && space, where, "an attribute cannot be opened");
  const hsize_t size = H5Aget_storage_size(attribute);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      H5Sget_simple_extent_type(space) != H5S_SCALAR || size != H5Tget_size(type) || size > longest_text)
    refuse(where, fmt::format("attribute {} is not one fixed-length text of at most {} bytes",
                              in_quotes(name), longest_text));
  std::string text(size, '\0');
  require(H5Aread(attribute, type, text.data()) >= 0, where, "an attribute cannot be read");
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

Texts read_texts(hid_t object, const std::string& where) {
  Texts texts;
  for (const std::string& name : attribute_names(object, where)) {
    if (name.empty() || !texts.emplace(name, read_text(object, name, where)).second)
      refuse(where, fmt::format("its attribute {} has no name, or that of another", in_quotes(name)));
  }
  return texts;
}

/// The attributes, which must be exactly the named ones.
Texts read_texts(hid_t object, const std::string& where, std::vector<std::string> expected) {
  Texts texts = read_texts(object, where);
  std::sort(expected.begin(), expected.end());
  if (!std::ranges::equal(texts, expected, {}, &Texts::value_type::first))
    refuse(where, fmt::format("its attributes are not exactly {}", fmt::join(expected, ", ")));
  return texts;
}

/// Whether the library would take the whole of it for one name.
bool is_name(const std::string& name) {
  return !name.empty() && name != "." && name.find('/') == name.npos && fixtures::is_utf8(name);
}

/// Names of the hard links of a group, in creation order.
std::vector<std::string> link_names(hid_t group, const std::string& where) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t* info, void* out) noexcept -> herr_t {
    if (info->type != H5L_TYPE_HARD) return -1;
    static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  require(H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect, &names) >= 0, where,
          "its members cannot be listed, or are links");
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!is_name(name) || !seen.insert(name).second)
      refuse(where, fmt::format("its member {} has no name, or that of another", in_quotes(name)));
  }
  return names;
}

void expect_links(hid_t group, const std::string& where, const std::vector<std::string>& expected) {
  if (link_names(group, where) != expected)
    refuse(where, fmt::format("its members are not exactly {}", fmt::join(expected, ", ")));
}

Hdf5Id open_group(hid_t parent, const std::string& name, const std::string& where) {
  Hdf5Id group(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose);
  require(static_cast<bool>(group), where, "is not a group");
  return group;
}

CodeArray read_array(hid_t group, const std::string& name, const std::string& where, std::size_t file_size) {
  const Hdf5Id dataset(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
  require(static_cast<bool>(dataset), where, "is not a dataset");
  CodeArray array;
  array.name = name;
  const std::string format_name = read_texts(dataset, where, {"format"}).at("format");
  const auto format = formats::format_named(format_name);
  if (!format) refuse(where, fmt::format("format {} is not known", in_quotes(format_name)));
  array.format = *format;

  const Hdf5Id type(H5Dget_type(dataset), H5Tclose);
  const Hdf5Id space(H5Dget_space(dataset), H5Sclose);
  const int width = formats::storage_bytes(*format);
  const hid_t expected = width == 1 ? H5T_STD_U8LE : width == 2 ? H5T_STD_U16LE : H5T_STD_U32LE;
  if (!type || H5Tequal(type, expected) <= 0)
    refuse(where, fmt::format("its elements are not uint{}", 8 * width));
  std::array<hsize_t, H5S_MAX_RANK> dimensions{};
  const int rank = space ? H5Sget_simple_extent_dims(space, dimensions.data(), nullptr) : -1;
  require(rank >= 0, where, "its shape cannot be read");
  array.shape.assign(dimensions.begin(), dimensions.begin() + rank);
  const auto elements = fixtures::element_count(array.shape);
  // What the writer stores: the codes and, in a chunk, their four-byte checksum.
  const bool plain = array.shape.empty() || elements == 0u;
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (stored > file_size)
    refuse(where, fmt::format("{} bytes are stated in a file of {}", stored, file_size));
  if (!elements || *elements > stored / static_cast<std::size_t>(width) ||
      stored - *elements * static_cast<std::size_t>(width) != (plain ? 0 : 4))
    refuse(where, fmt::format("shape {} does not fit the {} bytes stored", fixtures::shape_text(array.shape),
                              stored));
  array.bytes.resize(*elements * static_cast<std::size_t>(width));
  if (!array.bytes.empty())
    require(H5Dread(dataset, expected, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.bytes.data()) >= 0, where,
            "its codes cannot be read");
  return array;
}

std::vector<CodeArray> read_arrays(hid_t parent, const std::string& name, const std::string& where,
                                   std::size_t file_size) {
  const Hdf5Id group = open_group(parent, name, where);
  read_texts(group, where, {});
  std::vector<CodeArray> arrays;
  for (const std::string& link : link_names(group, where))
    arrays.push_back(read_array(group, link, where + "/" + link, file_size));
  return arrays;
}

Entry read_entry(hid_t entries, const std::string& name, std::size_t file_size) {
  const std::string where = "/entries/" + name;
  const Hdf5Id group = open_group(entries, name, where);
  std::vector<std::string> expected{"token", "input_digest", "output_digest"};
  if (H5Aexists(group, "route") > 0) expected.push_back("route");
  Texts texts = read_texts(group, where, expected);
  expect_links(group, where, {"inputs", "outputs"});
  return {texts["token"],
          read_arrays(group, "inputs", where + "/inputs", file_size),
          read_arrays(group, "outputs", where + "/outputs", file_size),
          texts["input_digest"],
          texts["output_digest"],
          texts["route"]};
}

Record read_file(hid_t file, std::size_t file_size) {
  const Hdf5Id root = open_group(file, "/", "/");
  Texts texts = read_texts(root, "/", {"record", "family"});
  if (texts["record"] != record_title)
    refuse("/", fmt::format("it calls itself {}", in_quotes(texts["record"])));
  expect_links(root, "/", {"provenance", "entries"});
  Record record;
  record.family = texts["family"];
  const Hdf5Id provenance = open_group(root, "provenance", "/provenance");
  expect_links(provenance, "/provenance", {});
  record.provenance = read_texts(provenance, "/provenance");
  const Hdf5Id entries = open_group(root, "entries", "/entries");
  read_texts(entries, "/entries", {});
  for (const std::string& name : link_names(entries, "/entries")) {
    const std::string expected = fmt::format("{:06}", record.entries.size());
    if (name != expected)
      refuse("/entries", fmt::format("{} stands where {} is expected", in_quotes(name), expected));
    record.entries.push_back(read_entry(entries, name, file_size));
  }
  return record;
}

void check_digest(const std::string& where, std::string_view what, const std::vector<CodeArray>& arrays,
                  const std::string& stated) {
  if (const std::string actual = digest(arrays); actual != stated)
    refuse(where, fmt::format("the {} digest is {}, {} stated", what, actual, in_quotes(stated)));
}

/// The child has worked on foreign input, so what carries the verdict is checked after it.
void check_entry(const std::string& where, const Entry& entry) {
  if (entry.input_digest.size() != 64) refuse(where, "the input digest is not a SHA-256");
  if (!entry.inputs.empty()) check_digest(where, "input", entry.inputs, entry.input_digest);
  check_digest(where, "output", entry.outputs, entry.output_digest);
}

}  // namespace

Record read_content(std::span<const std::byte> bytes) {
  const fixtures::QuietHdf5 quiet;
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // The core driver copies the image and, without a backing store, writes nothing anywhere.
  constexpr std::size_t increment = 1 << 16;
  require(access && H5Pset_fapl_core(access, increment, false) >= 0 &&
              H5Pset_file_image(access, const_cast<std::byte*>(bytes.data()), bytes.size()) >= 0,
          "the file", "cannot be held in memory");
  const Hdf5Id file(H5Fopen("golden", H5F_ACC_RDONLY, access), H5Fclose);
  require(static_cast<bool>(file), "the file", "HDF5 cannot open it");
  return read_file(file, bytes.size());
}

Record from_bytes(std::span<const std::byte> bytes) {
  verify_seal(bytes);
  // The image, the arrays and the answer are each about as large as the file; the rest is the library's own.
  const fixtures::IsolationLimits limits{(std::size_t{512} << 20) + 8 * bytes.size(),
                                         static_cast<unsigned>(3 + bytes.size() / 10'000'000)};
  std::string answer;
  try {
    answer = fixtures::run_isolated([&] { return pack(read_content(bytes)); }, limits);
  } catch (const fixtures::IsolationFailure& failure) {
    refuse("the file",
           fmt::format("the HDF5 library cannot read it: {}", fixtures::printable(failure.what())));
  }
  Record record = unpack(answer);
  for (std::size_t i = 0; i < record.entries.size(); ++i)
    check_entry(fmt::format("/entries/{:06}", i), record.entries[i]);
  return record;
}

}  // namespace assay::goldens
