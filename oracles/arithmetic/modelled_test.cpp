// Modelled arithmetic against the machine's floats, and against big integers where the machine has none.
#include "oracles/arithmetic/modelled.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oracles/arithmetic/dyadic.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::arithmetic {
namespace {

using formats::Exact;
using formats::Format;
using formats::Kind;
using formats::Overflow;
using formats::Rounding;
namespace twin = formats::twin;

template <Format F>
Modelled<F> number(std::uint32_t code) {
  return Modelled<F>::of_code(code);
}

// The model's NaN is always the canonical one; the machine's may be any.
void expect_same(std::uint32_t ours, float theirs) {
  if (std::isnan(theirs)) {
    ASSERT_EQ(ours, 0x7FFFFFFFu);
  } else {
    ASSERT_EQ(ours, std::bit_cast<std::uint32_t>(theirs)) << std::hexfloat << theirs;
  }
}

void expect_fp32_as_hardware(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b), z = std::bit_cast<float>(c);
  const auto i = number<Format::fp32>(a), j = number<Format::fp32>(b), k = number<Format::fp32>(c);
  ASSERT_NO_FATAL_FAILURE(expect_same((i + j).code(), x + y)) << std::hex << a << " + " << b;
  ASSERT_NO_FATAL_FAILURE(expect_same((i - j).code(), x - y)) << std::hex << a << " - " << b;
  ASSERT_NO_FATAL_FAILURE(expect_same((i * j).code(), x * y)) << std::hex << a << " * " << b;
  ASSERT_NO_FATAL_FAILURE(expect_same((i / j).code(), x / y)) << std::hex << a << " / " << b;
  ASSERT_NO_FATAL_FAILURE(expect_same(sqrt(i).code(), std::sqrt(x))) << "root of " << std::hex << a;
  ASSERT_NO_FATAL_FAILURE(expect_same(fma(i, j, k).code(), std::fmaf(x, y, z)))
      << std::hex << a << " * " << b << " + " << c;
}

// Zeros, subnormals, the ends of the normal range, small and large powers and their neighbours, Inf, NaN;
// both signs.
std::vector<std::uint32_t> special_codes(Format format) {
  const twin::Layout l = twin::layout(format);
  const std::uint32_t normal = 1u << l.mantissa_bits, one = (l.overflow / 2) & ~(normal - 1);
  std::vector<std::uint32_t> codes;
  for (const std::uint32_t code :
       {0u, 1u, 2u, normal - 1, normal, normal + 1, one - normal, one - 1, one, one + 1, one + normal / 2,
        one + normal, one + (static_cast<std::uint32_t>(l.mantissa_bits) << l.mantissa_bits),
        l.max_finite - 1, l.max_finite, l.overflow, l.overflow | 1, l.nan}) {
    codes.push_back(code);
    codes.push_back(code | l.sign);
  }
  return codes;
}

TEST(ModelledFp32, IsTheMachinesFloatOnEveryTripleOfSpecialValues) {
  const auto codes = special_codes(Format::fp32);
  for (const std::uint32_t a : codes)
    for (const std::uint32_t b : codes)
      for (const std::uint32_t c : codes) ASSERT_NO_FATAL_FAILURE(expect_fp32_as_hardware(a, b, c));
}

TEST(ModelledFp32, IsTheMachinesFloatOnSampledTriples) {
  for (std::uint64_t i = 0; i < 500000; ++i) {
    auto a = static_cast<std::uint32_t>(twin::draw(30, i)), b = static_cast<std::uint32_t>(twin::draw(31, i));
    auto c = static_cast<std::uint32_t>(twin::draw(32, i));
    if (i % 4 != 0) {
      // Operands that meet: the product's exponent is within 30 of c's, and few bits are set, so that ties
      // are common.
      const auto near = [](std::uint32_t code, std::uint32_t exponent) {
        return (code & 0x807FFFFF & (~0u << (code >> 24 & 15))) | exponent << 23;
      };
      const std::uint32_t ea = 60 + static_cast<std::uint32_t>(twin::draw(33, i) % 134);
      a = near(a, ea);
      b = near(b, i % 4 == 1 ? ea + static_cast<std::uint32_t>(twin::draw(34, i) % 27) - 13 : 127);
      c = near(c, std::min(ea + static_cast<std::uint32_t>(twin::draw(35, i) % 60) - 30, 254u));
    } else if (i % 8 == 0) {  // products at the bottom of the range
      a = (a & 0x807FFFFF) | (a >> 24 & 63) << 23;
      b = (b & 0x807FFFFF) | (64 + (b >> 24 & 31)) << 23;
      c &= 0x80FFFFFF;
    }
    ASSERT_NO_FATAL_FAILURE(expect_fp32_as_hardware(a, b, c));
  }
}

