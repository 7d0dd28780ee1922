// Scale codes as fp32 bits, and swizzled places, against the oracles' definitions.
#include "kernels/mxfp8_dequant/scale.hpp"

#include <gtest/gtest.h>

#include "oracles/formats/codec.hpp"
#include "oracles/formats/scale_layout.hpp"

namespace assay::kernels::cpu::mxfp8_dequant {
namespace {

TEST(Scale, EveryCodeIsItsPowerOfTwo) {
  using formats::Format;
  for (std::uint32_t code = 0; code < 256; ++code)
    EXPECT_EQ(scale_bits(code), formats::encode(Format::fp32, formats::decode(Format::e8m0, code))) << code;
}

TEST(Scale, SwizzledPlaceIsTheOracles) {
  for (const std::int64_t blocks : {1, 4, 7, 12})
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t j = 0; j < blocks; ++j)
        ASSERT_EQ(
            swizzled_place(i, j, (blocks + 3) / 4),
            static_cast<std::int64_t>(formats::swizzled_place(
                static_cast<std::size_t>(i), static_cast<std::size_t>(j), static_cast<std::size_t>(blocks))));
}

}  // namespace
}  // namespace assay::kernels::cpu::mxfp8_dequant
