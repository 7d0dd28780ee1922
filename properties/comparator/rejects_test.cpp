// What the comparator must reject, because public tests let it through, and what it must accept.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "oracles/formats/codec.hpp"
#include "properties/comparator/comparator.hpp"
#include "properties/comparator/from_codes.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;
using arithmetic::NanRule;
using formats::Exact;
using formats::Format;

constexpr Format fp8[] = {Format::e4m3, Format::e5m2};

bool passes(Format format, std::uint32_t expected, std::uint32_t actual, NanRule rule = NanRule::any) {
  return compare(exact(format, {expected}, rule), pack(format, {actual})).passed();
}

/// A matrix of unequal bf16 values of both signs.
Codes matrix(std::size_t elements) {
  Codes codes(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto magnitude = static_cast<std::uint32_t>(0x3C00 + (i * 2654435761u >> 20 & 0x3FF));
    codes[i] = magnitude | (i % 3 == 0 ? 0x8000u : 0u);
  }
  return codes;
}

// ---- NaN, Inf, zero ----

TEST(Rejects, NanAgainstANumberAndANumberAgainstNan) {
  const std::pair<Format, std::uint32_t> ones[] = {{Format::e4m3, 0x38},   {Format::e5m2, 0x3C},
                                                   {Format::e8m0, 0x7F},   {Format::fp16, 0x3C00},
                                                   {Format::bf16, 0x3F80}, {Format::fp32, 0x3F800000}};
  for (const auto& [format, one] : ones) {
    const std::uint32_t nan = formats::canonical_nan(format);
    EXPECT_FALSE(passes(format, one, nan));
    EXPECT_FALSE(passes(format, nan, one));
    EXPECT_FALSE(compare(between(format, {one}, {one + 3}), pack(format, {nan})).passed());
    if (!formats::spec(format).has_sign) continue;
    const std::uint32_t sign = 1u << (formats::spec(format).bits - 1);
    EXPECT_FALSE(passes(format, one, nan | sign));
    EXPECT_FALSE(passes(format, nan | sign, one));
    // Not even every number's interval holds a NaN.
    const std::uint32_t top = formats::max_finite(format);
    EXPECT_FALSE(compare(between(format, {top | sign}, {top}), pack(format, {nan})).passed());
    EXPECT_FALSE(compare(between(format, {top | sign}, {top}), pack(format, {nan | sign})).passed());
  }
}

TEST(Rejects, InfinityAgainstTheLargestFiniteAndBack) {
  for (const Format format : {Format::e5m2, Format::fp16, Format::bf16, Format::fp32}) {
    const std::uint32_t largest = formats::max_finite(format), sign = 1u << (formats::spec(format).bits - 1);
    EXPECT_FALSE(passes(format, largest, largest + 1));
    EXPECT_FALSE(passes(format, largest + 1, largest));
    EXPECT_FALSE(passes(format, largest + 1, (largest + 1) | sign));
  }
  EXPECT_FALSE(passes(Format::e4m3, 0x7E, 0x7F));  // 448 and what nosat gives for overflow
}

TEST(Rejects, SignOfZero) {
  for (const Format format : {Format::e4m3, Format::e5m2, Format::fp16, Format::bf16, Format::fp32}) {
    const std::uint32_t minus = 1u << (formats::spec(format).bits - 1);
    EXPECT_FALSE(passes(format, 0, minus));
    EXPECT_FALSE(passes(format, minus, 0));
    EXPECT_FALSE(compare(between(format, {0}, {1}), pack(format, {minus})).passed());
    EXPECT_TRUE(compare(between(format, {minus}, {0}), pack(format, {minus})).passed());
  }
}

TEST(Rejects, AnotherNanWhereTheCodeIsPinned) {
  for (const Format format : {Format::e4m3, Format::e5m2, Format::bf16}) {
    const std::uint32_t nan = formats::canonical_nan(format), sign = 1u << (formats::spec(format).bits - 1);
    EXPECT_TRUE(passes(format, nan, nan | sign));
    EXPECT_FALSE(passes(format, nan, nan | sign, NanRule::canonical));
    EXPECT_TRUE(passes(format, nan | sign, nan, NanRule::canonical));  // the canonical code, whatever lo's
  }
}

