// Reading case tokens: what is taken, and what every complaint says.
#include "properties/gate/token.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fixtures/tensor/errors.hpp"

namespace assay::properties {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(std::string_view token) {
  Pairs pairs;
  TokenReader(token).for_each_pair(
      "family", "on", [&](std::string_view key, std::string_view value) { pairs.emplace_back(key, value); });
  return pairs;
}

template <class Read>
std::string complaint(const Read& read) {
  try {
    read();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "none";
}

TEST(Token, PairsInOrderAndTheRestForTheLastKey) {
  EXPECT_EQ(pairs_of("family:"), Pairs{});
  EXPECT_EQ(pairs_of("family:a=1,b=,c=2"), (Pairs{{"a", "1"}, {"b", ""}, {"c", "2"}}));
  EXPECT_EQ(pairs_of("family:a=1,on=x,y=z:t"), (Pairs{{"a", "1"}, {"on", "x,y=z:t"}}));
  EXPECT_EQ(complaint([] { pairs_of("famil:a=1"); }), "case 'famil:a=1': it does not start with 'family:'");
  EXPECT_EQ(complaint([] { pairs_of("family:a=1,b"); }), "case 'family:a=1,b': 'b' is not key=value");
}

TEST(Token, AKeyStandsOnce) {
  EXPECT_EQ(complaint([] { pairs_of("family:a=1,b=,a=2"); }), "case 'family:a=1,b=,a=2': 'a' is given twice");
  EXPECT_EQ(complaint([] { pairs_of("family:a=1,a=1"); }), "case 'family:a=1,a=1': 'a' is given twice");
  EXPECT_EQ(pairs_of("family:a=1,on=x,a=2,on=3"), (Pairs{{"a", "1"}, {"on", "x,a=2,on=3"}})) << "a path";
}

TEST(Token, AComplaintIsOneShortLine) {
  EXPECT_EQ(complaint([] { pairs_of("family:\x1b[2J\n"); }),
            "case 'family:\\x1b[2J\\x0a': '\\x1b[2J\\x0a' is not key=value");
  const std::string x500(500, 'x');
  EXPECT_EQ(complaint([&] { TokenReader(x500 + "y").refuse(x500 + "y"); }),
            "case '" + x500 + "...': " + x500 + "...");
}

TEST(Token, ValuesAreCheckedWhole) {
  const TokenReader reader("t");
  EXPECT_EQ(reader.number("n", "64", 1, 64), 64u);
  EXPECT_EQ(reader.signed_number("e", "-3", 3), -3);
  EXPECT_EQ(reader.signed_number("e", "3", 3), 3);
  for (const char* bad : {"", "0", "65", "6x", "-1", "+1", " 1", "18446744073709551616"}) {
    EXPECT_EQ(complaint([&] { reader.number("n", bad, 1, 64); }),
              std::string("case 't': n='") + bad + "' is not a whole number from 1 to 64");
  }
  for (const char* bad : {"", "4", "-4", "--1", "-", "+1", "1x", "99999999999"}) {
    EXPECT_EQ(complaint([&] { reader.signed_number("e", bad, 3); }),
              std::string("case 't': e='") + bad + "' is not a whole number from -3 to 3");
  }
}

TEST(Token, UnknownWordsNameTheNearest) {
  const TokenReader reader("t");
  constexpr std::string_view names[] = {"rceil", "floor"};
  EXPECT_EQ(reader.choice("rule", "floor", names), 1u);
  EXPECT_EQ(complaint([&] { reader.choice("rule", "flor", names); }),
            "case 't': rule='flor' is unknown; the nearest is 'floor'");
  EXPECT_EQ(complaint([&] { reader.refuse_key("rcel", names); }),
            "case 't': unknown key 'rcel'; the nearest is 'rceil'");
}

}  // namespace
}  // namespace assay::properties
