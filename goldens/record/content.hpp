// What stands behind the seal of a record, read with the HDF5 library. Call this only where a crash of the
// library is acceptable: in run_isolated, as from_bytes does.
#pragma once

#include <cstddef>
#include <span>

#include "goldens/record/record.hpp"

namespace assay::goldens {

/// The record of a file whose seal was not looked at; digests are not checked either. The caller holds
/// hdf5_mutex. Throws BadInput with the reason.
Record read_content(std::span<const std::byte> file);

}  // namespace assay::goldens
