#include "properties/comparator/probe.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "oracles/formats/codec.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;
using arithmetic::ElementRange;
using arithmetic::NanRule;
using formats::Format;
using Bytes = std::vector<std::byte>;

Bytes pack(Format format, const std::vector<std::uint32_t>& codes) {
  const int width = formats::storage_bytes(format);
  Bytes bytes(codes.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < codes.size(); ++i) arithmetic::store_code(bytes, width, i, codes[i]);
  return bytes;
}

std::set<std::string> names(const ProbeReport& report, bool applied, bool caught) {
  std::set<std::string> found;
  for (const Probe& one : report.probes) {
    if (one.applied == applied && one.caught == caught) found.insert(std::string(one.name));
  }
  return found;
}
std::set<std::string> missed(const ProbeReport& report) { return names(report, true, false); }
std::set<std::string> caught(const ProbeReport& report) { return names(report, true, true); }

/// A padded bf16 output of 4 rows of 40 in rows of 48, one NaN among ordinary values.
struct Padded {
  Acceptance accept;
  Bytes out, before;
  Geometry geometry{4, 40, 48};

  Padded() {
    accept.format = Format::bf16;
    std::vector<std::uint32_t> codes(4 * 48, 0xAAAA);
    for (std::size_t row = 0; row < 4; ++row) {
      for (std::size_t col = 0; col < 40; ++col) {
        codes[row * 48 + col] =
            static_cast<std::uint32_t>(0x3F80 + 40 * row + col) | (col % 2 != 0 ? 0x8000 : 0);
      }
      accept.untouched.push_back({row * 48 + 40, row * 48 + 48});
    }
    codes[48 + 7] = 0x7FFF;
    before = pack(Format::bf16, std::vector<std::uint32_t>(4 * 48, 0xAAAA));
    accept.lo = out = pack(Format::bf16, codes);
  }
};

TEST(Probe, ExactAcceptanceEarnsItsPass) {
  const Padded p;
  const ProbeReport report = probe(p.accept, p.out, p.before, p.geometry);
  EXPECT_TRUE(report.earned());
  EXPECT_EQ(missed(report), std::set<std::string>{});
  EXPECT_EQ(caught(report),
            (std::set<std::string>{"one code up", "one code down", "element zeroed", "sign flipped",
                                   "elements swapped", "row stale", "last element stale", "row shifted",
                                   "NaN for a number", "number for a NaN", "padding written"}));
}

TEST(Probe, EveryFormatEarnsItsPass) {
  for (const Format format : formats::all_formats) {
    std::vector<std::uint32_t> codes;
    for (std::uint32_t code = 1; code <= 12; ++code) codes.push_back(code);
    Acceptance accept;
    accept.format = format;
    accept.lo = pack(format, codes);
    const Bytes before = pack(format, std::vector<std::uint32_t>(12, 13));
    const ProbeReport report = probe(accept, accept.lo, before, {3, 4, 4});
    EXPECT_TRUE(report.earned()) << formats::spec(format).name;
    EXPECT_EQ(missed(report), std::set<std::string>{});
    EXPECT_EQ(caught(report).count("scale off by one"), format == Format::e8m0 ? 1u : 0u);
    EXPECT_EQ(caught(report).count("sign flipped"), formats::spec(format).has_sign ? 1u : 0u);
    EXPECT_EQ(caught(report).count("NaN for a number"), formats::spec(format).exponent_bits > 0 ? 1u : 0u);
    for (const char* always : {"one code up", "one code down", "element zeroed", "elements swapped",
                               "row stale", "last element stale", "row shifted"}) {
      EXPECT_EQ(caught(report).count(always), 1u) << always << " " << formats::spec(format).name;
    }
  }
}

