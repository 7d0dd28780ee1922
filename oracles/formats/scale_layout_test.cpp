// The swizzle against what it is for: a bijection onto the padded array, whose tiles are the 128 x 4 scales
// of one step of a GEMM.
#include "oracles/formats/scale_layout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay::formats {
namespace {

TEST(ScaleLayout, SwizzleIsABijectionOntoThePaddedArray) {
  for (const std::size_t i_count : {1u, 31u, 128u, 129u, 300u}) {
    for (const std::size_t j_count : {1u, 3u, 4u, 5u, 9u}) {
      const std::size_t padded_i = (i_count + 127) / 128 * 128, padded_j = (j_count + 3) / 4 * 4;
      std::vector<bool> taken(padded_i * padded_j);
      for (std::size_t i = 0; i < padded_i; ++i)
        for (std::size_t j = 0; j < padded_j; ++j) {
          const std::size_t place = swizzled_place(i, j, j_count);
          ASSERT_LT(place, taken.size());
          ASSERT_FALSE(taken[place]) << i << ", " << j;
          taken[place] = true;
        }
    }
  }
}

TEST(ScaleLayout, KnownPlaces) {
  EXPECT_EQ(swizzled_place(0, 0, 8), 0u);
  EXPECT_EQ(swizzled_place(0, 3, 8), 3u);
  EXPECT_EQ(swizzled_place(1, 0, 8), 16u) << "the next i is 16 bytes on";
  EXPECT_EQ(swizzled_place(32, 0, 8), 4u) << "i + 32 is beside i";
  EXPECT_EQ(swizzled_place(127, 3, 8), 511u) << "the last of a tile";
  EXPECT_EQ(swizzled_place(0, 4, 8), 512u) << "then the next tile along j";
  EXPECT_EQ(swizzled_place(128, 0, 8), 1024u) << "and after the last of them, the next along i";
  EXPECT_EQ(swizzled_place(128, 0, 5), 1024u) << "a part of a tile takes a whole one";
  EXPECT_EQ(swizzled_place(129, 6, 12), 3 * 512 + 512 + 16 + 2u);
}

}  // namespace
}  // namespace assay::formats
