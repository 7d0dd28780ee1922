// The comparator against the naive model: exhaustively for 8-bit codes, sampled for wider ones; tails,
// offsets, windows and both instruction sets; random acceptances.
#include "properties/comparator/comparator.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <sstream>

#include "oracles/formats/codec.hpp"
#include "properties/comparator/code_order.hpp"
#include "properties/comparator/from_codes.hpp"
#include "properties/comparator/naive_model.hpp"
#include "properties/comparator/scan.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;
using arithmetic::NanRule;
using formats::Format;

constexpr NanRule rules[] = {NanRule::any, NanRule::canonical};

Codes all_codes(Format format) {
  Codes codes(std::size_t{1} << std::min(formats::spec(format).bits, 16));
  for (std::uint32_t i = 0; i < codes.size(); ++i) codes[i] = i;
  return codes;
}

// ---- The order of codes ----

TEST(CodeOrder, AgreesWithTheFormatsAndTheModelOnEveryCode) {
  for (const Format format : formats::all_formats) {
    detail::with_order(format, [&]<typename Order>(Order) {
      const bool wide = format == Format::fp32;
      for (std::uint64_t n = 0; n < (std::uint64_t{1} << std::min(formats::spec(format).bits, 20)); ++n) {
        // fp32: 2^20 codes 4099 apart, which is once around
        const auto code = static_cast<std::uint32_t>(wide ? n * 4099 : n);
        const auto narrow = static_cast<typename Order::Code>(code);
        ASSERT_EQ(Order::nan(narrow), naive::value(format, code).nan) << code;
        ASSERT_EQ(Order::nan(narrow), formats::is_nan(format, code)) << code;
        ASSERT_TRUE(Order::valid(narrow));
        if (Order::nan(narrow)) continue;
        ASSERT_EQ(Order::key(narrow), formats::ordered_key(format, code)) << code;
      }
      if (formats::spec(format).exponent_bits > 0) {
        EXPECT_EQ(Order::canonical_nan, naive::canonical(format));
        EXPECT_EQ(Order::canonical_nan, formats::canonical_nan(format));
      }
    });
  }
}

// ---- Exhaustive and sampled domains ----

TEST(Comparator, ExactAgreesOnEveryPairOfEightBitCodes) {
  for (const Format format : {Format::e4m3, Format::e5m2, Format::e8m0, Format::int4, Format::uint4}) {
    const Codes outs = all_codes(format);
    for (const NanRule rule : rules) {
      for (const std::uint32_t expected : outs) {
        const Acceptance accept = exact(format, Codes(outs.size(), expected), rule);
        const Comparison comparison = compare(accept, pack(format, outs), {}, outs.size());
        std::vector<std::size_t> wrong;
        for (const std::uint32_t out : outs) {
          if (!naive::right(format, out, expected, expected, rule)) wrong.push_back(out);
        }
        ASSERT_EQ(mismatching(accept, pack(format, outs)), wrong);
        ASSERT_EQ(comparison.failed, wrong.size());
        ASSERT_EQ(comparison.first.size(), wrong.size());
        ASSERT_EQ(comparison.compared, outs.size());
        ASSERT_EQ(comparison.worst_bound_use, 0);
      }
    }
  }
}

// Every interval of every 8-bit format with every output: 256 elements a call.
TEST(Comparator, IntervalsAgreeOnEveryTripleOfEightBitCodes) {
  for (const Format format : {Format::e4m3, Format::e5m2, Format::e8m0, Format::int4}) {
    const Codes outs = all_codes(format);
    const Bytes packed = pack(format, outs);
    std::vector<naive::Value> values;
    for (const std::uint32_t code : outs) values.push_back(naive::value(format, code));
    for (const std::uint32_t lo : outs) {
      for (const std::uint32_t hi : outs) {
        const bool nan = values[lo].nan;
        if (nan ? lo != hi : values[hi].nan || !naive::at_most(values[lo], values[hi])) continue;
        const Acceptance accept = between(format, Codes(outs.size(), lo), Codes(outs.size(), hi));
        std::size_t wrong = 0;
        for (const naive::Value& out : values) {
          wrong +=
              (nan ? out.nan : !out.nan && naive::at_most(values[lo], out) && naive::at_most(out, values[hi]))
                  ? 0
                  : 1;
        }
        ASSERT_EQ(compare(accept, packed, {}, 0).failed, wrong) << lo << ".." << hi;
      }
    }
  }
}