// A buffer updated in place may hold what is right in most of its rows already.
TEST(Probe, AStaleRowIsInjectedWhereItWouldBeWrong) {
  std::vector<std::uint32_t> codes(6 * 4, 0x4000);
  Acceptance accept;
  accept.format = Format::bf16;
  accept.lo = pack(Format::bf16, codes);
  EXPECT_EQ(caught(probe(accept, accept.lo, accept.lo, {6, 4, 4})).count("row stale"), 0u);
  codes[4 * 4 + 1] = 0x3F80;  // of row 4, which is neither the first, the middle nor the last
  const ProbeReport report = probe(accept, accept.lo, pack(Format::bf16, codes), {6, 4, 4});
  EXPECT_EQ(caught(report).count("row stale"), 1u);
  EXPECT_TRUE(report.earned());
}

// Every number accepted for every element: the faults that leave a number behind are all missed.
TEST(Probe, AcceptingEveryNumberIsNotEarned) {
  Padded p;
  p.accept.untouched.clear();
  p.out = pack(Format::bf16, std::vector<std::uint32_t>(4 * 48, 0x4000));
  for (const std::uint32_t largest : {0x7F80u, 0x7F7Fu}) {  // with Inf and without
    p.accept.lo = pack(Format::bf16, std::vector<std::uint32_t>(4 * 48, largest | 0x8000));
    p.accept.hi = pack(Format::bf16, std::vector<std::uint32_t>(4 * 48, largest));
    const ProbeReport report = probe(p.accept, p.out, p.before, p.geometry);
    EXPECT_FALSE(report.earned());
    EXPECT_EQ(missed(report), (std::set<std::string>{"element zeroed", "sign flipped"}));
  }
  p.out = pack(Format::bf16,
               std::vector<std::uint32_t>(4 * 48, 0));  // an output of zeros has only its sign to lose
  EXPECT_EQ(missed(probe(p.accept, p.out, p.before, p.geometry)), std::set<std::string>{"sign flipped"});
}

// Outputs around 0.04 with a bound of 0.05 for each: the kernel may as well return zeros, or the negative.
TEST(Probe, ABoundOverTheSignalIsNotEarned) {
  const auto build = [](std::uint32_t bound_code) {  // accepted: -bound .. bound, in fp32 codes
    Acceptance accept;
    accept.format = Format::fp32;
    accept.lo = pack(Format::fp32, std::vector<std::uint32_t>(64, bound_code | 0x80000000));
    accept.hi = pack(Format::fp32, std::vector<std::uint32_t>(64, bound_code));
    return accept;
  };
  const Bytes out = pack(Format::fp32, std::vector<std::uint32_t>(64, 0x3D23D70A));  // 0.04
  const Acceptance wide = build(0x3D4CCCCD);                                         // 0.05
  EXPECT_EQ(missed(probe(wide, out, {}, {8, 8, 8})),
            (std::set<std::string>{"element zeroed", "sign flipped"}));
  // One element whose interval excludes zero shows that the acceptance can tell; no probe is missed then.
  Acceptance telling = wide;
  arithmetic::store_code(telling.lo, 4, 9, 0x3C23D70A);
  EXPECT_TRUE(probe(telling, out, {}, {8, 8, 8}).earned());
}

TEST(Probe, NothingToInjectIsNotEarned) {
  Acceptance nothing;
  nothing.format = Format::e4m3;
  EXPECT_FALSE(probe(nothing, {}, {}, {0, 0, 0}).earned());
  EXPECT_FALSE(probe(nothing, {}, {}, {0, 4, 4}).earned());
  EXPECT_FALSE(ProbeReport{}.earned());
}

// Faults that change nothing are not counted as rejected.
TEST(Probe, WhatDoesNotApplyIsSaid) {
  Acceptance accept;
  accept.format = Format::e4m3;
  accept.lo = pack(Format::e4m3, std::vector<std::uint32_t>(16, 0));
  const ProbeReport report = probe(accept, accept.lo, accept.lo, {4, 4, 4});  // zeros over zeros
  EXPECT_TRUE(report.earned());
  EXPECT_EQ(caught(report),
            (std::set<std::string>{"one code up", "one code down", "sign flipped", "NaN for a number"}));
  EXPECT_EQ(missed(report), std::set<std::string>{});
  EXPECT_EQ(names(report, false, true), std::set<std::string>{});  // what did not apply was not caught either
  // NaN over another NaN is no stale element when any NaN will do, and is one when the code is pinned.
  accept.lo = pack(Format::e4m3, std::vector<std::uint32_t>(16, 0x7F));
  const Bytes other = pack(Format::e4m3, std::vector<std::uint32_t>(16, 0xFF));
  EXPECT_EQ(caught(probe(accept, accept.lo, other, {4, 4, 4})),
            (std::set<std::string>{"element zeroed", "number for a NaN"}));
  accept.nan = NanRule::canonical;
  EXPECT_EQ(caught(probe(accept, accept.lo, other, {4, 4, 4})).count("row stale"), 1u);
}

