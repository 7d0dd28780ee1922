// Running error bounds: every schedule lies within its own, the fast number types give what the slow ones
// give, and the bound is small enough to reject faults.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "oracles/matmul_nbits/exact_sum.hpp"
#include "oracles/matmul_nbits/run.hpp"
#include "oracles/matmul_nbits/slow_twin.hpp"
#include "oracles/matmul_nbits/testing.hpp"

namespace assay::oracles::matmul_nbits {
namespace {

using arithmetic::Acceptance;
using arithmetic::Dyadic;
using formats::Format;
using testing::Case;
using testing::Draw;

struct Setting {
  Contracts contracts;
  Shape shape;
};

/// Every schedule, model and kind of tensor core.
std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Format model : {Format::fp16, Format::bf16}) {
    for (const std::size_t k_split : {2, 8})
      all.push_back({{model, Schedule::split_k, k_split}, {3, 8, 1051}});
    for (const TensorCores cores : {TensorCores::hopper, TensorCores::ampere})
      all.push_back({{model, Schedule::mma, 2, cores}, {3, 8, 403, 4, 64}});
    all.push_back({{model, Schedule::tile}, {3, 8, 403, 8, 128}});
  }
  all.push_back({{Format::fp32, Schedule::tile}, {3, 8, 403, 2, 16}});
  all.push_back({{Format::fp16, Schedule::multicol}, {1, 16, 1120}});
  all.push_back({{Format::fp16, Schedule::natural}, {1, 16, 1120}});
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    all.push_back(all[i]);
    all.back().contracts.bias_round = BiasRound::twice;
  }
  for (Setting& s : all) s.contracts.judge = Judge::bound;
  return all;
}

Acceptance bits_of(Contracts contracts, const Case& c) {
  contracts.judge = Judge::bits;
  return accept(contracts, c.shape, c.operands());
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

TEST(Bound, HoldsTheBitsOfItsSchedule) {
  std::size_t elements = 0, wide = 0, exact = 0, not_finite = 0;
  std::uint64_t seed = 1000;
  for (const Setting& s : settings()) {
    for (const Draw draw : {Draw::moderate, Draw::specials, Draw::any_finite}) {
      for (int i = 0; i < 3; ++i) {
        const testing::Options options{draw, i > 0, i < 2, draw == Draw::moderate ? -5 : -9};
        const Case c = testing::random_case(s.contracts.model, s.shape, options, ++seed);
        const Acceptance bits = bits_of(s.contracts, c),
                         bound = accept(s.contracts, c.shape, c.operands(), 2);
        ASSERT_EQ(bound.lo.size(), bits.lo.size());
        ASSERT_EQ(bound.hi.size(), bits.lo.size());
        for (std::size_t e = 0; e < bits.size(); ++e) {
          const std::uint32_t code = code_of(bits, bits.lo, e), lo = code_of(bound, bound.lo, e);
          ASSERT_TRUE(inside(bound, e, code)) << std::hex << code << " seed " << seed << " element " << e;
          ++elements;
          (lo == code_of(bound, bound.hi, e) ? exact : wide) += 1;
          if ((code & formats::max_finite(bits.format)) == formats::max_finite(bits.format)) continue;
          if (formats::is_nan(bits.format, code) || formats::is_infinity(bits.format, code)) {
            ++not_finite;
            ASSERT_EQ(lo, code) << "without a bound the bits are asked for";
            ASSERT_EQ(code_of(bound, bound.hi, e), code);
            ASSERT_EQ(code_of(bound, bound.best, e), code);
          }
        }
      }
    }
  }
  EXPECT_GT(elements, 4000u);
  EXPECT_GT(wide, 1000u);
  EXPECT_GT(exact, 500u);
  EXPECT_GT(not_finite, 200u);
}

TEST(Bound, BestIsTheTrueValueRoundedOnce) {
  for (const Setting& s : settings()) {
    const Case c = testing::random_case(s.contracts.model, s.shape, {}, 2000);
    const Acceptance bound = accept(s.contracts, c.shape, c.operands());
    const slow_twin::Twin twin(s.contracts, c.shape, c.operands());
    for (std::size_t row = 0; row < c.shape.m; ++row) {
      const std::size_t col = row * 2, e = row * c.shape.n + col;
      const Dyadic truth =
          twin.exact(row, col) +
          Dyadic::of(bound.format, arithmetic::load_code(c.bias, formats::storage_bytes(bound.format), col));
      EXPECT_EQ(code_of(bound, bound.best, e), slow_twin::nearest(bound.format, truth.exact()));
    }
  }
}

/// One fp32 accumulator per element, row by row within columns.
template <class Arithmetic>
std::vector<Single<Arithmetic>> accumulators(const Contracts& contracts, const Case& c) {
  std::vector<Single<Arithmetic>> all;
  const Run<Arithmetic> run(contracts, c.shape, c.operands());
  run.columns(0, c.shape.n, [&](std::size_t, std::size_t, const Single<Arithmetic>& acc, const auto*) {
    all.push_back(acc);
  });
  return all;
}

// One algorithm, five number types: the machine's give what the modelled ones give, and exact numbers give
// the true value.
TEST(Schedules, AgreeInEveryArithmetic) {
  for (const Setting& s : settings()) {
    if (s.contracts.bias_round == BiasRound::twice) continue;
    for (const Draw draw : {Draw::moderate, Draw::specials}) {
      const Case c = testing::random_case(s.contracts.model, s.shape, {draw}, 3000);
      const auto host = accumulators<arithmetic::HostArithmetic>(s.contracts, c);
      const auto modelled = accumulators<arithmetic::ModelledArithmetic>(s.contracts, c);
      const auto host_bounded = accumulators<arithmetic::HostBoundedArithmetic>(s.contracts, c);
      const auto bounded = accumulators<arithmetic::BoundedArithmetic>(s.contracts, c);
      for (std::size_t i = 0; i < host.size(); ++i) {
        ASSERT_EQ(host[i].code(), modelled[i].code());
        ASSERT_EQ(host_bounded[i].code(), modelled[i].code());
        ASSERT_EQ(bounded[i].code(), modelled[i].code());
        ASSERT_EQ(host_bounded[i].bound(), bounded[i].bound());
      }
    }
  }
}

TEST(Schedules, GiveTheTrueValueInExactArithmetic) {
  for (const Setting& s : settings()) {
    if (s.contracts.schedule == Schedule::mma) continue;  // it is modelled on codes
    const Case c = testing::random_case(s.contracts.model, s.shape, {}, 4000);
    const auto exact = accumulators<arithmetic::ExactArithmetic>(s.contracts, c);
    for (std::size_t col = 0; col < c.shape.n; ++col)
      for (std::size_t row = 0; row < c.shape.m; ++row)
        ASSERT_EQ(exact[col * c.shape.m + row],
                  exact_element(s.contracts.model, c.shape, c.operands(), row, col));
  }
}

// The error of the accumulator itself, before any store hides some of it.
TEST(Bound, HoldsTheErrorOfTheAccumulator) {
  std::size_t off = 0, all = 0;
  for (const Setting& s : settings()) {
    const Case c = testing::random_case(s.contracts.model, s.shape, {}, 5000);
    const auto bounded = accumulators<arithmetic::HostBoundedArithmetic>(s.contracts, c);
    for (std::size_t col = 0; col < c.shape.n; ++col) {
      for (std::size_t row = 0; row < c.shape.m; ++row) {
        const auto& acc = bounded[col * c.shape.m + row];
        ASSERT_TRUE(std::isfinite(acc.bound()));
        const Dyadic error =
            arithmetic::abs(Dyadic::of(Format::fp32, acc.code()) -
                            exact_element(s.contracts.model, c.shape, c.operands(), row, col));
        ASSERT_LE(error, Dyadic::of(acc.bound()));
        off += !error.is_zero();
        ++all;
      }
    }
  }
  EXPECT_GT(off, all / 2);
}

/// How many elements of `codes` the acceptance rejects.
std::size_t rejected(const Acceptance& a, const std::vector<std::byte>& codes) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += !inside(a, i, code_of(a, codes, i));
  return count;
}

