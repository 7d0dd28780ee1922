// What changes golden files: regeneration, acceptance, rejection.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "fixtures/tensor/errors.hpp"
#include "goldens/record/record.hpp"
#include "properties/gate/golden.hpp"
#include "properties/gate/golden_hardware.hpp"
#include "properties/gate/golden_oracle.hpp"

namespace assay::properties {
namespace {

using goldens::AtStep;
using goldens::FileKind;
using goldens::Store;

/// Why the computed content cannot stand as it is; empty when the approved record says the same.
std::string why_pending(const std::filesystem::path& approved, const std::string& digest) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(approved, ignored)))
    return "nothing is approved";
  try {
    const std::string held = goldens::content_digest(goldens::read(approved));
    return held == digest ? "" : fmt::format("{} is approved", held);
  } catch (const BadInput& error) {
    return fmt::format("the approved file cannot be read: {}", error.what());
  }
}

Regenerated regenerate_one(const Family& family, const std::string& name, const AtStep& at_step) {
  const Store store = golden_store();
  const goldens::Record record = oracle_record(family, name);
  const std::filesystem::path approved = store.approved(family.name(), name);
  const std::filesystem::path pending = store.pending(family.name(), name);
  Regenerated result{approved, goldens::content_digest(record), ""};
  result.why_pending = why_pending(approved, result.digest);
  std::error_code ignored;
  if (!result.why_pending.empty()) {
    goldens::write(pending, record, at_step);
  } else if (std::filesystem::exists(std::filesystem::symlink_status(pending, ignored))) {
    goldens::remove_file(pending, at_step);
  }
  return result;
}

PendingGolden pending_of(const Family& family, const std::string& record) {
  const Store store = golden_store();
  return {std::string(family.name()), record, store.pending(family.name(), record),
          store.approved(family.name(), record)};
}

/// The pending record that a name on the command line means.
PendingGolden pending_named(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto real = [&](const std::filesystem::path& path) {
    // The folder alone, because the file may be missing.
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path).parent_path(), ignored) /
           path.filename();
  };
  const Store store = golden_store();
  for (const Family* family : families()) {
    for (const goldens::StoredFile& stored : store.files(family->name())) {
      if (stored.kind != FileKind::pending) continue;
      const PendingGolden pending = pending_of(*family, stored.record);
      if (real(file) == real(pending.pending) || real(file) == real(pending.approved)) return pending;
    }
  }
  throw BadInput(fmt::format("{}: it has no pending record (see: assay golden review)", file.string()));
}

/// The file's seal is verified by reading it.
goldens::Record read_pending(const PendingGolden& pending) {
  goldens::Record record = goldens::read(pending.pending);
  if (record.family != pending.family)
    throw BadInput(fmt::format("{}: it is of family {}, not of {}", pending.pending.string(), record.family,
                               pending.family));
  return record;
}

void check_device_record(const Family& family, const PendingGolden& pending, const goldens::Record& record) {
  Recorder recorder;
  check_hardware_record(family, record, pending.pending, recorder);
  const auto& findings = recorder.result().findings;
  if (record.entries.empty()) throw BadInput(fmt::format("{}: it is empty", pending.pending.string()));
  if (!findings.empty())
    throw BadInput(fmt::format("{}: it does not stand: {}: {} ({})", pending.pending.string(),
                               findings[0].place, findings[0].summary, findings[0].token));
}

/// Throws BadInput unless the pending record may be accepted.
void check_acceptable(const PendingGolden& pending) {
  const Family& family = *find_family(pending.family);
  const goldens::Record record = read_pending(pending);
  if (is_hardware_record(pending.record)) return check_device_record(family, pending, record);
  if (!family.golden_cases().contains(pending.record))
    throw BadInput(fmt::format("{}: the family {} names no record '{}'", pending.pending.string(),
                               pending.family, pending.record));
  const std::string held = goldens::content_digest(record);
  const std::string now = goldens::content_digest(oracle_record(family, pending.record));
  if (held != now)
    throw BadInput(
        fmt::format("{}: it is stale: its content is {}, today's oracle computes {}; run: assay golden regen",
                    pending.pending.string(), held, now));
}

}  // namespace

void refuse_in_ci(std::string_view command) {
  const char* set = std::getenv("CI");
  if (set && *set)
    throw BadInput(fmt::format("{}: refused, because CI is set: a person decides what is kept", command));
}

std::vector<Regenerated> regenerate_goldens(const std::filesystem::path& folder) {
  std::vector<Regenerated> written;
  for (const Family* family : families()) {
    for (const auto& [name, tokens] : family->golden_cases()) {
      const goldens::Record record = oracle_record(*family, name);
      const auto path = Store{folder}.approved(family->name(), name);
      std::error_code error;
      std::filesystem::create_directories(path.parent_path(), error);
      if (error)
        throw BadInput(
            fmt::format("{}: it cannot be created: {}", path.parent_path().string(), error.message()));
      goldens::write(path, record);
      written.push_back({path, goldens::content_digest(record), ""});
    }
  }
  return written;
}

std::vector<Regenerated> regenerate_pending(const AtStep& at_step) {
  std::vector<Regenerated> results;
  for (const Family* family : families()) {
    for (const goldens::StoredFile& file : golden_store().files(family->name())) {
      if (file.kind == FileKind::temporary) goldens::remove_file(file.path, at_step);
    }
    for (const auto& [name, tokens] : family->golden_cases())
      results.push_back(regenerate_one(*family, name, at_step));
  }
  return results;
}

std::vector<PendingGolden> pending_goldens(const std::vector<std::filesystem::path>& files) {
  std::vector<PendingGolden> found;
  for (const auto& file : files) {
    PendingGolden pending = pending_named(file);
    if (std::ranges::find(found, pending.pending, &PendingGolden::pending) != found.end())
      throw BadInput(fmt::format("{}: it is named twice", file.string()));
    found.push_back(std::move(pending));
  }
  if (!files.empty()) return found;
  for (const Family* family : families()) {
    for (const goldens::StoredFile& file : golden_store().files(family->name())) {
      if (file.kind == FileKind::pending) found.push_back(pending_of(*family, file.record));
    }
  }
  return found;
}

void accept_goldens(const std::vector<PendingGolden>& all, const AtStep& at_step) {
  for (const PendingGolden& pending : all) check_acceptable(pending);
  for (const PendingGolden& pending : all) goldens::rename_file(pending.pending, pending.approved, at_step);
}

void reject_goldens(const std::vector<PendingGolden>& all, const AtStep& at_step) {
  for (const PendingGolden& pending : all) goldens::remove_file(pending.pending, at_step);
}

}  // namespace assay::properties
