// The golden record: approved bits with provenance, in HDF5. Equal content is equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fixtures/tensor/errors.hpp"
#include "oracles/formats/format.hpp"

namespace assay::goldens {

/// One array of codes. 8-, 16- and 32-bit codes are stored as unsigned integers with the format as an attribute.
struct CodeArray {
  std::string name;
  formats::Format format{};
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;  ///< little-endian, contiguous
};

/// Everything that was approved for one case.
struct Entry {
  std::string token;               ///< the case, reproducible from this alone
  std::vector<CodeArray> inputs;   ///< empty when the token's generator makes them; then input_digest pins them
  std::vector<CodeArray> outputs;
  std::string input_digest;        ///< SHA-256 of all input codes
  std::string output_digest;       ///< SHA-256 of all output names, formats, shapes and codes
};

struct Record {
  std::string family;
  std::map<std::string, std::string> provenance;  ///< oracle, contracts, generator, source revision; nothing of time or place
  std::vector<Entry> entries;
};

/// SHA-256, lower-case hex.
std::string sha256(std::span<const std::byte>);
std::string digest(const std::vector<CodeArray>&);

/// Writes atomically (temporary file beside it, then rename). No timestamps, fixed library version bounds, fletcher32.
void write(const std::filesystem::path&, const Record&);

/// Throws BadInput naming file and reason: not HDF5, wrong record version, checksum or digest mismatch.
Record read(const std::filesystem::path&);

}  // namespace assay::goldens
