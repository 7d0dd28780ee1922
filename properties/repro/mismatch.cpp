#include "properties/repro/mismatch.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <functional>
#include <optional>

#include "oracles/formats/codec.hpp"
#include "properties/gate/describe.hpp"

namespace assay::properties::repro {
namespace {

using arithmetic::Acceptance;
using arithmetic::ElementRange;
using Place = std::optional<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t window = std::size_t{1} << 16;  // elements: the mismatches of one are held at a time

std::size_t width_of(const Acceptance& acceptance) {
  return static_cast<std::size_t>(formats::storage_bytes(acceptance.format));
}

/// Row and column of a stored element; nothing for padding.
Place place_of(const OutputBuffer& output, std::size_t index) {
  if (output.place) return output.place(index);
  const std::size_t stride = std::max<std::size_t>(output.stride, 1);
  const std::size_t row = index / stride, col = index % stride;
  if (row >= output.rows || col >= output.cols) return std::nullopt;
  return std::pair(row, col);
}

bool same_element(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t width,
                  std::size_t index) {
  return std::memcmp(a.data() + index * width, b.data() + index * width, width) == 0;
}

/// A report in the making. Mismatches come in ascending order.
class Builder {
 public:
  Builder(const OutputBuffer& output, const Acceptance& acceptance, bool knows_before)
      : output_(output), acceptance_(acceptance) {
    report_.name = output.name;
    report_.format = formats::spec(output.format).name;
    if (!knows_before) {
      for (const ElementRange& range : acceptance.untouched) report_.not_judged += range.end - range.begin;
    }
    report_.judged = acceptance.size() - report_.not_judged;
  }

  void add(const Mismatch& mismatch, bool stale) {
    if (report_.wrong++ == 0) prepare_map();
    mark(mismatch.index);
    Histogram& histogram = report_.histogram;
    if (stale) {
      ++histogram.not_written;
      return keep_first(stale_, mismatch);
    }
    if (mismatch.untouched) {
      ++histogram.had_to_stay;
      return keep_first(written_, mismatch);
    }
    if (mismatch.codes_outside == 0) {
      ++histogram.nan;
      return keep_first(nan_, mismatch);
    }
    const bool zeros = mismatch.codes_outside == 1 && is_zero(mismatch.actual) &&
                       (is_zero(mismatch.lo) || is_zero(mismatch.hi));
    ++(zeros ? histogram.sign_of_zero : histogram.distances[Histogram::bucket(mismatch.codes_outside)]);
    report_.worst_distance = std::max(report_.worst_distance, mismatch.codes_outside);
    keep_worst(mismatch);
  }

  OutputReport finish() {
    report_.not_written = report_.histogram.not_written;
    if (report_.wrong > 0) count_cells();
    report_.worst = in_words(worst_);
    report_.nan = in_words(nan_);
    report_.stale = in_words(stale_);
    report_.written = in_words(written_);
    return std::move(report_);
  }

 private:
  bool is_zero(std::uint32_t code) const {
    return formats::decode(output_.format, code).kind == formats::Kind::zero;
  }

  static void keep_first(std::vector<Mismatch>& list, const Mismatch& mismatch) {
    if (list.size() < OutputReport::most_shown) list.push_back(mismatch);
  }

  void keep_worst(const Mismatch& mismatch) {
    const auto place = std::upper_bound(
        worst_.begin(), worst_.end(), mismatch,
        [](const Mismatch& a, const Mismatch& b) { return a.codes_outside > b.codes_outside; });
    if (place == worst_.end() && worst_.size() == OutputReport::most_shown) return;
    worst_.insert(place, mismatch);
    if (worst_.size() > OutputReport::most_shown) worst_.pop_back();
  }

  void prepare_map() {
    Map& map = report_.map;
    map.rows = output_.rows;
    map.cols = output_.cols;
    if (output_.place) {  // rows and columns of the buffer are those of its storage
      map.rows = map.cols = 0;
      for (std::size_t i = 0; i < acceptance_.size(); ++i) {
        const Place place = output_.place(i);
        if (!place) continue;
        map.rows = std::max(map.rows, place->first + 1);
        map.cols = std::max(map.cols, place->second + 1);
      }
    }
    map.height = std::min(map.rows, Map::most_height);
    map.width = std::min(map.cols, Map::most_width);
    map.cells.resize(map.height * map.width);
  }

  Map::Cell* cell(std::size_t index) {
    Map& map = report_.map;
    const Place place = place_of(output_, index);
    if (!place) return nullptr;
    return &map.cells[Map::part(place->first, map.rows, map.height) * map.width +
                      Map::part(place->second, map.cols, map.width)];
  }

  void mark(std::size_t index) {
    if (Map::Cell* const found = cell(index)) {
      ++found->wrong;
    } else {
      ++report_.map.wrong_padding;
    }
  }

