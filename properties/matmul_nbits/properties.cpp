#include "properties/matmul_nbits/properties.hpp"

#include <algorithm>

#include "oracles/formats/codec.hpp"
#include "properties/gate/search.hpp"
#include "properties/matmul_nbits/draws.hpp"
#include "properties/matmul_nbits/rules.hpp"
#include "properties/matmul_nbits/workload.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using fixture::PaddingFill;
using fixture::Pattern;
using formats::Format;
using oracle::Schedule;
using Over = PropertiesOver<MatmulWorkload>;

const std::vector<Pattern> telling = {Pattern::ordinary, Pattern::ramps, Pattern::cancellation,
                                      Pattern::specials, Pattern::overflow};

std::uint32_t element(const Point& point, const Contents& y, std::size_t row, std::size_t col) {
  return arithmetic::load_code(y[0], static_cast<int>(element_width(point)), row * point.shape.n + col);
}

bool same_output(const Point&, const Contents& a, const Point&, const Contents& b) { return a == b; }

/// All routes give the same bytes; only a direct store beside a staged result counts as compared.
Property direct_equals_staged() {
  const auto draw = [] {
    Point point = any_gemv(
        {Pattern::rounding, Pattern::ordinary, Pattern::overflow, Pattern::underflow, Pattern::specials},
        choice(0, 4) == 3);
    point.contracts.model = Format::bf16;
    return Over::Points{point};
  };
  return {"direct equals staged",
          "where the direct route stores bf16 itself, its bytes are those of the staged route",
          [draw](Bench& bench) {
            return Over::search(bench, draw, [&bench](const Over::Points& points, std::size_t& compared) {
              Over::ByRoute outputs;
              if (!Over::outputs_of(bench, points[0], outputs)) return false;
              const auto direct = outputs.find(direct_route), staged = outputs.find(staged_route);
              if (direct == outputs.end() || staged == outputs.end()) return true;
              compared += stores_directly(points[0]) ? 1 : 0;  // the witness has been held to it
              return direct->second == staged->second;
            });
          }};
}

Over::Points draw_prefetches() {
  const Point point = any_gemv(telling, choice(0, 4) == 3);
  Point other = point;
  other.prefetch = (point.prefetch + 2 * static_cast<unsigned>(choice(1, 3))) % 6;
  return {point, other};
}

/// Another filling of the same padding, of which there is some: K cuts off a block, or blocks are odd.
Over::Points draw_paddings() {
  Point point = any_point(all_schedules(), telling);
  if (point.shape.k % point.shape.block == 0 && point.contracts.schedule != Schedule::multicol &&
      point.contracts.schedule != Schedule::natural)
    point.shape.k += 1 + choice<std::size_t>(0, 15);
  if (point.shape.k % point.shape.block == 0) point.zero_points = true;
  if (point.shape.k % 64 == 0) point.shape.k += 32;
  Point other = point;
  other.padding =
      PaddingFill{static_cast<std::uint8_t>((static_cast<int>(point.padding) + choice(1, 3)) % 3)};
  return {point, other};
}

/// Several rows, and one of them alone.
Over::Points draw_rows() {
  Point point =
      choice(0, 2) == 0 ? any_gemv(telling, true) : any_point({Schedule::tile, Schedule::mma}, telling);
  point.shape.m = std::max<std::size_t>(point.shape.m, 2);
  Point one = point;
  one.first_row = choice<std::size_t>(0, point.shape.m);
  one.shape.m = 1;
  return {point, one};
}

bool row_alike(const Point& a, const Contents& all, const Point& b, const Contents& one) {
  for (std::size_t col = 0; col < a.shape.n; ++col)
    if (element(a, all, b.first_row, col) != element(b, one, 0, col)) return false;
  return true;
}

Over::Points draw_turned() {
  Point point = any_point(all_schedules(), telling);
  point.shape.n = std::max<std::size_t>(point.shape.n, 2);
  Point turned = point;
  turned.turn = choice<std::size_t>(1, point.shape.n);
  return {point, turned};
}

bool turned_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  for (std::size_t row = 0; row < a.shape.m; ++row)
    for (std::size_t col = 0; col < a.shape.n; ++col)
      if (element(b, to, row, col) != element(a, from, row, (col + b.turn) % a.shape.n)) return false;
  return true;
}

