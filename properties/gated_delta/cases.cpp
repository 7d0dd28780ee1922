#include "properties/gated_delta/cases.hpp"

#include <initializer_list>

#include "properties/gated_delta/case_parts.hpp"

namespace assay::properties::gated_delta {
namespace {

/// Adds points, each with what a case needs beside its own subject taken in turn: contracts, pattern, seed.
class Cases {
 public:
  explicit Cases(std::uint64_t seed) : seed_(seed) {}

  void add(Point point) {
    point.seed = seed_ + turn_++;
    points.push_back(std::move(point));
  }
  /// A point with the contracts and the pattern of the turn. Steps of 149 in 256 contracts, and of 1 in 14
  /// patterns, come to every pair of a contract and a pattern.
  Point in_turn() const {
    Point point;
    point.contracts = contracts_of(turn_ * 149);
    point.pattern = pattern_of(turn_, point.contracts.gates);
    return point;
  }
  /// The same with contracts of the turn but for those of the state.
  Point in_turn(Format state, Layout layout) const {
    Point point = in_turn();
    point.contracts.state = state;
    point.contracts.layout = layout;
    return point;
  }
  std::size_t turn() const { return turn_; }

  std::vector<Point> points;

 private:
  std::uint64_t seed_;
  std::size_t turn_ = 0;
};

void set_heads(Point& point, std::size_t key_heads, std::size_t value_heads) {
  point.shape.key_heads = key_heads;
  point.shape.value_heads = value_heads;
}

/// Every contract against every other.
void add_contracts(Cases& cases) {
  for (std::size_t i = 0; i < contracts_count; ++i) {
    Point point;
    point.contracts = contracts_of(i);
    point.pattern = pattern_of(cases.turn(), point.contracts.gates);
    point.shape.steps = 2;
    set_heads(point, 1, 2);
    cases.add(point);
  }
}

/// Every pattern against the formats, the layout and the gates.
void add_patterns(Cases& cases) {
  for (std::size_t p = 0; p < patterns; ++p) {
    for (const Format io : both_formats) {
      for (const Format state : both_formats) {
        for (const Layout layout : layouts) {
          for (const Gates gates : both_gates) {
            Point point = cases.in_turn(state, layout);
            point.contracts.io = io;
            point.contracts.gates = gates;
            point.contracts.softplus =
                gates == Gates::raw ? Softplus{static_cast<std::uint8_t>(cases.turn() % 3)} : Softplus{};
            point.pattern = Pattern{static_cast<std::uint8_t>(p)};
            if (point.pattern != pattern_of(p, gates)) continue;  // it needs raw gates
            point.shape.batch = 1 + p % 2;
            point.shape.steps = 3 - p % 2;
            cases.add(point);
          }
        }
      }
    }
  }
}

/// Every pair of head sizes, of both formats and layouts.
void add_head_sizes(Cases& cases) {
  for (const std::size_t key_dim : built_dims) {
    for (const std::size_t value_dim : built_dims) {
      for (const Format state : both_formats) {
        for (const Layout layout : layouts) {
          Point point = cases.in_turn(state, layout);
          point.shape.key_dim = key_dim;
          point.shape.value_dim = value_dim;
          if (key_dim * value_dim <= 128 * 128) point.shape.steps = 2;
          cases.add(point);
        }
      }
    }
  }
}

/// The forms for small problems and for large ones, whatever the size: every size of a head, both formats and
/// layouts, sequences with and without slots, one step and several.
void add_tunings(Cases& cases) {
  for (const Tuning tuning : {Tuning::small, Tuning::large}) {
    for (const std::size_t dim : built_dims) {
      for (const Format state : both_formats) {
        for (const Layout layout : layouts) {
          Point point = cases.in_turn(state, layout);
          point.tuning = tuning;
          point.shape.key_dim = dim;
          point.shape.value_dim = dim == 64 ? 128 : 64;
          point.slots = Slots::holes;
          point.shape.batch = 3;
          point.shape.steps = dim == 64 ? 2 : 1;
          set_heads(point, 1, 2);
          cases.add(point);
        }
      }
    }
  }
}

/// Heads of values for one, two and three of each head of keys; sequences, with slots of every kind.
void add_heads_and_sequences(Cases& cases) {
  constexpr std::size_t heads[][2] = {{1, 1}, {1, 3}, {2, 2}, {2, 4}, {2, 6}, {3, 3}, {3, 6}, {3, 9}, {5, 5}};
  for (const auto& [key_heads, value_heads] : heads) {
    for (const Layout layout : layouts) {
      Point point = cases.in_turn();
      point.contracts.layout = layout;
      set_heads(point, key_heads, value_heads);
      point.shape.batch = 1 + cases.turn() % 2;
      cases.add(point);
    }
  }
  for (const Slots slots : {Slots::in_order, Slots::permuted, Slots::holes}) {
    for (const std::size_t batch : {1u, 2u, 3u, 7u, 16u}) {
      for (const std::size_t more : {0u, 1u, 5u}) {  // slots of nobody
        for (const Layout layout : layouts) {
          Point point = cases.in_turn();
          point.contracts.layout = layout;
          point.slots = slots;
          point.shape.batch = batch;
          point.shape.pool = more == 0 ? 0 : batch + more;
          point.shape.steps = batch < 4 ? 2 : 1;
          if (batch < 4) set_heads(point, 1, 2);
          cases.add(point);
        }
      }
    }
  }
}

/// Rows of a and b that lie further apart than there are heads, each in its own way.
void add_strides(Cases& cases) {
  for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{4, 4}, {5, 4}, {4, 7}, {12, 9}, {64, 5}}) {
    for (const Format io : both_formats) {
      Point point = cases.in_turn();
      point.contracts.io = io;
      if (point.contracts.gates != Gates::raw) point.pattern = Pattern::ordinary;
      point.contracts.gates = Gates::raw;
      point.shape.batch = 2;
      point.shape.steps = 2;
      set_heads(point, 2, 4);
      point.shape.a_stride = a;
      point.shape.b_stride = b;
      cases.add(point);
    }
  }
}

