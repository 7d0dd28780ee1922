// The dequantisation once more, by another road: big integers and search among enumerated values. All 256
// data codes under all 256 scale codes, in both element formats, to every output format.
#include <gtest/gtest.h>

#include <cstdint>

#include "oracles/formats/twin.hpp"
#include "oracles/mxfp8_dequant/oracle.hpp"

namespace assay::oracles::mxfp8_dequant {
namespace {

namespace twin = formats::twin;
using formats::Exact;
using formats::Format;
using formats::Overflow;
using formats::Rounding;
using twin::Number;

constexpr Format elements[] = {Format::e4m3, Format::e5m2};
constexpr Format outputs[] = {Format::fp32, Format::fp16, Format::bf16};

Number shifted(const Number& x, int power) {
  return power >= 0 ? Number(x << static_cast<unsigned>(power)) : Number(x >> static_cast<unsigned>(-power));
}

std::uint32_t expected(std::uint32_t data, std::uint32_t scale, Format element, Format output) {
  const twin::Layout in = twin::layout(element), out = twin::layout(output);
  const std::uint32_t magnitude = data & ~in.sign, sign = (data & in.sign) != 0 ? out.sign : 0;
  const bool has_infinity = in.overflow != in.nan;
  const bool infinite = has_infinity && magnitude == in.overflow;
  if (scale == 0xFF || (magnitude > in.max_finite && !infinite)) return out.nan;
  if (infinite) return sign | out.overflow;
  return twin::encode(output, sign != 0,
                      shifted(twin::value(element, magnitude), static_cast<int>(scale) - 127),
                      Rounding::nearest_even, Overflow::propagate);
}

template <class Visit>
void for_every_input(const Visit& visit) {
  for (const Format element : elements)
    for (const Format output : outputs)
      for (std::uint32_t scale = 0; scale < 256; ++scale)
        for (std::uint32_t data = 0; data < 256; ++data) visit(data, scale, Contracts{element, output});
}

TEST(DequantTwin, EveryCodeUnderEveryScale) {
  for_every_input([](std::uint32_t data, std::uint32_t scale, const Contracts& c) {
    ASSERT_EQ(output_code(static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(scale), c),
              expected(data, scale, c.element, c.output))
        << "data " << data << " scale " << scale << " " << formats::spec(c.element).name << " to "
        << formats::spec(c.output).name;
  });
}

// The schedule that kernels follow: the product in fp32, then one narrowing.
TEST(DequantTwin, RoundingToFp32FirstChangesNothing) {
  for_every_input([](std::uint32_t data, std::uint32_t scale, const Contracts& c) {
    const auto d = static_cast<std::uint8_t>(data), s = static_cast<std::uint8_t>(scale);
    const Exact product = formats::decode(Format::fp32, output_code(d, s, {c.element, Format::fp32}));
    ASSERT_EQ(formats::encode(c.output, product, Rounding::nearest_even, Overflow::propagate),
              output_code(d, s, c))
        << "data " << data << " scale " << scale;
  });
}

// Which is so because nothing but overflow is ever rounded to fp32.
TEST(DequantTwin, TheFp32ProductIsExactOrOverflows) {
  for_every_input([](std::uint32_t data, std::uint32_t scale, const Contracts& c) {
    const twin::Layout in = twin::layout(c.element);
    const std::uint32_t magnitude = data & ~in.sign;
    if (magnitude > in.max_finite || scale == 0xFF) return;
    const Number product = shifted(twin::value(c.element, magnitude), static_cast<int>(scale) - 127);
    const Exact rounded = formats::decode(
        Format::fp32, output_code(static_cast<std::uint8_t>(data), static_cast<std::uint8_t>(scale),
                                  {c.element, Format::fp32}));
    if (product >= twin::number(1, 128)) {
      ASSERT_EQ(rounded.kind, formats::Kind::infinity);
    } else {
      ASSERT_EQ(twin::magnitude_of(rounded), product) << "data " << data << " scale " << scale;
    }
  });
}

}  // namespace
}  // namespace assay::oracles::mxfp8_dequant