// --- fp16 and bf16: rounded by the twin from exact big integers, with IEEE's special values from the
// machine's double ---

double as_double(const Exact& x) {
  const double magnitude = x.kind == Kind::nan ? std::nan("")
                           : x.kind == Kind::infinity
                               ? HUGE_VAL
                               : std::ldexp(static_cast<double>(x.significand), x.exponent);
  return x.negative ? -magnitude : magnitude;
}

// The code of a result given as an exact number or, where it is zero or special, as the double the machine
// got.
std::uint32_t reference(Format format, const Dyadic& exact, double machine) {
  const twin::Layout l = twin::layout(format);
  if (std::isnan(machine)) return l.nan;
  const bool negative = std::signbit(machine);
  if (std::isinf(machine)) return l.overflow | (negative ? l.sign : 0);
  const Exact x = exact.exact();
  return twin::encode(format, x.kind == Kind::zero ? negative : x.negative, twin::magnitude_of(x),
                      Rounding::nearest_even, Overflow::propagate);
}

template <Format F>
void expect_16_bit_as_twin(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto i = number<F>(a), j = number<F>(b), k = number<F>(c);
  const double x = as_double(i.exact()), y = as_double(j.exact()), z = as_double(k.exact());
  const auto finite = [](double v) { return std::isfinite(v) ? Dyadic::of(v) : Dyadic(); };
  const Dyadic p = finite(x), q = finite(y), r = finite(z);
  ASSERT_EQ((i + j).code(), reference(F, p + q, x + y)) << std::hex << a << " + " << b;
  ASSERT_EQ((i - j).code(), reference(F, p - q, x - y)) << std::hex << a << " - " << b;
  ASSERT_EQ((i * j).code(), reference(F, p * q, x * y)) << std::hex << a << " * " << b;
  ASSERT_EQ(fma(i, j, k).code(), reference(F, p * q + r, std::fma(x, y, z)))
      << std::hex << a << " * " << b << " + " << c;
}

template <typename T>
class Modelled16 : public testing::Test {};
template <Format F>
struct Tag {
  static constexpr Format format = F;
};
using Formats16 = testing::Types<Tag<Format::fp16>, Tag<Format::bf16>>;
TYPED_TEST_SUITE(Modelled16, Formats16);

TYPED_TEST(Modelled16, IsTheTwinOnEveryTripleOfSpecialValues) {
  const auto codes = special_codes(TypeParam::format);
  for (const std::uint32_t a : codes)
    for (const std::uint32_t b : codes)
      for (const std::uint32_t c : codes)
        ASSERT_NO_FATAL_FAILURE(expect_16_bit_as_twin<TypeParam::format>(a, b, c));
}

TYPED_TEST(Modelled16, IsTheTwinOnEveryCodeWithSampledPartners) {
  for (std::uint32_t a = 0; a <= 0xFFFF; ++a) {
    const std::uint64_t bits = twin::draw(36, a);
    const auto b = static_cast<std::uint32_t>(bits & 0xFFFF),
               c = static_cast<std::uint32_t>(bits >> 16 & 0xFFFF);
    ASSERT_NO_FATAL_FAILURE(expect_16_bit_as_twin<TypeParam::format>(a, b, c));
    // A partner of about the same size, and an addend of about the size of the product.
    const twin::Layout l = twin::layout(TypeParam::format);
    const std::uint32_t one = (l.overflow / 2) & ~((1u << l.mantissa_bits) - 1);
    const std::uint32_t near = (a & ~l.sign) ^ static_cast<std::uint32_t>(bits >> 40 & 7);
    const std::uint32_t factor = one | (b & ((1u << l.mantissa_bits) - 1));
    ASSERT_NO_FATAL_FAILURE(expect_16_bit_as_twin<TypeParam::format>(a, near | (b & l.sign), c));
    ASSERT_NO_FATAL_FAILURE(expect_16_bit_as_twin<TypeParam::format>(a, factor, near | (~a & l.sign)));
  }
}

