// The bench: which benchmarks run, and timing them.
#pragma once

#include <string>
#include <vector>

#include "properties/bench/result.hpp"

namespace assay::properties::bench {

inline constexpr unsigned fewest_runs = 20, usual_runs = 30, most_runs = 10000;

struct Selected {
  const Family* family = nullptr;
  Benchmark benchmark;
};

/// Names of all benchmarks of these families.
std::vector<std::string> names_of(const std::vector<const Family*>&);

/// The benchmarks of the families named (none: of all) whose name contains `filter`, in order. Throws
/// BadInput for an unknown family, and for a filter that leaves nothing, naming the nearest.
std::vector<Selected> select(const std::vector<const Family*>&, const std::vector<std::string>& named,
                             const std::string& filter);

/// Builds each benchmark's case once, requires that every route shows the witness it has to and leaves the
/// same bits as the first, and only then times the routes and a copy of as many bytes. A benchmark of wrong
/// numbers is refused: a finding says where, and the others go on. Throws DeviceError.
Result run(const std::vector<Selected>&, const std::vector<Peer>&, kernels::Device&, kernels::Timer&,
           unsigned runs);

}  // namespace assay::properties::bench
