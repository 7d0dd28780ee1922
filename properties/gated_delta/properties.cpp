#include "properties/gated_delta/properties.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <span>

#include "properties/gate/search.hpp"
#include "properties/gated_delta/derived.hpp"
#include "properties/gated_delta/draws.hpp"
#include "properties/gated_delta/outputs.hpp"
#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {
namespace {

using fixture::Pattern;
using formats::Format;
using Over = PropertiesOver<DeltaWorkload>;
using Points = Over::Points;

const std::vector<Pattern> telling = {Pattern::ordinary, Pattern::ramps, Pattern::cancellation,
                                      Pattern::tiny_norms, Pattern::specials};
const std::vector<Pattern> finite = {Pattern::ordinary, Pattern::ramps,      Pattern::cancellation,
                                     Pattern::decays,   Pattern::tiny_norms, Pattern::one_hot};

/// A part of the tries: for properties of which each try judges several cases, and for those whose cases
/// others judge as well.
class Fewer : public Bench {
 public:
  Fewer(Bench& bench, int divisor) : bench_(bench), divisor_(divisor) {}
  bool judge(Workload& workload) override { return bench_.judge(workload); }
  bool judge(Workload& workload, const std::function<void(std::size_t, const Contents&)>& use) override {
    return bench_.judge(workload, use);
  }
  std::uint64_t seed() const override { return bench_.seed(); }
  int tries() const override { return bench_.tries() / divisor_; }

