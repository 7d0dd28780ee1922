// The reported faults as the gate judges them: what the bits let pass, and what the bound does.
#include "fixtures/matmul_nbits/reported.hpp"

#include <gtest/gtest.h>

#include "oracles/formats/codec.hpp"
#include "properties/comparator/comparator.hpp"
#include "properties/matmul_nbits/cases.hpp"
#include "properties/matmul_nbits/workload.hpp"

namespace assay::properties::matmul_nbits {
namespace {

std::vector<Point> reported_points() {
  std::vector<Point> points;
  for (const Point& point : cases(Level::quick, 1))
    if (point.source == Source::reported) points.push_back(point);
  return points;
}

bool is_of(const Point& point, const std::string& id) { return point.reported.substr(0, id.size()) == id; }

TEST(Reported, EveryOneIsACaseOfTheGate) {
  EXPECT_EQ(reported_points().size(), fixture::reported().size());
  EXPECT_GE(reported_points().size(), 60u);
}

/// How many of the cases of `id` reject the fault's output and name it, and how many have it at all.
struct Rejected {
  std::size_t cases = 0, named = 0;
};
Rejected rejected(const std::string& id, oracle::Fault fault, const std::string& pattern) {
  Rejected result;
  for (const Point& point : reported_points()) {
    if (!is_of(point, id)) continue;
    MatmulWorkload workload(point);
    oracle::Contracts contracts = point.contracts;
    contracts.judge = oracle::Judge::bits;
    const auto wrong = oracle::faulty(fault, contracts, point.shape, view(workload.operands()));
    if (wrong.empty() || compare(workload.acceptance()[0], wrong).passed()) continue;
    ++result.cases;
    for (const Diagnosis& diagnosis : workload.diagnose({wrong}, {wrong}))
      result.named += diagnosis.pattern == pattern;
  }
  return result;
}

TEST(Reported, EachFaultIsRejectedAndNamed) {
  struct Known {
    const char* id;
    oracle::Fault fault;
    const char* pattern;
    std::size_t least;
  };
  constexpr Known known[] = {
      {"B23", oracle::Fault::direct_rounding, "stored without fp16", 9},
      {"B24", oracle::Fault::row_stride_without_padding, "weight rows without padding", 7},
      {"B25", oracle::Fault::zero_point_ignored, "zero point ignored", 9},
      {"B26", oracle::Fault::zero_points_not_padded, "zero point rows without padding", 10},
      {"B28", oracle::Fault::last_block_dropped, "last block dropped", 12},
      {"B30", oracle::Fault::zero_hoisted, "zero point hoisted", 6},
      {"B36", oracle::Fault::bias_dropped, "bias dropped", 2},
      {"B42", oracle::Fault::code_off_by_one, "codes off by one", 10},
      {"B44", oracle::Fault::last_split_dropped, "last slice dropped", 8},
      {"B50", oracle::Fault::scale_ignored, "scale ignored", 7},
  };
  for (const Known& one : known) {
    const Rejected result = rejected(one.id, one.fault, one.pattern);
    EXPECT_GE(result.cases, one.least) << one.id;
    EXPECT_EQ(result.named, result.cases) << one.id;
  }
}

/// Y with every element replaced.
template <class Change>
std::vector<std::byte> changed(const MatmulWorkload& workload, const std::vector<std::byte>& y,
                               Change&& change) {
  const auto width = static_cast<int>(element_width(workload.point()));
  std::vector<std::byte> result = y;
  for (std::size_t i = 0; i < y.size() / element_width(workload.point()); ++i)
    arithmetic::store_code(result, width, i, change(i, arithmetic::load_code(y, width, i)));
  return result;
}

std::uint32_t doubled(formats::Format format, std::uint32_t code) {
  return formats::encode(format, formats::scaled(formats::decode(format, code), 1),
                         formats::Rounding::nearest_even, formats::Overflow::propagate);
}

// A bound that is wider than the signal accepts all of these.
TEST(Reported, NearlyCancellingResultsAreTellable) {
  std::size_t bounds = 0;
  for (const Point& point : reported_points()) {
    if (!is_of(point, "B36")) continue;
    MatmulWorkload workload(point);
    const arithmetic::Acceptance& accepted = workload.acceptance()[0];
    const formats::Format model = point.contracts.model;
    const std::uint32_t sign = 1u << (formats::spec(model).bits - 1);
    const auto width = static_cast<int>(element_width(point));
    oracle::Contracts contracts = point.contracts;
    contracts.judge = oracle::Judge::bits;
    const auto y = oracle::accept(contracts, point.shape, view(workload.operands())).lo;
    EXPECT_TRUE(compare(accepted, y).passed()) << print(point);
    const auto rejects = [&](auto&& change) {
      return !compare(accepted, changed(workload, y, change)).passed();
    };
    using Code = std::uint32_t;
    EXPECT_TRUE(rejects([](std::size_t, Code) { return 0u; })) << print(point);
    EXPECT_TRUE(rejects([&](std::size_t, Code code) { return code ^ sign; })) << print(point);
    EXPECT_TRUE(rejects([&](std::size_t, Code code) { return doubled(model, code); })) << print(point);
    const auto bias = [&](std::size_t i, Code) {
      return arithmetic::load_code(workload.operands().bias, width, i % point.shape.n);
    };
    EXPECT_TRUE(!point.bias || rejects(bias)) << print(point);
    bounds += !accepted.exact();
  }
  EXPECT_GE(bounds, 5u);
}

// An assertion that cannot fail would pass these: one code up, or one bit, of any element.
TEST(Reported, EveryElementOfEveryCaseIsHeld) {
  for (const Point& point : reported_points()) {
    MatmulWorkload workload(point);
    const arithmetic::Acceptance& accepted = workload.acceptance()[0];
    if (!accepted.exact()) continue;
    const std::vector<std::byte> y = accepted.lo;
    ASSERT_TRUE(compare(accepted, y).passed());
    for (std::size_t byte = 0; byte < y.size(); byte += element_width(point)) {
      std::vector<std::byte> damaged = y;
      damaged[byte] ^= std::byte{1};
      ASSERT_EQ(compare(accepted, damaged).failed, 1u) << print(point);
    }
  }
}

}  // namespace
}  // namespace assay::properties::matmul_nbits
