#include "properties/cli/exact_text.hpp"

#include <gtest/gtest.h>

#include "oracles/formats/codec.hpp"

namespace assay::cli {
namespace {

using formats::Format;

std::uint32_t encoded(Format format, std::string_view text) {
  const auto value = parse_exact(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? formats::encode(format, *value) : 0;
}

TEST(ExactText, RoundsOnceFromDecimals) {
  EXPECT_EQ(encoded(Format::e4m3, "1.0625"), 0x38u) << "a tie, to even";
  EXPECT_EQ(encoded(Format::e4m3, "1.06250000000000000000000000000000000001"), 0x39u)
      << "above the tie by less than a double can hold";
  EXPECT_EQ(encoded(Format::e4m3, "-0"), 0x80u);
  EXPECT_EQ(encoded(Format::fp32, "1e-45"), 0x00000001u);
  EXPECT_EQ(encoded(Format::fp32, "0.1"), 0x3DCCCCCDu);
  EXPECT_EQ(encoded(Format::fp32, "0x1.8p+3"), 0x41400000u);
  EXPECT_EQ(encoded(Format::fp32, "340282356779733661637539395458142568448"), 0x7F7FFFFFu)
      << "overflow, saturated";
  EXPECT_EQ(encoded(Format::bf16, "1.00390625"), 0x3F80u);
  EXPECT_EQ(encoded(Format::e5m2, "inf"), formats::max_finite(Format::e5m2));
}

TEST(ExactText, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", ".", "1.5x", "e5", "0x", "0x1.8p", "1e", "1e99999", "one", "1..5", "--1",
                           "1e+-5", "1e++5", "0x1p+-1"}) {
    EXPECT_FALSE(parse_exact(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace assay::cli
