// The cases that are kept as goldens, and those of files.
#include <fmt/core.h>

#include "oracles/formats/format.hpp"
#include "properties/gated_delta/case_parts.hpp"
#include "properties/gated_delta/cases.hpp"

namespace assay::properties::gated_delta {

std::string record_name(const Point& point) {
  return fmt::format("{}_{}", formats::spec(point.contracts.state).name,
                     point.contracts.layout == Layout::kv ? "kv" : "vk");
}

std::vector<Point> contracts_for_files(Level level) {
  std::vector<Point> points;
  const auto add = [&](Source source, Format io, Format state, Layout layout) {
    Point point;
    point.source = source;
    point.contracts.io = io;
    point.contracts.state = state;
    point.contracts.layout = layout;
    points.push_back(std::move(point));
  };
  add(Source::states, Format::bf16, Format::fp32, Layout::kv);
  add(Source::keys, Format::bf16, Format::bf16, Layout::vk);
  if (level == Level::quick) return points;
  add(Source::states, Format::fp32, Format::bf16, Layout::kv);
  add(Source::states, Format::bf16, Format::fp32, Layout::vk);
  add(Source::keys, Format::fp32, Format::fp32, Layout::kv);
  points.back().contracts.norm = Norm::rsqrt;
  points.back().contracts.epsilon = Epsilon::e12;
  return points;
}

std::vector<Point> golden_cases() {
  constexpr Pattern kept[] = {Pattern::ordinary, Pattern::specials};
  std::vector<Point> points;
  for (std::size_t p = 0; p < std::size(kept); ++p) {
    for (const Format state : both_formats) {
      for (const Layout layout : layouts) {
        for (std::size_t turn = 0; turn < 3; ++turn) {
          Point point;
          // Over the six of a record every contract takes each of its choices.
          point.contracts = contracts_of((p + turn) % 4 * 64 + (3 * p + turn) * 21 % 64);
          point.contracts.state = state;
          point.contracts.layout = layout;
          point.pattern = kept[p];
          point.slots = Slots{static_cast<std::uint8_t>(turn)};
          point.shape.batch = turn == 0 ? 1 : 2;  // of two the second may have no slot
          point.shape.steps = 3 - turn;
          if (turn == 0) (p == 0 ? point.shape.value_dim : point.shape.value_heads) *= 2;
          points.push_back(std::move(point));
        }
      }
    }
  }
  return points;
}

}  // namespace assay::properties::gated_delta
