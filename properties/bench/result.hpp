// What `assay bench` measured, and the figures drawn from it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/runtime/route.hpp"
#include "kernels/runtime/timer.hpp"
#include "properties/gate/family.hpp"
#include "properties/gate/verdict.hpp"

namespace assay::properties::bench {

/// Microseconds of one contender over its runs.
struct Spread {
  double median = 0, min = 0, max = 0;
};

/// The median of an even number of values is the mean of the two in the middle. `values` is not empty.
Spread spread_of(std::span<const double> values);

/// 2^mean(log2); the values are positive, and there is at least one.
double geometric_mean(std::span<const double> values);

/// The smallest difference between two values that differ: the step of the clock they were read from, when
/// there are many. 0 when all are equal.
double smallest_step(std::vector<double> values);

struct RouteTime {
  std::string route;
  kernels::RouteKind kind{};
  Spread time;
  unsigned exposed = 0;  ///< runs whose time may hold launch latency
  std::vector<kernels::KernelResources> kernels;
};

/// The time of another implementation at the same work, measured elsewhere (peers.hpp).
struct Peer {
  std::string benchmark;  ///< its name
  std::string peer;       ///< "torch.compile"
  double microseconds = 0;
  std::string note;  ///< anything
};

struct CaseTime {
  std::string family;
  Benchmark benchmark;
  std::vector<RouteTime> routes;  ///< as in the benchmark: the first is compared with each of the others
  RouteTime copy;  ///< a copy within the device's memory that reads and writes as many bytes in all
  Spread empty;    ///< the interval with nothing in it, a part of every other time
  std::vector<Peer> peers;

  /// How many times as long as the first route this takes; over 1 means that the first is faster.
  double ratio(double microseconds) const { return microseconds / routes.front().time.median; }
  /// Bytes a second, read and written.
  double rate(double microseconds) const;
};

/// "rowwise" of "rowwise, bf16 to e4m3, 1024 x 1024".
std::string_view group_of(const Benchmark&);

struct Result {
  std::string device;  ///< "NVIDIA H200"
  unsigned runs = 0;
  std::size_t l2_bytes = 0, cold_bytes = 0;  ///< of the L2 cache; written before each run
  double step = 0;                           ///< microseconds between times that the clock can tell apart
  std::vector<CaseTime> cases;
  std::vector<Finding> findings;  ///< why a benchmark was refused
  std::size_t refused = 0;        ///< benchmarks that were
  std::vector<std::string> notes;

  /// 1 when a benchmark was refused, 3 when nothing was timed, else 0: being slower is no failure.
  int exit_code() const;
};

/// Whether two medians are too near to each other for the clock.
bool same_step(const Result&, double a, double b);

/// The geometric mean of the ratios of one other route, or peer, to the first route.
struct Geomean {
  std::string family;
  std::string group;  ///< empty: of the whole family
  std::string first, other;
  double ratio = 0;
  std::size_t cases = 0;
};

/// For every group of every family, in the order of the cases, and then for the family.
std::vector<Geomean> geomeans(const Result&);

}  // namespace assay::properties::bench
