// Changing a file so that a reader, or a restart after a crash, finds all of the old content or all of the
// new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fixtures/tensor/errors.hpp"

namespace assay::goldens {

/// The moments of a change between which a process can die.
enum class FileStep : std::uint8_t { created, half_written, written, flushed, renamed, removed };

/// Called at each of them: a test dies there. Empty: nothing is.
using AtStep = std::function<void(FileStep)>;

/// Writes a temporary file in the same folder (".NAME.XXXXXX"), flushes it, renames it over `path` and
/// flushes the folder. Throws BadInput naming file and reason; the temporary file is then gone. Killed, it
/// leaves the old file, or the new one, and perhaps the temporary file.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  const AtStep& at_step = {});

/// Renames `from` over `to`, in one folder, and flushes the folder. Throws BadInput naming file and reason.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to,
                 const AtStep& at_step = {});

/// Removes a file and flushes its folder. Throws BadInput naming file and reason.
void remove_file(const std::filesystem::path&, const AtStep& at_step = {});

/// The NAME that a temporary file of replace_file was to replace; empty when `name` is not that of one.
std::string target_of_temporary(std::string_view name);

}  // namespace assay::goldens