TEST(Comparator, IntervalsAgreeOnEverySixteenBitCode) {
  for (const Format format : {Format::fp16, Format::bf16}) {
    const Codes outs = all_codes(format);
    const Bytes packed = pack(format, outs);
    const std::uint32_t inf = format == Format::fp16 ? 0x7C00 : 0x7F80;
    const std::pair<std::uint32_t, std::uint32_t> intervals[] = {
        {0, 0},           {0x8000, 0x8000},   {0x8000, 0},         {0x8001, 1},      {inf, inf},
        {inf - 1, inf},   {inf - 1, inf - 1}, {inf | 0x8000, inf}, {0xBC00, 0x3C00}, {0x3C00, 0x3C01},
        {0xBC01, 0xBC00}, {inf + 1, inf + 1}, {0xFFFF, 0xFFFF}};
    for (const auto& [lo, hi] : intervals) {
      for (const NanRule rule : rules) {
        const Acceptance accept = between(format, Codes(outs.size(), lo), Codes(outs.size(), hi), rule);
        std::vector<std::size_t> wrong;
        for (const std::uint32_t out : outs) {
          if (!naive::right(format, out, lo, hi, rule)) wrong.push_back(out);
        }
        ASSERT_EQ(mismatching(accept, packed), wrong) << std::hex << lo << ".." << hi;
      }
    }
  }
}

// ---- Vector bodies and tails ----

/// Deterministic, of all kinds: equal to lo mostly, with codes beside it, NaNs and others.
struct Drawn {
  Acceptance accept;
  Codes lo, hi, out;
  Bytes actual;
};
Drawn drawn(Format format, std::size_t count, std::uint32_t seed, bool interval) {
  Drawn d;
  const std::uint32_t mask = formats::spec(format).bits == 32 ? ~0u : (1u << formats::spec(format).bits) - 1;
  std::uint32_t state = seed * 2654435761u + 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t lo = (next() << 16 ^ next()) & mask, hi = lo;
    const naive::Value low = naive::value(format, lo);
    if (interval && !low.nan) {
      const std::uint32_t other = (next() << 16 ^ next()) & mask;
      const naive::Value high = naive::value(format, other);
      if (!high.nan) hi = other;
      if (!high.nan && !naive::at_most(low, high)) std::swap(lo, hi);
    }
    const std::uint32_t kind = next() % 16;
    d.lo.push_back(lo);
    d.hi.push_back(hi);
    d.out.push_back(kind == 0       ? next() & mask
                    : kind == 1     ? lo ^ 1
                    : kind == 2     ? hi ^ 1
                    : kind % 2 != 0 ? lo
                                    : hi);
  }
  d.accept = interval ? between(format, d.lo, d.hi) : exact(format, d.lo);
  d.actual = pack(format, d.out);
  return d;
}

std::vector<std::size_t> wrong_by_model(const Drawn& d) {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < d.out.size(); ++i) {
    if (!naive::right(d.accept.format, d.out[i], d.lo[i], d.hi[i], d.accept.nan)) wrong.push_back(i);
  }
  return wrong;
}

TEST(Comparator, EveryLengthAgrees) {
  for (const Format format : formats::all_formats) {
    for (const bool interval : {false, true}) {
      for (std::size_t length = 0; length <= 200; ++length) {
        const Drawn d = drawn(format, length, static_cast<std::uint32_t>(length), interval);
        ASSERT_EQ(mismatching(d.accept, d.actual), wrong_by_model(d))
            << formats::spec(format).name << " " << length;
      }
    }
  }
}

