// The cast once more, from its prose: big integers, and every scale and element found by trying them all in
// order. Random blocks under every contract.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "oracles/formats/twin.hpp"
#include "oracles/mxfp8_cast/oracle.hpp"

namespace assay::oracles::mxfp8_cast {
namespace {

namespace twin = formats::twin;
using formats::Format;
using formats::Overflow;
using formats::Rounding;
using twin::Number;

constexpr ScaleRule rules[] = {ScaleRule::rceil, ScaleRule::floor, ScaleRule::ceil, ScaleRule::even};
constexpr SpecialBlocks all_specials[] = {SpecialBlocks::poison, SpecialBlocks::te_staged,
                                          SpecialBlocks::te_register};

using Codes = std::array<std::uint32_t, block>;

Number shifted(const Number& x, int power) {
  return power >= 0 ? Number(x << static_cast<unsigned>(power)) : Number(x >> static_cast<unsigned>(-power));
}

Number rounded(Format format, const Number& x) {
  return twin::value(format, twin::encode(format, false, x, Rounding::nearest_even, Overflow::saturate));
}

// The least byte whose scale, times 2^emax, is not below x; the greatest whose is not above it.
int least_not_below(const Number& x, int emax) {
  int byte = 0;
  while (byte < 254 && twin::number(1, byte - 127 + emax) < x) ++byte;
  return byte;
}
int greatest_not_above(const Number& x, int emax) {
  int byte = 254;
  while (byte > 0 && twin::number(1, byte - 127 + emax) > x) --byte;
  return byte;
}

// amax to `bits` bits after the leading one, ties to even.
Number to_precision(const Number& amax, unsigned bits) {
  const unsigned top = boost::multiprecision::msb(amax);
  const Number unit = Number(1) << (top - bits);
  const Number below = amax / unit * unit, rest = amax - below;
  const bool odd = (amax / unit) % 2 == 1;
  return 2 * rest > unit || (2 * rest == unit && odd) ? below + unit : below;
}

int scale_for(const Number& amax, Format element, ScaleRule rule) {
  const bool e4m3 = element == Format::e4m3;
  const int emax = e4m3 ? 8 : 15;
  if (amax == 0) return 0;
  switch (rule) {
    case ScaleRule::floor:
      return greatest_not_above(amax, emax);
    case ScaleRule::ceil:
      return least_not_below(amax, emax);
    case ScaleRule::even:
      return greatest_not_above(to_precision(amax, e4m3 ? 3 : 2), emax);
    case ScaleRule::rceil:
      break;
  }
  const Number one = twin::number(1, 0);
  const Number reciprocal = rounded(Format::fp32, one / (e4m3 ? 448 : 57344));
  return least_not_below(rounded(Format::fp32, amax * reciprocal / one), 0);
}

struct Expected {
  int scale;
  std::array<std::uint32_t, block> data;
};

Expected expected(Format input, const Codes& codes, const Contracts& c) {
  const twin::Layout l = twin::layout(input);
  Number amax = 0;
  std::size_t nans = 0, infinities = 0;
  for (const std::uint32_t code : codes) {
    const std::uint32_t magnitude = code & ~l.sign;
    nans += magnitude > l.overflow;
    infinities += magnitude == l.overflow;
    if (magnitude < l.overflow) amax = std::max(amax, twin::value(input, magnitude));
  }
  Expected e{scale_for(amax, c.element, c.scale_rule), {}};
  if (c.specials == SpecialBlocks::poison) {
    if (nans + infinities > 0) e.scale = 0xFF;
  } else if (infinities > 0) {
    e.scale = 0xFE;
  } else if (nans == block) {
    e.scale = c.specials == SpecialBlocks::te_staged ? 0x00 : 0xFF;
  }
  const twin::Layout out = twin::layout(c.element);
  for (std::size_t i = 0; i < block; ++i) {
    const std::uint32_t magnitude = codes[i] & ~l.sign;
    const bool negative = (codes[i] & l.sign) != 0;
    if (e.scale == 0xFF || magnitude > l.overflow) {
      e.data[i] = out.nan;
    } else if (magnitude == l.overflow) {
      e.data[i] = (negative ? out.sign : 0) | out.max_finite;
    } else {
      e.data[i] = twin::encode(c.element, negative, shifted(twin::value(input, magnitude), 127 - e.scale),
                               Rounding::nearest_even, Overflow::saturate);
    }
  }
  return e;
}

// Kinds of blocks in turn: any bits; one exponent with its neighbours, around any binade; the same with NaN
// or Inf in it; the bottom of the format; only NaN.
Codes random_block(Format input, std::uint64_t index) {
  const twin::Layout l = twin::layout(input);
  const auto bits = [&](std::uint64_t stream, std::size_t i) {
    return static_cast<std::uint32_t>(twin::draw(stream, index * block + i));
  };
  const std::uint32_t fields = l.overflow >> l.mantissa_bits;
  const std::uint32_t field = bits(10, 0) % fields;
  Codes codes;
  for (std::size_t i = 0; i < block; ++i) {
    const std::uint32_t any = bits(11, i) & (l.sign | (l.sign - 1));
    const std::uint32_t near = field - std::min(field, bits(12, i) % 14);
    const std::uint32_t finite = (any & (l.sign | ((1u << l.mantissa_bits) - 1))) | near << l.mantissa_bits;
    const bool special = bits(13, i) % 16 == 0;
    switch (index % 6) {
      case 0:
        codes[i] = any;
        break;
      case 1:
      case 2:
        codes[i] = finite;
        break;
      case 3:
        codes[i] = special ? l.overflow | (any & (l.sign | 1)) : finite;
        break;
      case 4:
        codes[i] = special ? l.overflow | 1 | (any & l.sign) : any & (l.sign | ((2u << l.mantissa_bits) - 1));
        break;
      default:
        codes[i] = index % 12 == 5 ? l.overflow | 1 | any : 0;
        break;
    }
  }
  return codes;
}

TEST(OracleTwin, AgreesOnRandomBlocksUnderEveryContract) {
  std::size_t compared = 0, poisoned = 0;
  for (const Format input : {Format::fp32, Format::fp16, Format::bf16})
    for (const Format element : {Format::e4m3, Format::e5m2})
      for (const ScaleRule rule : rules)
        for (const SpecialBlocks specials : all_specials)
          for (std::uint64_t index = 0; index < 60; ++index) {
            const Contracts contracts{.element = element, .scale_rule = rule, .specials = specials};
            const Codes codes = random_block(input, compared);
            const Expected e = expected(input, codes, contracts);
            const std::uint8_t scale = scale_byte(input, codes, contracts);
            ASSERT_EQ(scale, e.scale) << "block " << index;
            for (std::size_t i = 0; i < block; ++i)
              ASSERT_EQ(element_code(input, codes[i], scale, contracts), e.data[i])
                  << "block " << index << " lane " << i;
            ++compared;
            poisoned += scale == 0xFF;
          }
  EXPECT_EQ(compared, 3u * 2 * 4 * 3 * 60);
  EXPECT_GT(poisoned, compared / 100);
  EXPECT_LT(poisoned, compared / 2) << "most blocks must be decided by the scale rule";
}

// Every mantissa at the ends of the range, where clamping and subnormals meet the rules.
TEST(OracleTwin, AgreesOnEveryBf16AmaxAtTheEnds) {
  for (const Format element : {Format::e4m3, Format::e5m2})
    for (const ScaleRule rule : rules)
      for (std::uint32_t amax = 0; amax < 0x7F80; amax += amax < 0x0A00 || amax >= 0x7D00 ? 1 : 37) {
        const Contracts contracts{.element = element, .scale_rule = rule};
        Codes codes{};
        codes[amax % block] = amax;
        ASSERT_EQ(scale_byte(Format::bf16, codes, contracts), expected(Format::bf16, codes, contracts).scale)
            << amax;
      }
}

}  // namespace
}  // namespace assay::oracles::mxfp8_cast
