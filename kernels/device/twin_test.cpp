// The host twins against references that share no code with them: the formats' own definition for
// conversions, and real-number order for maxima. Set ASSAY_EXHAUSTIVE=1 for all 2^32 inputs of the
// conversions from fp32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/bits.hpp"
#include "kernels/device/cvt.hpp"
#include "kernels/device/cvt_fp8.hpp"
#include "kernels/device/minmax.hpp"
#include "kernels/device/twin_operands.hpp"
#include "oracles/formats/codec.hpp"

namespace assay::kernels::cpu {
namespace {

using formats::Format;
using formats::Overflow;

std::uint32_t reference_conversion(Format from, Format to, std::uint32_t code) {
  const bool fp8 = to == Format::e4m3 || to == Format::e5m2;
  return formats::encode(to, formats::decode(from, code), formats::Rounding::nearest_even,
                         fp8 ? Overflow::saturate : Overflow::propagate);
}

/// fp32 codes at every place where a conversion to a narrower format changes its answer: all upper halves,
/// with lower halves around every power of two (the midpoints of fp16, which drops 13 bits and more) and
/// their neighbours.
std::vector<std::uint32_t> fp32_boundaries() {
  std::vector<std::uint32_t> lower;
  for (std::uint32_t high = 0; high < 8; ++high) {
    for (const std::uint32_t low : {0u, 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x1FFFu})
      lower.push_back(high << 13 | low);
  }
  std::vector<std::uint32_t> codes;
  for (std::uint32_t upper = 0; upper < 0x10000u; ++upper) {
    for (const std::uint32_t low : lower) codes.push_back(upper << 16 | low);
  }
  for (std::uint32_t i = 0; i < 1u << 20; ++i) codes.push_back(operands::scrambled(i));
  return codes;
}

struct Conversion {
  const char* name;
  Format to;
  std::function<std::uint32_t(float)> twin;
};

std::vector<Conversion> conversions_from_fp32() {
  return {{"e4m3", Format::e4m3, [](float x) { return twin::f32_to_fp8_satfinite(x, twin::e4m3); }},
          {"e5m2", Format::e5m2, [](float x) { return twin::f32_to_fp8_satfinite(x, twin::e5m2); }},
          {"fp16", Format::fp16, [](float x) { return twin::cvt_rn_f16_f32(x); }},
          {"bf16", Format::bf16, [](float x) { return twin::cvt_rn_bf16_f32(x); }}};
}

/// The first code, if any, that the twin converts otherwise than the definition.
template <class Codes>
void expect_conversion(const Conversion& conversion, const Codes& codes) {
  for (const std::uint32_t code : codes) {
    const std::uint32_t expected = reference_conversion(Format::fp32, conversion.to, code);
    const std::uint32_t actual = conversion.twin(std::bit_cast<float>(code));
    if (actual == expected) continue;
    ADD_FAILURE() << conversion.name << " of 0x" << std::hex << code << ": 0x" << actual << ", expected 0x"
                  << expected;
    return;
  }
}

TEST(Twin, ConversionsFromFp32AtEveryBoundary) {
  const auto codes = fp32_boundaries();
  for (const Conversion& conversion : conversions_from_fp32()) expect_conversion(conversion, codes);
}

/// Every input with ASSAY_EXHAUSTIVE=1, else one in 4,099: a prime, so that all low bits take part.
TEST(Twin, ConversionsFromFp32AcrossTheRange) {
  const char* const wanted = std::getenv("ASSAY_EXHAUSTIVE");
  const std::uint64_t step = wanted != nullptr && std::string(wanted) == "1" ? 1 : 4099;
  struct Upper {
    std::uint32_t value;
    std::uint64_t step;
    struct Iterator {
      std::uint64_t code, step;
      std::uint32_t operator*() const { return static_cast<std::uint32_t>(code); }
      Iterator& operator++() { return code += step, *this; }
      bool operator!=(const Iterator& other) const { return code < other.code; }
    };
    Iterator begin() const { return {std::uint64_t{value} << 24, step}; }
    Iterator end() const { return {(std::uint64_t{value} + 1) << 24, step}; }
  };
  for (const Conversion& conversion : conversions_from_fp32()) {
    std::vector<std::thread> threads;
    const unsigned workers = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        for (std::uint32_t part = worker; part < 256; part += workers)
          expect_conversion(conversion, Upper{part, step});
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Twin, PackedConversionPutsItsFirstSourceHigh) {
  EXPECT_EQ(twin::cvt_e4m3x2_f32(448.0f, 1.0f), 0x7E38u);
  EXPECT_EQ(twin::cvt_e5m2x2_f32(-2.0f, 57344.0f), 0xC07Bu);
  EXPECT_EQ(cvt_rn_satfinite_e4m3x2_f32(448.0f, 1.0f), 0x7E38u);
  EXPECT_EQ(cvt_rn_satfinite_e5m2x2_f32(-2.0f, 57344.0f), 0xC07Bu);
}

TEST(Twin, ConversionsTo32BitsOfEveryCode) {
  for (std::uint32_t code = 0; code < 0x10000u; ++code) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(twin::cvt_f32_f16(code)),
              reference_conversion(Format::fp16, Format::fp32, code))
        << code;
    const std::uint32_t expected = formats::is_nan(Format::bf16, code)
                                       ? code << 16
                                       : reference_conversion(Format::bf16, Format::fp32, code);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(twin::cvt_f32_bf16(code)), expected) << code;
  }
}

