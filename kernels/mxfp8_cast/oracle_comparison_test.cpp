// What the tests of this folder hold an output against. In a file of its own, because a header of kernels/
// may not know an oracle.
#include <string>
#include <vector>

#include "kernels/mxfp8_cast/cast_test_run.hpp"
#include "oracles/mxfp8_cast/oracle.hpp"

namespace assay::kernels::mxfp8_cast::testing {
namespace {

namespace oracle = oracles::mxfp8_cast;

/// The first stored element that the acceptance does not allow; every acceptance of a cast is exact.
std::string difference(const arithmetic::Acceptance& expected, const std::vector<std::byte>& actual) {
  EXPECT_TRUE(expected.exact());
  EXPECT_EQ(expected.size(), actual.size());
  std::vector<bool> untouched(actual.size());
  for (const auto& range : expected.untouched) {
    for (std::size_t i = range.begin; i < range.end; ++i) untouched[i] = true;
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const auto code = static_cast<std::uint32_t>(actual[i]);
    const auto want = static_cast<std::uint32_t>(untouched[i] ? before : expected.lo[i]);
    if (code != want) {
      return "element " + std::to_string(i) + ": " + std::to_string(code) + ", expected " +
             std::to_string(want);
    }
  }
  return {};
}

}  // namespace

void expect_as_the_oracle_says(const Sides& out, const Problem& p, const std::vector<std::byte>& x) {
  using formats::Format;
  constexpr Format input_formats[] = {Format::fp32, Format::fp16, Format::bf16};
  const oracle::Contracts contracts{
      p.element == Element::e4m3 ? Format::e4m3 : Format::e5m2, static_cast<oracle::ScaleRule>(p.scale_rule),
      static_cast<oracle::SpecialBlocks>(p.specials), static_cast<oracle::Padding>(p.padding),
      static_cast<oracle::ScaleLayout>(p.scale_layout)};
  const auto extent = [](const Output& o) {
    return oracle::ScaleExtent{static_cast<std::size_t>(o.scale_rows),
                               static_cast<std::size_t>(o.scale_stride)};
  };
  const oracle::Shape shape{static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols),
                            extent(p.rowwise), extent(p.colwise)};
  const auto compare = [&](oracle::Direction direction, const Side& side, const char* name) {
    const auto accepted =
        oracle::accept(input_formats[static_cast<int>(p.input)], x, shape, direction, contracts);
    EXPECT_EQ(difference(accepted.scales, side.scales), "") << name << " scales, " << describe(p);
    EXPECT_EQ(difference(accepted.data, side.data), "") << name << " data, " << describe(p);
  };
  if (p.has_rowwise()) compare(oracle::Direction::rowwise, out.rowwise, "rowwise");
  if (p.has_colwise()) compare(oracle::Direction::colwise, out.colwise, "colwise");
}

}  // namespace assay::kernels::mxfp8_cast::testing