// A row of padding between data rows is not mistaken for data.
TEST(Probe, PaddingRowsAreLeftAlone) {
  Padded p;
  p.accept.untouched = {{40, 48}, {88, 192}};  // rows 2 and 3 are padding as a whole
  std::memcpy(p.out.data() + 2 * 88, p.before.data() + 2 * 88, 2 * (192 - 88));
  const ProbeReport report = probe(p.accept, p.out, p.before, p.geometry);
  EXPECT_TRUE(report.earned());
  EXPECT_EQ(caught(report).count("padding written"), 1u);
  EXPECT_EQ(caught(report).count("last element stale"), 0u);
}

// ---- The probes reject comparators that are blind in one way. ----

Comparison verdict(bool wrong) {
  Comparison comparison;
  comparison.compared = 1;
  comparison.failed = wrong ? 1 : 0;
  return comparison;
}

/// A comparator that calls an element right whenever `forgives` does, for all its elements.
template <typename Forgives>
WindowCompare forgiving(const Padded& p, Forgives&& forgives) {
  return [&p, forgives](const Acceptance& accept, std::size_t first, std::span<const std::byte> window,
                        std::span<const std::byte> before) {
    for (std::size_t i = 0; i < window.size() / 2; ++i) {
      const std::uint32_t now = arithmetic::load_code(window, 2, i),
                          right = arithmetic::load_code(p.out, 2, first + i);
      const auto one = window.subspan(2 * i, 2);
      if (compare_window(accept, first + i, one, before).failed > 0 && !forgives(first + i, now, right)) {
        return verdict(true);
      }
    }
    return verdict(false);
  };
}

TEST(Probe, BlindComparatorsDoNotEarnAPass) {
  const Padded p;
  using Forgive = std::function<bool(std::size_t, std::uint32_t, std::uint32_t)>;
  const auto nan = [](std::uint32_t code) { return formats::is_nan(Format::bf16, code); };
  const std::tuple<const char*, Forgive, std::set<std::string>> blind[] = {
      {"fabs(a - b) > bound is false for NaN",
       [&](std::size_t, auto now, auto) { return nan(now); },
       {"NaN for a number"}},
      {"expected NaN skipped",
       [&](std::size_t, auto, auto right) { return nan(right); },
       {"number for a NaN"}},
      {"one code forgiven",
       [](std::size_t, auto now, auto right) { return now == right + 1 || now + 1 == right; },
       {"one code up", "one code down"}},
      {"only upward codes forgiven",
       [](std::size_t, auto now, auto right) { return now == right + 1; },
       {"one code up", "one code down"}},  // down for the negative elements
      {"zeros skipped", [](std::size_t, auto now, auto) { return now == 0; }, {"element zeroed"}},
      {"magnitudes compared",
       [](std::size_t, auto now, auto right) { return (now ^ right) == 0x8000; },
       {"sign flipped"}},
      {"last element skipped",
       [](std::size_t i, auto, auto) { return i == 3 * 48 + 39; },
       {"one code up", "one code down", "last element stale"}},
      {"only the first row compared",
       [](std::size_t i, auto, auto) { return i >= 48; },
       {"one code up", "one code down", "row stale", "last element stale", "number for a NaN"}},
      {"padding ignored", [](std::size_t i, auto, auto) { return i % 48 >= 40; }, {"padding written"}},
      {"odd lanes skipped",
       [](std::size_t i, auto, auto) { return i % 2 != 0; },
       {"one code up", "one code down"}},
      {"one lane of 32 skipped",
       [](std::size_t i, auto, auto) { return (i / 48 * 40 + i % 48) % 32 == 13; },
       {"one code up", "one code down"}},
      {"nothing compared", [](std::size_t, auto, auto) { return true; },
       caught(probe(p.accept, p.out, p.before, p.geometry))},
  };
  for (const auto& [name, forgives, misses] : blind) {
    const ProbeReport report = probe(p.accept, p.out, p.before, p.geometry, forgiving(p, forgives));
    EXPECT_FALSE(report.earned()) << name;
    for (const std::string& miss : misses) EXPECT_EQ(missed(report).count(miss), 1u) << name << ": " << miss;
  }
}

