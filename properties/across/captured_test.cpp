// The captured fixtures of the project: each shows the fault that it is of, and the right codes of the
// reports are those of the oracle.
#include "properties/gate/captured.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "properties/comparator/comparator.hpp"
#include "properties/gate/home.hpp"
#include "properties/gated_delta/workload.hpp"
#include "properties/mxfp8_dequant/workload.hpp"

namespace assay::properties {
namespace {

const std::vector<Captured>& fixtures() {
  static const std::vector<Captured> all = read_captured(home() / "fixtures");
  return all;
}

const Captured& fixture(const std::string& id) {
  const auto found =
      std::find_if(fixtures().begin(), fixtures().end(), [&](const Captured& one) { return one.id == id; });
  if (found == fixtures().end()) throw std::out_of_range("no captured fixture " + id);
  return *found;
}

/// The case as the family's own class, for the faults of its oracle.
template <class Own>
std::unique_ptr<Own> own(const Captured& of, std::size_t index) {
  const CaseText& text = of.cases.at(index).text;
  auto workload = family_of(text).with_contents(text.token, contents_of(given(*build(of, index))));
  auto* const cast = dynamic_cast<Own*>(workload.get());
  if (cast) (void)workload.release();
  return std::unique_ptr<Own>(cast);
}

/// What the buffers hold before a run: poison, or what is updated in place.
Contents before(const Workload& workload) {
  Contents contents;
  for (const OutputBuffer& output : workload.outputs()) {
    contents.emplace_back(output.initial.begin(), output.initial.end());
    const auto width = static_cast<std::size_t>(formats::storage_bytes(output.format));
    if (output.initial.empty()) contents.back().assign(output.elements * width, std::byte{0xA5});
  }
  return contents;
}

bool accepts(Workload& workload, const Contents& outputs) {
  const Contents old = before(workload);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (compare(workload.acceptance()[i], outputs[i], old[i], 0).failed > 0) return false;
  return true;
}

bool named(Workload& workload, const Contents& outputs, const std::string& pattern) {
  const auto found = workload.diagnose(outputs, before(workload));
  return std::any_of(found.begin(), found.end(),
                     [&](const Diagnosis& one) { return one.pattern == pattern; });
}

/// How many cases of the fixture reject the fault's outputs; each of them has to name it.
std::size_t rejected(const std::string& id, oracles::gated_delta::Fault fault, const std::string& pattern) {
  std::size_t cases = 0;
  for (std::size_t i = 0; i < fixture(id).cases.size(); ++i) {
    const auto workload = own<gated_delta::DeltaWorkload>(fixture(id), i);
    const auto& point = workload->point();
    const auto wrong = oracles::gated_delta::faulty(fault, point.contracts, gated_delta::shape_of(point),
                                                    gated_delta::view(point, workload->operands()));
    if (wrong.out.empty()) continue;  // the contracts rule it out
    const Contents outputs = {wrong.out, wrong.state};
    if (accepts(*workload, outputs)) continue;
    ++cases;
    EXPECT_TRUE(named(*workload, outputs, pattern)) << id << ", case " << i + 1 << ": " << pattern;
  }
  return cases;
}
std::size_t rejected(const std::string& id, oracles::mxfp8_dequant::Fault fault, const std::string& pattern) {
  std::size_t cases = 0;
  for (std::size_t i = 0; i < fixture(id).cases.size(); ++i) {
    const auto workload = own<mxfp8_dequant::DequantWorkload>(fixture(id), i);
    const auto& point = workload->point();
    const auto& codes = workload->codes();
    const Contents outputs = {
        oracles::mxfp8_dequant::accept(codes.data, codes.scales, point.shape, point.contracts, fault).lo};
    if (accepts(*workload, outputs)) continue;
    ++cases;
    EXPECT_TRUE(named(*workload, outputs, pattern)) << id << ", case " << i + 1 << ": " << pattern;
  }
  return cases;
}

TEST(Captured, EveryCaseIsBuiltAndHasTheRightCodesOfItsReport) {
  ASSERT_FALSE(fixtures().empty());
  for (const Captured& one : fixtures())
    for (std::size_t i = 0; i < one.cases.size(); ++i) EXPECT_NO_THROW((void)build(one, i)) << one.id;
}

TEST(Captured, EachFaultIsRejectedAndNamed) {
  using Delta = oracles::gated_delta::Fault;
  using Dequant = oracles::mxfp8_dequant::Fault;
  EXPECT_EQ(rejected("B19", Dequant::element_specials_as_numbers, "NaN or Inf decoded as a number"), 6u);
  EXPECT_EQ(rejected("B19", Dequant::element_subnormal_flushed, "subnormal flushed"), 6u);
  EXPECT_EQ(rejected("B19", Dequant::product_sign_of_zero_lost, "sign of zero lost"), 6u);
  EXPECT_EQ(rejected("B32", Delta::slots_ignored, "slots ignored"), 4u);
  EXPECT_EQ(rejected("B34", Delta::decay_twice, "decay exponentiated twice"), 3u);
  EXPECT_EQ(rejected("B34", Delta::error_before_decay, "error before decay"), 3u);
  EXPECT_EQ(rejected("B47", Delta::state_not_written, "state not written"), 6u);
  EXPECT_EQ(rejected("B47", Delta::state_never_rounded, "state not rounded between steps"), 2u);
  EXPECT_EQ(rejected("B48", Delta::scale_ignored, "scale of q ignored"), 6u);
}

// B34 as reported: an error taken before the decay gives o = 1 where 5/4 is right.
TEST(Captured, TheErrorBeforeTheDecayGivesWhatWasReported) {
  const auto workload = own<gated_delta::DeltaWorkload>(fixture("B34"), 0);
  const auto& point = workload->point();
  const auto wrong = oracles::gated_delta::faulty(oracles::gated_delta::Fault::error_before_decay,
                                                  point.contracts, gated_delta::shape_of(point),
                                                  gated_delta::view(point, workload->operands()));
  EXPECT_EQ(arithmetic::load_code(wrong.out, 4, 0), 0x3F800000u);
  EXPECT_EQ(arithmetic::load_code(workload->acceptance()[0].lo, 4, 0), 0x3FA00000u);
}

// B32 as reported: the rows without a slot advance slot 0, which the first sequence has.
TEST(Captured, ASlotBelowZeroThatIsTakenForSlotZeroIsRejected) {
  const Captured& of = fixture("B32");
  const auto workload = own<gated_delta::DeltaWorkload>(of, 0);
  const Contents old = before(*workload);
  Contents outputs = {workload->acceptance()[0].lo, workload->acceptance()[1].lo};
  for (const arithmetic::ElementRange& kept : workload->acceptance()[1].untouched)
    std::copy_n(old[1].begin() + 4 * static_cast<std::ptrdiff_t>(kept.begin), 4 * (kept.end - kept.begin),
                outputs[1].begin() + 4 * static_cast<std::ptrdiff_t>(kept.begin));
  ASSERT_TRUE(accepts(*workload, outputs));
  // The second sequence alone, from the state that the first one left.
  const auto& alone_text = of.cases.back().text;
  Contents alone = contents_of(given(*build(of, of.cases.size() - 1)));
  const auto buffers = given(*build(of, of.cases.size() - 1));
  const auto at = [&](const std::string& name) {
    return static_cast<std::size_t>(
        std::find_if(buffers.begin(), buffers.end(), [&](const auto& one) { return one.name == name; }) -
        buffers.begin());
  };
  const std::size_t slot = alone[at("state before")].size(), value = alone[at("v")].size();
  std::copy_n(outputs[1].begin(), slot, alone[at("state before")].begin());
  std::copy_n(workload->operands().v.begin() + static_cast<std::ptrdiff_t>(value), value,
              alone[at("v")].begin());
  const auto clamped = family_of(alone_text).with_contents(alone_text.token, std::move(alone));
  std::copy_n(clamped->acceptance()[1].lo.begin(), slot, outputs[1].begin());
  const Comparison comparison = compare(workload->acceptance()[1], outputs[1], old[1]);
  EXPECT_EQ(comparison.failed, slot / 4);
  EXPECT_TRUE(named(*workload, outputs, "state alone wrong"));
}

// B48: the metamorphic form of the report, on codes: twice the scale is one binade more, and the same state.
TEST(Captured, TwiceTheScaleIsTwiceTheOutput) {
  const Captured& of = fixture("B48");
  for (const std::size_t first : {2u, 6u}) {  // 0.37 and 0.74, of either layout
    const auto once = build(of, first), twice = build(of, first + 1);
    const auto &small = once->acceptance(), &large = twice->acceptance();
    for (std::size_t i = 0; i < small[0].size(); ++i)
      EXPECT_EQ(arithmetic::load_code(small[0].lo, 4, i) + 0x00800000u,
                arithmetic::load_code(large[0].lo, 4, i));
    EXPECT_EQ(small[1].lo, large[1].lo);
  }
}

}  // namespace
}  // namespace assay::properties