// ---- One code ----

// "Within one code" takes truncation for round to nearest even.
TEST(Rejects, EveryAdjacentPairOfFp8Codes) {
  for (const Format format : fp8) {
    std::size_t pairs = 0;
    for (std::uint32_t a = 0; a < 256; ++a) {
      for (std::uint32_t b = 0; b < 256; ++b) {
        if (formats::is_nan(format, a) || formats::is_nan(format, b)) continue;
        const std::uint32_t ka = formats::ordered_key(format, a), kb = formats::ordered_key(format, b);
        if (ka + 1 != kb && kb + 1 != ka) continue;
        EXPECT_FALSE(passes(format, a, b));
        ++pairs;
      }
    }
    EXPECT_EQ(pairs, 2u * (format == Format::e4m3 ? 253 : 249));  // 127 + 127 and 125 + 125 codes in a row
  }
}

TEST(Rejects, TruncationForNearestEven) {
  for (const Format format : fp8) {
    Codes nearest, truncated;
    for (std::uint32_t code = 0; code < 0x7F00;
         ++code) {  // every positive finite bf16, most in range of the format
      const Exact x = formats::decode(Format::bf16, code);
      nearest.push_back(formats::encode(format, x));
      truncated.push_back(formats::encode(format, x, formats::Rounding::toward_zero));
    }
    std::size_t different = 0;
    for (std::size_t i = 0; i < nearest.size(); ++i) different += nearest[i] != truncated[i] ? 1 : 0;
    const Comparison comparison = compare(exact(format, nearest), pack(format, truncated));
    EXPECT_FALSE(comparison.passed());
    EXPECT_GT(different, 1000u);
    EXPECT_EQ(comparison.failed, different);
    EXPECT_EQ(comparison.worst_codes_outside, 1u);
  }
}

// An absolute tolerance of 1e-2 calls 33 of the 123 positive finite e5m2 codes equal to zero.
TEST(Rejects, EveryE5m2CodeAgainstZero) {
  std::size_t swallowed = 0;
  for (std::uint32_t code = 1; code < 256; ++code) {
    EXPECT_FALSE(passes(Format::e5m2, 0, code)) << code;
    EXPECT_FALSE(passes(Format::e5m2, code, 0)) << code;
    const Exact x = formats::decode(Format::e5m2, code);
    const bool positive = code <= formats::max_finite(Format::e5m2);
    swallowed += positive && std::ldexp(static_cast<double>(x.significand), x.exponent) <= 1e-2 ? 1 : 0;
  }
  EXPECT_EQ(swallowed, 33u);
}

// ---- Few wrong elements of many ----

// An NMSE limit of 5e-4 over 4096 outputs takes six zeroed elements, "95 % match" takes 204.
TEST(Rejects, AFewZeroedElements) {
  const Codes right = matrix(4096);
  const Acceptance accept = exact(Format::bf16, right);
  for (const std::size_t zeroed : {1u, 6u, 204u}) {
    Codes out = right;
    for (std::size_t i = 0; i < zeroed; ++i) out[i * 4096 / zeroed] = 0;
    EXPECT_EQ(compare(accept, pack(Format::bf16, out)).failed, zeroed);
  }
}

TEST(Rejects, OneZeroRowOfABigMatrix) {
  constexpr std::size_t rows = 2048, cols = 512;
  const Codes right = matrix(rows * cols);
  Codes out = right;
  std::fill_n(out.begin() + 1234 * cols, cols, 0);
  const Comparison comparison = compare(exact(Format::bf16, right), pack(Format::bf16, out));
  EXPECT_EQ(comparison.failed, cols);
  EXPECT_EQ(comparison.first[0].index, 1234 * cols);
}

TEST(Rejects, AStaleRow) {
  constexpr std::size_t rows = 8, cols = 48;
  const Codes right = matrix(rows * cols);
  for (std::size_t row = 0; row < rows; ++row) {
    Codes out = right;
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(row * cols), cols, 0x7FC1);
    EXPECT_EQ(compare(exact(Format::bf16, right), pack(Format::bf16, out)).failed, cols);
  }
}

