// The life of a golden: computed, pending, reviewed, accepted or rejected, and checked ever after.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "goldens/record/atomic_file.hpp"
#include "goldens/record/store.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties {

/// goldens/ under home().
goldens::Store golden_store();

/// Throws BadInput when the environment variable CI is set and not empty: goldens and fixtures are kept by
/// persons, so nothing in continuous integration may write one. `command` is what wanted to.
void refuse_in_ci(std::string_view command);

/// What lies under goldens/.
struct GoldenSurvey {
  std::vector<std::filesystem::path> records;  ///< approved ones that are there and named, in name order
  std::vector<Finding> findings;               ///< records that are missing, files that nothing names
  std::vector<std::string> notes;  ///< pending records, leftovers of interrupted writes, no hardware record
};

/// A record is named by its family's golden_cases(), or by a line of hardware/expected.txt. Throws BadInput
/// when a family's folder is missing.
GoldenSurvey survey_goldens();

/// Checks records of the oracle: the file itself (digests, checksums), that its inputs are what its tokens
/// generate today, that its outputs are what the oracle computes, and that every route on every present
/// device gives these bits. Records of a device: see check_hardware_record. Throws BadInput for a file that
/// cannot be read.
GateResult verify_goldens(const std::vector<std::filesystem::path>& files);

/// A record that was computed again, from the oracle and never from a kernel.
struct Regenerated {
  std::filesystem::path file;  ///< where the record is or would be approved; with a folder, what was written
  std::string digest;          ///< content_digest of what was computed
  std::string why_pending;     ///< empty: the approved record has this content
};

/// Writes every family's records into folder/<family>/<record>.h5, whatever is approved. Throws BadInput
/// naming the file or folder that cannot be written.
std::vector<Regenerated> regenerate_goldens(const std::filesystem::path& folder);

/// Leaves a pending record beside the approved one where their contents differ, or where none is approved or
/// it cannot be read. Removes a pending record that is of no use any more, and what interrupted writes left.
/// An approved file is never touched.
std::vector<Regenerated> regenerate_pending(const goldens::AtStep& at_step = {});

/// A pending record and what it would replace.
struct PendingGolden {
  std::string family, record;
  std::filesystem::path pending, approved;
};

/// All that are pending, or those of `files`, each the name of the approved or of the pending file. Throws
/// BadInput for a file that has no pending record, one that is named twice, and one outside goldens/.
std::vector<PendingGolden> pending_goldens(const std::vector<std::filesystem::path>& files);

/// Puts pending records in the place of the approved ones, each by one rename. First all are checked: the
/// file's seal, that family and name are known, and that the content is what today's oracle computes (of a
/// device's record: that it stands check_hardware_record). Throws BadInput, before anything is renamed, for
/// the first that does not stand.
void accept_goldens(const std::vector<PendingGolden>&, const goldens::AtStep& at_step = {});

/// Removes pending records, whatever they hold.
void reject_goldens(const std::vector<PendingGolden>&, const goldens::AtStep& at_step = {});

}  // namespace assay::properties
