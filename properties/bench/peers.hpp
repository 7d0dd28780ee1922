// Times of other implementations, from a file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "properties/bench/result.hpp"

namespace assay::properties::bench {

/// Reads a JSON list of objects with the keys
///   name      of a benchmark, one of `benchmarks`
///   time_us   microseconds, over 0
///   peer      what was measured; a pair of name and peer occurs once
///   note      optional: how
/// in the order of the file. Throws BadInput naming file, item and reason.
std::vector<Peer> read_peers(const std::filesystem::path&, const std::vector<std::string>& benchmarks);

}  // namespace assay::properties::bench
