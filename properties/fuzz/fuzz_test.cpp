// Every committed seed through its target, in every build: what once broke a reader stays repaired, and no
// seed or target dies unnoticed.
#include "properties/fuzz/fuzz.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "fixtures/files/isolate.hpp"

namespace assay::fuzz {
namespace {

const std::filesystem::path seeds = ASSAY_FUZZ_SEEDS;

/// What is wrong with the target on this input; empty when nothing is.
std::string complaint(const Target& target, Bytes bytes) {
  const auto run = [&]() -> std::string {
    try {
      target.run(bytes);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  };
  if (!target.may_crash) return run();
  try {
    return fixtures::run_isolated(run, {std::size_t{1} << 30, 60});
  } catch (const fixtures::IsolationFailure&) {
    return {};  // the HDF5 library's end; the target hdf5 says what becomes of it
  }
}

std::vector<std::byte> content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

class SeedsTest : public ::testing::TestWithParam<Target> {};

TEST_P(SeedsTest, BreakNoClaim) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(seeds / GetParam().seeds)) {
    SCOPED_TRACE(entry.path().string());
    ++count;
    EXPECT_EQ(complaint(GetParam(), content_of(entry.path())), "");
  }
  EXPECT_GT(count, 3u) << "a target needs seeds";
}

INSTANTIATE_TEST_SUITE_P(, SeedsTest, ::testing::ValuesIn(targets()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(FuzzTest, EveryFolderOfSeedsHasItsTarget) {
  for (const auto& entry : std::filesystem::directory_iterator(seeds)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(std::any_of(targets().begin(), targets().end(), [&](const Target& target) {
      return target.seeds == name;
    })) << name;
  }
}

}  // namespace
}  // namespace assay::fuzz
