// fixtures/public_faults.json: where each fault that was reported in public lives here, where its right
// values are asserted, and by what it is seen to fail. Nothing in it may point at what is not there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "properties/gate/family.hpp"
#include "properties/gate/home.hpp"

namespace assay::properties {
namespace {

using Json = nlohmann::json;

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// "FILE_test.cpp: Suite.Name".
bool is_a_test(const std::string& file, const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return false;
  const std::string text = contents(home() / file);
  const std::string head = "(" + name.substr(0, dot) + ", " + name.substr(dot + 1) + ")";
  return text.find("TEST" + head) != text.npos || text.find("TEST_F" + head) != text.npos;
}

/// "FAMILY: property".
bool is_a_property(const std::string& family_name, const std::string& name) {
  for (const Family* family : families()) {
    if (family->name() != family_name) continue;
    const auto properties = family->properties();
    return std::any_of(properties.begin(), properties.end(),
                       [&](const Property& one) { return one.name == name; });
  }
  return false;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Whether a place named by the file is there: a fixture with that id, a planted fault, a test, a property.
bool is_there(const std::string& place, const std::string& id) {
  if (ends_with(place, ".json")) {
    const Json fixture = Json::parse(contents(home() / place), nullptr, false);
    return fixture.is_object() && fixture.value("id", "") == id;
  }
  if (ends_with(place, ".fault")) return contents(home() / place).find("\npattern: ") != std::string::npos;
  const std::size_t colon = place.find(": ");
  if (colon == place.npos) return false;
  const std::string file = place.substr(0, colon), name = place.substr(colon + 2);
  return ends_with(file, "_test.cpp") ? is_a_test(file, name) : is_a_property(file, name);
}

/// What is wrong with an entry of the list; empty when nothing is.
std::string complaint(const Json& fault) {
  const std::string id = fault.value("id", "");
  if (fault.value("title", "").empty()) return id + " has no title";
  for (const char* key : {"homes", "right", "shown"}) {
    if (!fault.contains(key) || !fault[key].is_array() || fault[key].empty())
      return id + " has no '" + key + "'";
    for (const Json& place : fault[key])
      if (!is_there(place.get<std::string>(), id))
        return id + ": " + place.get<std::string>() + " is not there";
  }
  return "";
}

Json listed() { return Json::parse(contents(home() / "fixtures" / "public_faults.json"))["faults"]; }

TEST(PublicFaults, EachHasAHomeItsRightValuesAndIsShownToFail) {
  std::set<std::string> ids;
  for (const Json& fault : listed()) {
    EXPECT_EQ(complaint(fault), "");
    EXPECT_TRUE(ids.insert(fault["id"]).second) << fault["id"] << " twice";
  }
  EXPECT_EQ(ids, (std::set<std::string>{"B01", "B03", "B05", "B07", "B08", "B10", "B11", "B12", "B14",
                                        "B15", "B17", "B18", "B19", "B21", "B23", "B24", "B25", "B26",
                                        "B28", "B30", "B32", "B34", "B36", "B37", "B38", "B40", "B42",
                                        "B44", "B47", "B48", "B50", "B52", "B53"}));
}

TEST(PublicFaults, WhatPointsNowhereIsSeen) {
  const Json right = listed()[0];
  ASSERT_EQ(complaint(right), "");
  for (const char* key : {"homes", "right", "shown"}) {
    for (const char* place :
         {"fixtures/mxfp8_cast/reported/B99.json", "fixtures/mxfp8_cast/reported/B03.json",
          "properties/none.fault", "fixtures/mxfp8_cast/reported_test.cpp: Reported.NoSuchTest",
          "no_test.cpp: Reported.NoSuchTest", "mxfp8_cast: no such property", "no_family: tiny norms",
          "README.md"}) {
      Json wrong = right;
      wrong[key] = Json::array({place});
      EXPECT_EQ(complaint(wrong), "B01: " + std::string(place) + " is not there");
    }
    Json none = right;
    none[key] = Json::array();
    EXPECT_EQ(complaint(none), "B01 has no '" + std::string(key) + "'");
  }
}

}  // namespace
}  // namespace assay::properties
