// The user block in front of the HDF5 content: the record's version, and the digest and length of the
// content.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "fixtures/tensor/errors.hpp"

namespace assay::goldens {

/// The smallest user block HDF5 allows.
inline constexpr std::size_t envelope_bytes = 512;
inline constexpr std::string_view record_title = "assay golden record 1";

/// Fills the first envelope_bytes of a finished HDF5 file that was made with a user block of that size.
void seal(std::span<std::byte> file);

/// Throws BadInput with the reason unless every byte of the file is as it was sealed.
void verify_seal(std::span<const std::byte> file);

}  // namespace assay::goldens
