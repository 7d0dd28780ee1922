// Files of peers: what is read, and what is refused by which words.
#include "properties/bench/peers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "fixtures/tensor/errors.hpp"

namespace assay::properties::bench {
namespace {

class PeersFile : public testing::Test {
 protected:
  PeersFile()
      : path_(std::filesystem::temp_directory_path() /
              ("assay_peers_test." + std::to_string(getpid()) + ".json")) {}
  ~PeersFile() override { std::filesystem::remove(path_); }

  std::vector<Peer> read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return read_peers(path_, {"rowwise, 4 x 8", "colwise, 4 x 8"});
  }
  void refused(const std::string& text, const std::string& says) {
    try {
      read(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const BadInput& error) {
      EXPECT_EQ(error.what(), path_.string() + ": " + says) << text;
    }
  }

  std::filesystem::path path_;
};

TEST_F(PeersFile, IsReadInItsOrder) {
  const auto peers = read(R"([{"name": "colwise, 4 x 8", "time_us": 3, "peer": "torch", "note": "mode x"},
                              {"name": "rowwise, 4 x 8", "time_us": 2.5, "peer": "torch"},
                              {"name": "rowwise, 4 x 8", "time_us": 2.25, "peer": "copy"}])");
  ASSERT_EQ(peers.size(), 3u);
  EXPECT_EQ(peers[0].benchmark, "colwise, 4 x 8");
  EXPECT_EQ(peers[0].microseconds, 3);
  EXPECT_EQ(peers[0].note, "mode x");
  EXPECT_EQ(peers[1].peer, "torch");
  EXPECT_EQ(peers[1].note, "");
  EXPECT_EQ(peers[2].microseconds, 2.25);
}

TEST_F(PeersFile, WhatIsWrongIsNamed) {
  const std::string good = R"({"name": "rowwise, 4 x 8", "time_us": 1, "peer": "torch"})";
  refused("", "it is not JSON, from byte 1 on");
  refused("[" + good, "it is not JSON, from byte " + std::to_string(good.size() + 2) + " on");
  refused("{}", "it is not a list of at least one item");
  refused("[]", "it is not a list of at least one item");
  refused("[" + good + ", 3]", "item 1: it is not an object");
  refused("[{}]", "item 0: it has no 'name'");
  refused(R"([{"name": 3}])", "item 0: 'name' is not a text of at least one character");
  refused(R"([{"name": "rowwise, 4x8"}])",
          "item 0: no benchmark is named 'rowwise, 4x8'; the nearest is 'rowwise, 4 x 8'");
  refused(R"([{"name": "rowwise, 4 x 8", "time_us": 1}])", "item 0: it has no 'peer'");
  refused(R"([{"name": "rowwise, 4 x 8", "peer": ""}])",
          "item 0: 'peer' is not a text of at least one character");
  refused(R"([{"name": "rowwise, 4 x 8", "peer": "x"}])", "item 0: it has no 'time_us'");
  for (const char* time : {"0", "-1", "\"3\"", "null", "[1]"}) {
    refused(R"([{"name": "rowwise, 4 x 8", "peer": "x", "time_us": )" + std::string(time) + "}]",
            "item 0: 'time_us' is not a number over 0");
  }
  refused(R"([{"name": "rowwise, 4 x 8", "peer": "x", "time_us": 1e999}])",
          "it holds a number that is too large");
  refused(R"([{"name": "rowwise, 4 x 8", "peer": "x", "time_ms": 1}])",
          "item 0: unknown key 'time_ms'; the nearest is 'time_us'");
  refused(R"([{"name": "rowwise, 4 x 8", "peer": "x", "time_us": 1, "time_us": 2}])",
          "the key 'time_us' twice in one object");
  refused("[" + good + "," + good + "]", "item 1: item 0 is of the same name and peer");
}

TEST_F(PeersFile, AFileThatIsNotThereIsNamed) {
  try {
    read_peers("/no/such/file", {});
    ADD_FAILURE();
  } catch (const BadInput& error) {
    EXPECT_EQ(std::string(error.what()).find("/no/such/file: "), 0u) << error.what();
  }
}

}  // namespace
}  // namespace assay::properties::bench
