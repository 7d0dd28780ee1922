// Random points for the properties, shrinking toward one row of one block of the simplest contract.
#pragma once

#include <vector>

#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

/// Anything that some route takes, by one of the schedules and filled with one of the patterns.
Point any_point(const std::vector<oracle::Schedule>&, const std::vector<fixture::Pattern>&);

/// A bf16 or fp16 point of schedule split_k: one row, or (rows) some up to 8.
Point any_gemv(const std::vector<fixture::Pattern>&, bool rows);

/// The schedules that take several rows.
std::vector<oracle::Schedule> schedules_of_rows();
std::vector<oracle::Schedule> all_schedules();

}  // namespace assay::properties::matmul_nbits
