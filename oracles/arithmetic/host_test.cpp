// The machine's arithmetic against the modelled one, bit for bit and bound for bound.
#include "oracles/arithmetic/host.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "oracles/formats/twin.hpp"

namespace assay::arithmetic {
namespace {

using formats::Format;
using formats::twin::draw;

/// Zeros, the ends of the subnormals, of the binades around 1 and of the range, Inf and NaN; both signs.
std::vector<std::uint32_t> corners(Format format) {
  const formats::Spec& s = formats::spec(format);
  const std::uint32_t one = static_cast<std::uint32_t>(s.bias) << s.mantissa_bits,
                      mantissa = 1u << s.mantissa_bits;
  const std::uint32_t infinity = formats::max_finite(format) + 1;
  std::vector<std::uint32_t> codes;
  for (const std::uint32_t centre :
       {1u, mantissa, 2 * mantissa, one, one + mantissa / 2, one + mantissa, infinity})
    for (const std::uint32_t code : {centre - 1, centre, centre + 1}) codes.push_back(code);
  const std::size_t positive = codes.size();
  for (std::size_t i = 0; i < positive; ++i) codes.push_back(codes[i] | 1u << (s.bits - 1));
  return codes;
}

template <Format F>
void compare(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto x = Modelled<F>::of_code(a), y = Modelled<F>::of_code(b), z = Modelled<F>::of_code(c);
  const auto p = Host<F>::of_code(a), q = Host<F>::of_code(b), r = Host<F>::of_code(c);
  ASSERT_EQ(p.code(), x.code());
  ASSERT_EQ(fma(p, q, r).code(), fma(x, y, z).code()) << std::hex << a << " * " << b << " + " << c;
  ASSERT_EQ((p + q).code(), (x + y).code()) << std::hex << a << " + " << b;
  ASSERT_EQ((p - q).code(), (x - y).code()) << std::hex << a << " - " << b;
  ASSERT_EQ((p * q).code(), (x * y).code()) << std::hex << a << " * " << b;
  if constexpr (F == Format::fp32) {
    ASSERT_EQ((p / q).code(), (x / y).code()) << std::hex << a << " / " << b;
    ASSERT_EQ(sqrt(p).code(), sqrt(x).code()) << "root of " << std::hex << a;
  }
}

template <Format F>
void compare_corners() {
  const auto codes = corners(F);
  for (const std::uint32_t a : codes)
    for (const std::uint32_t b : codes)
      for (const std::uint32_t c : codes) compare<F>(a, b, c);
}

template <Format F>
std::uint32_t any_code(std::uint64_t bits) {
  return static_cast<std::uint32_t>(bits) & formats::definition::code_mask(formats::definition::spec_of(F));
}

template <Format F>
void compare_any(std::uint64_t stream, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = draw(stream, i);
    compare<F>(any_code<F>(bits), any_code<F>(bits >> 32), any_code<F>(draw(stream + 1, i)));
  }
}

/// Products that lie close to half a place of the number they are added to, on either side and on it: where
/// rounding twice would show. Few mantissa bits are set or few are not.
template <Format F>
void compare_near_ties(std::uint64_t stream, std::uint64_t count) {
  constexpr formats::Spec s = formats::definition::spec_of(F);
  constexpr int low = formats::definition::low_bits(s.mantissa_bits);
  const auto number = [&](int exponent, std::uint64_t bits) {
    const int few = 1 << (bits >> 8) % static_cast<unsigned>(s.mantissa_bits);
    const int mantissa = bits % 4 == 0 ? 0 : bits % 4 == 1 ? few : bits % 4 == 2 ? low - few : low;
    const int field = std::clamp(exponent + s.bias, 0, (1 << s.exponent_bits) - 2);
    return static_cast<std::uint32_t>(field << s.mantissa_bits | mantissa) |
           static_cast<std::uint32_t>((bits >> 40 & 1) << (s.bits - 1));
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = draw(stream, i);
    const int range = 2 * s.bias;
    const int c = static_cast<int>(bits >> 44) % range - s.bias;
    const int product = c - s.mantissa_bits - 2 + static_cast<int>(bits >> 20 & 3);
    const int a = static_cast<int>(draw(stream + 1, i) >> 44) % range - s.bias;
    compare<F>(number(a, draw(stream + 2, i)), number(product - a, draw(stream + 3, i)),
               number(c, draw(stream + 4, i)));
  }
}

TEST(Host, Fp16RoundsAsModelled) {
  compare_corners<Format::fp16>();
  compare_any<Format::fp16>(60, 500000);
  compare_near_ties<Format::fp16>(62, 1500000);
}

TEST(Host, Fp32RoundsAsModelled) {
  compare_corners<Format::fp32>();
  compare_any<Format::fp32>(70, 300000);
  compare_near_ties<Format::fp32>(72, 1000000);
}

template <Format To, Format From>
void compare_conversion(std::uint32_t code) {
  ASSERT_EQ(convert<To>(Host<From>::of_code(code)).code(), convert<To>(Modelled<From>::of_code(code)).code())
      << std::hex << code;
}

TEST(Host, ConvertsAsModelled) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    compare_conversion<Format::fp16, Format::fp16>(code);
    compare_conversion<Format::bf16, Format::fp16>(code);
    compare_conversion<Format::fp32, Format::fp16>(code);
    compare_conversion<Format::fp16, Format::bf16>(code);
    compare_conversion<Format::fp32, Format::bf16>(code);
  }
  for (std::uint64_t code = 0; code < 0x100000000; code += 0xFFF) {
    for (const std::uint64_t near : {code & 0xFFFFF000, (code & 0xFFFFF000) + 1, (code | 0xFFF), code}) {
      compare_conversion<Format::fp16, Format::fp32>(static_cast<std::uint32_t>(near));
      compare_conversion<Format::bf16, Format::fp32>(static_cast<std::uint32_t>(near));
    }
  }
}