TEST(Probe, AsksOnlyForWhatItTouched) {
  Acceptance accept;
  accept.format = Format::e4m3;
  constexpr std::size_t rows = 512, cols = 1024;
  std::vector<std::uint32_t> codes(rows * cols);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint32_t>(i * 7 % 0x7E);
  accept.lo = pack(Format::e4m3, codes);
  const Bytes before = pack(Format::e4m3, std::vector<std::uint32_t>(codes.size(), 0xAA));
  std::size_t asked = 0;
  const ProbeReport report = probe(accept, accept.lo, before, {rows, cols, cols},
                                   [&](const Acceptance& a, std::size_t first,
                                       std::span<const std::byte> window, std::span<const std::byte> old) {
                                     asked += window.size();
                                     return compare_window(a, first, window, old);
                                   });
  EXPECT_TRUE(report.earned());
  EXPECT_LT(asked, 5 * cols);  // four rows and single elements
}

// The places are the documented ones: corners, rows, and each lane modulo 32 at a depth of its own.
TEST(Probe, GoesWhereItSays) {
  constexpr std::size_t rows = 40, cols = 32;
  Acceptance accept;
  accept.format = Format::e4m3;
  std::vector<std::uint32_t> codes(rows * cols);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint32_t>(1 + i % 100);
  accept.lo = pack(Format::e4m3, codes);
  const Bytes before = pack(Format::e4m3, std::vector<std::uint32_t>(codes.size(), 0));
  std::set<std::size_t> up, rows_judged;
  (void)probe(accept, accept.lo, before, {rows, cols, cols},
              [&](const Acceptance& a, std::size_t first, std::span<const std::byte> window,
                  std::span<const std::byte> old) {
                if (window.size() == cols) rows_judged.insert(first / cols);
                if (window.size() == 1 && window[0] == static_cast<std::byte>(codes[first] + 1))
                  up.insert(first);
                return compare_window(a, first, window, old);
              });
  EXPECT_TRUE(up.count(0) != 0 && up.count(rows * cols / 2) != 0 && up.count(rows * cols - 1) != 0);
  std::set<std::size_t> lanes, depths;
  for (const std::size_t i : up) {
    lanes.insert(i % 32);
    depths.insert(i / 32);
  }
  EXPECT_EQ(lanes.size(), 32u);
  EXPECT_GE(depths.size(), 32u);
  for (const std::size_t row : {std::size_t{0}, rows / 2, rows - 1})
    EXPECT_EQ(rows_judged.count(row), 1u) << row;
}

// The element after a padding range is data again.
TEST(Probe, PaddingEndsWhereItEnds) {
  Padded p;
  std::set<std::size_t> touched;
  (void)probe(p.accept, p.out, p.before, p.geometry,
              [&](const Acceptance& a, std::size_t first, std::span<const std::byte> window,
                  std::span<const std::byte> old) {
                if (window.size() == 2) touched.insert(first);
                return compare_window(a, first, window, old);
              });
  EXPECT_EQ(touched.count(2 * 48), 1u);  // the middle datum opens row 2
}

TEST(ProbeDeathTest, IsForOutputsThatPassed) {
  Padded p;
  p.out[0] ^= std::byte{1};
  EXPECT_DEATH(probe(p.accept, p.out, p.before, p.geometry), "an output that has passed");
}

}  // namespace
}  // namespace assay::properties
