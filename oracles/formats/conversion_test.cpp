// Narrowing whole input formats, against the twin: fp16 and bf16 exhaustively, fp32 around every decision
// boundary, at random, and over all 2^32 codes when ASSAY_EXHAUSTIVE=1.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "oracles/formats/codec.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::formats {
namespace {

constexpr Rounding roundings[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up,
                                  Rounding::down};
constexpr Overflow overflows[] = {Overflow::saturate, Overflow::propagate};

bool exhaustive() {
  const char* value = std::getenv("ASSAY_EXHAUSTIVE");
  return value != nullptr && std::string_view(value) == "1";
}

// What the twin makes of input code `code`, specials included.
std::uint32_t expected(Format to, Format from, std::uint32_t code, Rounding rounding, Overflow overflow) {
  const twin::Layout source = twin::layout(from), target = twin::layout(to);
  const bool negative = (code & source.sign) != 0;
  const std::uint32_t magnitude = code & ~source.sign;
  if (magnitude > source.overflow) return target.nan;
  if (magnitude == source.overflow) {
    if (overflow == Overflow::saturate) return (negative ? target.sign : 0) | target.max_finite;
    return target.overflow == target.nan ? target.nan : (negative ? target.sign : 0) | target.overflow;
  }
  return twin::encode(to, negative, twin::value(from, magnitude), rounding, overflow);
}

void expect_all_modes(Format to, Format from, std::uint32_t code) {
  for (const Rounding rounding : roundings)
    for (const Overflow overflow : overflows)
      ASSERT_EQ(encode(to, decode(from, code), rounding, overflow),
                expected(to, from, code, rounding, overflow))
          << spec(from).name << " code " << std::hex << code << " to " << spec(to).name << ", rounding "
          << static_cast<int>(rounding) << ", overflow " << static_cast<int>(overflow);
}

struct Narrowing {
  Format from, to;
};
std::string test_name(const testing::TestParamInfo<Narrowing>& info) {
  return std::string(spec(info.param.from).name) + "_to_" + std::string(spec(info.param.to).name);
}

class From16Bits : public testing::TestWithParam<Narrowing> {};
INSTANTIATE_TEST_SUITE_P(
    All, From16Bits,
    testing::Values(Narrowing{Format::fp16, Format::e4m3}, Narrowing{Format::fp16, Format::e5m2},
                    Narrowing{Format::bf16, Format::e4m3}, Narrowing{Format::bf16, Format::e5m2},
                    Narrowing{Format::fp16, Format::bf16}, Narrowing{Format::bf16, Format::fp16}),
    test_name);

TEST_P(From16Bits, AgreesWithTheTwinOnEveryCode) {
  for (std::uint32_t code = 0; code <= 0xFFFF; ++code)
    ASSERT_NO_FATAL_FAILURE(expect_all_modes(GetParam().to, GetParam().from, code));
}

class FromFp32 : public testing::TestWithParam<Narrowing> {};
INSTANTIATE_TEST_SUITE_P(All, FromFp32,
                         testing::Values(Narrowing{Format::fp32, Format::e4m3},
                                         Narrowing{Format::fp32, Format::e5m2},
                                         Narrowing{Format::fp32, Format::fp16},
                                         Narrowing{Format::fp32, Format::bf16}),
                         test_name);

TEST_P(FromFp32, AgreesWithTheTwinOnSampledCodes) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    auto code = static_cast<std::uint32_t>(twin::draw(5, i));
    // Three of four draws fall where the narrow formats have their values: exponents -32 to 31.
    if (i % 4 != 0)
      code = (code & 0x807FFFFF) | (95 + static_cast<std::uint32_t>(twin::draw(6, i) % 64)) << 23;
    ASSERT_NO_FATAL_FAILURE(expect_all_modes(GetParam().to, Format::fp32, code));
  }
}

// The least positive fp32 code that the twin sends to at least `target`; one more than Inf's code when there
// is none.
std::uint32_t first_reaching(Format to, std::uint32_t target, Rounding rounding) {
  std::uint32_t low = 0, high = 0x7F800001;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (expected(to, Format::fp32, middle, rounding, Overflow::saturate) >= target) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

TEST_P(FromFp32, StepsExactlyAtTheTwinsBoundaries) {
  const Format to = GetParam().to;
  const std::uint32_t stride = spec(to).bits == 8 || exhaustive() ? 1 : 97;
  for (std::uint32_t target = 1; target <= max_finite(to); target += stride) {
    const std::uint32_t first = first_reaching(to, target, Rounding::nearest_even);
    ASSERT_LE(first, 0x7F800000u);
    for (const std::uint32_t code : {first - 1, first, first + 1}) {
      ASSERT_NO_FATAL_FAILURE(expect_all_modes(to, Format::fp32, code));
      ASSERT_NO_FATAL_FAILURE(expect_all_modes(to, Format::fp32, code | 0x80000000));
    }
  }
}

// Between two boundaries the twin's answer is constant, so walking the codes needs it only at the boundaries.
// Every code when exhaustive, else every 4099th from each boundary on.
TEST_P(FromFp32, AgreesWithTheTwinBetweenBoundaries) {
  const Format to = GetParam().to;
  const std::uint32_t step = exhaustive() ? 1 : 4099;
  const std::uint32_t first_nan = 0x7F800001, sign = 0x80000000;
  std::uint64_t walked = 0;
  for (std::uint32_t target = 0, first = 0; target <= max_finite(to); ++target) {
    const bool last = target == max_finite(to);
    const std::uint32_t next = last ? first_nan : first_reaching(to, target + 1, Rounding::nearest_even);
    for (std::uint32_t code = first; code < next; code += step, ++walked) {
      ASSERT_EQ(encode(to, decode(Format::fp32, code)), target);
      ASSERT_EQ(encode(to, decode(Format::fp32, code | sign)), target | twin::layout(to).sign);
    }
    first = next;
  }
  for (std::uint32_t code = first_nan; code < sign; code += step, ++walked) {
    ASSERT_EQ(encode(to, decode(Format::fp32, code)), canonical_nan(to));
    ASSERT_EQ(encode(to, decode(Format::fp32, code | sign)), canonical_nan(to));
  }
  EXPECT_GE(walked, std::uint64_t{sign} / step);
}

}  // namespace
}  // namespace assay::formats