// One wrong element at every place of buffers around the sizes of vectors and of the comparator's runs.
TEST(Comparator, AFaultIsFoundAtEveryPlace) {
  for (const Format format : {Format::e4m3, Format::bf16, Format::fp32}) {
    for (const bool interval : {false, true}) {
      for (const std::size_t length : {1u, 31u, 33u, 64u, 127u, 200u, 2047u, 2048u, 2049u, 4100u}) {
        const Codes right(length, 0x30);
        const Acceptance accept =
            interval ? between(format, right, Codes(length, 0x32)) : exact(format, right);
        Bytes out = pack(format, right);
        const auto width = static_cast<std::size_t>(formats::storage_bytes(format));
        for (std::size_t place = 0; place < length; ++place) {
          out[place * width] = std::byte{0x33};
          const Comparison comparison = compare(accept, out);
          ASSERT_EQ(comparison.failed, 1u);
          ASSERT_EQ(comparison.first[0].index, place);
          ASSERT_EQ(comparison.worst_codes_outside, interval ? 1u : 3u);
          out[place * width] = std::byte{0x30};
        }
        ASSERT_TRUE(compare(accept, out).passed());
      }
    }
  }
}

// Windows and offsets: every window of a buffer with untouched ranges gives the mismatches of the whole
// inside it, from memory of any alignment.
TEST(Comparator, EveryWindowEqualsTheWhole) {
  for (const Format format : {Format::e5m2, Format::fp16, Format::fp32}) {
    for (const bool interval : {false, true}) {
      Drawn d = drawn(format, 200, 7, interval);
      d.accept.untouched = {{0, 3}, {40, 41}, {41, 77}, {100, 100}, {150, 200}};
      const auto width = static_cast<std::size_t>(formats::storage_bytes(format));
      Bytes before = d.actual;
      before[45 * width] ^= std::byte{1};
      before[199 * width] ^= std::byte{1};
      const std::vector<std::size_t> whole = mismatching(d.accept, d.actual, before);
      ASSERT_TRUE(std::binary_search(whole.begin(), whole.end(), 45u) && whole.back() == 199 &&
                  whole.size() > 4);
      for (std::size_t first = 0; first < 200; ++first) {
        for (std::size_t end = first; end <= 200; ++end) {
          // One byte into a larger buffer: no code is aligned.
          Bytes shifted(1 + (end - first) * width);
          std::copy(d.actual.begin() + static_cast<std::ptrdiff_t>(first * width),
                    d.actual.begin() + static_cast<std::ptrdiff_t>(end * width), shifted.begin() + 1);
          const auto window = std::span<const std::byte>(shifted).subspan(1);
          const Comparison part = compare_window(d.accept, first, window, before, 200);
          std::vector<std::size_t> found, expected;
          for (const Mismatch& one : part.first) found.push_back(one.index);
          for (const std::size_t i : whole) {
            if (first <= i && i < end) expected.push_back(i);
          }
          ASSERT_EQ(found, expected) << first << ".." << end;
          ASSERT_EQ(part.failed, expected.size());
          ASSERT_EQ(part.compared, end - first);
        }
      }
    }
  }
}

TEST(Scan, BaselineAndWideVectorsAgree) {
  for (const Format format : formats::all_formats) {
    for (const NanRule rule : rules) {
      for (const bool interval : {false, true}) {
        for (std::uint32_t seed = 0; seed < 400; ++seed) {
          Drawn d = drawn(format, seed % 97, seed, interval);
          const bool best = interval && seed % 2 != 0;
          const detail::Streams streams{d.actual.data(), d.accept.lo.data(),
                                        interval ? d.accept.hi.data() : nullptr,
                                        best ? d.accept.lo.data() : nullptr};
          const detail::BoundUse worst{seed % 8, 8};
          const auto run = [&](detail::Vectors vectors) {
            return detail::scan_for(format, rule, !interval, best, vectors)(streams, d.out.size(), worst);
          };
          const detail::Flags a = run(detail::Vectors::baseline), b = run(detail::Vectors::widest);
          ASSERT_EQ(a.wrong, b.wrong);
          ASSERT_EQ(a.malformed, b.malformed);
          ASSERT_EQ(a.record, b.record);
          d.accept.nan = rule;
          ASSERT_EQ(a.wrong, !wrong_by_model(d).empty());
        }
      }
    }
  }
}