/// Buffers of other alignments than 16 bytes, and of more.
void add_alignments(Cases& cases) {
  for (const std::size_t alignment : {2u, 4u, 8u, 32u, 256u}) {
    for (const Format state : both_formats) {
      for (const Layout layout : layouts) {
        Point point = cases.in_turn(state, layout);
        const bool narrow = alignment < 4;
        if (narrow) point.contracts.io = Format::bf16;
        point.io_alignment = alignment;
        set_heads(point, 1, 2);
        cases.add(point);
        point = cases.in_turn(narrow ? Format::bf16 : state, layout);
        point.state_alignment = alignment;
        cases.add(point);
      }
    }
  }
}

/// Scales of q that are not K^-1/2.
void add_scales(Cases& cases) {
  for (const std::uint32_t scale : {0x3F800000u, 0x3E000000u, 0x3DCCCCCDu, 0x42000000u}) {
    Point point = cases.in_turn();
    point.scale = scale;
    point.shape.steps = 2;
    cases.add(point);
  }
}

/// What routes refuse, each for its reason, and in their order where there are two.
void add_refusals(Cases& cases) {
  const auto add = [&](const auto& spoil) {
    for (const Layout layout : layouts) {
      Point point = cases.in_turn();
      point.pattern = Pattern::ordinary;
      point.contracts.layout = layout;
      point.shape.batch = 3;
      spoil(point);
      cases.add(point);
    }
  };
  add([](Point& point) { point.shape.key_dim = 32; });
  add([](Point& point) { point.shape.value_dim = 96; });
  add([](Point& point) { point.shape.key_dim = point.shape.value_dim = 512; });
  add([](Point& point) { set_heads(point, 2, 3); });
  add([](Point& point) { set_heads(point, 2, 1); });
  add([](Point& point) { point.slots = Slots::doubled; });
  add([](Point& point) { point.slots = Slots::past; });
  add([](Point& point) {
    point.slots = Slots::past;
    point.shape.pool = 5;
  });
  add([](Point& point) {
    point.slots = Slots::doubled;
    set_heads(point, 2, 3);
  });
}

