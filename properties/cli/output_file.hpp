// Files the program writes for the user.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace assay::cli {

/// Throws BadInput when write_file(path, ...) could not succeed, so that it is said before the work and not
/// after it: an empty path, a folder, a folder that is missing or not writable, the file that standard output
/// already goes to.
void check_writable(const std::string& path);

/// Throws BadInput when two of these options name one file, so that one result would take the place of the
/// other. Empty paths and "-" name none.
void check_apart(std::initializer_list<std::pair<const char*, std::string>> options);

/// Writes `text` to what `path` names. Symbolic links are followed, never replaced. A regular file, and one
/// that does not exist yet, is written whole or not at all: under a unique new name beside it, then renamed
/// over it, keeping its permissions. Everything else (a device, a pipe) is opened and written. Throws
/// BadInput as check_writable does, and EnvironmentError when the system does not take the bytes.
void write_file(const std::string& path, const std::string& text);

/// Shows a result as the option --json asks: none (""): `text` on standard output; "-": the JSON in its
/// place; else the JSON goes to that file, and the text is shown even when it cannot be written, as the work
/// is done. Throws as write_file does.
void show_result(const std::string& json_path, const std::function<std::string()>& json,
                 const std::string& text);

}  // namespace assay::cli