// What needs no closer look must not ask for one: outputs full of NaNs would be compared one by one.
TEST(Scan, NanForNanIsNoReasonToStop) {
  const Bytes lo = pack(Format::e5m2, Codes(100, 0x7D)), out = pack(Format::e5m2, Codes(100, 0xFF));
  for (const detail::Vectors vectors : {detail::Vectors::baseline, detail::Vectors::widest}) {
    const auto scan = [&](bool is_exact) {
      const detail::Streams streams{out.data(), lo.data(), is_exact ? nullptr : lo.data(), nullptr};
      return detail::scan_for(Format::e5m2, NanRule::any, is_exact, false, vectors)(streams, 100, {});
    };
    EXPECT_FALSE(scan(true).wrong);
    EXPECT_FALSE(scan(false).wrong);
    EXPECT_FALSE(scan(false).record);
    EXPECT_FALSE(scan(false).malformed);
  }
}

// ---- Use of the bound ----

TEST(Comparator, ReportsTheWorstUseOfABound) {
  // lo 10, best 20, hi 40 in e4m3 codes
  Acceptance accept = between(Format::e4m3, {10, 10, 10}, {40, 40, 40});
  accept.best = pack(Format::e4m3, {20, 20, 20});
  const auto use = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return compare(accept, pack(Format::e4m3, {a, b, c})).worst_bound_use;
  };
  EXPECT_EQ(use(20, 20, 20), 0);
  EXPECT_EQ(use(20, 25, 20), 5.0 / 20);
  EXPECT_EQ(use(18, 25, 20), 5.0 / 20);  // 2 of 10 below, 5 of 20 above
  EXPECT_EQ(use(13, 25, 20), 7.0 / 10);
  EXPECT_EQ(use(10, 40, 20), 1);
  EXPECT_EQ(use(18, 41, 20), 2.0 / 10);  // the wrong one does not count
  accept.best.clear();                   // best is lo
  EXPECT_EQ(use(10, 25, 10), 15.0 / 30);
}

TEST(Comparator, WorstUseAgreesWithTheModelInEveryWidth) {
  for (const Format format : {Format::e5m2, Format::bf16, Format::fp32}) {
    const std::uint32_t scale = format == Format::fp32 ? 40000 : 1;
    double expected = 0;
    Codes lo, hi, best, out;
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::uint32_t below = i * 37 % 19 * scale, above = i * 11 % 23 * scale;
      const std::uint32_t at = 30 * scale, used = (below > 0 && i % 2 != 0) ? i % (below / scale) * scale : 0;
      const std::uint32_t over = (above > 0 && i % 2 == 0) ? i % (above / scale) * scale : 0;
      lo.push_back(at - below);
      best.push_back(at);
      hi.push_back(at + above);
      out.push_back(at - used + over);
      if (used > 0) expected = std::max(expected, static_cast<double>(used) / below);
      if (over > 0) expected = std::max(expected, static_cast<double>(over) / above);
    }
    Acceptance accept = between(format, lo, hi);
    accept.best = pack(format, best);
    const Comparison comparison = compare(accept, pack(format, out));
    EXPECT_TRUE(comparison.passed());
    EXPECT_GT(expected, 0.9);
    EXPECT_EQ(comparison.worst_bound_use, expected);
  }
}

// Each of many runs uses a little more than the one before, on the narrow side of its interval.
TEST(Comparator, WorstUseIsFoundInEveryRun) {
  constexpr std::size_t run = 2048, runs = 40;
  for (const Format format : {Format::bf16, Format::fp32}) {
    const std::uint32_t best = 0x3000, below = 200, above = 2000;
    Acceptance accept = between(format, Codes(run * runs, best - below), Codes(run * runs, best + above));
    accept.best = pack(format, Codes(run * runs, best));
    Codes out(run * runs, best);
    for (std::uint32_t i = 0; i < runs; ++i) {
      out[i * run + 5 * i] = best - 100 - i;
      const std::size_t seen = (i + 1) * run;
      Acceptance part = accept;
      for (Bytes* stream : {&part.lo, &part.hi, &part.best}) {
        stream->resize(seen * static_cast<std::size_t>(formats::storage_bytes(format)));
      }
      const Codes front(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(seen));
      ASSERT_EQ(compare(part, pack(format, front)).worst_bound_use, (100.0 + i) / below);
    }
  }
}

