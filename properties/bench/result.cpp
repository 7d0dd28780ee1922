#include "properties/bench/result.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace assay::properties::bench {

Spread spread_of(std::span<const double> values) {
  assert(!values.empty());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return {median, sorted.front(), sorted.back()};
}

double geometric_mean(std::span<const double> values) {
  assert(!values.empty());
  double sum = 0;
  for (const double value : values) {
    assert(value > 0);
    sum += std::log2(value);  // base 2: exact for powers of two
  }
  return std::exp2(sum / static_cast<double>(values.size()));
}

double smallest_step(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::adjacent_difference(values.begin(), values.end(), values.begin());
  double step = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] > 0 && (step == 0 || values[i] < step)) step = values[i];
  }
  return step;
}

double CaseTime::rate(double microseconds) const {
  return 1e6 * static_cast<double>(benchmark.bytes_read + benchmark.bytes_written) / microseconds;
}

std::string_view group_of(const Benchmark& benchmark) {
  return std::string_view(benchmark.name).substr(0, benchmark.name.find(','));
}

int Result::exit_code() const {
  if (!findings.empty()) return exit_fail;
  return cases.empty() ? exit_vacuous : exit_pass;
}

bool same_step(const Result& result, double a, double b) { return std::abs(a - b) < result.step; }

namespace {

/// The ratios of one pair of contenders within one group, or within the family.
struct Ratios {
  Geomean key;
  std::vector<double> ratios;
};

void add(std::vector<Ratios>& all, const CaseTime& one, std::string_view group, const std::string& other,
         double ratio) {
  const std::string& first = one.routes.front().route;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Ratios& known) {
    return known.key.family == one.family && known.key.group == group && known.key.first == first &&
           known.key.other == other;
  });
  if (found != all.end()) {
    found->ratios.push_back(ratio);
  } else {
    all.push_back({{one.family, std::string(group), first, other, 0, 0}, {ratio}});
  }
}

}  // namespace

std::vector<Geomean> geomeans(const Result& result) {
  std::vector<Ratios> groups, whole;
  for (const CaseTime& one : result.cases) {
    const auto add_both = [&](const std::string& other, double microseconds) {
      add(groups, one, group_of(one.benchmark), other, one.ratio(microseconds));
      add(whole, one, "", other, one.ratio(microseconds));
    };
    for (std::size_t i = 1; i < one.routes.size(); ++i)
      add_both(one.routes[i].route, one.routes[i].time.median);
    for (const Peer& peer : one.peers) add_both(peer.peer, peer.microseconds);
  }
  // Families stand together, each after its groups; both lists have them in the same order.
  std::vector<Geomean> means;
  const auto take = [&](const std::vector<Ratios>& from, const std::string& family) {
    for (const Ratios& one : from) {
      if (one.key.family != family) continue;
      means.push_back(one.key);
      means.back().ratio = geometric_mean(one.ratios);
      means.back().cases = one.ratios.size();
    }
  };
  for (const Ratios& one : whole) {
    if (!means.empty() && means.back().family == one.key.family) continue;
    take(groups, one.key.family);
    take(whole, one.key.family);
  }
  return means;
}

}  // namespace assay::properties::bench