/// The terms of ramps are multiples of 2^-7, so no sum that is not zero is subnormal, and 512 elements leave
/// every sum of a lane far below overflow: a power of two of the scales is one of everything.
Over::Points draw_scaled() {
  Point point = any_point(all_schedules(), {Pattern::ramps});
  if (point.shape.k > 512) point.shape.k = 512;
  if (point.shape.bits == 8) point.shape.bits = 4;
  point.bias = false;
  point.contracts.bias_round = oracle::BiasRound::once;
  Point scaled = point;
  scaled.exponent = choice(0, 2) == 0 ? -3 : 2;
  return {point, scaled};
}

/// In codes: so many exponent fields more, or Inf.
bool scaled_alike(const Point& a, const Contents& from, const Point& b, const Contents& to) {
  const Format model = a.contracts.model;
  // What staging in fp16 can hold, as a code of the model.
  const std::uint32_t largest = model == Format::bf16 ? 0x477F : formats::max_finite(model);
  const std::uint32_t sign = 1u << (formats::spec(model).bits - 1);
  const int step = b.exponent * (1 << formats::spec(model).mantissa_bits);
  for (std::size_t row = 0; row < a.shape.m; ++row) {
    for (std::size_t col = 0; col < a.shape.n; ++col) {
      const std::uint32_t x = element(a, from, row, col), y = element(b, to, row, col);
      const std::uint32_t magnitude = x & (sign - 1);
      if (magnitude > largest) continue;  // overflow before
      const std::uint32_t moved = magnitude == 0 ? 0 : magnitude + static_cast<std::uint32_t>(step);
      if (moved <= largest ? y != ((x & sign) | moved) : !formats::is_infinity(model, y)) return false;
    }
  }
  return true;
}

/// 4-bit codes in 8 bits; blocks of a multiple of the block, or that block.
Over::Points draw_encodings() {
  Point four = any_point({Schedule::tile, Schedule::mma}, telling);
  four.shape.bits = choice(0, 2) == 0 ? 4 : 2;
  four.zero_points = true;
  Point eight = four;
  eight.from_bits = four.shape.bits;
  eight.shape.bits = four.shape.bits == 2 && choice(0, 2) == 0 ? 4 : 8;
  return {four, eight};
}

// ---- properties of one output ----

Point without_bias(Point point) {
  point.bias = false;
  point.contracts.bias_round = oracle::BiasRound::once;
  return point;
}

/// Every element is +0.
bool is_zero(const MatmulWorkload&, const Contents& y) {
  return std::all_of(y[0].begin(), y[0].end(), [](std::byte byte) { return byte == std::byte{0}; });
}

/// Row r meets one weight, that of k = K-1 - (first_row + r) % K, and is zero only if that is.
bool meets_its_weight(const MatmulWorkload& workload, const Contents& y) {
  const Point& point = workload.point();
  const oracle::Shape& shape = point.shape;
  const fixture::Operands& operands = workload.operands();
  for (std::size_t row = 0; row < shape.m; ++row) {
    const std::size_t k = shape.k - 1 - (point.first_row + row) % shape.k;
    for (std::size_t col = 0; col < shape.n; ++col) {
      const std::uint32_t code = fixture::packed_code(operands.b, shape.row_bytes(), shape.bits, col, k);
      const std::uint32_t zero_point =
          point.zero_points ? fixture::packed_code(operands.zero_points, shape.zero_point_row_bytes(),
                                                   shape.bits, col, k / shape.block)
                            : 1u << (shape.bits - 1);
      const std::uint32_t magnitude =
          element(point, y, row, col) & ((1u << (8 * element_width(point) - 1)) - 1);
      if ((magnitude == 0) != (code == zero_point)) return false;
    }
  }
  return true;
}

Point draw_one_hot() {
  Point point = without_bias(choice(0, 4) == 0 ? any_gemv({Pattern::one_hot}, true)
                                               : any_point(all_schedules(), {Pattern::one_hot}));
  point.first_row = choice<std::size_t>(0, 2 * point.shape.block);
  return point;
}

