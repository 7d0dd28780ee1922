// The cast once more, from its prose: big integers, and every scale and element found by trying them all in
// order. Random blocks under every contract.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

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

Expected expected(Format input, std::span<const std::uint32_t> codes, const Contracts& c) {
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
  } else if (nans == codes.size()) {
    e.scale = c.specials == SpecialBlocks::te_staged ? 0x00 : 0xFF;
  }
  const twin::Layout out = twin::layout(c.element);
  for (std::size_t i = 0; i < codes.size(); ++i) {
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

// A swizzled buffer read from its first byte to its last: tiles along the rows (or columns) i of blocks, in
// each the tiles along the blocks j of one row, in each 32 rows, of each the four that lie 32 apart, of each
// four blocks.
std::map<std::pair<std::size_t, std::size_t>, std::size_t> swizzled_places(std::size_t i_count,
                                                                           std::size_t j_count) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> places;
  std::size_t at = 0;
  for (std::size_t i_tile = 0; i_tile < i_count; i_tile += 128)
    for (std::size_t j_tile = 0; j_tile < j_count; j_tile += 4)
      for (std::size_t row = 0; row < 32; ++row)
        for (std::size_t group = 0; group < 4; ++group)
          for (std::size_t j = 0; j < 4; ++j) places[{i_tile + group * 32 + row, j_tile + j}] = at++;
  return places;
}

// Every byte of both buffers of a direction, block by block in the order of the definition.
void expect_whole_cast(Format input, const Shape& shape, Direction direction, const Contracts& contracts) {
  const bool rowwise = direction == Direction::rowwise;
  const std::size_t lines = rowwise ? shape.rows : shape.cols;  // i; along each, blocks j
  const std::size_t length = rowwise ? shape.cols : shape.rows;
  const std::size_t blocks = (length + block - 1) / block;
  const auto width = formats::storage_bytes(input);
  std::vector<std::byte> x(shape.rows * shape.cols * static_cast<std::size_t>(width));
  const auto flat = [&](std::size_t i, std::size_t k) {
    return rowwise ? i * shape.cols + k : k * shape.cols + i;
  };
  for (std::size_t i = 0; i < lines; ++i)
    for (std::size_t k = 0; k < length; ++k)
      arithmetic::store_code(x, width, flat(i, k), random_block(input, i * blocks + k / block)[k % block]);

  const CastAcceptance a = accept(input, x, shape, direction, contracts);
  const auto places = swizzled_places(lines, blocks);
  const std::size_t stride = shape.extent(direction).stride;
  std::vector<bool> is_scale(a.scales.size());
  for (std::size_t i = 0; i < lines; ++i) {
    for (std::size_t j = 0; j < blocks; ++j) {
      std::vector<std::uint32_t> codes;
      for (std::size_t k = j * block; k < std::min(length, (j + 1) * block); ++k)
        codes.push_back(arithmetic::load_code(x, width, flat(i, k)));
      const Expected e = expected(input, codes, contracts);
      const std::size_t place = contracts.layout == ScaleLayout::swizzled ? places.at({i, j})
                                : rowwise                                 ? i * stride + j
                                                                          : j * stride + i;
      ASSERT_FALSE(is_scale.at(place)) << "two scales in one place";
      is_scale[place] = true;
      ASSERT_EQ(std::to_integer<int>(a.scales.lo[place]), e.scale) << "scale of line " << i << " block " << j;
      for (std::size_t k = 0; k < codes.size(); ++k)
        ASSERT_EQ(std::to_integer<std::uint32_t>(a.data.lo[flat(i, j * block + k)]), e.data[k])
            << "line " << i << " block " << j << " lane " << k;
    }
  }
  std::vector<bool> kept(a.scales.size());
  for (const auto& range : a.scales.untouched)
    for (std::size_t i = range.begin; i < range.end; ++i) kept.at(i) = true;
  for (std::size_t i = 0; i < is_scale.size(); ++i) {
    ASSERT_EQ(kept[i], !is_scale[i] && contracts.padding == Padding::untouched) << "byte " << i;
    ASSERT_TRUE(is_scale[i] || a.scales.lo[i] == std::byte{0}) << "byte " << i;
  }
}

TEST(OracleTwin, AgreesOnWholeCastsInEitherDirectionAndLayout) {
  constexpr std::size_t rows[] = {1, 31, 32, 33, 64, 95, 129, 160}, cols[] = {32, 96, 128, 160, 288};
  constexpr Format inputs[] = {Format::bf16, Format::fp16, Format::fp32};
  std::size_t turn = 0;
  for (const std::size_t r : rows)
    for (const std::size_t c : cols)
      for (const Direction direction : {Direction::rowwise, Direction::colwise})
        for (const ScaleLayout layout : {ScaleLayout::linear, ScaleLayout::swizzled}) {
          Contracts contracts{.specials = all_specials[turn % 3], .padding = Padding{turn % 2 == 0}};
          contracts.scale_rule = rules[turn / 3 % 4];
          contracts.element = turn / 5 % 2 ? Format::e5m2 : Format::e4m3;
          contracts.layout = layout;
          Shape shape{r, c, {}, {}};
          ScaleExtent extent = shape.swizzled(direction);
          if (layout == ScaleLayout::linear) {
            extent = shape.scales(direction);
            extent.rows += turn % 3;
            extent.stride += turn / 2 % 4;
          }
          shape.extent(direction) = extent;
          SCOPED_TRACE(testing::Message() << r << " x " << c << ", direction " << static_cast<int>(direction)
                                          << ", layout " << static_cast<int>(layout));
          expect_whole_cast(inputs[turn++ / 4 % 3], shape, direction, contracts);
          if (testing::Test::HasFatalFailure()) return;
        }
  EXPECT_EQ(turn, 160u);
}

}  // namespace
}  // namespace assay::oracles::mxfp8_cast