  /// How much of each cell was judged: all of it, but for what had to stay as nobody knows how it was.
  void count_cells() {
    Map& map = report_.map;
    const auto extent = [](std::size_t i, std::size_t whole, std::size_t parts) {
      return Map::begin(i + 1, whole, parts) - Map::begin(i, whole, parts);
    };
    for (std::size_t i = 0; i < map.height; ++i)
      for (std::size_t j = 0; j < map.width; ++j)
        map.cells[i * map.width + j].judged =
            extent(i, map.rows, map.height) * extent(j, map.cols, map.width);
    if (report_.not_judged == 0) return;
    for (const ElementRange& range : acceptance_.untouched) {
      for (std::size_t index = range.begin; index < range.end; ++index) {
        if (Map::Cell* const found = cell(index)) --found->judged;
      }
    }
  }

  std::vector<WrongElement> in_words(const std::vector<Mismatch>& list) const {
    std::vector<WrongElement> elements;
    for (const Mismatch& mismatch : list) {
      const auto code = [&](std::uint32_t value) { return describe_code(output_.format, value); };
      elements.push_back({mismatch, describe_place(output_, mismatch.index), code(mismatch.lo),
                          code(mismatch.hi), code(mismatch.actual)});
    }
    return elements;
  }

  const OutputBuffer& output_;
  const Acceptance& acceptance_;
  OutputReport report_;
  std::vector<Mismatch> worst_, nan_, stale_, written_;
};

/// Whether an element of the contents that are judged is what it was before.
using Stale = std::function<bool(std::size_t index)>;

/// `before` is empty where it is not known.
OutputReport report_of(const OutputBuffer& output, const Acceptance& acceptance,
                       std::span<const std::byte> actual, std::span<const std::byte> before,
                       const Stale& stale) {
  assert(actual.size() == acceptance.lo.size());
  const std::size_t width = width_of(acceptance);
  Builder builder(output, acceptance, !before.empty());
  // With the contents themselves as those of before, what had to stay as it was is right, and not counted.
  const auto old = before.empty() ? actual : before;
  for (std::size_t at = 0; at < acceptance.size(); at += window) {
    const std::size_t count = std::min(window, acceptance.size() - at);
    const Comparison part =
        compare_window(acceptance, at, actual.subspan(at * width, count * width), old, count);
    for (const Mismatch& mismatch : part.first) builder.add(mismatch, stale(mismatch.index));
  }
  return builder.finish();
}

}  // namespace

std::size_t Histogram::bucket(std::uint64_t distance) {
  assert(distance >= 1);
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(distance - 1)), buckets - 1);
}

std::string Histogram::name(std::size_t bucket) {
  const std::uint64_t high = std::uint64_t{1} << bucket;
  if (bucket < 2) return std::to_string(high);
  return fmt::format("{}-{}", high / 2 + 1, high);
}

std::vector<OutputReport> mismatches(Workload& workload, const Contents& actual, const Contents* before) {
  const auto outputs = workload.outputs();
  const auto& acceptance = workload.acceptance();
  std::vector<OutputReport> reports;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::span<const std::byte> old =
        before != nullptr ? std::span<const std::byte>(before->at(i)) : outputs[i].initial;
    const std::span<const std::byte> now = actual.at(i);
    const std::size_t width = width_of(acceptance[i]);
    reports.push_back(report_of(outputs[i], acceptance[i], now, old, [&](std::size_t index) {
      return !old.empty() && same_element(now, old, width, index);
    }));
  }
  return reports;
}

std::vector<OutputReport> mismatches(Workload& workload, const Execution& execution) {
  const auto outputs = workload.outputs();
  const auto& acceptance = workload.acceptance();
  std::vector<OutputReport> reports;
  for (std::size_t i = 0; i < execution.second.size(); ++i) {
    const std::size_t width = width_of(acceptance[i]);
    const Stale stale = [&](std::size_t index) {
      return same_element(execution.first[i], execution.before_first[i], width, index) &&
             same_element(execution.second[i], execution.before_second[i], width, index);
    };
    for (const bool second : {false, true}) {
      OutputReport report =
          second
              ? report_of(outputs[i], acceptance[i], execution.second[i], execution.before_second[i], stale)
              : report_of(outputs[i], acceptance[i], execution.first[i], execution.before_first[i], stale);
      if (report.wrong == 0 && !second) continue;
      reports.push_back(std::move(report));
      break;
    }
  }
  return reports;
}

bool any_wrong(const std::vector<OutputReport>& reports) {
  return std::any_of(reports.begin(), reports.end(), [](const OutputReport& one) { return one.wrong > 0; });
}

}  // namespace assay::properties::repro
