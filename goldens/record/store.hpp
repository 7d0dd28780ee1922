// Where goldens lie, and what the name of a file there says of it.
//
//   goldens/<family>/NAME.h5                     the approved record NAME
//   goldens/<family>/NAME.pending.h5             what would take its place, until a person accepts or rejects
//   it goldens/<family>/hardware/DEVICE.h5          the record "hardware/DEVICE": bits that a device left
//   goldens/<family>/hardware/DEVICE.pending.h5
//   goldens/<family>/hardware/cases.txt          tokens that such a record is made of
//   goldens/<family>/hardware/expected.txt       the devices whose record must be there
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/tensor/errors.hpp"

namespace assay::goldens {

inline constexpr std::string_view hardware_folder = "hardware";

enum class FileKind : std::uint8_t {
  approved,
  pending,
  temporary,  ///< of a write that was cut short
  list,       ///< cases.txt or expected.txt of a hardware folder
  build,      ///< CMakeLists.txt, .gitkeep
  other,
};

struct StoredFile {
  std::filesystem::path path;
  FileKind kind{};
  std::string record;  ///< of approved, pending and temporary: "bf16", "hardware/h200"
};

struct Store {
  std::filesystem::path root;  ///< the folder that holds one folder a family

  std::filesystem::path folder(std::string_view family) const;
  std::filesystem::path approved(std::string_view family, std::string_view record) const;
  std::filesystem::path pending(std::string_view family, std::string_view record) const;

  /// Every file of a family at whatever depth, in the order of paths, which no file system's own order
  /// changes. Throws BadInput when a folder cannot be listed or is missing.
  std::vector<StoredFile> files(std::string_view family) const;
};

}  // namespace assay::goldens
