// The bits of the schedule against a slow second implementation, and in every arithmetic of bits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oracles/gated_delta/oracle.hpp"
#include "oracles/gated_delta/run.hpp"
#include "oracles/gated_delta/slow_twin.hpp"
#include "oracles/gated_delta/testing.hpp"

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::Acceptance;
using formats::Format;
using testing::Case;
using testing::Draw;

struct Tally {
  std::size_t elements = 0, nan = 0, infinite = 0, zero = 0;

  std::size_t ordinary() const { return elements - nan - infinite - zero; }
};

void compare(const Acceptance& accepted, const std::vector<std::uint32_t>& expected, Tally& tally) {
  ASSERT_TRUE(accepted.exact());
  ASSERT_EQ(accepted.size(), expected.size());
  const int bytes = formats::storage_bytes(accepted.format);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::uint32_t code = arithmetic::load_code(accepted.lo, bytes, i);
    if (formats::is_nan(accepted.format, expected[i])) {
      // In a slot of no sequence NaN keeps its payload.
      ASSERT_TRUE(formats::is_nan(accepted.format, code)) << i;
    } else {
      ASSERT_EQ(code, expected[i]) << std::hex << "element " << i;
    }
    ++tally.elements;
    tally.nan += formats::is_nan(accepted.format, code);
    tally.infinite += formats::is_infinity(accepted.format, code);
    tally.zero += (code << (33 - 8 * bytes)) == 0;
  }
}

/// Shapes with more keys than lanes, fewer, and no multiple; columns that fill no row; groups of heads.
const Shape shapes[] = {{2, 2, 0, 1, 2, 40, 3}, {3, 1, 0, 2, 2, 12, 5, 4, 3}, {1, 3, 0, 1, 1, 64, 2}};

TEST(Schedule, AsWrittenOut) {
  Tally out, state;
  std::uint64_t seed = 100;
  for (const Contracts& contracts : testing::all_contracts()) {
    for (const Draw draw : {Draw::ordinary, Draw::specials, Draw::any_finite}) {
      const Shape& shape = shapes[++seed / 3 % std::size(shapes)];
      testing::Options options;
      options.draw = draw;
      options.holes = shape.batch > 2;
      options.free_slots = seed % 2;
      options.vector_centre = seed % 4 == 0 ? -14 : 0;  // where epsilon counts
      options.value_centre = seed % 2 == 0 ? 126 : 0;
      const Case c = testing::random_case(contracts, shape, options, seed);
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Accepted accepted = accept(contracts, c.shape, c.operands(), 2);
      const slow_twin::Twin twin(contracts, c.shape, c.operands());
      ASSERT_NO_FATAL_FAILURE(compare(accepted.out, twin.out, out));
      ASSERT_NO_FATAL_FAILURE(compare(accepted.state, twin.state, state));
    }
  }
  for (const Tally& tally : {out, state}) {
    EXPECT_GT(tally.nan, 500u);
    EXPECT_GT(tally.infinite, 50u);
    EXPECT_GT(tally.ordinary(), 2000u);
  }
}

// One algorithm: numbers modelled in software give what the machine's give.
TEST(Schedule, AgreesInSoftware) {
  using Numbers = ModelledArithmetic;
  std::uint64_t seed = 900;
  for (const Contracts& contracts : testing::all_contracts()) {
    testing::Options options;
    options.draw = ++seed % 2 == 0 ? Draw::ordinary : Draw::specials;
    const Case c = testing::random_case(contracts, {1, 2, 0, 1, 1, 36, 4}, options, seed);
    const Accepted accepted = accept(contracts, c.shape, c.operands(), 1);
    const Reader<Numbers> reader(contracts, c.shape, c.operands());
    const StatePlace place(contracts, c.shape, 0, 0);
    std::vector<Numbers::Row> s(c.shape.key_dim);
    reader.state(place, 0, s);
    Step<Numbers> step;
    for (std::size_t t = 0; t < c.shape.steps; ++t) {
      reader.prepare(t, 0, step);
      const Numbers::Row o = recur<Numbers>(contracts, step, reader.values(t, 0, 0), s, {});
      for (std::size_t v = 0; v < c.shape.value_dim; ++v) {
        const std::uint32_t code =
            contracts.io == Format::bf16 ? convert<Format::bf16>(o.at[v]).code() : o.at[v].code();
        ASSERT_EQ(code, arithmetic::load_code(accepted.out.lo, formats::storage_bytes(contracts.io),
                                              t * c.shape.value_dim + v));
      }
    }
    for (std::size_t k = 0; k < c.shape.key_dim; ++k)
      for (std::size_t v = 0; v < c.shape.value_dim; ++v) {
        const std::uint32_t code =
            contracts.state == Format::bf16 ? convert<Format::bf16>(s[k].at[v]).code() : s[k].at[v].code();
        ASSERT_EQ(code, arithmetic::load_code(accepted.state.lo, formats::storage_bytes(contracts.state),
                                              place.at(k, v)));
      }
  }
}