/// Sequences of many steps, whose states are those of everything before: held to the bits, and to the error
/// bound carried along.
void add_steps(Cases& cases, std::initializer_list<std::size_t> counts) {
  for (const std::size_t steps : counts) {
    for (const Format state : both_formats) {
      for (const Judge judge : {Judge::bits, Judge::bound}) {
        for (const Layout layout : layouts) {
          if (steps > 16 && (judge == Judge::bound) != (layout == Layout::vk)) continue;
          Point point = cases.in_turn(state, layout);
          point.contracts.judge = judge;
          point.pattern = Pattern::ordinary;
          point.shape.steps = steps;
          cases.add(point);
        }
      }
    }
  }
}

/// Results within their running error bound. Not of patterns whose bound is over the result.
void add_bounds(Cases& cases) {
  for (const Pattern pattern :
       {Pattern::ordinary, Pattern::decays, Pattern::ramps, Pattern::one_hot, Pattern::powers_of_two}) {
    for (const Format io : both_formats) {
      for (const Format state : both_formats) {
        for (const Gates gates : both_gates) {
          Point point = cases.in_turn(state, layouts[cases.turn() % 2]);
          point.contracts.io = io;
          point.contracts.gates = gates;
          if (gates == Gates::precomputed) point.contracts.softplus = {};
          point.contracts.judge = Judge::bound;
          point.pattern = pattern;
          point.shape.steps = 2;
          cases.add(point);
        }
      }
    }
  }
}

/// Every pattern against every contract.
void add_all_pairs(Cases& cases) {
  for (std::size_t i = 0; i < contracts_count; ++i) {
    for (std::size_t p = 0; p < patterns; ++p) {
      Point point;
      point.contracts = contracts_of(i);
      point.pattern = Pattern{static_cast<std::uint8_t>(p)};
      if (point.pattern != pattern_of(p, point.contracts.gates)) continue;
      point.shape.steps = 2;
      cases.add(point);
    }
  }
}

/// Everything at once on a larger shape: several heads of 128 x 128 for each key head, slots with holes, rows
/// of a and b further apart, several steps.
void add_layers(Cases& cases) {
  for (const Format state : both_formats) {
    for (const Layout layout : layouts) {
      for (const Gates gates : both_gates) {
        Point point = cases.in_turn(state, layout);
        point.contracts.gates = gates;
        if (gates == Gates::precomputed) point.contracts.softplus = {};
        point.pattern = pattern_of(cases.turn(), gates);
        point.slots = Slots::holes;
        point.shape.batch = 3;
        point.shape.pool = 4;
        point.shape.steps = 2;
        point.shape.key_dim = point.shape.value_dim = 128;
        set_heads(point, 2, 6);
        if (gates == Gates::raw) point.shape.a_stride = point.shape.b_stride = 12;
        cases.add(point);
      }
    }
  }
}

/// Shapes of real layers: 16 heads of keys, 32 of values, 128 x 128.
void add_large(Cases& cases) {
  for (const std::size_t batch : {1u, 4u}) {
    for (const Format state : both_formats) {
      for (const Layout layout : layouts) {
        Point point = cases.in_turn(state, layout);
        point.pattern = Pattern::ordinary;
        point.shape.batch = batch;
        point.slots = batch == 1 ? Slots::in_order : Slots::holes;
        point.shape.pool = batch + 2;
        point.shape.steps = batch == 1 ? 4 : 1;
        point.shape.key_dim = point.shape.value_dim = 128;
        set_heads(point, 16, 32);
        cases.add(point);
      }
    }
  }
}

}  // namespace

std::vector<Point> cases(Level level, std::uint64_t seed) {
  Cases cases(seed);
  add_contracts(cases);
  add_patterns(cases);
  add_head_sizes(cases);
  add_heads_and_sequences(cases);
  add_strides(cases);
  add_alignments(cases);
  add_scales(cases);
  add_refusals(cases);
  add_bounds(cases);
  add_layers(cases);
  add_steps(cases, {1, 2, 16, 256});
  add_tunings(cases);
  if (level != Level::quick) {
    add_all_pairs(cases);
    add_steps(cases, {4096});
    add_large(cases);
  }
  if (level == Level::exhaustive) {
    for (std::size_t turn = 1; turn < 4; ++turn) {  // other seeds, other contracts in turn
      add_all_pairs(cases);
      add_head_sizes(cases);
      add_heads_and_sequences(cases);
      add_steps(cases, {3, 64, 1024});
    }
  }
  return std::move(cases.points);
}

}  // namespace assay::properties::gated_delta
