#include <fmt/core.h>

#include <filesystem>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "goldens/record/record.hpp"
#include "properties/cli/commands.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/gate.hpp"
#include "properties/gate/golden.hpp"
#include "properties/gate/golden_hardware.hpp"
#include "properties/gate/golden_review.hpp"
#include "properties/gate/report.hpp"

namespace assay::cli {

namespace {

using fixtures::printable;

std::vector<std::filesystem::path> paths_of(const char* command, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (file.empty()) throw BadInput(fmt::format("golden {} '': it needs the name of a record", command));
  }
  return {files.begin(), files.end()};
}

void refuse_empty_folder(const std::string& folder) {
  if (folder.empty()) throw BadInput("--out '': it needs a folder");
}

/// Runs `change` on what is pending and names what became of it.
template <class Change>
int change_pending(const char* command, const std::vector<std::string>& files, const char* done,
                   Change change) {
  properties::refuse_in_ci(fmt::format("golden {}", command));
  const auto pending = properties::pending_goldens(paths_of(command, files));
  change(pending);
  for (const auto& one : pending)
    fmt::print("{} {}\n", done,
               printable((done == std::string("accepted") ? one.approved : one.pending).string()));
  if (pending.empty()) fmt::print("nothing is pending\n");
  return properties::exit_pass;
}

/// The approved record that the path names; empty when it names none.
std::filesystem::path approved_named(const std::filesystem::path& file,
                                     const std::vector<std::filesystem::path>& approved) {
  std::error_code ignored;
  for (const auto& record : approved)
    if (std::filesystem::equivalent(file, record, ignored)) return record;
  return {};
}

/// What is pending for the files. Approved records for which nothing is go to `idle`.
std::vector<properties::PendingGolden> pending_for(const std::vector<std::filesystem::path>& files,
                                                   std::vector<std::filesystem::path>& idle) {
  if (files.empty()) return properties::pending_goldens({});
  const auto approved = properties::survey_goldens().records;
  std::vector<std::filesystem::path> asked;
  std::error_code ignored;
  for (const auto& file : files) {
    const auto there = [&](std::filesystem::path path) {
      return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
    };
    const auto record = approved_named(file, approved);
    const auto waiting = [&](std::filesystem::path path) {
      return there(path.replace_extension(".pending.h5"));
    };
    if (!record.empty() && !waiting(record)) {
      idle.push_back(file);
    } else if (!there(file) && !waiting(file)) {
      fixtures::bad_file(file, "no such file");
    } else {
      asked.push_back(file);
    }
  }
  if (asked.empty()) return {};  // no file at all would mean every one
  return properties::pending_goldens(asked);
}

}  // namespace

int golden_verify(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> paths = paths_of("verify", files);
  properties::GoldenSurvey survey;
  if (paths.empty()) {
    survey = properties::survey_goldens();
    paths = survey.records;
  }
  properties::GateResult result = properties::verify_goldens(paths);
  result.findings.insert(result.findings.begin(), survey.findings.begin(), survey.findings.end());
  result.notes.insert(result.notes.begin(), survey.notes.begin(), survey.notes.end());
  for (const auto& path : paths) fmt::print("record {}\n", printable(path.string()));
  fmt::print("{}", properties::text_report(result, std::nullopt));
  return result.exit_code();
}

int golden_regen(const std::optional<std::string>& folder) {
  if (folder) {
    refuse_empty_folder(*folder);
    for (const auto& one : properties::regenerate_goldens(*folder))
      fmt::print("wrote {} {}\n", one.digest, printable(one.file.string()));
    return properties::exit_pass;
  }
  properties::refuse_in_ci("golden regen without --out");
  for (const auto& one : properties::regenerate_pending()) {
    const bool same = one.why_pending.empty();
    fmt::print("{} {} {}{}\n", same ? "unchanged" : "pending  ", one.digest, printable(one.file.string()),
               same ? "" : fmt::format(" ({})", printable(one.why_pending)));
  }
  return properties::exit_pass;
}

int golden_review(const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> idle;
  const auto pending = pending_for(paths_of("review", files), idle);
  for (const auto& file : idle) fmt::print("nothing is pending for {}\n", printable(file.string()));
  for (const auto& one : pending) fmt::print("{}", properties::review_pending(one));
  if (pending.empty() && idle.empty()) fmt::print("nothing is pending\n");
  return pending.empty() ? properties::exit_pass : properties::exit_fail;
}

int golden_accept(const std::vector<std::string>& files) {
  return change_pending("accept", files, "accepted",
                        [](const auto& pending) { properties::accept_goldens(pending); });
}

int golden_reject(const std::vector<std::string>& files) {
  return change_pending("reject", files, "rejected",
                        [](const auto& pending) { properties::reject_goldens(pending); });
}

int golden_record(kernels::DeviceKind kind, const std::optional<std::string>& folder) {
  properties::refuse_in_ci("golden record");
  if (folder) refuse_empty_folder(*folder);
  if (!folder && kind == kernels::DeviceKind::cpu)
    throw BadInput("golden record --device cpu: the executor is no hardware; --out FOLDER writes elsewhere");
  kernels::Device* device = kernels::device(kind);
  if (!device)
    throw properties::EnvironmentError(
        fmt::format("device {} was asked for and is absent: {}", to_string(kind), kernels::why_absent(kind)));
  const auto [result, written] = properties::record_hardware_goldens(*device, folder);
  fmt::print("{}", properties::text_report(result, std::nullopt));
  for (const auto& one : written) fmt::print("wrote {} {}\n", one.digest, printable(one.file.string()));
  if (written.empty()) fmt::print("nothing was recorded\n");
  return result.exit_code();
}

}  // namespace assay::cli