 private:
  Bench& bench_;
  int divisor_;
};

Property fewer(int divisor, Property property) {
  const auto check = property.check;
  property.check = [divisor, check](Bench& bench) {
    Fewer part(bench, divisor);
    return check(part);
  };
  return property;
}

/// Outputs by route. False when the case is judged wrong: relations are only asked of right outputs.
bool run(Bench& bench, DeltaWorkload& workload, Over::ByRoute& outputs) {
  return bench.judge(workload,
                     [&](std::size_t route, const Contents& contents) { outputs[route] = contents; });
}

/// A relation between a case and another one that comes of it, on every route that ran both. `draw` gives one
/// or two points; `second` the other case, by default that of the second point.
struct Relation {
  std::string name, sentence;
  std::function<Points()> draw;
  std::function<bool(const Outputs& first, const Outputs& second)> related;
  std::function<DeltaWorkload(const DeltaWorkload& first)> second = {};
};

Property between(Relation relation) {
  std::string name = relation.name, sentence = relation.sentence;
  return {std::move(name), std::move(sentence), [relation](Bench& bench) {
            return Over::search(bench, relation.draw, [&](const Points& points, std::size_t& compared) {
              DeltaWorkload first(points[0]);
              Over::ByRoute of_first, of_second;
              if (!run(bench, first, of_first)) return false;
              DeltaWorkload second = relation.second ? relation.second(first) : DeltaWorkload(points[1]);
              if (!run(bench, second, of_second)) return false;
              return std::all_of(of_first.begin(), of_first.end(), [&](const auto& entry) {
                const auto other = of_second.find(entry.first);
                if (other == of_second.end()) return true;
                ++compared;
                return relation.related(Outputs(first, entry.second), Outputs(second, other->second));
              });
            });
          }};
}

template <class Change>
std::function<Points()> pairs(std::vector<Pattern> patterns, Change change) {
  return [patterns = std::move(patterns), change] {
    Points points = {any_point(patterns), {}};
    points[1] = points[0];
    change(points[0], points[1]);
    return points;
  };
}
std::function<Points()> singles(std::vector<Pattern> patterns, std::function<void(Point&)> adapt) {
  return [patterns = std::move(patterns), adapt] {
    Points points = {any_point(patterns)};
    adapt(points[0]);
    return points;
  };
}

void precompute_gates(Point& point) {
  point.contracts.gates = oracle::Gates::precomputed;
  point.contracts.softplus = {};
  point.shape.a_stride = point.shape.b_stride = 0;
}

// ---- between two points ----

/// Every sequence of several, alone.
Property alone() {
  return {"sequences are independent", "a sequence alone has the bits that it has in company",
          [](Bench& bench) {
            const auto draw = singles(telling, [](Point& point) {
              point.shape.batch = std::max<std::size_t>(point.shape.batch, 2);
              point.shape.pool = point.shape.batch;
            });
            return Over::search(bench, draw, [&](const Points& points, std::size_t& compared) {
              DeltaWorkload all(points[0]);
              Over::ByRoute of_all, of_one;
              if (!run(bench, all, of_all)) return false;
              const std::size_t i = choice<std::size_t>(0, points[0].shape.batch);
              Point point = points[0];
              point.first_sequence += i;
              point.shape.batch = point.shape.pool = 1;
              point.slots = Slots::in_order;
              DeltaWorkload one(point);
              if (all.operands().slots[i] < 0) return true;
              if (!run(bench, one, of_one)) return false;
              return std::all_of(of_one.begin(), of_one.end(), [&](const auto& entry) {
                const Outputs company(all, of_all.at(entry.first)), single(one, entry.second);
                ++compared;
                for (std::size_t head = 0; head < point.shape.value_heads; ++head)
                  if (!same_o(company, i, single, 0, head) || !same_state(company, i, single, 0, head))
                    return false;
                return true;
              });
            });
          }};
}

bool same_but_for_slots(const Outputs& a, const Outputs& b) {
  for (std::size_t i = 0; i < a.shape().batch; ++i)
    for (std::size_t head = 0; head < a.shape().value_heads && b.has_slot(i); ++head)
      if (!same_o(a, i, b, i, head) || !same_state(a, i, b, i, head)) return false;
  return a.others_untouched() && b.others_untouched();
}

bool o_is_zero(const Outputs& outputs) {
  const std::uint32_t sign = 1u << (formats::spec(outputs.io()).bits - 1);
  for (std::size_t i = 0; i < outputs.shape().batch; ++i)
    for (std::size_t step = 0; step < outputs.shape().steps; ++step)
      for (std::size_t head = 0; head < outputs.shape().value_heads; ++head)
        for (std::size_t v = 0; v < outputs.shape().value_dim; ++v)
          if ((outputs.o(i, step, head, v) & ~sign) != 0) return false;
  return true;
}

bool same_states(const Outputs& a, const Outputs& b) {
  for (std::size_t i = 0; i < a.shape().batch; ++i)
    for (std::size_t head = 0; head < a.shape().value_heads && a.has_slot(i); ++head)
      if (!same_state(a, i, b, i, head)) return false;
  return true;
}

/// v, and the state, times a power of two; zero states are such as well.
Property scaled(std::string name, std::string sentence, std::vector<Pattern> patterns,
                std::array<int, 2> exponents) {
  return {std::move(name), std::move(sentence), [patterns, exponents](Bench& bench) {
            const auto draw = pairs(
                patterns, [&](Point&, Point& b) { b.v_exponent = exponents[choice<std::size_t>(0, 2)]; });
            return between({"", "", draw,
                            [&](const Outputs& a, const Outputs& b) {
                              return scaled_alike(a, b, b.workload().point().v_exponent);
                            }})
                .check(bench);
          }};
}

std::vector<Property> relations_of_points() {
  std::vector<Property> properties = {
      alone(),
      scaled("scaled", "v and state times a power of two give o and state times it",
             {Pattern::ordinary, Pattern::ramps, Pattern::cancellation, Pattern::decays}, {-3, 4}),
      scaled("linear in v", "from a state of zero, twice v gives twice o and twice the state",
             {Pattern::zero_state}, {1, 1}),
  };
  properties.push_back(
      between({"slots are independent",
               "other slots move the states, leave every bit, and free slots are not touched",
               pairs(telling,
                     [](Point& a, Point& b) {
                       a.shape.batch = b.shape.batch = std::max<std::size_t>(a.shape.batch, 2);
                       a.shape.pool = b.shape.pool = a.shape.batch + 1;
                       a.slots = Slots::in_order;
                       b.slots = choice(0, 2) == 0 ? Slots::permuted : Slots::holes;
                     }),
               same_but_for_slots}));
  properties.push_back(between({"layouts", "both layouts of the state hold the same numbers",
                                pairs(telling,
                                      [](Point& a, Point& b) {
                                        a.contracts.layout = oracle::Layout::kv;
                                        b.contracts.layout = oracle::Layout::vk;
                                      }),
                                same}));
  properties.push_back(
      between({"tuning", "the size of problem that a kernel's form is meant for changes no bit",
               pairs(telling,
                     [](Point& a, Point& b) {
                       a.tuning = Tuning::small;
                       b.tuning = Tuning::large;
                     }),
               same}));
  properties.push_back(
      between({"zero q", "a q of zeros gives an o of zeros and the states of any other q",
               pairs({Pattern::zero_q}, [](Point&, Point& b) { b.pattern = Pattern::ordinary; }),
               [](const Outputs& a, const Outputs& b) { return o_is_zero(a) && same_states(a, b); }}));
  properties.push_back(between({"where eps matters", "with tiny norms another eps gives other numbers",
                                pairs({Pattern::tiny_norms},
                                      [](Point& a, Point& b) {
                                        // A single step may have a q of zeros beside a k that adds nothing.
                                        a.shape.steps = b.shape.steps = choice<std::size_t>(2, 4);
                                        a.contracts.epsilon = oracle::Epsilon::e6;
                                        b.contracts.epsilon = oracle::Epsilon::e12;
                                      }),
                                [](const Outputs& a, const Outputs& b) { return !same(a, b); }}));
  properties.push_back(between(
      {"nothing rounded", "where no operation rounds, how norms, gates and beta are rounded changes no bit",
       pairs({Pattern::powers_of_two},
             [](Point& a, Point& b) {
               a.scale = b.scale = 0x3E000000;  // 1/8
               const Point other = any_point({Pattern::powers_of_two});
               b.contracts.norm = other.contracts.norm;
               b.contracts.epsilon = other.contracts.epsilon;
               b.contracts.beta = other.contracts.beta;
               if (a.contracts.gates == oracle::Gates::raw)
                 b.contracts.softplus = oracle::Softplus{choice<std::uint8_t>(0, 3)};
             }),
       same}));
  return properties;
}

// ---- of cases made from other cases ----

Property additive() {
  return {"additive in v", "from a state of zero, v and v' together give the sum of what they give alone",
          [](Bench& bench) {
            const auto draw = singles({Pattern::powers_of_two}, [](Point& point) {
              point.contracts.io = point.contracts.state = Format::fp32;  // the sums have more bits than bf16
              point.scale = 0x3E000000;                                   // 1/8
            });
            return Over::search(bench, draw, [&](const Points& points, std::size_t& compared) {
              const DeltaWorkload drawn(points[0]);
              std::vector<DeltaWorkload> cases = {with_values(drawn, values_alone),
                                                  with_values(drawn, values_turned),
                                                  with_values(drawn, values_and_turned)};
              std::array<Over::ByRoute, 3> outputs;
              for (std::size_t i = 0; i < 3; ++i)
                if (!run(bench, cases[i], outputs[i])) return false;
              return std::all_of(outputs[0].begin(), outputs[0].end(), [&](const auto& entry) {
                ++compared;
                return is_sum(Outputs(cases[2], outputs[2].at(entry.first)), Outputs(cases[0], entry.second),
                              Outputs(cases[1], outputs[1].at(entry.first)));
              });
            });
          }};
}

/// T steps, and T times one step that begins with the state that the last one left.
Property one_by_one() {
  return {"steps one by one", "as many runs of one step as there are steps leave the same bits",
          [](Bench& bench) {
            const auto draw = singles(telling, [](Point& point) {
              point.shape.steps = std::max<std::size_t>(point.shape.steps, 2);
            });
            return Over::search(bench, draw, [&](const Points& points, std::size_t& compared) {
              DeltaWorkload whole(points[0]);
              Over::ByRoute of_whole;
              if (!run(bench, whole, of_whole)) return false;
              std::vector<std::byte> state = whole.operands().state;
              for (std::size_t step = 0; step < points[0].shape.steps && !of_whole.empty(); ++step) {
                DeltaWorkload one = single_step(points[0], step, state);
                Over::ByRoute of_one;
                if (!run(bench, one, of_one)) return false;
                for (const auto& [route, contents] : of_one) {
                  const Outputs all(whole, of_whole.at(route)), now(one, contents);
                  const bool last = step + 1 == points[0].shape.steps;
                  if (!same_o_of_step(all, step, now) || (last && !same_states(all, now))) return false;
                  ++compared;
                }
                state = of_one.begin()->second[1];  // those of the routes are right, so equal but for NaN
              }
              return true;
            });
          }};
}

std::vector<Property> relations_of_made_cases() {
  std::vector<Property> properties = {additive(), fewer(2, one_by_one())};
  properties.push_back(between({"contained", "NaN, Inf and subnormals stay in the head that has them",
                                pairs({Pattern::specials},
                                      [](Point& a, Point& b) {
                                        for (Point* point : {&a, &b}) {
                                          point->shape.value_heads = 2 * point->shape.key_heads;
                                          if (point->contracts.gates == oracle::Gates::raw)
                                            point->shape.a_stride = point->shape.b_stride = 5;
                                        }
                                        b.pattern = Pattern::ordinary;
                                      }),
                                same_where_operands_are}));
  properties.push_back(
      between({"raw gates", "raw gates give what their decays and strengths give",
               singles({Pattern::ordinary, Pattern::ramps, Pattern::decays, Pattern::saturated},
                       [](Point& point) {
                         point.contracts.gates = oracle::Gates::raw;
                         point.contracts.softplus = oracle::Softplus{choice<std::uint8_t>(0, 3)};
                       }),
               same, with_gates_computed}));
  return properties;
}

// ---- of one case ----

Point any_decay(bool long_horizons) {
  Point point = any_point({Pattern::decays});
  constexpr std::size_t horizons[] = {1, 2, 16};
  point.shape.steps = horizons[choice<std::size_t>(0, 3)];
  const bool longer = choice(0, 50) == 49;
  if (longer) point.shape.steps = 256;
  if (longer && long_horizons && choice(0, 4) == 3) point.shape.steps = 4096;
  // A state in bf16 loses 2^-9 of itself at every step: after hundreds that is a bound over the state, within
  // which zeros lie too.
  if (longer) point.contracts.state = formats::Format::fp32;
  if (point.shape.steps > 2) {
    point.shape.batch = point.shape.key_heads = point.shape.value_heads = 1;
    point.shape.pool = 1;
    point.shape.key_dim = point.shape.value_dim = 64;
  }
  // A bf16 state rounded at hundreds of steps that forget little may be off by as much as it is: a bound that
  // says nothing. So may be an o that cancels, where beta was rounded to bf16.
  const bool bounded = (point.shape.steps <= 16 || point.contracts.state == Format::fp32) &&
                       point.contracts.beta == oracle::Beta::fp32;
  if (bounded) point.contracts.judge = oracle::Judge::bound;
  return point;
}

/// One horizon of decays at a time: long ones only from the level on that has a thousand tries.
Property horizons() {
  return {
      "horizons",
      "over 1, 2, 16 and 256 steps every decay keeps within its error bound, or to the bit where that is as "
      "wide as the result",
      [](Bench& bench) {
        const bool long_horizons = bench.tries() > 500;
        return Over::judged("", "", [=] { return any_decay(long_horizons); }).check(bench);
      }};
}

bool is_zero_without_slot(const DeltaWorkload& workload, const Contents& contents) {
  const Outputs outputs(workload, contents);
  for (std::size_t i = 0; i < outputs.shape().batch; ++i)
    for (std::size_t step = 0; step < outputs.shape().steps && !outputs.has_slot(i); ++step)
      for (std::size_t head = 0; head < outputs.shape().value_heads; ++head)
        for (std::size_t v = 0; v < outputs.shape().value_dim; ++v)
          if (outputs.o(i, step, head, v) != 0) return false;
  return outputs.others_untouched();
}

Property judged(std::string name, std::string sentence, std::vector<Pattern> patterns,
                std::function<void(Point&)> adapt = {}) {
  return Over::judged(std::move(name), std::move(sentence), [patterns, adapt] {
    Point point = any_point(patterns);
    if (adapt) adapt(point);
    return point;
  });
}

std::vector<Property> judged_cases() {
  return {
      judged("tiny norms", "eps is added to the sum of squares, where it decides", {Pattern::tiny_norms}),
      judged("saturated gates",
             "decay and strength are right far out, where they are 0, 1, or of Inf times 0",
             {Pattern::saturated}),
      fewer(2, judged("overflow and cancellation",
                      "sums overflow to Inf, and what cancels keeps its last digits",
                      {Pattern::overflow, Pattern::cancellation})),
      fewer(2,
            judged("within the bound", "results lie within the schedule's error bound around the true value",
                   {Pattern::ordinary, Pattern::ramps, Pattern::one_hot, Pattern::cancellation},
                   [](Point& point) { point.contracts.judge = oracle::Judge::bound; })),
      horizons(),
      fewer(2, Over::of_output(
                   "pure decay", "with a beta of 0, or a k of zeros, states decay and nothing else",
                   [] {
                     Point point = any_point({Pattern::zero_beta, Pattern::zero_k});
                     precompute_gates(point);
                     return point;
                   },
                   [](const DeltaWorkload& workload, const Contents& contents) {
                     return only_decayed(workload, Outputs(workload, contents));
                   })),
      fewer(2, Over::of_output(
                   "no slot", "a sequence without a slot gives +0 and touches no state",
                   [] {
                     Point point = any_point(telling);
                     point.shape.batch = choice<std::size_t>(2, 5);
                     point.shape.pool = point.shape.batch;
                     point.slots = Slots::holes;
                     return point;
                   },
                   is_zero_without_slot)),
      fewer(2, Over::routes_agree("routes agree", "both routes leave the same bits",
                                  [] {
                                    Point point = any_point(finite);
                                    point.contracts.layout = oracle::Layout::kv;
                                    return point;
                                  })),
  };
}

}  // namespace

std::vector<Property> delta_properties() {
  std::vector<Property> properties = judged_cases();
  for (auto* list : {&relations_of_points, &relations_of_made_cases})
    for (Property& relation : (*list)()) properties.push_back(fewer(3, std::move(relation)));
  return properties;
}

}  // namespace assay::properties::gated_delta
