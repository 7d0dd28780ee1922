// Times of other implementations.
#include "properties/bench/peers.hpp"

#include <cmath>

#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  const auto path = file_of(bytes);
  const std::vector<std::string> benchmarks = {"cast, 4096 x 4096", "gemv"};
  accepted([&] {
    const auto peers = properties::bench::read_peers(path, benchmarks);
    claim(!peers.empty(), "a list without an item was accepted");
    std::set<std::pair<std::string, std::string>> seen;
    for (const auto& peer : peers) {
      claim(peer.benchmark == benchmarks[0] || peer.benchmark == benchmarks[1],
            "a benchmark that is not there");
      claim(std::isfinite(peer.microseconds) && peer.microseconds > 0, "a time that is none");
      claim(!peer.peer.empty() && seen.emplace(peer.benchmark, peer.peer).second,
            "a peer twice, or without a name");
    }
  });
}

const Register registered({"peers", run});

}  // namespace
}  // namespace assay::fuzz