template <class A, class B>
void same(const A& fast, const B& slow) {
  ASSERT_EQ(fast.code(), slow.code());
  ASSERT_EQ(fast.bound(), slow.bound()) << std::hex << slow.code();
}

template <Format F>
void compare_bounds(std::uint64_t stream, std::uint64_t i) {
  const auto corner_codes = corners(F);
  std::uint32_t codes[3];
  double bounds[3];
  for (std::uint64_t j = 0; j < 3; ++j) {
    const std::uint64_t bits = draw(stream + j, i);
    codes[j] = (bits >> 60) == 0 ? corner_codes[bits % corner_codes.size()] : any_code<F>(bits);
    bounds[j] = (bits >> 33 & 1) != 0
                    ? 0
                    : std::ldexp(static_cast<double>(bits & 0xFF), static_cast<int>(bits >> 40 & 31) - 24);
  }
  const auto a = HostBounded<F>::of_code(codes[0], bounds[0]),
             b = HostBounded<F>::of_code(codes[1], bounds[1]),
             c = HostBounded<F>::of_code(codes[2], bounds[2]);
  const auto x = Bounded<F>::of_code(codes[0], bounds[0]), y = Bounded<F>::of_code(codes[1], bounds[1]),
             z = Bounded<F>::of_code(codes[2], bounds[2]);
  same(a + b, x + y);
  same(a * b, x * y);
  same(fma(a, b, c), fma(x, y, z));
  same(convert<Format::fp16>(a), convert<Format::fp16>(x));
  same(convert<Format::fp32>(a), convert<Format::fp32>(x));
  same(convert<Format::bf16>(a), convert<Format::bf16>(x));
}

TEST(HostBounded, BoundsAsBounded) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    compare_bounds<Format::fp16>(80, i);
    compare_bounds<Format::fp32>(90, i);
  }
}

}  // namespace
}  // namespace assay::arithmetic