// The same values in other places: sums, histograms and norms do not move.
TEST(Rejects, SwappedAndTransposed) {
  constexpr std::size_t n = 32;
  const Codes right = matrix(n * n);
  Codes swapped = right, transposed = right, shifted = right;
  std::swap(swapped[5], swapped[6]);
  for (std::size_t i = 0; i < n * n; ++i) transposed[i % n * n + i / n] = right[i];
  std::rotate(shifted.begin(), shifted.end() - 1, shifted.end());
  const Acceptance accept = exact(Format::bf16, right);
  EXPECT_EQ(compare(accept, pack(Format::bf16, swapped)).failed, 2u);
  EXPECT_GT(compare(accept, pack(Format::bf16, transposed)).failed, n * n / 2);
  EXPECT_GT(compare(accept, pack(Format::bf16, shifted)).failed, n * n / 2);
}

TEST(Rejects, PaddingBytes) {
  Acceptance accept = exact(Format::e8m0, Codes(12, 127));
  accept.untouched = {{3, 4}, {7, 8}, {11, 12}};
  const Bytes before(12, std::byte{0xAA});
  Bytes out(12, std::byte{127});
  for (const std::size_t padding : {3u, 7u, 11u}) out[padding] = std::byte{0xAA};
  EXPECT_TRUE(compare(accept, out, before).passed());
  for (const std::size_t padding : {3u, 7u, 11u}) {
    for (const int written : {0x00, 0x7F, 0xAB, 0xFF}) {
      Bytes wrong = out;
      wrong[padding] = static_cast<std::byte>(written);
      const Comparison comparison = compare(accept, wrong, before);
      ASSERT_EQ(comparison.failed, 1u);
      EXPECT_EQ(comparison.first[0].index, padding);
      EXPECT_TRUE(comparison.first[0].untouched);
    }
  }
  // Untouched means the bytes: another NaN is another content.
  const Bytes nan_before(12, std::byte{0x7F});
  Acceptance fp8_accept = exact(Format::e4m3, Codes(12, 0x38));
  fp8_accept.untouched = {{0, 12}};
  EXPECT_FALSE(compare(fp8_accept, Bytes(12, std::byte{0xFF}), nan_before).passed());
  EXPECT_TRUE(compare(fp8_accept, nan_before, nan_before).passed());
  // Owned padding is data like any other.
  EXPECT_FALSE(compare(exact(Format::e8m0, {127, 0}), pack(Format::e8m0, {127, 1})).passed());
}

TEST(Rejects, ScaleOffByOne) {
  for (std::uint32_t scale = 0; scale < 255; ++scale) {
    EXPECT_FALSE(passes(Format::e8m0, scale, scale + 1));
    EXPECT_FALSE(passes(Format::e8m0, scale + 1, scale));
  }
}

// ---- Checks that cannot fail ----

TEST(Rejects, NothingCompared) {
  Acceptance accept;
  accept.format = Format::e4m3;
  const Comparison comparison = compare(accept, {});
  EXPECT_EQ(comparison.compared, 0u);
  EXPECT_EQ(comparison.failed, 0u);
  EXPECT_FALSE(comparison.passed());
  EXPECT_FALSE(Comparison{}.passed());
}