TEST(Twin, PairsOfFp8ToFp16OfEveryPairOfCodes) {
  for (std::uint32_t codes = 0; codes < 0x10000u; ++codes) {
    const auto packed = [&](Format from) {
      return reference_conversion(from, Format::fp16, codes >> 8) << 16 |
             reference_conversion(from, Format::fp16, codes & 0xFFu);
    };
    ASSERT_EQ(twin::cvt_f16x2_e4m3x2(codes), packed(Format::e4m3)) << codes;
    ASSERT_EQ(twin::cvt_f16x2_e5m2x2(codes), packed(Format::e5m2)) << codes;
  }
  const PairF32 pair = cvt_f32x2_f16x2(cvt_rn_f16x2_e4m3x2(0xFE01u));
  EXPECT_EQ(pair.low, 0x1p-9f) << "the low byte goes to the low half";
  EXPECT_EQ(pair.high, -448.0f);
}

// ---- maxima ----

enum class Which { maximum, minimum };
enum class Nan { loses, wins };

std::uint32_t reference_extreme(Format format, Which which, Nan nan, std::uint32_t a, std::uint32_t b) {
  const bool a_nan = formats::is_nan(format, a), b_nan = formats::is_nan(format, b);
  if ((a_nan && b_nan) || (nan == Nan::wins && (a_nan || b_nan))) return formats::canonical_nan(format);
  if (a_nan) return b;
  if (b_nan) return a;
  const bool a_greater = formats::ordered_key(format, a) > formats::ordered_key(format, b);
  return a_greater == (which == Which::maximum) ? a : b;
}

using PackedMaximum = std::uint32_t (*)(std::uint32_t, std::uint32_t);

template <std::uint32_t kMantissaBits>
void expect_packed_maximum(Format format, Nan nan, PackedMaximum maximum) {
  // Every seventeenth pair of the table that the GPU is compared on in full; 17 is coprime to its 2^24
  // entries' period.
  for (std::uint64_t i = 0; i < operands::pairs_16x2; i += 17) {
    const auto pair = operands::pair_16x2<kMantissaBits>(static_cast<std::uint32_t>(i));
    const std::uint32_t low =
        reference_extreme(format, Which::maximum, nan, pair.a & 0xFFFFu, pair.b & 0xFFFFu);
    const std::uint32_t high = reference_extreme(format, Which::maximum, nan, pair.a >> 16, pair.b >> 16);
    ASSERT_EQ(maximum(pair.a, pair.b), high << 16 | low) << std::hex << pair.a << " " << pair.b;
  }
}

TEST(Twin, PackedMaxima) {
  expect_packed_maximum<7>(Format::bf16, Nan::loses, twin::max_bf16x2);
  expect_packed_maximum<7>(Format::bf16, Nan::wins, twin::max_nan_bf16x2);
  expect_packed_maximum<10>(Format::fp16, Nan::loses, twin::max_f16x2);
  expect_packed_maximum<10>(Format::fp16, Nan::wins, twin::max_nan_f16x2);
}

TEST(Twin, PackedMaximaOfEveryMagnitude) {
  // The fast case of the twin, exhaustively in one operand: both lanes non-negative.
  for (std::uint32_t code = 0; code < 0x8000u; ++code) {
    for (const std::uint32_t other :
         {0u, 1u, 0x3F80u, 0x7BFFu, 0x7C00u, 0x7C01u, 0x7F7Fu, 0x7F80u, 0x7F81u, 0x7FFFu}) {
      const std::uint32_t a = code << 16 | other, b = other << 16 | code;
      const auto packed = [&](Format format, Nan nan) {
        return reference_extreme(format, Which::maximum, nan, code, other) << 16 |
               reference_extreme(format, Which::maximum, nan, other, code);
      };
      ASSERT_EQ(twin::max_bf16x2(a, b), packed(Format::bf16, Nan::loses)) << std::hex << a << " " << b;
      ASSERT_EQ(twin::max_nan_bf16x2(a, b), packed(Format::bf16, Nan::wins)) << std::hex << a << " " << b;
      ASSERT_EQ(twin::max_f16x2(a, b), packed(Format::fp16, Nan::loses)) << std::hex << a << " " << b;
      ASSERT_EQ(twin::max_nan_f16x2(a, b), packed(Format::fp16, Nan::wins)) << std::hex << a << " " << b;
    }
  }
}

