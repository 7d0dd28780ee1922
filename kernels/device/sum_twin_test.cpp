// The twins of sums and fused multiply-adds against modelled arithmetic, which shares no code with them.
#include <gtest/gtest.h>

#include <cstdint>

#include "kernels/device/arithmetic.hpp"
#include "kernels/device/f16x2.hpp"
#include "kernels/device/sum_operands.hpp"
#include "oracles/arithmetic/modelled.hpp"

namespace assay::kernels::cpu {
namespace {

using arithmetic::Modelled;
using formats::Format;

/// A prime, so that entries of every kind take part.
constexpr std::uint32_t step = 13;

template <Format F>
std::uint32_t modelled_fma(operands::Triple t) {
  using M = Modelled<F>;
  return fma(M::of_code(t.a), M::of_code(t.b), M::of_code(t.c)).code();
}
template <Format F>
std::uint32_t modelled_sum(operands::Pair p) {
  return (Modelled<F>::of_code(p.a) + Modelled<F>::of_code(p.b)).code();
}
/// The fp16 operation on both halves of two words.
template <class Operation>
std::uint32_t modelled_halves(operands::Pair p, Operation operation) {
  using M = Modelled<Format::fp16>;
  return operation(M::of_code(p.a >> 16), M::of_code(p.b >> 16)).code() << 16 |
         operation(M::of_code(p.a & 0xFFFFu), M::of_code(p.b & 0xFFFFu)).code();
}
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float value(std::uint32_t code) { return std::bit_cast<float>(code); }

TEST(SumTwin, Fp32SumIsRoundedOnce) {
  for (std::uint32_t i = 0; i < operands::sums; i += step) {
    const auto p = operands::SumsF32::addends(i);
    ASSERT_EQ(bits(twin::add_rn_f32(value(p.a), value(p.b))), modelled_sum<Format::fp32>(p))
        << std::hex << p.a << " + " << p.b;
  }
}

TEST(SumTwin, Fp32FusedMultiplyAddIsRoundedOnce) {
  for (std::uint32_t i = 0; i < operands::sums; i += step) {
    const auto t = operands::SumsF32::triple(i);
    ASSERT_EQ(bits(twin::fma_rn_f32(value(t.a), value(t.b), value(t.c))), modelled_fma<Format::fp32>(t))
        << std::hex << t.a << " * " << t.b << " + " << t.c;
  }
}

TEST(SumTwin, Fp16FusedMultiplyAddIsRoundedOnce) {
  for (std::uint32_t i = 0; i < operands::sums; i += step) {
    const auto low = operands::SumsF16::triple(i), high = operands::SumsF16::triple(operands::far_from(i));
    const auto t = operands::triple_f16x2(i);
    ASSERT_EQ(twin::fma_rn_f16x2(t.a, t.b, t.c),
              modelled_fma<Format::fp16>(high) << 16 | modelled_fma<Format::fp16>(low))
        << std::hex << t.a << " * " << t.b << " + " << t.c;
  }
}

TEST(SumTwin, Fp16SumAndDifferenceAreRoundedOnce) {
  for (std::uint32_t i = 0; i < operands::sums; i += step) {
    const auto p = operands::addends_f16x2(i);
    ASSERT_EQ(twin::add_rn_f16x2(p.a, p.b), modelled_halves(p, [](auto a, auto b) { return a + b; }))
        << std::hex << p.a << " + " << p.b;
    ASSERT_EQ(twin::sub_rn_f16x2(p.a, p.b), modelled_halves(p, [](auto a, auto b) { return a - b; }))
        << std::hex << p.a << " - " << p.b;
  }
}

TEST(SumTwin, Fp16ProductIsRoundedOnce) {
  for (std::uint32_t i = 0; i < operands::pairs_16x2; i += step) {
    const auto p = operands::pair_16x2<10>(i);
    ASSERT_EQ(twin::mul_rn_f16x2(p.a, p.b), modelled_halves(p, [](auto a, auto b) { return a * b; }))
        << std::hex << p.a << " * " << p.b;
  }
}

/// The tables hold what they are for: without midpoints and cancellation, rounding twice would pass.
TEST(SumTwin, TablesTellRoundingTwiceFromOnce) {
  unsigned fp32_differs = 0, fp16_through_fp32_differs = 0, zeros = 0, subnormal = 0, infinite = 0;
  for (std::uint32_t i = 0; i < operands::sums; i += step) {
    const auto t = operands::SumsF32::triple(i);
    const float twice = static_cast<float>(static_cast<double>(value(t.a)) * static_cast<double>(value(t.b)) +
                                           static_cast<double>(value(t.c)));
    const float once = twin::fma_rn_f32(value(t.a), value(t.b), value(t.c));
    fp32_differs += twice == twice && bits(twice) != bits(once);
    const auto h = operands::SumsF16::triple(i);
    const std::uint32_t half = twin::fma_rn_f16(h.a, h.b, h.c);
    const float fused =
        twin::fma_rn_f32(twin::cvt_f32_f16(h.a), twin::cvt_f32_f16(h.b), twin::cvt_f32_f16(h.c));
    fp16_through_fp32_differs += twin::cvt_rn_f16_f32(fused) != half;
    zeros += (half & 0x7FFFu) == 0;
    subnormal += (half & 0x7FFFu) - 1 < 0x3FFu;
    infinite += (half & 0x7FFFu) == infinity_f16;
  }
  EXPECT_GT(fp32_differs, 100u);
  EXPECT_GT(fp16_through_fp32_differs, 100u);
  EXPECT_GT(zeros, 1000u);
  EXPECT_GT(subnormal, 1000u);
  EXPECT_GT(infinite, 1000u);
}

}  // namespace
}  // namespace assay::kernels::cpu
