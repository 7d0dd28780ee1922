// The reported faults as the gate judges them: every case that has the fault is rejected, and the fault
// named.
#include <gtest/gtest.h>

#include <algorithm>

#include "properties/comparator/comparator.hpp"
#include "properties/mxfp8_cast/cases.hpp"
#include "properties/mxfp8_cast/testing.hpp"
#include "properties/mxfp8_cast/workload.hpp"

namespace assay::properties::mxfp8_cast {
namespace {

using oracle::Fault;

bool accepts(CastWorkload& workload, const Contents& outputs, const Contents& before) {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (compare(workload.acceptance()[i], outputs[i], before[i], 0).failed > 0) return false;
  return true;
}

/// How many of the cases of `id` reject the fault's outputs, and how many of these name it.
struct Rejected {
  std::size_t cases = 0, named = 0;
};
Rejected rejected(const std::string& id, Fault fault, const std::string& pattern) {
  Rejected result;
  for (const Point& point : cases(Level::quick, 1)) {
    if (point.source != Source::reported || point.reported.substr(0, point.reported.find('.')) != id)
      continue;
    CastWorkload workload(point);
    const Contents outputs = outputs_with(workload, fault), before = poisoned(outputs);
    if (accepts(workload, outputs, before)) continue;
    ++result.cases;
    const auto found = workload.diagnose(outputs, before);
    result.named +=
        std::any_of(found.begin(), found.end(), [&](const Diagnosis& one) { return one.pattern == pattern; });
  }
  return result;
}

TEST(Reported, EachFaultIsRejectedAndNamed) {
  struct Known {
    const char* id;
    Fault fault;
    const char* pattern;
    std::size_t least;
  };
  constexpr Known known[] = {
      {"B01", Fault::nan_dropped_by_max, "NaN dropped by max", 6},
      {"B03", Fault::reciprocal_254_flushed, "reciprocal of 254 flushed", 1},
      {"B03", Fault::reciprocal_0_is_one, "reciprocal of 0 taken as 1", 1},
      {"B05", Fault::zero_block_nan, "zero block divided by zero", 1},
      {"B05", Fault::element_zero_sign_lost, "sign of zero lost", 1},
      {"B07", Fault::scale_from_divided_amax, "exponent taken after the division", 1},
      {"B08", Fault::scale_exact_power_doubled, "exact power of two doubled", 3},
      {"B10", Fault::scale_one_up, "scale off by one", 1},
      {"B14", Fault::element_through_fp16, "double rounding", 2},
      {"B15", Fault::element_ties_away, "ties away from zero", 1},
      {"B15", Fault::element_subnormal_flushed, "subnormal flushed", 1},
      {"B15", Fault::element_overflow_to_nan, "overflow to NaN", 1},
      {"B17", Fault::element_truncated, "truncation", 2},
      {"B18", Fault::element_overflow_to_nan, "overflow to NaN", 1},
      {"B21", Fault::element_subnormal_flushed, "subnormal flushed", 2},
      {"B53", Fault::element_subnormal_flushed, "subnormal flushed", 1},
  };
  for (const Known& one : known) {
    const Rejected result = rejected(one.id, one.fault, one.pattern);
    EXPECT_GE(result.cases, one.least) << one.id << " " << one.pattern;
    EXPECT_EQ(result.named, result.cases) << one.id << " " << one.pattern;
  }
}

}  // namespace
}  // namespace assay::properties::mxfp8_cast
