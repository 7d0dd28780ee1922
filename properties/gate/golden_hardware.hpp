// Goldens recorded from hardware: the bits that routes left on a device, which machines without it check.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goldens/record/record.hpp"
#include "kernels/runtime/device.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/golden.hpp"
#include "properties/gate/recorder.hpp"

namespace assay::properties {

/// "hardware/h200": the name of the record of a device called "NVIDIA H200"; "hardware/cpu" of the executor.
std::string hardware_record_name(const kernels::Device&);

/// Whether the record of that name is a device's.
bool is_hardware_record(std::string_view name);

/// Tokens of goldens/<family>/hardware/cases.txt, one a line but for empty lines and those that begin with
/// '#'. Each must be one that the family reads, as it prints it, and stand there once; throws BadInput naming
/// file and line otherwise. No file, no cases.
std::vector<std::string> hardware_cases(const Family&);

/// Names of the devices in goldens/<family>/hardware/expected.txt, written the same way: the record
/// "hardware/NAME" of each must be there, and no other.
std::vector<std::string> expected_hardware(const Family&);

/// Judges every route on every one of hardware_cases() on a device and returns what it left: an entry for
/// each case and for each different output, with the routes that left it. A case that a route refuses, and
/// one that all refuse, is counted in the recorder's table; what is wrong becomes a finding, and then the
/// record must not be kept. Provenance: device, capability, toolkit and driver as the runtime reports them,
/// the build of the program, the digest of the inputs.
goldens::Record record_hardware(const Family&, kernels::Device&, Recorder&);

/// record_hardware for every family that has cases, pending beside the approved records or, with a folder, as
/// folder/<family>/hardware/NAME.h5. Nothing is written unless every result was right, that is unless the
/// result's exit code is 0. Throws BadInput when a file or folder cannot be written.
struct RecordedHardware {
  GateResult result;
  std::vector<Regenerated> written;
};
RecordedHardware record_hardware_goldens(kernels::Device&, const std::optional<std::string>& folder);

/// Checks a device's record on this machine. The record holds the cases of hardware_cases() and nothing else;
/// its inputs are what its tokens generate today; its bits lie inside today's acceptance; and every route it
/// names leaves these bits on every device that is present. A route that takes the case on no such device is
/// noted. `file` names the record in findings.
void check_hardware_record(const Family&, const goldens::Record&, const std::filesystem::path& file,
                           Recorder&);

}  // namespace assay::properties
