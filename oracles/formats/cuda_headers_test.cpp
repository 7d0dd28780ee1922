// The conversions of the CUDA toolkit's headers, which run on the host as well, against ours. Built only
// where the headers are: a third opinion, and the one that kernels are compiled with.
#if __has_include(<cuda_fp8.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "oracles/formats/codec.hpp"
#include "oracles/formats/twin.hpp"

namespace assay::formats {
namespace {

constexpr std::uint64_t draws = 1'000'000;

// fp32 codes: all exponents, then crowded around the values that narrow formats distinguish.
std::uint32_t fp32_code(std::uint64_t index) {
  const auto code = static_cast<std::uint32_t>(twin::draw(7, index));
  if (index % 4 == 0) return code;
  const std::uint32_t exponent = 95 + static_cast<std::uint32_t>(twin::draw(8, index) % 64);
  // Every other draw is within two steps of a midpoint of fp16, bf16 or fp8: long runs of zeros under one
  // bit.
  const std::uint32_t kept = ~0u << (13 + twin::draw(9, index) % 9);
  const std::uint32_t mantissa =
      index % 2 == 0 ? code : (code & kept) + static_cast<std::uint32_t>(index / 4 % 5) - 2;
  return (code & 0x80000000) | exponent << 23 | (mantissa & 0x7FFFFF);
}

void expect_same(Format format, std::uint32_t ours, std::uint32_t theirs, std::uint32_t input) {
  if (is_nan(format, ours)) {
    ASSERT_TRUE(is_nan(format, theirs)) << std::hex << input;  // the headers sign some NaNs
  } else {
    ASSERT_EQ(ours, theirs) << std::hex << input;
  }
}

struct Fp8 {
  Format format;
  __nv_fp8_interpretation_t theirs;
};
constexpr Fp8 fp8_formats[] = {{Format::e4m3, __NV_E4M3}, {Format::e5m2, __NV_E5M2}};
struct Saturation {
  Overflow overflow;
  __nv_saturation_t theirs;
};
constexpr Saturation saturations[] = {{Overflow::saturate, __NV_SATFINITE},
                                      {Overflow::propagate, __NV_NOSAT}};

TEST(CudaHeaders, AgreeOnFp32ToFp8) {
  for (std::uint64_t i = 0; i < draws; ++i) {
    const std::uint32_t code = fp32_code(i);
    for (const auto& [format, fp8] : fp8_formats)
      for (const auto& [overflow, saturation] : saturations)
        ASSERT_NO_FATAL_FAILURE(
            expect_same(format, encode(format, decode(Format::fp32, code), Rounding::nearest_even, overflow),
                        __nv_cvt_float_to_fp8(std::bit_cast<float>(code), saturation, fp8), code));
  }
}

TEST(CudaHeaders, AgreeOnEvery16BitCodeToFp8) {
  for (std::uint32_t code = 0; code <= 0xFFFF; ++code)
    for (const auto& [format, fp8] : fp8_formats)
      for (const auto& [overflow, saturation] : saturations) {
        const auto bits = static_cast<unsigned short>(code);
        ASSERT_NO_FATAL_FAILURE(
            expect_same(format, encode(format, decode(Format::fp16, code), Rounding::nearest_even, overflow),
                        __nv_cvt_halfraw_to_fp8(__half_raw{bits}, saturation, fp8), code));
        ASSERT_NO_FATAL_FAILURE(
            expect_same(format, encode(format, decode(Format::bf16, code), Rounding::nearest_even, overflow),
                        __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{bits}, saturation, fp8), code));
      }
}

TEST(CudaHeaders, AgreeOnFp8ToFp16) {
  for (std::uint32_t code = 0; code < 256; ++code)
    for (const auto& [format, fp8] : fp8_formats)
      expect_same(Format::fp16,
                  encode(Format::fp16, decode(format, code), Rounding::nearest_even, Overflow::propagate),
                  __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), fp8).x, code);
}

TEST(CudaHeaders, AgreeOnFp32ToFp16AndBf16InEveryRounding) {
  const auto half = [](__half x) { return static_cast<__half_raw>(x).x; };
  const auto bfloat = [](__nv_bfloat16 x) { return static_cast<__nv_bfloat16_raw>(x).x; };
  const auto ours = [](Format format, std::uint32_t code, Rounding rounding) {
    return encode(format, decode(Format::fp32, code), rounding, Overflow::propagate);
  };
  for (std::uint64_t i = 0; i < draws / 4; ++i) {
    const std::uint32_t code = fp32_code(i);
    const float x = std::bit_cast<float>(code);
    const std::uint16_t fp16[] = {half(__float2half_rn(x)), half(__float2half_rz(x)),
                                  half(__float2half_ru(x)), half(__float2half_rd(x))};
    const std::uint16_t bf16[] = {bfloat(__float2bfloat16_rn(x)), bfloat(__float2bfloat16_rz(x)),
                                  bfloat(__float2bfloat16_ru(x)), bfloat(__float2bfloat16_rd(x))};
    for (const Rounding r : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
      const auto mode = static_cast<std::size_t>(r);
      ASSERT_NO_FATAL_FAILURE(expect_same(Format::fp16, ours(Format::fp16, code, r), fp16[mode], code));
      ASSERT_NO_FATAL_FAILURE(expect_same(Format::bf16, ours(Format::bf16, code, r), bf16[mode], code));
    }
  }
}

TEST(CudaHeaders, AgreeOnFp32ToE8m0) {
  const struct {
    Rounding ours;
    cudaRoundMode theirs;
  } roundings[] = {{Rounding::toward_zero, cudaRoundZero}, {Rounding::up, cudaRoundPosInf}};
  for (std::uint64_t i = 0; i < draws; ++i) {
    const std::uint32_t code = fp32_code(i) & 0x7FFFFFFF;
    for (const auto& [ours, theirs] : roundings)
      for (const auto& [overflow, saturation] : saturations)
        ASSERT_NO_FATAL_FAILURE(
            expect_same(Format::e8m0, encode(Format::e8m0, decode(Format::fp32, code), ours, overflow),
                        __nv_cvt_float_to_e8m0(std::bit_cast<float>(code), saturation, theirs), code));
  }
}

}  // namespace
}  // namespace assay::formats
#endif
