// A bench's result for people (text) and for machines (JSON).
#pragma once

#include <string>

#include "properties/bench/result.hpp"

namespace assay::properties::bench {

/// Findings first, then how it was measured, the table, the geometric means, notes, and one closing line.
std::string text_report(const Result&);

/// The same content. No time of day in it. Keys, in this order; times are in microseconds:
///   assay            version of this layout, 1
///   exit_code, device, binary (build id), runs, l2_bytes, cold_bytes (written before each run)
///   clock_step_us    the smallest difference between two times
///   cases            list, one for each benchmark that was timed:
///     family, name, token, bytes_read, bytes_written
///     empty_us, copy_us   as time_us below: the empty interval; a copy of as many bytes
///     routes         list: route, kind (production | legacy | experiment), time_us {median, min, max},
///                    exposed_runs (that may hold launch latency), bytes_per_second, of_copy (its rate over
///                    the copy's), ratio (its median over that of the first route; over 1: the first is
///                    faster; 1 for the first), kernels [{kernel, registers, static_shared_bytes,
///                    dynamic_shared_bytes, spilled_bytes, max_threads, threads, occupancy}]
///     peers          list: peer, time_us (one number), bytes_per_second, of_copy, ratio, note
///   geomeans         list: family, group (empty: the whole family), first, other, ratio, cases
///   refused          how many benchmarks were
///   findings         list: code, place, summary, notes, token
///   notes            list
std::string json_report(const Result&);

}  // namespace assay::properties::bench
