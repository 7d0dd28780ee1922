#include "properties/cli/options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"

namespace assay::cli {

using kernels::DeviceKind;
using properties::Level;

const char* const exit_codes =
    "Exit codes: 0 pass, 1 fail, 2 usage or bad input, 3 vacuous (nothing was shown), 4 environment (a "
    "required\n"
    "device or tool is absent, writing output failed, or an internal error).";

void refuse_empty(const char* option, const std::vector<std::string>& values, const char* wanted) {
  if (std::count(values.begin(), values.end(), "") > 0)
    throw BadInput(fmt::format("{} '': it needs {}", option, wanted));
}

void refuse_empty_text(const char* option, const CLI::Option* given, const std::string& value,
                       const char* wanted) {
  if (given->count() > 0 && value.empty()) throw BadInput(fmt::format("{} '': it needs {}", option, wanted));
}

DeviceKind parse_device(const std::string& name) {
  if (name == "cpu") return DeviceKind::cpu;
  if (name == "cuda") return DeviceKind::cuda;
  throw BadInput(fmt::format("unknown device {}; the nearest is '{}'", fixtures::in_quotes(name),
                             fixtures::nearest(name, {"cpu", "cuda", "all"})));
}

std::vector<DeviceKind> parse_devices(const std::vector<std::string>& names) {
  std::vector<DeviceKind> devices;
  for (const std::string& name : names) {
    if (name != "all") devices.push_back(parse_device(name));
  }
  if (std::count(names.begin(), names.end(), "all") > 0) devices.clear();
  return devices;
}

Level parse_level(const std::string& name) {
  const std::map<std::string, Level> levels = {
      {"quick", Level::quick}, {"full", Level::full}, {"exhaustive", Level::exhaustive}};
  const auto found = levels.find(name);
  if (found != levels.end()) return found->second;
  throw BadInput(fmt::format("unknown level {}; the nearest is '{}'", fixtures::in_quotes(name),
                             fixtures::nearest(name, {"quick", "full", "exhaustive"})));
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc{} && end == text.data() + text.size()) return seed;
  throw BadInput(fmt::format("--seed {}: it is not a whole number from 0 to {}", fixtures::in_quotes(text),
                             ~std::uint64_t{0}));
}

std::size_t parse_limit(const std::string& text) {
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error == std::errc{} && end == text.data() + text.size() && limit > 0) return limit;
  throw BadInput(fmt::format("--limit {}: it is not a whole number of 1 or more", fixtures::in_quotes(text)));
}

}  // namespace assay::cli
