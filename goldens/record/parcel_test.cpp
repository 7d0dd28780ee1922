// The answer of the child process that read a record: whole, or refused.
#include "goldens/record/parcel.hpp"

#include <gtest/gtest.h>

#include "goldens/record/sample_record.hpp"

namespace assay::goldens {
namespace {

bool refused(std::string_view text) {
  try {
    unpack(text);
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(), "is not a well-formed record: misread by the HDF5 library");
    return true;
  }
  return false;
}

TEST(ParcelTest, RoundTrip) {
  EXPECT_TRUE(same(unpack(pack(sample_record())), sample_record()));
  EXPECT_TRUE(same(unpack(pack({"none", {}, {}})), {"none", {}, {}}));
}

TEST(ParcelTest, WhatIsCutOrLongerIsRefused) {
  const std::string text =
      pack({"f", {{"k", "v"}}, {sealed({"t", {}, {codes("x", formats::Format::bf16, {2, 3})}, {}, {}})}});
  ASSERT_FALSE(refused(text));
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_TRUE(refused(text.substr(0, size))) << size;
  EXPECT_TRUE(refused(text + '\0'));
}

TEST(ParcelTest, AnArrayHasTheBytesOfItsShape) {
  CodeArray array = codes("x", formats::Format::bf16, {2, 3});
  for (const std::size_t size : {0, 11, 13, 14}) {
    array.bytes.resize(size);
    EXPECT_TRUE(refused(pack({"f", {}, {{"t", {}, {array}, {}, {}}}}))) << size;
  }
  array.shape = {std::size_t{1} << 63, 2};
  EXPECT_TRUE(refused(pack({"f", {}, {{"t", {}, {array}, {}, {}}}})));
}

}  // namespace
}  // namespace assay::goldens
