#include "properties/gate/cuts.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace assay::properties {

void sort_by_size(std::vector<Cut>& cuts) {
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::pair(a.size(), a.begin) < std::pair(b.size(), b.begin);
  });
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

std::vector<Cut> cuts_around(std::size_t at, std::size_t extent, std::size_t unit) {
  assert(at < extent && unit > 0);
  std::vector<Cut> cuts;
  for (std::size_t length = unit; length < extent; length *= 2) {
    const std::size_t begin = at / length * length;
    cuts.push_back({begin, std::min(begin + length, extent)});
  }
  const std::size_t own = at / unit * unit;
  cuts.push_back({0, std::min(own + unit, extent)});
  cuts.push_back({own, extent});
  cuts.push_back({0, extent});
  sort_by_size(cuts);
  return cuts;
}

std::vector<std::vector<Cut>> boxes(const std::vector<std::vector<Cut>>& dimensions) {
  std::vector<std::vector<Cut>> all = {{}};
  for (const std::vector<Cut>& cuts : dimensions) {
    std::vector<std::vector<Cut>> longer;
    for (const std::vector<Cut>& box : all) {
      for (const Cut& cut : cuts) {
        longer.push_back(box);
        longer.back().push_back(cut);
      }
    }
    all = std::move(longer);
  }
  all.pop_back();  // of the last of each
  const auto elements = [](const std::vector<Cut>& box) {
    return std::accumulate(box.begin(), box.end(), std::size_t{1},
                           [](std::size_t product, const Cut& cut) { return product * cut.size(); });
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return elements(a) < elements(b); });
  return all;
}

}  // namespace assay::properties