// Weights of period 3 times activations of period 4 nearly cancel: outputs under 0.05 were tested with a
// tolerance of 0.05, and zero passed. With the bound that follows from the operands, K roundings of relative
// size u against sum |a||w|, no neutral answer does.
TEST(Rejects, NeutralAnswersToACancellingProduct) {
  constexpr int outputs = 18, depth = 256;
  constexpr float bias = 0.03125F;
  Codes lo, hi, zero, only_bias, negated, doubled, permuted;
  const auto round = [](double x, formats::Rounding rounding) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);
    const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    return formats::encode(Format::fp32, Exact::finite(x < 0, significand, exponent - 53), rounding);
  };
  const auto nearest = [&](double x) { return round(x, formats::Rounding::nearest_even); };
  std::vector<double> exact_values;
  double largest = 0;
  for (int n = 0; n < outputs; ++n) {
    double sum = 0, magnitude = 0;  // multiples of 2^-12 and small: exact in double
    for (int k = 0; k < depth; ++k) {
      const double w = ((k + n) % 3 - 1) / 16.0, a = ((k + n) % 4 * 2 - 3) / 256.0;
      sum += w * a;
      magnitude += std::fabs(w * a);
    }
    const double y = sum + bias, bound = (depth + 1) * std::ldexp(1.0, -24) * (magnitude + bias);
    lo.push_back(round(y - bound, formats::Rounding::down));
    hi.push_back(round(y + bound, formats::Rounding::up));
    exact_values.push_back(y);
    largest = std::max(largest, std::fabs(y));
    zero.push_back(0);
    only_bias.push_back(nearest(bias));
    negated.push_back(nearest(-y));
    doubled.push_back(nearest(2 * y));
  }
  ASSERT_LT(largest, 0.05);  // the signal is under the tolerance that the public test used
  for (int n = 0; n < outputs; ++n) {
    permuted.push_back(nearest(exact_values[static_cast<std::size_t>((n + 1) % outputs)]));
  }
  const Acceptance accept = between(Format::fp32, lo, hi);
  Codes right;
  for (const double y : exact_values) right.push_back(nearest(y));
  EXPECT_TRUE(compare(accept, pack(Format::fp32, right)).passed());
  for (const Codes& neutral : {zero, negated, doubled}) {
    EXPECT_EQ(compare(accept, pack(Format::fp32, neutral)).failed, std::size_t{outputs});
  }
  for (const Codes& neutral : {only_bias, permuted}) {
    EXPECT_GT(compare(accept, pack(Format::fp32, neutral)).failed, 0u);
  }
}

// A scale that was dropped shows at every value but 1: 0.5 and 3, with operands whose products are exact.
TEST(Rejects, ADroppedScaleUnlessItIsOne) {
  const auto product = [](double scale) {
    Codes codes;
    for (int n = 1; n <= 16; ++n) {
      codes.push_back(
          formats::encode(Format::fp32, Exact::finite(false, static_cast<std::uint64_t>(scale * 2 * n), -1)));
    }
    return codes;
  };
  const Bytes dropped = pack(Format::fp32, product(1));
  EXPECT_EQ(compare(exact(Format::fp32, product(0.5)), dropped).failed, 16u);
  EXPECT_EQ(compare(exact(Format::fp32, product(3)), dropped).failed, 16u);
  EXPECT_TRUE(
      compare(exact(Format::fp32, product(1)), dropped).passed());  // why no case may have only this one
}

// One bit of damage anywhere turns the verdict, in every format and for every bit: no assertion here is idle.
TEST(Rejects, AnyFlippedBit) {
  for (const Format format : formats::all_formats) {
    const int width = formats::storage_bytes(format);
    const Codes right(70, format == Format::int4 || format == Format::uint4 ? 0x5 : 0x2A);
    const Bytes good = pack(format, right);
    for (std::size_t i = 0; i < 70; ++i) {
      for (int bit = 0; bit < 8 * width; ++bit) {
        Bytes out = good;
        out[i * static_cast<std::size_t>(width) + static_cast<std::size_t>(bit / 8)] ^=
            static_cast<std::byte>(1 << bit % 8);
        ASSERT_FALSE(compare(exact(format, right), out).passed());
        ASSERT_FALSE(compare(between(format, right, right), out).passed());
      }
    }
  }
}

TEST(Rejects, BytesThatAreNoFourBitCode) {
  for (const Format format : {Format::int4, Format::uint4}) {
    const std::uint32_t least = format == Format::int4 ? 8 : 0, most = format == Format::int4 ? 7 : 15;
    const Acceptance accept = between(format, {least}, {most});
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      EXPECT_EQ(compare(accept, Bytes{static_cast<std::byte>(byte)}).passed(), byte < 16) << byte;
    }
  }
}

// ---- What must be accepted ----