/// A NaN in A makes its row NaN, one among the scales its column, in rows without NaN and Inf that alone. The
/// kinds of rows and columns are those of Pattern::specials.
bool spreads_nan(const MatmulWorkload& workload, const Contents& y) {
  const Point& point = workload.point();
  for (std::size_t row = 0; row < point.shape.m; ++row) {
    const std::size_t kind = (point.first_row + row + point.seed) % 4;
    if (kind == 1) continue;  // Inf in A: NaN where it meets a weight of zero, or another Inf
    for (std::size_t col = 0; col < point.shape.n; ++col) {
      if (kind != 0 && col % 8 == 3) continue;  // Inf among the scales: NaN where it meets a zero
      const bool nan = formats::is_nan(point.contracts.model, element(point, y, row, col));
      if (nan != (kind == 0 || col % 8 == 1)) return false;
    }
  }
  return true;
}

Property judged(std::string name, std::string sentence, std::vector<Schedule> schedules,
                std::vector<Pattern> patterns, std::function<void(Point&)> adapt = {}) {
  return Over::judged(std::move(name), std::move(sentence), [schedules, patterns, adapt] {
    Point point = any_point(schedules, patterns);
    if (adapt) adapt(point);
    return point;
  });
}

std::vector<Property> relations() {
  return {
      Over::relation("prefetch", "how many weights a lane loads ahead changes no bit", draw_prefetches,
                     same_output),
      Over::relation("padding independence",
                     "what the padding of weights and zero points holds changes nothing", draw_paddings,
                     same_output),
      Over::relation("rows are independent", "a row of many is the row that is run alone", draw_rows,
                     row_alike),
      Over::relation("columns are independent", "turning the columns turns the output", draw_turned,
                     turned_alike),
      Over::relation("scaled scales", "scales times a power of two give the output times it, or Inf",
                     draw_scaled, scaled_alike),
      Over::relation("encodings", "codes of 2 or 4 bits stored in more bits give the same output",
                     draw_encodings, same_output),
  };
}

}  // namespace

std::vector<Property> matmul_properties() {
  std::vector<Property> properties = {
      direct_equals_staged(),
      Over::judged("rows one by one", "every row of a loop of GEMVs is written, and is its own",
                   [] {
                     return any_gemv({Pattern::ordinary, Pattern::ramps, Pattern::rounding}, true);
                   }),
      judged("rounding twice", "a bf16 result goes through fp16, whatever stores it", schedules_of_rows(),
             {Pattern::rounding}, [](Point& point) { point.contracts.model = Format::bf16; }),
      judged("overflow, underflow and zero",
             "weights, sums and results overflow to Inf, keep subnormals, and zeros keep their sign",
             all_schedules(), {Pattern::overflow, Pattern::underflow, Pattern::zeros, Pattern::same_sign}),
      judged("every pair of code and zero point", "q - z is exact for every code under every zero point",
             all_schedules(), {Pattern::pairs},
             [](Point& point) { point.shape.n = std::max<std::size_t>(point.shape.n, 8); }),
      // Of many columns, because a result that nearly cancels is below its bound, which then tells nothing.
      judged("within the bound", "the result lies within the schedule's error bound around the exact value",
             all_schedules(), {Pattern::ordinary, Pattern::ramps, Pattern::same_sign},
             [](Point& point) {
               point.contracts.judge = oracle::Judge::bound;
               point.shape.n = std::max<std::size_t>(point.shape.n, 8);
             }),
      Over::of_output(
          "weights of zero", "codes that equal their zero points give +0 under any finite scale",
          [] { return without_bias(any_point(all_schedules(), {Pattern::equal})); }, is_zero),
      Over::of_output("one element of A",
                      "an A with one element that is not zero gives that weight of each column", draw_one_hot,
                      meets_its_weight),
      Over::of_output(
          "NaN spreads no further",
          "a NaN in A reaches every column of its row, one among the scales its column",
          [] {
            Point point = without_bias(any_point(all_schedules(), {Pattern::specials}));
            point.shape.n = std::max<std::size_t>(point.shape.n, 4);
            return point;
          },
          spreads_nan),
  };
  for (Property& relation : relations()) properties.push_back(std::move(relation));
  return properties;
}

}  // namespace assay::properties::matmul_nbits
