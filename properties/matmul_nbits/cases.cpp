#include "properties/matmul_nbits/cases.hpp"

#include <fmt/core.h>

#include "fixtures/matmul_nbits/reported.hpp"
#include "properties/matmul_nbits/case_parts.hpp"

namespace assay::properties::matmul_nbits {
namespace {

/// Adds points, each with what a case needs beside its own subject taken in turn: contracts that it does not
/// set, what padding holds, a seed. The counts share no factor, so that everything meets everything.
class Cases {
 public:
  explicit Cases(std::uint64_t seed) : seed_(seed) {}

  void add(Point point) {
    point.seed = seed_ + turn_;
    point.padding = PaddingFill{static_cast<std::uint8_t>(turn_ % 3)};
    points.push_back(std::move(point));
    ++turn_;
  }
  void add_in_turn(Point point) {
    if (point.contracts.schedule == Schedule::split_k) {
      point.contracts.k_split = turn_ % 2 == 0 ? 2 : 8;
      point.prefetch = static_cast<unsigned>(turn_ / 2 % 3 * 2);
    }
    if (point.contracts.schedule == Schedule::mma)
      point.contracts.tensor_cores = turn_ % 2 == 0 ? TensorCores::hopper : TensorCores::ampere;
    set_bias(point, turn_ / 5);
    point.zero_points = turn_ % 7 != 0;
    add(point);
  }
  std::size_t turn() const { return turn_; }

  std::vector<Point> points;