// recur() as any machine runs it, beside what accept() takes on this one.
TEST(Schedule, DoesNotDependOnVectorInstructions) {
  using Numbers = HostArithmetic;
  const Contracts contracts;
  const Case c = testing::random_case(contracts, {1, 1, 0, 1, 1, 128, Numbers::width}, {}, 1);
  const Accepted accepted = accept(contracts, c.shape, c.operands(), 1);
  const Reader<Numbers> reader(contracts, c.shape, c.operands());
  std::vector<Numbers::Row> s(c.shape.key_dim);
  reader.state(StatePlace(contracts, c.shape, 0, 0), 0, s);
  Step<Numbers> step;
  reader.prepare(0, 0, step);
  const Numbers::Row o = recur<Numbers>(contracts, step, reader.values(0, 0, 0), s, {});
  for (std::size_t v = 0; v < Numbers::width; ++v) {
    EXPECT_EQ(o.at[v].code(), arithmetic::load_code(accepted.out.lo, 4, v));
    for (std::size_t k = 0; k < s.size(); ++k)
      EXPECT_EQ(s[k].at[v].code(), arithmetic::load_code(accepted.state.lo, 4, k * Numbers::width + v));
  }
}

TEST(Schedule, BitsDoNotDependOnThreads) {
  Contracts contracts;
  contracts.io = contracts.state = Format::bf16;
  contracts.gates = Gates::raw;
  testing::Options options;
  options.holes = true;
  const Case c = testing::random_case(contracts, {5, 9, 0, 1, 3, 64, 64}, options, 77);
  const Accepted one = accept(contracts, c.shape, c.operands(), 1);
  for (const unsigned threads : {0u, 2u, 3u, 64u}) {
    const Accepted many = accept(contracts, c.shape, c.operands(), threads);
    EXPECT_EQ(many.out.lo, one.out.lo);
    EXPECT_EQ(many.state.lo, one.state.lo);
  }
}

TEST(Schedule, ASequenceWithoutSlotHasNoOutputAndTouchesNothing) {
  testing::Options options;
  options.holes = true;
  options.free_slots = 2;
  const Case c = testing::random_case({}, {4, 2, 0, 1, 2, 8, 4}, options, 5);
  ASSERT_EQ(c.slots, (std::vector<std::int32_t>{5, -2, 3, 2}));
  const Accepted accepted = accept({}, c.shape, c.operands());
  const std::size_t of_sequence = 2 * 2 * 4, of_slot = 2 * 8 * 4;
  for (std::size_t i = 0; i < c.shape.out_elements(); ++i) {
    const std::uint32_t code = arithmetic::load_code(accepted.out.lo, 4, i);
    EXPECT_EQ(code == 0, i / of_sequence == 1) << i;
  }
  ASSERT_EQ(accepted.state.untouched.size(), 2u);
  EXPECT_EQ(accepted.state.untouched[0].begin, 0u);
  EXPECT_EQ(accepted.state.untouched[0].end, 2 * of_slot);
  EXPECT_EQ(accepted.state.untouched[1].begin, 4 * of_slot);
  EXPECT_EQ(accepted.state.untouched[1].end, 5 * of_slot);
  EXPECT_TRUE(accepted.out.untouched.empty());
}

}  // namespace
}  // namespace assay::oracles::gated_delta