// Nothing that a tolerance larger than the signal would pass: zero, the bias alone, the opposite, the double.
/// Every code is its zero point, so that every product is a zero and nothing is rounded.
TEST(Bound, AZeroOfNoRoundingHasItsSign) {
  for (const Setting& s : settings()) {
    Case c = testing::random_case(s.contracts.model, s.shape, {Draw::moderate, false, false}, 7000);
    const unsigned middle = s.shape.bits == 2 ? 0xAA : s.shape.bits == 4 ? 0x88 : 0x80;
    std::fill(c.b.begin(), c.b.end(), std::byte(middle));
    const Acceptance bits = bits_of(s.contracts, c), bound = accept(s.contracts, c.shape, c.operands());
    EXPECT_EQ(bound.lo, bits.lo);
    EXPECT_EQ(bound.hi, bits.lo);
    EXPECT_EQ(formats::decode(bits.format, code_of(bits, bits.lo, 0)).kind, formats::Kind::zero);
  }
}

TEST(Bound, RejectsWhatALooseToleranceWouldPass) {
  for (const Setting& s : settings()) {
    const Case c = testing::random_case(s.contracts.model, s.shape, {}, 6000);
    const Acceptance bound = accept(s.contracts, c.shape, c.operands());
    const Acceptance bits = bits_of(s.contracts, c);
    const int bytes = formats::storage_bytes(bits.format);
    std::vector<std::byte> zero(bits.lo.size()), bias = zero, opposite = zero, twice = zero;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const std::uint32_t code = code_of(bits, bits.lo, i), sign = 1u << (8 * bytes - 1);
      arithmetic::store_code(bias, bytes, i, arithmetic::load_code(c.bias, bytes, i % c.shape.n));
      arithmetic::store_code(opposite, bytes, i, code ^ sign);
      arithmetic::store_code(
          twice, bytes, i,
          slow_twin::nearest(bits.format, formats::scaled(formats::decode(bits.format, code), 1)));
    }
    for (const auto& wrong : {zero, bias, opposite, twice})
      EXPECT_GE(rejected(bound, wrong), bits.size() * 9 / 10);
  }
}

}  // namespace
}  // namespace assay::oracles::matmul_nbits
