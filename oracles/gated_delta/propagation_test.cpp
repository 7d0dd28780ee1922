// What a true step makes of errors: that no error grows past what is carried, and that some grow as much.
#include "oracles/gated_delta/propagation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracles/gated_delta/testing.hpp"

namespace assay::oracles::gated_delta {
namespace {

using Vector = std::vector<double>;
constexpr std::size_t key_dim = 12;

double drawn(std::uint64_t stream, std::uint64_t i) {
  return std::ldexp(static_cast<double>(fixtures::draw(21, stream, i) >> 11), -52) - 1;
}
double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
Vector direction(std::uint64_t stream) {
  Vector x;
  for (std::size_t i = 0; i < key_dim; ++i) x.push_back(drawn(stream, i));
  const double length = std::sqrt(dot(x, x));
  for (double& y : x) y /= length;
  return x;
}

struct Exact {
  double alpha, beta;
  Vector k;

  Vector operator()(const Vector& e) const {
    Vector out;
    const double along = beta * dot(k, e);
    for (std::size_t i = 0; i < e.size(); ++i) out.push_back(alpha * (e[i] - along * k[i]));
    return out;
  }
  Step<TruthArithmetic> step() const {
    Step<TruthArithmetic> s;
    s.gate = {{{alpha}, {0}}, {{beta}, {0}}};
    for (const double x : k) {
      s.k.push_back({{x}, {0}});
      s.q.push_back({{2 * x}, {0}});  // of length 2
    }
    return s;
  }
};

/// One step that adds nothing, of an error e in every column of a tile.
Tile<BoundedArithmetic> carried(const Exact& m, const Vector& e) {
  Tile<BoundedArithmetic> tile(key_dim);
  for (std::size_t i = 0; i < key_dim; ++i) tile.error[i].fill(std::fabs(e[i]));
  tile.norm.fill(std::sqrt(dot(e, e)));
  Reach reach;
  reach_of(m.step(), 3, reach);
  propagate<BoundedArithmetic>(reach, tile);
  return tile;
}

// Doubles compute what they are compared with to some 2^-50; bounds are met or missed by far more.
constexpr double rounding = 1 + 0x1p-45;

TEST(Propagation, NoErrorGrowsPastWhatIsCarried) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Exact m{0.5 + drawn(1, i) / 2, 2.5 * drawn(2, i), direction(100 + i)};
    Vector e = direction(5000 + i);
    if (i % 3 == 0) e = m.k;
    if (i % 3 == 1) e.assign(key_dim, 0), e[i % key_dim] = 1;
    const Vector after = m(e);
    const auto tile = carried(m, e);
    for (std::size_t k = 0; k < key_dim; ++k)
      ASSERT_LE(std::fabs(after[k]), tile.error[k][i % 8] * rounding + 0x1p-50);
    ASSERT_LE(std::sqrt(dot(after, after)), tile.norm[i % 8] * rounding);
  }
}

TEST(Propagation, SomeErrorsGrowAsMuch) {
  const Vector k = direction(1);
  const auto norm_after = [&](double alpha, double beta, const Vector& e) {
    return carried({alpha, beta, k}, e).norm[0];
  };
  const auto expect = [](double norm, double exact) {
    EXPECT_TRUE(norm * rounding >= exact && norm <= exact * outward_norm * rounding) << norm << " " << exact;
  };
  // Across k nothing but the decay acts; along it, 1 - beta.
  Vector across = direction(2);
  const double along = dot(k, across);
  for (std::size_t i = 0; i < key_dim; ++i) across[i] -= along * k[i];
  const double length = std::sqrt(dot(across, across));
  expect(norm_after(0.75, 0.5, across), 0.75 * length);
  expect(norm_after(1, 1, across), length);
  expect(norm_after(0.75, 3, k), 0.75 * 2);
  expect(norm_after(1, -0.5, k), 1.5);
  // An error of one element, beside a k that has none there, stays one of an element.
  Exact apart{0.75, 0.5, k};
  apart.k[3] = 0;
  Vector e(key_dim, 0.0);
  e[3] = 1;
  const auto tile = carried(apart, e);
  expect(tile.error[3][0], 0.75);
  expect(tile.error[2][0], 0.75 * std::fabs(0.5 * k[2]));
}

TEST(Propagation, StepsAddTheirOwn) {
  Tile<BoundedArithmetic> tile(key_dim);
  Reach reach;
  reach_of(Exact{0.5, 0, Vector(key_dim, 0.0)}.step(), 1, reach);
  EXPECT_EQ(reach.q_norm, 0) << "of a q of zeros";
  for (auto& row : tile.s) row.bound.fill(1);
  // Each element: 1, then 1 + 1/2; the norm is as long as 12 of them.
  for (const double each : {1.0, 1.5, 1.75}) {
    propagate<BoundedArithmetic>(reach, tile);
    for (const auto& row : tile.error) EXPECT_TRUE(row[5] >= each && row[5] <= each * rounding) << row[5];
    const double norm = each * std::sqrt(12.0);
    EXPECT_TRUE(tile.norm[5] * rounding >= norm && tile.norm[5] <= norm * outward_norm * rounding)
        << tile.norm[5];
  }
}

TEST(Propagation, HasNoBoundWithoutGates) {
  for (const double special : {std::nan(""), HUGE_VAL}) {
    Exact m{1, 0.5, direction(1)};
    (special > 0 ? m.alpha : m.beta) = special;
    Tile<BoundedArithmetic> tile(key_dim);
    tile.norm.fill(1);
    for (auto& row : tile.error) row.fill(1);
    Reach reach;
    reach_of(m.step(), 1, reach);
    propagate<BoundedArithmetic>(reach, tile);
    for (const auto& row : tile.error) EXPECT_FALSE(std::isfinite(row[0]));
    EXPECT_FALSE(std::isfinite(tile.norm[0]));
  }
}

}  // namespace
}  // namespace assay::oracles::gated_delta