TEST(Comparator, ANanIntervalUsesNoBound) {
  const Acceptance accept = between(Format::fp16, {0x7E00, 0x3C00}, {0x7E00, 0x3C00});
  EXPECT_EQ(compare(accept, pack(Format::fp16, {0xFE01, 0x3C00})).worst_bound_use, 0);
}

// ---- Reports ----

TEST(Comparator, KeepsTheFirstMismatchesAndCountsAll) {
  const Acceptance accept = exact(Format::e4m3, Codes(100, 0x38));
  const Comparison comparison = compare(accept, pack(Format::e4m3, Codes(100, 0x3A)), {}, 5);
  EXPECT_EQ(comparison.failed, 100u);
  ASSERT_EQ(comparison.first.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(comparison.first[i].index, i);
    EXPECT_EQ(comparison.first[i].actual, 0x3Au);
    EXPECT_EQ(comparison.first[i].lo, 0x38u);
    EXPECT_EQ(comparison.first[i].hi, 0x38u);
    EXPECT_EQ(comparison.first[i].codes_outside, 2u);
    EXPECT_FALSE(comparison.first[i].untouched);
  }
}

TEST(Comparator, ReportsTheWorstDistance) {
  const Acceptance accept = exact(Format::e4m3, Codes(4, 0x38));
  EXPECT_EQ(compare(accept, pack(Format::e4m3, {0x38, 0x3F, 0x30, 0x39})).worst_codes_outside, 8u);
}

// ---- Any acceptance ----

TEST(Comparator, AgreesWithTheDefinitionOnRandomAcceptances) {
  const auto holds = [] {
    const Format format = *rc::gen::elementOf(
        std::vector<Format>(std::begin(formats::all_formats), std::end(formats::all_formats)));
    const bool interval = *rc::gen::arbitrary<bool>();
    Drawn d =
        drawn(format, *rc::gen::inRange<std::size_t>(0, 300), *rc::gen::arbitrary<std::uint32_t>(), interval);
    d.accept.nan = *rc::gen::element(NanRule::any, NanRule::canonical);
    Bytes before = d.actual;
    std::vector<bool> kept(d.out.size(), false);
    for (std::size_t at = *rc::gen::inRange<std::size_t>(0, 40); at < d.out.size();) {
      const std::size_t end = std::min(d.out.size(), at + *rc::gen::inRange<std::size_t>(0, 20));
      d.accept.untouched.push_back({at, end});
      std::fill(kept.begin() + static_cast<std::ptrdiff_t>(at),
                kept.begin() + static_cast<std::ptrdiff_t>(end), true);
      at = end + *rc::gen::inRange<std::size_t>(1, 60);
    }
    const auto width = static_cast<std::size_t>(formats::storage_bytes(format));
    for (std::size_t i = 0; i < d.out.size(); i += 3)
      before[i * width] ^= std::byte{*rc::gen::element<unsigned char>(0, 1)};

    std::vector<std::size_t> wrong;
    const std::vector<std::size_t> judged = wrong_by_model(d);
    for (std::size_t i = 0; i < d.out.size(); ++i) {
      const bool changed = !std::equal(before.begin() + static_cast<std::ptrdiff_t>(i * width),
                                       before.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                                       d.actual.begin() + static_cast<std::ptrdiff_t>(i * width));
      if (kept[i] ? changed : std::binary_search(judged.begin(), judged.end(), i)) wrong.push_back(i);
    }
    RC_ASSERT(mismatching(d.accept, d.actual, before) == wrong);
    const Comparison comparison = compare(d.accept, d.actual, before, 3);
    RC_ASSERT(comparison.failed == wrong.size());
    RC_ASSERT(comparison.first.size() == std::min<std::size_t>(wrong.size(), 3));
    RC_ASSERT(comparison.passed() == (wrong.empty() && !d.out.empty()));
    for (const Mismatch& one : comparison.first) RC_ASSERT(one.untouched == kept[one.index]);
  };
  rc::detail::TestParams params;  // a fixed seed: a test that fails must fail again
  params.seed = 20240917;
  params.maxSuccess = 2000;
  rc::detail::TestMetadata metadata;
  metadata.id = metadata.description = "comparator";
  const auto result = rc::detail::checkTestable(holds, metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
}

}  // namespace
}  // namespace assay::properties