// A fused multiply-add borrowed from a wider float rounds twice. Counts the draws where that shows; at each
// the twin confirms the model.
template <Format F>
int errors_of_fma_borrowed_from_float() {
  const twin::Layout l = twin::layout(F);
  const std::uint32_t mantissa = (1u << l.mantissa_bits) - 1, one = (l.overflow / 2) & ~mantissa;
  int wrong = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const auto low = static_cast<std::uint32_t>(twin::draw(37, i)),
               high = static_cast<std::uint32_t>(twin::draw(38, i));
    // Factors of few bits, whose product is often a tie, and an addend up to half the exponent range and 13
    // binades below it, which a float then loses.
    const std::uint32_t few = mantissa & ~(mantissa >> ((l.mantissa_bits + 1) / 2));
    const std::uint32_t a = (one + (13u << l.mantissa_bits)) | (low & few), b = one | (low >> 16 & few);
    const std::uint32_t gap = (high >> 16) % (l.overflow >> (l.mantissa_bits + 1));
    const std::uint32_t c = (one - (gap << l.mantissa_bits)) | (high & mantissa);
    const auto value = [](std::uint32_t code) {
      return static_cast<float>(as_double(number<F>(code).exact()));
    };
    const float wide = std::fmaf(value(a), value(b), value(c));
    const auto borrowed = convert<F>(Modelled<Format::fp32>::of_code(std::bit_cast<std::uint32_t>(wide)));
    if (fma(number<F>(a), number<F>(b), number<F>(c)).code() == borrowed.code()) continue;
    ++wrong;
    expect_16_bit_as_twin<F>(a, b, c);
  }
  return wrong;
}

TEST(Modelled, FusedMultiplyAddBorrowedFromFloatRoundsTwice) {
  EXPECT_GT(errors_of_fma_borrowed_from_float<Format::fp16>(), 0);
  EXPECT_GT(errors_of_fma_borrowed_from_float<Format::bf16>(), 0);
}

TEST(Modelled, FusedMultiplyAddBorrowedFromDoubleRoundsTwiceForBf16) {
  // 1.0078125 * 1.5 lies half way between 0x3FC1 and 0x3FC2. An addend of -2^-60 takes it under; a double
  // loses that.
  const auto a = number<Format::bf16>(0x3F81), b = number<Format::bf16>(0x3FC0),
             crumb = number<Format::bf16>(0x2180);
  const double borrowed = std::fma(1.0078125, 1.5, -0x1p-60);
  EXPECT_EQ(Modelled<Format::bf16>::rounded(Dyadic::of(borrowed).exact()).code(), 0x3FC2u);
  EXPECT_EQ(fma(a, b, -crumb).code(), 0x3FC1u);
  EXPECT_EQ(fma(a, b, crumb).code(), 0x3FC2u);
}

TEST(Modelled, ConversionsRoundOnceEach) {
  const auto x = number<Format::fp32>(0x3F808800);  // 1 + 2^-8 + 2^-12
  EXPECT_EQ(convert<Format::bf16>(x).code(), 0x3F81u);
  EXPECT_EQ(convert<Format::bf16>(convert<Format::fp16>(x)).code(), 0x3F80u);
  EXPECT_EQ(convert<Format::fp16>(number<Format::fp32>(std::bit_cast<std::uint32_t>(65520.0f))).code(),
            0x7C00u);
  EXPECT_EQ(convert<Format::fp32>(number<Format::fp16>(0x8001)).code(),
            std::bit_cast<std::uint32_t>(-0x1p-24f));
  EXPECT_EQ(convert<Format::fp16>(number<Format::fp32>(0xFFC12345)).code(), 0x7FFFu);
}

TEST(Modelled, NegationFlipsZerosAndKeepsNan) {
  EXPECT_EQ((-number<Format::fp16>(0x0000)).code(), 0x8000u);
  EXPECT_EQ((-number<Format::fp16>(0x8000)).code(), 0x0000u);
  EXPECT_EQ((-number<Format::fp16>(0x7C00)).code(), 0xFC00u);
  EXPECT_EQ((-number<Format::fp16>(0xFE00)).code(), 0x7FFFu);
}

}  // namespace
}  // namespace assay::arithmetic