 private:
  std::uint64_t seed_;
  std::size_t turn_ = 0;
};

void add_reported(std::vector<Point>& points) {
  for (const auto& one : fixture::reported()) {
    const fixture::Shape& shape = one.shape;
    points.push_back(parse(fmt::format(
        "matmul_nbits:model={},{},zp={},bits={},block={},m={},n={},k={},reported={}",
        formats::spec(one.model).name, one.contracts, one.operands.zero_points.empty() ? "none" : "packed",
        shape.bits, shape.block, shape.m, shape.n, shape.k, one.id)));
  }
}

/// Every contract of the fp16 GEMVs against every pattern.
void add_gemv_grid(Cases& cases) {
  for (std::size_t p = 0; p < patterns; ++p) {
    for (std::size_t bias = 0; bias < 3; ++bias) {
      for (const bool zero_points : {false, true}) {
        const auto add = [&](Point point) {
          point.pattern = pattern_of(p);
          point.zero_points = zero_points;
          set_bias(point, bias);
          cases.add(point);
        };
        for (const Format model : halves) {
          for (const std::size_t split : {2u, 8u}) {
            Point point = point_of(model, Schedule::split_k, 1, 9, split == 2 ? 523 : 264);
            point.contracts.k_split = split;
            add(point);
            if (bias != p % 3) continue;
            point.shape.m = 2 + p % 3;
            point.shape.k = 520;
            point.prefetch = static_cast<unsigned>(p % 3 * 2);
            add(point);
          }
        }
        add(point_of(Format::fp16, Schedule::multicol, 1, 6, 1056));
        Point natural = point_of(Format::fp16, Schedule::natural, 1, 6, 1056);
        natural.interleaved = bias % 2 == 0;
        add(natural);
      }
    }
  }
}

/// Every width of code, block and model of the general routes, the patterns in turn.
void add_general_grid(Cases& cases) {
  for (const std::size_t bits : all_bits) {
    for (const std::size_t block : all_blocks) {
      for (std::size_t bias = 0; bias < 3; ++bias) {
        for (const bool zero_points : {false, true}) {
          const auto add = [&](Point point) {
            point.shape.bits = bits;
            point.shape.block = block;
            point.pattern = pattern_of(cases.turn());
            point.zero_points = zero_points;
            set_bias(point, bias);
            cases.add(point);
          };
          for (const Format model : models) add(point_of(model, Schedule::tile, 3, 17, 2 * block + 5));
          Point point = point_of(halves[(bias + zero_points) % 2], Schedule::mma, 5, 9, block + 21);
          for (const TensorCores cores : {TensorCores::hopper, TensorCores::ampere}) {
            point.contracts.tensor_cores = cores;
            add(point);
          }
        }
      }
    }
  }
}

/// Every pattern through the general routes at 4 bits, more rows than a tile, K past a step.
void add_pattern_sweep(Cases& cases) {
  for (std::size_t p = 0; p < patterns; ++p) {
    const auto add = [&](Point point) {
      point.pattern = pattern_of(p);
      cases.add_in_turn(point);
    };
    for (const Format model : models) add(point_of(model, Schedule::tile, 17, 20, 75));
    for (const Format model : halves) {
      add(point_of(model, Schedule::mma, 17, 18, 72));
      add(point_of(model, Schedule::mma, 4, 24, 88));
    }
  }
}

/// K on both sides of a group of 8, a block, a slice, a chunk of all slices, and what a thread block stages.
void add_k_sweep(Cases& cases) {
  constexpr std::size_t ks[] = {1,   2,   7,   8,    9,    15,   16,   17,   24,   31,   32,   33,   63,
                                64,  65,  96,  255,  256,  257,  264,  288,  511,  512,  513,  520,  544,
                                767, 768, 776, 1023, 1024, 1032, 2047, 2048, 2049, 2056, 2080, 2304, 4096};
  constexpr Pattern fills[] = {Pattern::ordinary, Pattern::ramps, Pattern::one_hot, Pattern::pairs,
                               Pattern::cancellation};
  for (const std::size_t k : ks) {
    for (const Schedule schedule : schedules) {
      const bool columns = schedule == Schedule::multicol || schedule == Schedule::natural;
      const bool general = schedule == Schedule::tile || schedule == Schedule::mma;
      if ((columns && k % 32 != 0) || (general && k > 300)) continue;
      for (const Format model : halves) {
        if (columns && model == Format::bf16) continue;
        Point point = point_of(model, schedule, schedule == Schedule::mma ? 3 : 1, 5, k);
        point.pattern = fills[cases.turn() % 5];
        cases.add_in_turn(point);
        point.pattern = Pattern::ordinary;
        if (schedule != Schedule::split_k) continue;
        for (const std::size_t split : {2u, 8u}) {
          point.contracts.k_split = split;
          cases.add(point);
        }
      }
    }
  }
}

/// Sums whose bits tell the order of every addition: within a lane, over lanes, over slices.
void add_orders(Cases& cases) {
  for (const std::size_t k : {1032u, 2336u, 4128u}) {
    for (const Schedule schedule : schedules) {
      for (const Format model : halves) {
        if (model == Format::bf16 && schedule != Schedule::split_k) continue;
        Point point = point_of(model, schedule, 1, 12, k / 32 * 32);
        point.pattern = Pattern::absorption;
        cases.add(point);
        if (schedule != Schedule::split_k) continue;
        point.contracts.k_split = 8;
        point.shape.k = k;
        cases.add(point);
      }
    }
  }
}

/// Slices of whole chunks, so many that every depth of loading ahead comes to its end within a group, at it
/// and past it; few columns, and so many that a lane takes two.
void add_depths(Cases& cases) {
  for (const std::size_t k : {1536u, 2304u, 4608u, 8744u}) {
    for (const unsigned prefetch : {0u, 2u, 4u}) {
      for (const std::size_t split : {2u, 8u}) {
        for (const std::size_t n : {3u, 66u}) {
          if (n > 64 && split == 8) continue;  // eight slices keep to one
          Point point = point_of(halves[cases.turn() % 2], Schedule::split_k, 1, n, k);
          point.contracts.k_split = split;
          point.prefetch = prefetch;
          point.zero_points = cases.turn() % 3 != 0;
          cases.add(point);
        }
      }
    }
  }
  for (const std::size_t k : {16376u, 16640u, 33352u}) {  // parts of A, where shared memory does not hold it
    for (const unsigned prefetch : {0u, 2u, 4u}) {
      Point point = point_of(halves[cases.turn() % 2], Schedule::split_k, 1, 3, k);
      point.contracts.k_split = k == 16640 ? 8 : 2;
      point.prefetch = prefetch;
      cases.add(point);
      point.shape = {2, 140, k / 32, 4, 32};  // rows of many columns, so that damage has a shape
      point.shape.k -= point.shape.k % 8;
      cases.add(point);
    }
  }
}

/// A has one element that is not zero, at each place of the last two blocks.
void add_last_blocks(Cases& cases) {
  for (const std::size_t k : {64u, 328u, 1152u}) {
    for (std::size_t row = 0; row < 64; row += 8) {
      Point point = point_of(halves[row / 8 % 2], Schedule::split_k, 8, 3, k);
      point.pattern = Pattern::one_hot;
      point.first_row = row;
      cases.add_in_turn(point);
    }
    for (const Schedule schedule : {Schedule::tile, Schedule::mma}) {
      Point point = point_of(Format::bf16, schedule, 64, 3, k / 2);
      point.pattern = Pattern::one_hot;
      cases.add_in_turn(point);
    }
  }
  for (std::size_t row = 0; row < 64; ++row) {  // K cut off within a group
    Point point = point_of(halves[row % 2], Schedule::split_k, 1, 3, row % 3 == 0 ? 77 : 523);
    point.pattern = Pattern::one_hot;
    point.first_row = row;
    cases.add_in_turn(point);
    point = point_of(Format::fp16, row % 2 == 0 ? Schedule::multicol : Schedule::natural, 1, 3, 1088);
    point.pattern = Pattern::one_hot;
    point.first_row = row;
    cases.add_in_turn(point);
  }
}

/// N on both sides of the columns of a warp, of a thread block and of a tile.
void add_n_sweep(Cases& cases) {
  constexpr std::size_t ns[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129};
  for (const std::size_t n : ns) {
    for (const Schedule schedule : schedules) {
      const bool columns = schedule == Schedule::multicol || schedule == Schedule::natural;
      Point point = point_of(columns ? Format::fp16 : halves[cases.turn() % 2], schedule, 1, n, 288);
      if (schedule == Schedule::tile || schedule == Schedule::mma) point.shape.k = 40;
      point.pattern = n % 2 == 0 ? Pattern::ramps : Pattern::ordinary;
      cases.add_in_turn(point);
      if (schedule != Schedule::split_k) continue;
      for (const std::size_t split : {2u, 8u}) {
        point.contracts.model = Format::bf16;
        point.contracts.k_split = split;
        point.shape.m = split == 2 ? 1 : 2;
        cases.add(point);
      }
    }
  }
}

/// Rows: one by one up to 8, then tiles; K that a row loop cannot take goes to the GEMM.
void add_m_sweep(Cases& cases) {
  constexpr std::size_t ms[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65};
  for (const std::size_t m : ms) {
    for (const std::size_t k : {64u, 60u}) {
      for (const Schedule schedule : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
        for (const Format model : halves) {
          Point point = point_of(model, schedule, m, 10, k);
          point.pattern = cases.turn() % 2 == 0 ? Pattern::ordinary : Pattern::ramps;
          if (m > 1 && cases.turn() % 3 == 0) point.pattern = Pattern::rounding;
          cases.add_in_turn(point);
        }
      }
    }
  }
}

/// Buffers of other alignments than 16 bytes, and of more.
void add_alignments(Cases& cases) {
  struct Alignments {
    std::size_t a, b, scales, y;
  };
  constexpr Alignments all[] = {{8, 16, 0, 0},   {4, 16, 0, 0},        {16, 8, 0, 0},
                                {16, 1, 0, 0},   {8, 8, 0, 0},         {16, 16, 16, 0},
                                {16, 16, 0, 16}, {256, 256, 256, 256}, {32, 64, 4, 8}};
  for (const Alignments& alignments : all) {
    for (const Schedule schedule : schedules) {
      const bool columns = schedule == Schedule::multicol || schedule == Schedule::natural;
      Point point = point_of(columns ? Format::fp16 : halves[cases.turn() % 2], schedule, 1, 7, 96);
      if (schedule == Schedule::tile) point.contracts.model = models[cases.turn() % 3];
      if (schedule == Schedule::mma) point.shape.m = 10;
      point.a_alignment = alignments.a;
      point.b_alignment = alignments.b;
      point.scale_alignment = alignments.scales;
      point.y_alignment = alignments.y;
      cases.add_in_turn(point);
    }
  }
  Point narrow = point_of(Format::bf16, Schedule::mma, 9, 7, 100);
  narrow.a_alignment = 2;
  cases.add_in_turn(narrow);
  narrow.contracts.schedule = Schedule::tile;
  cases.add_in_turn(narrow);
}

/// What every route refuses, each for its reason.
void add_refusals(Cases& cases) {
  for (const Schedule schedule : schedules) {
    Point point = point_of(Format::fp32, schedule, 1, 8, 64);
    if (schedule != Schedule::tile) cases.add_in_turn(point);
    point = point_of(Format::bf16, schedule, 2, 8, 64);
    if (schedule == Schedule::multicol || schedule == Schedule::natural) {
      cases.add_in_turn(point);
      point.contracts.model = Format::fp16;
      cases.add_in_turn(point);
      point.shape.m = 1;
      point.shape.k = 48;
      cases.add_in_turn(point);
    }
    point = point_of(Format::fp16, schedule, 1, 8, 64);
    for (const std::size_t block : {8u, 16u, 512u}) {
      point.shape.block = block;
      if (block == 16 && (schedule == Schedule::tile || schedule == Schedule::mma)) continue;
      cases.add_in_turn(point);
    }
    point.shape.block = 32;
    point.shape.bits = 8;
    if (schedule != Schedule::tile && schedule != Schedule::mma) cases.add_in_turn(point);
  }
}

/// Results within the running error bound around the exact value. Not of terms that cancel: a bound over the
/// result tells nothing.
void add_bounds(Cases& cases) {
  for (const Pattern pattern : {Pattern::ordinary, Pattern::ramps, Pattern::pairs, Pattern::same_sign}) {
    for (const Schedule schedule : schedules) {
      const bool columns = schedule == Schedule::multicol || schedule == Schedule::natural;
      for (const Format model : models) {
        if ((columns && model != Format::fp16) || (schedule != Schedule::tile && model == Format::fp32))
          continue;
        Point point = point_of(model, schedule, schedule == Schedule::mma ? 4 : 1, 12, 320);
        point.pattern = pattern;
        point.contracts.judge = oracle::Judge::bound;
        cases.add_in_turn(point);
        if (schedule != Schedule::split_k) continue;
        for (const std::size_t split : {2u, 8u}) {
          point.contracts.k_split = split;
          point.shape.k = 2120;
          cases.add(point);
        }
      }
    }
  }
}

/// Results at both ends of fp16: the last numbers, which a bf16 model rounds up to 65536 (no code before it
/// may be taken for the end), and -0, which nothing but 32 lanes with a block each make.
void add_ends_of_fp16(Cases& cases) {
  Point last = point_of(Format::bf16, Schedule::split_k, 4, 3, 64);
  last.pattern = Pattern::last_fp16;
  for (const Schedule schedule : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
    last.contracts.schedule = schedule;
    cases.add(last);
  }
  for (const std::size_t k : {1024u, 1056u}) {
    for (const Schedule schedule : {Schedule::multicol, Schedule::natural}) {
      Point vanishing = point_of(Format::fp16, schedule, 1, 8, k);
      vanishing.pattern = Pattern::vanishing;
      cases.add(vanishing);
    }
  }
}

/// More columns, rows and elements along K than 16 bits count.
void add_big_extents(Cases& cases) {
  constexpr std::size_t over = 65600;
  Point wide = point_of(Format::bf16, Schedule::split_k, 1, over, 8);
  wide.bias = true;
  cases.add(wide);
  cases.add_in_turn(point_of(Format::bf16, Schedule::split_k, 1, 2, over + 3));
  cases.add_in_turn(point_of(Format::fp16, Schedule::multicol, 1, over, 32));
  cases.add_in_turn(point_of(Format::fp16, Schedule::multicol, 1, 2, over));
  cases.add_in_turn(point_of(Format::fp16, Schedule::natural, 1, over, 32));
  cases.add_in_turn(point_of(Format::fp16, Schedule::natural, 1, 2, over));
  for (const Schedule schedule : {Schedule::tile, Schedule::mma}) {
    cases.add_in_turn(point_of(Format::fp16, schedule, 1, over, 4));
    cases.add_in_turn(point_of(Format::bf16, schedule, over, 1, 4));
    cases.add_in_turn(point_of(Format::fp16, schedule, 1, 2, over + 1));
  }
  cases.add_in_turn(point_of(Format::fp32, Schedule::tile, 1, 2, over + 1));
  Point many = point_of(Format::bf16, Schedule::split_k, 1, 1030, 8);  // more thread blocks than 8 bits count
  many.contracts.k_split = 8;
  cases.add(many);
  // As much of A as a thread block stages, once and twice, and a little more.
  Point staged = point_of(Format::bf16, Schedule::split_k, 3, 3, 16384);
  for (const std::size_t k : {16384u, 16392u, 32768u}) {
    staged.shape.k = k;
    cases.add_in_turn(staged);
  }
  // Then a warp has to keep to one set of columns, however many there are.
  Point columns = point_of(Format::bf16, Schedule::split_k, 1, 33, 16392);
  columns.prefetch = 4;
  cases.add(columns);
}

/// More blocks than 16 bits count.
void add_many_blocks(Cases& cases) {
  constexpr std::size_t over = 65600;
  for (const Schedule schedule : schedules)
    cases.add_in_turn(point_of(Format::fp16, schedule, 1, 1, 32 * over));
  Point narrow = point_of(Format::fp32, Schedule::tile, 1, 1, 16 * over);
  narrow.shape.block = 16;
  cases.add_in_turn(narrow);
}

/// Codes of A, each under a weight of its own column.
void add_codes_of_a(Cases& cases, std::size_t extent, std::size_t rows) {
  for (const Format model : halves) {
    for (std::size_t row = 0; row < rows; row += 8) {
      for (const Schedule schedule : {Schedule::split_k, Schedule::tile, Schedule::mma}) {
        Point point = point_of(model, schedule, 8, extent, extent);
        point.pattern = Pattern::every_code;
        point.first_row = row;
        cases.add_in_turn(point);
      }
    }
  }
}

/// Shapes of real layers.
void add_large(Cases& cases) {
  struct Extents {
    std::size_t m, n, k;
  };
  constexpr Extents gemv[] = {
      {1, 1024, 4096}, {1, 4096, 1024}, {1, 2880, 2880}, {4, 768, 3072}, {8, 512, 2048}};
  for (const Extents& e : gemv) {
    for (const Format model : halves) cases.add_in_turn(point_of(model, Schedule::split_k, e.m, e.n, e.k));
    if (e.m != 1) continue;
    cases.add_in_turn(point_of(Format::fp16, Schedule::multicol, e.m, e.n, e.k));
    cases.add_in_turn(point_of(Format::fp16, Schedule::natural, e.m, e.n, e.k));
  }
  constexpr Extents gemm[] = {{128, 200, 512}, {33, 768, 768}, {200, 65, 333}};
  for (const Extents& e : gemm) {
    for (const Schedule schedule : {Schedule::tile, Schedule::mma})
      for (const Format model : halves) cases.add_in_turn(point_of(model, schedule, e.m, e.n, e.k));
  }
}

}  // namespace

std::vector<Point> cases(Level level, std::uint64_t seed) {
  Cases cases(seed);
  add_reported(cases.points);
  add_gemv_grid(cases);
  add_general_grid(cases);
  add_pattern_sweep(cases);
  add_k_sweep(cases);
  add_orders(cases);
  add_depths(cases);
  add_last_blocks(cases);
  add_n_sweep(cases);
  add_m_sweep(cases);
  add_alignments(cases);
  add_refusals(cases);
  add_bounds(cases);
  add_codes_of_a(cases, 96, 8);
  add_big_extents(cases);
  add_ends_of_fp16(cases);
  if (level != Level::quick) {
    add_many_blocks(cases);
    add_codes_of_a(cases, 1024, 64);
    add_large(cases);
  }
  if (level == Level::exhaustive) {
    for (std::size_t turn = 1; turn < 4; ++turn) {  // other seeds, other contracts in turn
      add_gemv_grid(cases);
      add_general_grid(cases);
      add_m_sweep(cases);
      add_large(cases);
    }
  }
  return std::move(cases.points);
}

}  // namespace assay::properties::matmul_nbits
