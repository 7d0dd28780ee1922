// Running error bounds: the schedule and the true value lie within, over long times too, and the bound is
// small enough to reject faults.
#include "oracles/gated_delta/bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "oracles/gated_delta/growth.hpp"
#include "oracles/gated_delta/multiprecision.hpp"
#include "oracles/gated_delta/run.hpp"
#include "oracles/gated_delta/testing.hpp"

namespace assay::oracles::gated_delta {
namespace {

using arithmetic::Acceptance;
using formats::Format;
using testing::Case;
using testing::Draw;
using testing::Float;

Accepted judged(Case c, Judge judge, unsigned threads = 0) {
  c.contracts.judge = judge;
  return accept(c.contracts, c.shape, c.operands(), threads);
}

std::uint32_t code_of(const Acceptance& a, const std::vector<std::byte>& codes, std::size_t i) {
  return arithmetic::load_code(codes, formats::storage_bytes(a.format), i);
}
bool inside(const Acceptance& a, std::size_t i, std::uint32_t code) {
  if (formats::is_nan(a.format, code_of(a, a.lo, i))) return formats::is_nan(a.format, code);
  if (formats::is_nan(a.format, code)) return false;
  const std::uint32_t key = formats::ordered_key(a.format, code);
  return formats::ordered_key(a.format, code_of(a, a.lo, i)) <= key &&
         key <= formats::ordered_key(a.format, code_of(a, a.hi, i));
}
/// Elements of `codes` outside of the acceptance.
std::size_t outside(const Acceptance& a, const std::vector<std::byte>& codes) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += !inside(a, i, code_of(a, codes, i));
  return count;
}

struct Tally {
  std::size_t wide = 0, exact = 0, not_finite = 0;
};

void expect_inside(const Acceptance& bound, const Acceptance& bits, Tally& tally) {
  ASSERT_EQ(bound.lo.size(), bits.lo.size());
  ASSERT_EQ(bound.hi.size(), bits.lo.size());
  ASSERT_EQ(bound.best.size(), bits.lo.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::uint32_t code = code_of(bits, bits.lo, i), lo = code_of(bound, bound.lo, i);
    ASSERT_TRUE(inside(bound, i, code)) << std::hex << code << " element " << i;
    ++(lo == code_of(bound, bound.hi, i) ? tally.exact : tally.wide);
    if (formats::is_nan(bits.format, code) || formats::is_infinity(bits.format, code)) {
      ++tally.not_finite;
      ASSERT_EQ(lo, code) << "without a bound the bits are asked for";
      ASSERT_EQ(code_of(bound, bound.hi, i), code);
      ASSERT_EQ(code_of(bound, bound.best, i), code);
    }
  }
}

TEST(Bound, HoldsTheBitsOfTheSchedule) {
  Tally out, state;
  std::uint64_t seed = 5000;
  for (const Contracts& contracts : testing::all_contracts()) {
    for (const Draw draw : {Draw::ordinary, Draw::specials, Draw::any_finite}) {
      testing::Options options;
      options.draw = draw;
      options.holes = ++seed % 2 == 0;
      options.free_slots = seed % 3;
      options.value_centre = seed % 4 == 0 ? 126 : 0;
      options.vector_centre = seed % 5 == 0 ? -14 : 0;
      const Case c = testing::random_case(contracts, {3, 3, 0, 1, 2, 36, 11}, options, seed);
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Accepted bits = judged(c, Judge::bits), bound = judged(c, Judge::bound);
      ASSERT_NO_FATAL_FAILURE(expect_inside(bound.out, bits.out, out));
      ASSERT_NO_FATAL_FAILURE(expect_inside(bound.state, bits.state, state));
      ASSERT_EQ(bound.state.untouched.size(), bits.state.untouched.size());
    }
  }
  for (const Tally& tally : {out, state}) {
    EXPECT_GT(tally.wide, 20000u);
    EXPECT_GT(tally.exact, 5000u);
    EXPECT_GT(tally.not_finite, 5000u);
  }
}

TEST(Bound, DoesNotDependOnThreads) {
  testing::Options options;
  options.holes = true;
  const Case c = testing::random_case({}, {5, 9, 0, 1, 3, 64, 64}, options, 77);
  const Accepted one = judged(c, Judge::bound, 1);
  for (const unsigned threads : {0u, 2u, 3u, 64u}) {
    const Accepted many = judged(c, Judge::bound, threads);
    EXPECT_EQ(many.out.lo, one.out.lo);
    EXPECT_EQ(many.out.hi, one.out.hi);
    EXPECT_EQ(many.state.lo, one.state.lo);
    EXPECT_EQ(many.state.hi, one.state.hi);
    EXPECT_EQ(many.state.best, one.state.best);
  }
}

// --- against a hundred digits ---

/// Decays that last, none and all, and some between, as the logarithm the schedule takes.
const double logarithms_of_decays[] = {
    -200, std::log(0.5), std::log(0.99), std::log(0.999), std::log1p(-0x1p-12), 0};

Case long_case(const Contracts& contracts, std::size_t steps, std::size_t value_dim, double log_decay,
               std::uint64_t seed) {
  Case c = testing::random_case(contracts, {1, steps, 0, 1, 1, 64, value_dim}, {}, seed);
  for (std::size_t i = 0; i < steps; ++i)
    arithmetic::store_code(c.g, 4, i, testing::of_double(Format::fp32, log_decay));
  return c;
}

std::vector<Known> known_of(const Case& c, std::vector<Known>& state) {
  std::vector<Known> out(c.shape.out_elements());
  state.resize(c.shape.state_elements());
  follow(
      c.contracts, c.shape, c.operands(), 1, [&](std::size_t i, const Known& x) { out[i] = x; },
      [&](std::size_t i, const Known& x) { state[i] = x; });
  return out;
}

void expect_truth(const Known& x, const Float& truth) {
  ASSERT_LE(abs(truth - Float(x.truth)), Float(x.of_truth));
  ASSERT_LE(abs(truth - Float(x.computed)), Float(x.bound));
}

/// One column of a case of one head, in a hundred digits.
void compare_column(const Case& c, std::size_t column, const std::vector<Known>& out,
                    const std::vector<Known>& state) {
  using Numbers = testing::WideArithmetic;
  const Reader<Numbers> reader(c.contracts, c.shape, c.operands());
  const StatePlace place(c.contracts, c.shape, 0, 0);
  std::vector<Numbers::Row> s(c.shape.key_dim);
  reader.state(place, column, s);
  Step<Numbers> step;
  for (std::size_t t = 0; t < c.shape.steps; ++t) {
    reader.prepare(t, 0, step);
    const Numbers::Row o = recur<Numbers>(c.contracts, step, reader.values(t, 0, column), s, {});
    ASSERT_NO_FATAL_FAILURE(expect_truth(out[t * c.shape.value_dim + column], o.at[0].x)) << "step " << t;
  }
  for (std::size_t k = 0; k < s.size(); ++k)
    ASSERT_NO_FATAL_FAILURE(expect_truth(state[place.at(k, column)], s[k].at[0].x)) << "row " << k;
}

TEST(Bound, HoldsTheTruthInEveryContract) {
  std::uint64_t seed = 6000;
  for (const Contracts& contracts : testing::all_contracts()) {
    testing::Options options;
    options.vector_centre = ++seed % 2 == 0 ? -14 : 0;
    const Case c = testing::random_case(contracts, {1, 3, 0, 1, 1, 36, 3}, options, seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<Known> state;
    const std::vector<Known> out = known_of(c, state);
    for (const std::size_t column : {0, 2}) ASSERT_NO_FATAL_FAILURE(compare_column(c, column, out, state));
  }
}

TEST(Bound, HoldsTheTruthOverTime) {
  std::uint64_t seed = 7000;
  for (const std::size_t steps : {1, 2, 16, 256}) {
    for (const double log_decay : logarithms_of_decays) {
      for (const Format state_format : {Format::fp32, Format::bf16}) {
        Contracts contracts;
        contracts.state = state_format;
        const Case c = long_case(contracts, steps, 8, log_decay, ++seed);
        SCOPED_TRACE("decay exp(" + std::to_string(log_decay) + "), steps " + std::to_string(steps));
        std::vector<Known> state;
        const std::vector<Known> out = known_of(c, state);
        for (const Known& x : out) ASSERT_TRUE(std::isfinite(x.bound) && x.bound > 0);
        ASSERT_NO_FATAL_FAILURE(compare_column(c, seed % 8, out, state));
      }
    }
  }
}

TEST(Bound, HoldsTheTruthOver4096Steps) {
  for (const double log_decay : {std::log(0.99), 0.0}) {
    const Case c = long_case({}, 4096, 64, log_decay, 8000);
    std::vector<Known> state;
    const std::vector<Known> out = known_of(c, state);
    ASSERT_NO_FATAL_FAILURE(compare_column(c, 37, out, state));
    // What is judged by has to be known far better than what is judged.
    for (const Known& x : state) ASSERT_LT(x.of_truth, x.bound * 0x1p-24);
  }
}

// One-hot k and q, decays of 1: rows 4 to 7 are as they were, whatever the others do, and no sign of a zero
// is free.
TEST(Bound, IsTheBitsWhereNothingIsRounded) {
  Case c = testing::random_case({}, {1, 4, 0, 1, 1, 8, 8}, {}, 1);
  for (std::size_t i = 0; i < 32; ++i) {
    const double hot = i % 8 == i / 8 ? 3 : 0;
    for (auto* x : {&c.q, &c.k}) arithmetic::store_code(*x, 4, i, testing::of_double(Format::fp32, hot));
  }
  for (std::size_t i = 0; i < 4; ++i) arithmetic::store_code(c.g, 4, i, 0);
  for (std::size_t i = 56; i < 64; ++i) arithmetic::store_code(c.state, 4, i, i % 2 == 0 ? 0 : 0x80000000);
  const Accepted bits = judged(c, Judge::bits), bound = judged(c, Judge::bound);
  std::vector<Known> state;
  known_of(c, state);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(state[i].bound == 0, i >= 32) << i;
    if (i < 32) continue;
    const std::uint32_t code = code_of(bits.state, bits.state.lo, i);
    EXPECT_EQ(code_of(bound.state, bound.state.lo, i), code);
    EXPECT_EQ(code_of(bound.state, bound.state.hi, i), code);
  }
}

TEST(Bound, IsTheBitsOfOutputsOfNothing) {
  for (const std::size_t steps : {1, 5}) {
    Case c = testing::random_case({}, {1, steps, 0, 1, 1, 64, 8}, {}, 1);
    std::ranges::fill(c.q, std::byte{0});
    std::vector<Known> state;
    for (const Known& x : known_of(c, state)) EXPECT_TRUE(x.computed == 0 && x.bound == 0);
  }
}

// --- how wide the bound is ---

/// The median over all elements of the last step, in units of the last place.
double median_ulps(const std::vector<Known>& all, Format format) {
  std::vector<double> ulps;
  for (const Known& x : all) {
    const double half =
        format == Format::fp32 ? growth::half_spacing<23>(x.computed) : growth::half_spacing<7>(x.computed);
    ulps.push_back(x.bound / (2 * half));
  }
  std::ranges::nth_element(ulps, ulps.begin() + static_cast<std::ptrdiff_t>(ulps.size() / 2));
  return ulps[ulps.size() / 2];
}

// The table of oracle.hpp: medians of the state's bound, rounded up. In two digits, as they are there.
TEST(Bound, IsAsWideAsSaid) {
  struct Line {
    Format state;
    double log_decay;
    std::vector<double> medians;  // after 1, 2, 16, 256 and 4096 steps
  };
  const Line table[] = {{Format::fp32, std::log(0.5), {2.9, 9.1, 18, 18, 19}},
                        {Format::fp32, std::log(0.99), {2.9, 9.9, 260, 3800, 4100}},
                        {Format::fp32, 0, {1.8, 6.9, 180, 5500, 92000}},
                        {Format::bf16, std::log(0.99), {0.51, 1.5, 40, 630, 690}},
                        {Format::bf16, 0, {0.51, 1.5, 42, 1500, 25000}}};
  for (const Line& line : table) {
    auto said = line.medians.begin();
    for (const std::size_t steps : {1, 2, 16, 256, 4096}) {
      Contracts contracts;
      contracts.state = line.state;
      const Case c = long_case(contracts, steps, 16, line.log_decay, 9);
      std::vector<Known> state;
      known_of(c, state);
      const double median = median_ulps(state, line.state);
      const double unit = std::pow(10.0, std::floor(std::log10(median)) - 1);
      EXPECT_EQ(std::lround(std::ceil(median / unit)), std::lround(*said++ / unit)) << steps << " steps";
    }
  }
}

// --- what it rejects ---

/// Changes that no bound tells from rounding: fewer roundings, or others.
bool is_rounding(Fault fault) {
  return fault == Fault::not_fused || fault == Fault::beta_unrounded || fault == Fault::state_never_rounded;
}

// Ordinary inputs; q and k of a size at which epsilon counts. Where everything is rounded to bf16, epsilon is
// hidden.
TEST(Bound, RejectsTheKnownFaults) {
  std::uint64_t seed = 40;
  const std::vector<Contracts> all = testing::all_contracts();
  std::set<Fault> rejected;
  for (std::size_t i = 0; i < all.size(); i += 3) {
    const Contracts& contracts = all[i];
    testing::Options options;
    options.vector_centre = contracts.epsilon == Epsilon::e6 ? -9 : -19;
    options.free_slots = 1;
    const Case c = testing::random_case(contracts, {2, 3, 0, 2, 4, 32, 32}, options, ++seed);
    const Accepted bound = judged(c, Judge::bound);
    const bool narrow =
        contracts.io == Format::bf16 && contracts.state == Format::bf16 && contracts.beta == Beta::bf16;
    for (std::size_t f = 0; f < fault_count; ++f) {
      const auto fault = static_cast<Fault>(f);
      const Faulty wrong = faulty(fault, contracts, c.shape, c.operands());
      const bool of_epsilon =
          fault == Fault::epsilon_ignored || fault == Fault::epsilon_other || fault == Fault::epsilon_outside;
      if (wrong.out.empty() || (narrow && of_epsilon)) continue;
      const std::size_t count = outside(bound.out, wrong.out) + outside(bound.state, wrong.state);
      EXPECT_EQ(count == 0, is_rounding(fault)) << to_string(fault) << ", seed " << seed << ": " << count;
      if (count > 0) rejected.insert(fault);
    }
  }
  EXPECT_EQ(rejected.size(), fault_count - 3);
}

}  // namespace
}  // namespace assay::oracles::gated_delta
