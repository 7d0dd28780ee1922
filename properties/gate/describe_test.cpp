// Places in words: blocks side by side, blocks below each other, permuted buffers.
#include "properties/gate/describe.hpp"

#include <gtest/gtest.h>

namespace assay::properties {
namespace {

OutputBuffer matrix(const char* name, std::size_t rows, std::size_t cols, std::size_t stride) {
  OutputBuffer buffer;
  buffer.name = name;
  buffer.format = formats::Format::e4m3;
  buffer.elements = rows * stride;
  buffer.rows = rows;
  buffer.cols = cols;
  buffer.stride = stride;
  return buffer;
}

TEST(DescribePlace, BlocksAlongRowsAndColumns) {
  OutputBuffer data = matrix("data", 70, 96, 96);
  EXPECT_EQ(describe_place(data, 3 * 96 + 49), "data[3, 49]");
  data.elements_per_block = 32;
  EXPECT_EQ(describe_place(data, 3 * 96 + 49), "data[3, 49] (block 1, lane 17)");
  data.blocks_in_columns = true;
  EXPECT_EQ(describe_place(data, 67 * 96 + 49), "data[67, 49] (block 2, lane 3)");
}

TEST(DescribePlace, PaddingOfRows) {
  EXPECT_EQ(describe_place(matrix("scales", 3, 5, 8), 8 + 6), "scales[1, 6] (padding)");
  EXPECT_EQ(describe_place(matrix("scales", 3, 5, 8), 3 * 8), "scales[3, 0] (padding)");
}

TEST(DescribePlace, PermutedBufferSaysWhatAByteIsOf) {
  OutputBuffer scales = matrix("scales", 4, 4, 4);
  scales.place = [](std::size_t i) -> std::optional<std::pair<std::size_t, std::size_t>> {
    if (i >= 12) return std::nullopt;
    return std::pair(i % 3, i / 3);
  };
  EXPECT_EQ(describe_place(scales, 7), "scales[1, 2] (byte 7)");
  EXPECT_EQ(describe_place(scales, 13), "scales, byte 13 (padding)");
}

}  // namespace
}  // namespace assay::properties
