// The golden record: approved bits with provenance, in HDF5. Equal content is equal bytes.
//
// The file, readable with h5py:
//   bytes 0..511    user block: "assay golden record 1", the SHA-256 and the length of all that follows,
//                   NUL-padded
//   /               attributes record, family
//   /provenance     one attribute a key
//   /entries/000000 attributes token, input_digest, output_digest and, of what a device gave, route; groups
//                   inputs and outputs, each with its datasets in creation order: uint8 | uint16 | uint32,
//                   attribute format, one fletcher32 chunk
// The library checks its own checksums, but not of every byte; the user block's digest is verified before the
// library sees the file, so a changed byte anywhere is an error and never a misread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fixtures/tensor/errors.hpp"
#include "goldens/record/atomic_file.hpp"
#include "oracles/formats/format.hpp"

namespace assay::goldens {

/// One array of codes. 8-, 16- and 32-bit codes are stored as unsigned integers with the format as an
/// attribute.
struct CodeArray {
  std::string name;
  formats::Format format{};
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;  ///< little-endian, contiguous
};

/// Everything that was approved for one case.
struct Entry {
  std::string token;  ///< the case, reproducible from this alone
  std::vector<CodeArray>
      inputs;  ///< empty when the token's generator makes them; then input_digest pins them
  std::vector<CodeArray> outputs;
  std::string input_digest;   ///< digest() of the inputs, kept here or generated
  std::string output_digest;  ///< digest() of the outputs
  std::string route = {};     ///< of what a device gave: the routes that left these bits, by ", "; else empty
};

struct Record {
  std::string family;
  std::map<std::string, std::string>
      provenance;  ///< oracle, contracts, generator, source revision; nothing of time or place
  std::vector<Entry> entries;
};

/// The longest text of a record, in bytes: an attribute in an object header is below 64 KiB.
inline constexpr std::size_t longest_text = 60'000;

/// SHA-256, lower-case hex.
std::string sha256(std::span<const std::byte>);

/// SHA-256 over names, formats, shapes and codes. Hashed for each array, integers as 64-bit little-endian:
/// the length of the name and the name, the length of the format's name and the name, the rank and the
/// dimensions, the number of bytes and the bytes. Lengths come first, so no two lists of arrays give one
/// text.
std::string digest(const std::vector<CodeArray>&);

/// SHA-256 of what a record says, wherever that comes from: the family and, of every entry in order, token,
/// route, input digest and output digest; the provenance is left out. Texts are hashed as in digest(), ahead
/// of the entries stands their number. With one version of HDF5 records of one digest and one provenance are
/// the same bytes.
std::string content_digest(const Record&);

/// The file's bytes: no time, place, address or library default in them. The record must be consistent
/// (programmer error otherwise): digests that match, sizes that match shapes, names without '/' that are
/// unique in their list, and texts without NUL of at most longest_text bytes.
std::vector<std::byte> to_bytes(const Record&);

/// The inverse. Throws BadInput with the reason: not a golden record, another version, truncated, changed, or
/// a structure that is not that of a record. A seal is no signature, so the HDF5 library reads the content in
/// a child process (run_isolated), which limits a record to 256 MiB.
Record from_bytes(std::span<const std::byte>);

/// to_bytes through replace_file: whatever happens, the path holds the old content or the new. Throws
/// BadInput naming file and reason when the disk refuses.
void write(const std::filesystem::path&, const Record&, const AtStep& at_step = {});

/// Throws BadInput naming file and reason, as from_bytes or because the file cannot be opened.
Record read(const std::filesystem::path&);

}  // namespace assay::goldens
