// Where goldens lie: goldens/<family>/*.h5.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "fixtures/tensor/errors.hpp"

namespace assay::goldens {

struct Store {
  std::filesystem::path root;  ///< the folder that holds one folder a family

  /// The records of a family in name order, which no file system's own order changes. Hidden files are not
  /// records (a temporary file of an interrupted write is one). No folder, no records. Throws BadInput when
  /// it cannot be listed.
  std::vector<std::filesystem::path> records(std::string_view family) const;
};

}  // namespace assay::goldens
