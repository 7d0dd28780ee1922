// Replacing a file so that a reader, or a restart after a crash, finds all of the old content or all of the
// new.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

#include "fixtures/tensor/errors.hpp"

namespace assay::goldens {

/// Writes a temporary file in the same folder (".NAME.XXXXXX"), flushes it, renames it over `path` and
/// flushes the folder. `before_rename` lets a test stop at the moment that matters. Throws BadInput naming
/// file and reason; the temporary file is then gone.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  const std::function<void()>& before_rename = {});

}  // namespace assay::goldens
