#include "properties/bench/peers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "fixtures/files/mapped_file.hpp"
#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"

namespace assay::properties::bench {
namespace {

using fixtures::in_quotes;
using nlohmann::json;

/// One item of the file, for messages.
struct Place {
  const std::filesystem::path& file;
  std::size_t item;

  [[noreturn]] void refuse(const std::string& reason) const {
    fixtures::bad_file(file, fmt::format("item {}: {}", item, reason));
  }
};

json parse(const std::filesystem::path& file) {
  const auto mapped = fixtures::MappedFile::open(file);
  const auto bytes = mapped->bytes();
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  // The parser keeps the last of two members with one name; an item that has them says two things.
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second)
      fixtures::bad_file(file,
                         fmt::format("the key {} twice in one object", in_quotes(parsed.get<std::string>())));
    return true;
  };
  try {
    return json::parse(begin, begin + bytes.size(), watch);
  } catch (const json::parse_error& error) {
    fixtures::bad_file(file, fmt::format("it is not JSON, from byte {} on", error.byte));
  } catch (const json::exception&) {
    fixtures::bad_file(file, "it holds a number that is too large");
  }
}

std::string text_of(const json& item, const char* key, const Place& place) {
  if (!item.contains(key)) place.refuse(fmt::format("it has no '{}'", key));
  if (!item[key].is_string() || item[key].get_ref<const std::string&>().empty())
    place.refuse(fmt::format("'{}' is not a text of at least one character", key));
  return item[key];
}

Peer read_item(const json& item, const std::vector<std::string>& benchmarks, const Place& place) {
  if (!item.is_object()) place.refuse("it is not an object");
  const std::vector<std::string> keys = {"name", "time_us", "peer", "note"};
  for (const auto& [key, value] : item.items()) {
    if (std::count(keys.begin(), keys.end(), key) == 0) {
      place.refuse(
          fmt::format("unknown key {}; the nearest is '{}'", in_quotes(key), fixtures::nearest(key, keys)));
    }
  }
  Peer peer;
  peer.benchmark = text_of(item, "name", place);
  if (std::count(benchmarks.begin(), benchmarks.end(), peer.benchmark) == 0) {
    place.refuse(fmt::format(
        "no benchmark is named {}{}", in_quotes(peer.benchmark),
        benchmarks.empty()
            ? std::string("; there are none")
            : fmt::format("; the nearest is '{}'", fixtures::nearest(peer.benchmark, benchmarks))));
  }
  peer.peer = text_of(item, "peer", place);
  if (!item.contains("time_us")) place.refuse("it has no 'time_us'");
  if (!item["time_us"].is_number() || !(item["time_us"].get<double>() > 0))
    place.refuse("'time_us' is not a number over 0");
  peer.microseconds = item["time_us"];
  if (item.contains("note")) peer.note = text_of(item, "note", place);
  return peer;
}

}  // namespace

std::vector<Peer> read_peers(const std::filesystem::path& file, const std::vector<std::string>& benchmarks) {
  const json list = parse(file);
  if (!list.is_array() || list.empty()) fixtures::bad_file(file, "it is not a list of at least one item");
  std::vector<Peer> peers;
  for (const json& item : list) {
    const Place place{file, peers.size()};
    Peer peer = read_item(item, benchmarks, place);
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (peers[i].benchmark == peer.benchmark && peers[i].peer == peer.peer)
        place.refuse(fmt::format("item {} is of the same name and peer", i));
    }
    peers.push_back(std::move(peer));
  }
  return peers;
}

}  // namespace assay::properties::bench
