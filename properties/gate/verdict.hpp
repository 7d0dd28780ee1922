// Verdicts, findings and the table a gate run ends with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/witness.hpp"

namespace assay::properties {

enum class Verdict : std::uint8_t { pass, unsupported, vacuous, error, fail };
std::string_view to_string(Verdict);

/// The program's exit codes, documented in --help and README.
enum ExitCode : int { exit_pass = 0, exit_fail = 1, exit_usage = 2, exit_vacuous = 3, exit_environment = 4 };

/// Diagnostic codes; `assay explain CODE` has the long text of each.
enum class Code : std::uint8_t {
  wrong_code,            ///< A001 an element outside its interval
  not_written,           ///< A002 an element (row, ...) still holds what was there before
  guard_damaged,         ///< A003 a write outside the buffer
  input_modified,        ///< A004
  wrong_witness,         ///< A005 other kernels ran than the route declares
  not_deterministic,     ///< A006 two runs of one case differ
  devices_differ,        ///< A007 cpu and cuda bits differ
  probe_missed,          ///< A008 an injected fault was not rejected
  unlisted_unsupported,  ///< A009 a route takes other cases than the family's rule says
  kernel_fault,          ///< A010 the executor or the device stopped the kernel
  property_failed,       ///< A011 a relation between cases does not hold
  padding_written,       ///< A012 an element that had to stay untouched was written
  golden_differs,        ///< A013 the approved bits and the computed ones differ
  wrapper_differs,       ///< A014 a PTX wrapper and its host twin differ
  routes_differ,         ///< A015 routes that are timed side by side have different bits
};
std::string_view code_text(Code);  // "A001"

/// A diagnostic that stands alone.
struct Finding {
  Code code{};
  std::string summary;                ///< one sentence: what was wrong
  std::string place;                  ///< "mxfp8_cast/register on cpu"
  std::vector<std::string> patterns;  ///< names of the damage, most specific first
  std::vector<std::string> notes;     ///< where, expected and actual codes, counts
  std::string token;                  ///< reproduces it
};
/// The patterns as a report shows them.
std::string text_of_patterns(const Finding&);

/// One row of the table: a route on a device.
struct Row {
  std::string family, route, device;
  std::uint64_t cases = 0, elements = 0, unsupported = 0, failed = 0, probes = 0;
  std::uint64_t in_place = 0, had_to_change = 0;  ///< as in CaseResult
  double worst_bound_use = 0;
  bool exact = true;                              ///< every interval was one code
  std::map<std::string, std::uint64_t> launches;  ///< kernel name -> launches witnessed
  std::vector<std::string> kernels;               ///< that the route has to launch in one case or another
  std::map<std::string, std::uint64_t> unsupported_reasons;
  /// Elements were to be written in place and a kernel that writes none of them would have passed. That is
  /// asked of a row, not of a case: where every decay is 1 and every strength 0 the right state is the old
  /// one, such a case still shows that nothing else was written, and one whose sequences all have no slot has
  /// nothing to write at all. But some case has to show that the route writes.
  bool shows_no_write() const { return in_place > 0 && had_to_change == 0; }
  Verdict verdict() const;
  std::vector<std::string> never_launched() const;  ///< of `kernels`
};

struct GateResult {
  std::vector<Row> rows;
  std::vector<Finding> findings;  ///< the first few of each row; `suppressed` counts the rest
  std::uint64_t suppressed = 0;
  std::vector<std::string> notes;  ///< absent devices, tensors not judged and why
  std::string stopped_at;          ///< the text of GateOptions::until, where a finding with it ended the run
  std::uint64_t properties_held = 0, properties_failed = 0;
  std::uint64_t replayed = 0;                  ///< captured cases that were judged, before all others
  std::uint64_t identical_across_devices = 0;  ///< cases whose outputs were bit-identical on all devices
  /// All built-in cases together are chosen so that every route takes some and launches all its kernels: a
  /// row in which all were refused, or a kernel that never ran, is vacuous then. Of a shard that cannot be
  /// asked.
  bool every_row_must_compare = false;
  int exit_code() const;
};

/// Takes out rows that no chosen case was of: they have nothing to say. A row stays, and is vacuous, where
/// its route or device was asked for by name and no other row speaks for that, and where no row speaks at
/// all. `routes_named`: only routes that were asked for by name have rows.
void leave_out_unasked(GateResult&, bool routes_named, const std::vector<std::string>& devices_named);

}  // namespace assay::properties
