// The known faults: that each differs from the right result where it has a meaning, and where it has none.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "oracles/gated_delta/oracle.hpp"
#include "oracles/gated_delta/testing.hpp"

namespace assay::oracles::gated_delta {
namespace {

using formats::Format;
using testing::Case;

struct Differences {
  std::size_t out = 0, state = 0;
};

std::size_t differences(Format format, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  const int bytes = formats::storage_bytes(format);
  EXPECT_EQ(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size() / static_cast<std::size_t>(bytes); ++i)
    count += arithmetic::load_code(a, bytes, i) != arithmetic::load_code(b, bytes, i);
  return count;
}

Differences differences(const Case& c, const Faulty& wrong) {
  const Accepted right = accept(c.contracts, c.shape, c.operands());
  return {differences(c.contracts.io, right.out.lo, wrong.out),
          differences(c.contracts.state, right.state.lo, wrong.state)};
}

/// What each fault may leave as it is.
bool spares_out(Fault f) { return f == Fault::state_not_written; }
bool spares_state(Fault f) {
  return f == Fault::output_before_update || f == Fault::scale_ignored || f == Fault::state_rounded_early;
}

// Ordinary inputs; q and k of a size at which epsilon counts.
TEST(Fault, EachDiffersFromTheRightResult) {
  std::set<Fault> meant;
  std::uint64_t seed = 40;
  const std::vector<Contracts> all = testing::all_contracts();
  for (std::size_t i = 0; i < all.size(); i += 3) {
    const Contracts& contracts = all[i];
    testing::Options options;
    options.vector_centre = contracts.epsilon == Epsilon::e6 ? -9 : -19;
    options.free_slots = 1;
    const Case c = testing::random_case(contracts, {2, 3, 0, 2, 4, 32, 32}, options, ++seed);
    for (std::size_t f = 0; f < fault_count; ++f) {
      const auto fault = static_cast<Fault>(f);
      const Faulty wrong = faulty(fault, contracts, c.shape, c.operands());
      if (wrong.out.empty()) continue;
      meant.insert(fault);
      const Differences d = differences(c, wrong);
      SCOPED_TRACE(std::string(to_string(fault)) + ", seed " + std::to_string(seed));
      // The last place of an fp32 seldom shows in a bf16.
      const bool small = fault == Fault::not_fused;
      if (!small || contracts.io == Format::fp32) {
        EXPECT_EQ(d.out == 0, spares_out(fault)) << d.out;
      }
      if (!small || contracts.state == Format::fp32) {
        EXPECT_EQ(d.state == 0, spares_state(fault)) << d.state;
      }
    }
  }
  EXPECT_EQ(meant.size(), fault_count);
}

TEST(Fault, MeansNothingWhereItCannotShow) {
  // One step, one head, precomputed gates, fp32 everywhere, key_dim != value_dim, slot 0, scale 1.
  Case c = testing::random_case({}, {1, 1, 0, 1, 1, 64, 32}, {}, 1);
  c.scale = 0x3F800000;
  const std::set<Fault> none = {
      Fault::state_transposed,    Fault::head_modulo,         Fault::beta_unrounded, Fault::scale_ignored,
      Fault::softplus_linear,     Fault::dt_bias_ignored,     Fault::sign_of_g,      Fault::slots_ignored,
      Fault::state_rounded_early, Fault::state_never_rounded, Fault::first_step_only};
  for (std::size_t f = 0; f < fault_count; ++f) {
    const auto fault = static_cast<Fault>(f);
    const Faulty wrong = faulty(fault, {}, c.shape, c.operands());
    EXPECT_EQ(wrong.out.empty(), none.contains(fault)) << to_string(fault);
    EXPECT_EQ(wrong.state.empty(), none.contains(fault)) << to_string(fault);
  }
}

TEST(Fault, MeansNothingWithoutSequences) {
  Case c = testing::random_case({}, {2, 1, 0, 1, 1, 64, 32}, {}, 1);
  c.slots = {-1, -7};
  for (std::size_t f = 0; f < fault_count; ++f) {
    const auto fault = static_cast<Fault>(f);
    EXPECT_EQ(faulty(fault, {}, c.shape, c.operands()).out.empty(), fault != Fault::slots_ignored);
  }
}

// --- worked out by hand: K = V = 4, k and q one-hot of length 1, so that with an epsilon of 1e-12, which
// does not change 1, norms are exact ---

std::vector<std::byte> stored(const std::vector<double>& values) {
  std::vector<std::byte> out(values.size() * 4);
  for (std::size_t i = 0; i < values.size(); ++i)
    arithmetic::store_code(out, 4, i, testing::of_double(Format::fp32, values[i]));
  return out;
}

/// S[k][v] = 1 + 4 k + v, k = e1, q = e1, v = 8, decay 1, beta 1/2, scale 2.
Case by_hand() {
  Case c;
  c.contracts.epsilon = Epsilon::e12;
  c.shape = {1, 1, 1, 1, 1, 4, 4};
  std::vector<double> s;
  for (int i = 1; i <= 16; ++i) s.push_back(i);
  c.q = c.k = stored({0, 1, 0, 0});
  c.v = stored({8, 8, 8, 8});
  c.g = stored({0});
  c.beta = stored({0.5});
  c.state = stored(s);
  c.slots = {0};
  c.scale = testing::of_double(Format::fp32, 2);
  return c;
}

std::vector<float> floats(const std::vector<std::byte>& codes) {
  std::vector<float> out;
  for (std::size_t i = 0; i < codes.size() / 4; ++i)
    out.push_back(std::bit_cast<float>(arithmetic::load_code(codes, 4, i)));
  return out;
}
using Floats = std::vector<float>;
Floats row_1(const Floats& state) { return {state.begin() + 4, state.begin() + 8}; }

TEST(Fault, HandComputed) {
  const Case c = by_hand();
  const Accepted right = accept(c.contracts, c.shape, c.operands());
  // Row 1 is 5 6 7 8: u = (8 - row) / 2, the row becomes (8 + row) / 2, and o is twice that.
  EXPECT_EQ(row_1(floats(right.state.lo)), (Floats{6.5, 7, 7.5, 8}));
  EXPECT_EQ(floats(right.out.lo), (Floats{13, 14, 15, 16}));
  const auto wrong = [&](Fault f) { return faulty(f, c.contracts, c.shape, c.operands()); };
  EXPECT_EQ(floats(wrong(Fault::output_before_update).out), (Floats{10, 12, 14, 16}));
  EXPECT_EQ(floats(wrong(Fault::beta_ignored).out), (Floats{16, 16, 16, 16}));
  EXPECT_EQ(floats(wrong(Fault::scale_ignored).out), (Floats{6.5, 7, 7.5, 8}));
  EXPECT_EQ(floats(wrong(Fault::state_not_written).state), floats(c.state));
  // Transposed, row 1 of S is the column 2 6 10 14 of memory.
  const Faulty transposed = wrong(Fault::state_transposed);
  EXPECT_EQ(floats(transposed.out), (Floats{10, 14, 18, 22}));
  EXPECT_EQ(floats(transposed.state)[5], 7);
  EXPECT_EQ(floats(transposed.state)[4], 5) << "k = 0, v = 1";
}

TEST(Fault, HandComputedDecay) {
  Case c = by_hand();
  c.g = stored({-200});  // alpha = 0
  const Accepted right = accept(c.contracts, c.shape, c.operands());
  EXPECT_EQ(row_1(floats(right.state.lo)), (Floats{4, 4, 4, 4}));
  const auto wrong = [&](Fault f) { return faulty(f, c.contracts, c.shape, c.operands()); };
  EXPECT_EQ(row_1(floats(wrong(Fault::decay_ignored).state)), (Floats{6.5, 7, 7.5, 8}));
  // alpha = exp(0) = 1.
  EXPECT_EQ(row_1(floats(wrong(Fault::decay_twice).state)), (Floats{6.5, 7, 7.5, 8}));
  // u = (8 - row) / 2 onto a row of zeros.
  EXPECT_EQ(row_1(floats(wrong(Fault::error_before_decay).state)), (Floats{1.5, 1, 0.5, 0}));
}

TEST(Fault, HandComputedNorms) {
  Case c = by_hand();
  c.q = c.k = stored({0, 2, 0, 0});
  const Accepted right = accept(c.contracts, c.shape, c.operands());
  EXPECT_EQ(floats(right.out.lo), (Floats{13, 14, 15, 16}));
  // kv = 2 row, u = (8 - 2 row) / 2, the row becomes row + 2 u = 8 - row, and o is 2 * 2 times that.
  const Faulty wrong = faulty(Fault::norm_ignored, c.contracts, c.shape, c.operands());
  EXPECT_EQ(row_1(floats(wrong.state)), (Floats{3, 2, 1, 0}));
  EXPECT_EQ(floats(wrong.out), (Floats{12, 8, 4, 0}));
  // Without q and k an epsilon is all there is: 0 / 0 shows that it is missing.
  c.q = c.k = stored({0, 0, 0, 0});
  EXPECT_EQ(floats(accept(c.contracts, c.shape, c.operands()).out.lo), (Floats{0, 0, 0, 0}));
  const Faulty missing = faulty(Fault::epsilon_ignored, c.contracts, c.shape, c.operands());
  EXPECT_TRUE(std::isnan(floats(missing.out)[0]));
}

TEST(Fault, HandComputedSlices) {
  Case c = by_hand();
  c.q = c.k = stored({0, 0, 0, 1});  // the last slice of four rows of one
  const Faulty wrong = faulty(Fault::last_slice_dropped, c.contracts, c.shape, c.operands());
  EXPECT_EQ(floats(wrong.out), (Floats{0, 0, 0, 0}));
  const Floats state = floats(wrong.state);  // u = 8 / 2
  EXPECT_EQ(Floats(state.begin() + 12, state.end()), (Floats{17, 18, 19, 20}));
}

TEST(Fault, HandComputedSteps) {
  Case c = by_hand();
  c.shape.steps = 2;
  for (std::vector<std::byte>* x : {&c.q, &c.k, &c.v, &c.g, &c.beta}) {
    const std::vector<std::byte> once = *x;
    x->insert(x->end(), once.begin(), once.end());
  }
  const Accepted right = accept(c.contracts, c.shape, c.operands());
  EXPECT_EQ(row_1(floats(right.state.lo)), (Floats{7.25, 7.5, 7.75, 8}));
  const Faulty wrong = faulty(Fault::first_step_only, c.contracts, c.shape, c.operands());
  EXPECT_EQ(row_1(floats(wrong.state)), (Floats{6.5, 7, 7.5, 8}));
  EXPECT_EQ(floats(wrong.out)[3], 16);
  EXPECT_TRUE(std::isnan(floats(wrong.out)[4]));
}

TEST(Fault, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (std::size_t f = 0; f < fault_count; ++f) names.insert(to_string(static_cast<Fault>(f)));
  EXPECT_EQ(names.size(), fault_count);
  EXPECT_EQ(to_string(Fault::first_step_only), "first step only");
}

}  // namespace
}  // namespace assay::oracles::gated_delta