void expect_fp32_extremes(std::uint32_t a, std::uint32_t b) {
  struct Row {
    float (*function)(float, float);
    Which which;
    Nan nan;
  };
  constexpr Row rows[] = {{twin::max_f32, Which::maximum, Nan::loses},
                          {twin::max_nan_f32, Which::maximum, Nan::wins},
                          {twin::min_f32, Which::minimum, Nan::loses},
                          {twin::min_nan_f32, Which::minimum, Nan::wins}};
  for (const Row& row : rows) {
    const float actual = row.function(std::bit_cast<float>(a), std::bit_cast<float>(b));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(actual), reference_extreme(Format::fp32, row.which, row.nan, a, b))
        << std::hex << a << " " << b;
  }
}

TEST(Twin, Fp32Extremes) {
  for (std::uint64_t i = 0; i < operands::pairs_f32; i += 17) {
    const auto pair = operands::pair_f32(static_cast<std::uint32_t>(i));
    expect_fp32_extremes(pair.a, pair.b);
  }
}

TEST(Twin, Fp32ExtremesOfNeighbours) {
  for (std::uint32_t i = 0; i < 1u << 16; ++i) {
    const std::uint32_t code = operands::scrambled(i);
    for (const std::uint32_t other : {code, code + 1, code ^ 0x80000000u}) {
      expect_fp32_extremes(code, other);
      expect_fp32_extremes(other, code);
    }
  }
}

// ---- arithmetic and bits ----

TEST(Twin, ProductIsRoundedOnceAndItsNanIsCanonical) {
  for (std::uint64_t i = 0; i < operands::pairs_f32; i += 17) {
    const auto pair = operands::pair_f32(static_cast<std::uint32_t>(i));
    const float a = std::bit_cast<float>(pair.a), b = std::bit_cast<float>(pair.b);
    // Exact in double: 48 bits of product, and an exponent that double has room for.
    const float rounded = static_cast<float>(static_cast<double>(a) * static_cast<double>(b));
    const std::uint32_t expected = std::isnan(rounded) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(rounded);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(twin::mul_rn_f32(a, b)), expected)
        << std::hex << pair.a << " " << pair.b;
  }
}

TEST(Twin, PrmtSelectsBytesAndReplicatesSigns) {
  EXPECT_EQ(twin::prmt(0x33221100u, 0x77665544u, 0x3210u), 0x33221100u);
  EXPECT_EQ(twin::prmt(0x33221100u, 0x77665544u, 0x7654u), 0x77665544u);
  EXPECT_EQ(twin::prmt(0x33221100u, 0x77665544u, 0x0527u), 0x00552277u);
  EXPECT_EQ(twin::prmt(0x80FF7F01u, 0u, 0xBA98u), 0xFFFF0000u);
}

TEST(Twin, Lop3IsItsTruthTable) {
  constexpr std::uint32_t a = 0xF0F0F0F0u, b = 0xCCCCCCCCu, c = 0xAAAAAAAAu;
  EXPECT_EQ(twin::lop3<0xEA>(a, b, c), (a & b) | c);
  EXPECT_EQ(twin::lop3<0x6A>(a, b, c), (a & b) ^ c);
  EXPECT_EQ(twin::lop3<0x1D>(a, b, c) & 0xFFu, 0x1Du);
}

TEST(Twin, SpecialCodesAreDistinctAndHoldEveryClass) {
  std::vector<bool> seen(0x10000u);
  unsigned nans = 0, infinities = 0, zeros = 0, subnormals = 0;
  for (std::uint32_t i = 0; i < operands::special_codes; ++i) {
    const std::uint32_t code = operands::special_16<7>(i);
    EXPECT_FALSE(seen[code]) << i;
    seen[code] = true;
    nans += formats::is_nan(Format::bf16, code);
    infinities += formats::is_infinity(Format::bf16, code);
    zeros += (code & 0x7FFFu) == 0;
    subnormals += (code & 0x7FFFu) != 0 && (code & 0x7F80u) == 0;
  }
  EXPECT_EQ(nans, 6u);
  EXPECT_EQ(infinities, 2u);
  EXPECT_EQ(zeros, 2u);
  EXPECT_EQ(subnormals, 6u);
}

}  // namespace
}  // namespace assay::kernels::cpu
