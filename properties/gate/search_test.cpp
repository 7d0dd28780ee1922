// The search for counter-examples: it finds them, shrinks them, and is not green when nothing was compared.
#include "properties/gate/search.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace assay::properties {
namespace {

class Tries : public Bench {
 public:
  bool judge(Workload&) override { return true; }
  bool judge(Workload&, const std::function<void(std::size_t, const Contents&)>&) override { return true; }
  std::uint64_t seed() const override { return 1; }
  int tries() const override { return 200; }
};

TEST(Search, FindsAndShrinksToTheSmallestContradiction) {
  const auto over_16 = [](std::size_t& compared) {
    const int drawn = choice(0, 1000);
    ++compared;
    return drawn > 16 ? std::to_string(drawn) : std::string();
  };
  EXPECT_EQ(search(Tries{}, over_16), "17");
}

TEST(Search, HoldsWhenNothingContradicts) {
  const auto holds = [](std::size_t& compared) {
    ++compared;
    return choice(0, 1000) < 1000 ? std::string() : std::string("1000");
  };
  EXPECT_EQ(search(Tries{}, holds), "");
}

TEST(Search, ComparingNothingIsNotHolding) {
  EXPECT_EQ(search(Tries{}, [](std::size_t&) { return std::string(); }), compared_nothing);
}

TEST(Search, AGeneratorThatFailsIsNotGreenAndSaysWhy) {
  const auto broken = [](std::size_t& compared) -> std::string {
    ++compared;
    throw std::runtime_error("no such input");
  };
  try {
    search(Tries{}, broken);
    ADD_FAILURE() << "it held";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("no such input"), std::string::npos) << error.what();
  }
}

TEST(Search, ChoicesCoverTheirRangeFromTheFirstDraw) {
  std::map<int, int> seen;
  search(Tries{}, [&](std::size_t& compared) {
    ++compared;
    ++seen[choice(3, 7)];
    return std::string();
  });
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen.begin()->first, 3);
  for (const auto& [value, count] : seen) EXPECT_GT(count, 20) << value;
}

}  // namespace
}  // namespace assay::properties
