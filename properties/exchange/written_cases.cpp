#include "properties/exchange/written_cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <system_error>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "goldens/record/atomic_file.hpp"
#include "goldens/record/record.hpp"

namespace assay::properties {

namespace {

namespace fs = std::filesystem;

void refuse_folder(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return;
  if (status.type() != fs::file_type::directory) fixtures::bad_file(folder, "it is there and is no folder");
  const bool empty = fs::is_empty(folder, error);
  if (error) fixtures::bad_file(folder, error.message());
  if (!empty) fixtures::bad_file(folder, "it is not empty; name a folder that is not there yet");
}

/// A folder beside the one that is wanted, removed unless it took its place.
class Pending {
 public:
  explicit Pending(const fs::path& wanted) : wanted_(wanted.lexically_normal()) {
    if (!wanted_.has_filename()) wanted_ = wanted_.parent_path();
    const fs::path parent = wanted_.has_parent_path() ? wanted_.parent_path() : ".";
    std::string name = (parent / ("." + wanted_.filename().string() + ".XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr)
      fixtures::bad_file(wanted, fmt::format("it cannot be made: {}", reason(errno)));
    path_ = name;
  }
  ~Pending() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  const fs::path& path() const { return path_; }

  void take_place() {
    // mkdtemp lets only the owner in.
    constexpr auto others =
        fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec;
    std::error_code error;
    fs::permissions(path_, others, fs::perm_options::add, error);
    if (!error) fs::rename(path_, wanted_, error);  // takes the place of an empty folder too
    if (error) fixtures::bad_file(wanted_, fmt::format("it cannot be made: {}", error.message()));
    path_.clear();
  }

 private:
  static std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

  fs::path wanted_, path_;
};

std::vector<std::string> texts_of(const CasesRequest& request) {
  std::vector<std::string> texts = request.texts;
  std::vector<std::string> names;
  for (const Family* family : families()) names.emplace_back(family->name());
  for (const std::string& name : request.families) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw BadInput(fmt::format("unknown family {}; the nearest is '{}'", fixtures::in_quotes(name),
                                 fixtures::nearest(name, names)));
    const Family& family = *families()[static_cast<std::size_t>(found - names.begin())];
    for (std::string& text : family.cases(request.level, request.seed)) texts.push_back(std::move(text));
  }
  return texts;
}

bool some_route_takes(const Family& family, const Workload& workload) {
  for (std::size_t route = 0; route < family.routes().size(); ++route)
    if (workload.expected_support(route, kernels::DeviceKind::cpu).supported) return true;
  return false;
}

void write(const fs::path& path, std::span<const std::byte> bytes, WrittenCases& written) {
  goldens::replace_file(path, bytes);
  written.bytes += bytes.size();
}

}  // namespace

WrittenCases write_cases(const fs::path& folder, const CasesRequest& request) {
  refuse_folder(folder);
  Pending pending(folder);
  WrittenCases written;
  std::string index;
  for (const std::string& text : texts_of(request)) {
    if (written.files == request.limit) break;
    const CaseText parts = parse_case(text);
    const auto workload = build(parts);
    if (!some_route_takes(family_of(parts), *workload)) {
      ++written.refused;
      continue;
    }
    const std::string digest = goldens::sha256(std::as_bytes(std::span(text)));
    const std::string name = fmt::format("{:04}-{}-{}.{}", written.files + 1, parts.family,
                                         digest.substr(0, 8), extension_of(request.kind));
    write(pending.path() / name, case_file_bytes(request.kind, *workload, text, nullptr), written);
    index += fmt::format("{}\t{}\n", name, fixtures::printable(text));
    ++written.files;
  }
  write(pending.path() / "index.tsv", std::as_bytes(std::span(index)), written);
  pending.take_place();
  return written;
}

}  // namespace assay::properties