TEST(Accepts, EqualBuffersOfEveryCode) {
  for (const Format format : formats::all_formats) {
    Codes codes(std::size_t{1} << std::min(formats::spec(format).bits, 16));
    std::iota(codes.begin(), codes.end(), format == Format::fp32 ? 0x7F7FFFF0u : 0u);
    const Comparison comparison = compare(exact(format, codes), pack(format, codes));
    EXPECT_TRUE(comparison.passed());
    EXPECT_EQ(comparison.compared, codes.size());
    EXPECT_EQ(comparison.worst_codes_outside, 0u);
  }
}

TEST(Accepts, AnyNanForANan) {
  for (const Format format : {Format::e4m3, Format::e5m2}) {
    for (std::uint32_t a = 0; a < 256; ++a) {
      for (std::uint32_t b = 0; b < 256; ++b) {
        if (!formats::is_nan(format, a) || !formats::is_nan(format, b)) continue;
        EXPECT_TRUE(passes(format, a, b));
      }
    }
  }
}

TEST(Accepts, TheEndsOfAnIntervalAndNothingBeside) {
  const Acceptance accept = between(Format::e4m3, Codes(4, 0x82), Codes(4, 0x03));  // -2 .. 3 subnormal steps
  EXPECT_TRUE(compare(accept, pack(Format::e4m3, {0x82, 0x80, 0x00, 0x03})).passed());
  const Comparison comparison = compare(accept, pack(Format::e4m3, {0x83, 0x82, 0x04, 0x06}));
  EXPECT_EQ(comparison.failed, 3u);
  EXPECT_EQ(comparison.worst_codes_outside, 3u);
}

// ---- Acceptances that are none ----

TEST(ComparatorDeathTest, AnAcceptanceThatIsNone) {
  const auto judge = [](const Codes& lo, const Codes& hi, const Codes& best, std::uint32_t out) {
    Acceptance accept = between(Format::e5m2, lo, hi);
    if (!best.empty()) accept.best = pack(Format::e5m2, best);
    (void)compare(accept, pack(Format::e5m2, Codes(lo.size(), out)));
  };
  EXPECT_DEATH(judge({0x3D}, {0x3C}, {}, 0x3C), "lo over hi");
  EXPECT_DEATH(judge({0x00}, {0x80}, {}, 0x00), "lo over hi");         // +0 .. -0
  EXPECT_DEATH(judge({0x3C}, {0x7E}, {}, 0x3C), "a NaN on one side");  // the NaN's code is the larger
  EXPECT_DEATH(judge({0xFE}, {0x3C}, {}, 0x3C), "a NaN on one side");  // and the smaller
  EXPECT_DEATH(judge({0x7E}, {0x7F}, {}, 0x7E), "a NaN on one side");  // hi must be lo's NaN
  EXPECT_DEATH(judge({0x3C}, {0x3E}, {0x3F}, 0x3C), "best outside");
  EXPECT_DEATH(judge({0x3C}, {0x3E}, {0x3B}, 0x3C), "best outside");
  Codes lo(100, 0x3C), hi(100, 0x3E);
  hi[77] = 0x30;  // one among many
  EXPECT_DEATH(judge(lo, hi, {}, 0x3C), "lo over hi");
  for (const Format format : {Format::int4, Format::uint4}) {
    EXPECT_DEATH((void)compare(exact(format, {0x10}), Bytes{std::byte{0x10}}), "no code of the format");
  }
}

TEST(ComparatorDeathTest, SizesThatDisagree) {
  Acceptance accept = exact(Format::bf16, {1, 2, 3});
  EXPECT_DEATH((void)compare(accept, Bytes(4)), "actual.size");
  accept.untouched = {{0, 1}};
  EXPECT_DEATH((void)compare(accept, accept.lo), "contents from before");
  EXPECT_DEATH((void)compare(accept, accept.lo, Bytes(2)), "before");
  accept.untouched = {{1, 2}, {0, 1}};
  EXPECT_DEATH((void)compare(accept, accept.lo, accept.lo), "ascending");
}

}  // namespace
}  // namespace assay::properties
