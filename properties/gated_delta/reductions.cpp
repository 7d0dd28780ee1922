// Fewer sequences, heads, steps, columns of the state and slots.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "properties/gate/cuts.hpp"
#include "properties/gated_delta/workload.hpp"

namespace assay::properties::gated_delta {
namespace {

using Indices = std::vector<std::size_t>;

/// What is left of every dimension. Steps are the first ones, because a step needs all before it.
struct Part {
  Cut sequences, key_heads, value_heads, keys, values;
  std::size_t steps = 0;
  Indices slots;  ///< of the larger pool, ascending
};

/// The point without its source: contents are given.
Point without_source(Point point) {
  const Point defaults;
  point.slots = defaults.slots;
  point.source = defaults.source;
  point.pattern = defaults.pattern;
  point.v_exponent = defaults.v_exponent;
  point.first_sequence = defaults.first_sequence;
  point.first_step = defaults.first_step;
  point.seed = defaults.seed;
  point.on.clear();
  return point;
}

Point point_of(const Point& whole, const Part& part) {
  Point point = without_source(whole);
  oracle::Shape& shape = point.shape;
  shape.batch = part.sequences.size();
  shape.steps = part.steps;
  shape.pool = part.slots.size() == shape.batch ? 0 : part.slots.size();
  shape.key_heads = part.key_heads.size();
  shape.value_heads = part.value_heads.size();
  shape.key_dim = part.keys.size();
  shape.value_dim = part.values.size();
  // As many elements behind the heads of a token as there were.
  const auto stride = [&](std::size_t given) {
    return given == 0 ? 0 : shape.value_heads + (given - whole.shape.value_heads);
  };
  shape.a_stride = stride(whole.shape.a_stride);
  shape.b_stride = stride(whole.shape.b_stride);
  return point;
}

Indices all_of(const Cut& cut) {
  Indices indices(cut.size());
  std::iota(indices.begin(), indices.end(), cut.begin);
  return indices;
}

/// A dimension of a tensor, and which of its places are left.
struct Dimension {
  std::size_t extent;
  Indices left;
};

void append_picked(std::vector<std::byte>& to, std::span<const std::byte> tensor,
                   std::span<const Dimension> dimensions) {
  if (dimensions.empty()) {
    to.insert(to.end(), tensor.begin(), tensor.end());
    return;
  }
  const std::size_t each = tensor.size() / dimensions.front().extent;
  for (const std::size_t i : dimensions.front().left)
    append_picked(to, tensor.subspan(i * each, each), dimensions.subspan(1));
}

std::vector<std::byte> picked(std::span<const std::byte> tensor, const std::vector<Dimension>& dimensions) {
  std::vector<std::byte> part;
  append_picked(part, tensor, dimensions);
  return part;
}

std::vector<std::byte> slots_of(const std::vector<std::int32_t>& slots, const Part& part) {
  std::vector<std::int32_t> moved;
  for (const std::size_t sequence : all_of(part.sequences)) {
    const std::int32_t slot = slots[sequence];
    const auto at = std::find(part.slots.begin(), part.slots.end(), static_cast<std::size_t>(slot));
    moved.push_back(slot < 0 ? slot : static_cast<std::int32_t>(at - part.slots.begin()));
  }
  std::vector<std::byte> bytes(moved.size() * sizeof(std::int32_t));
  std::memcpy(bytes.data(), moved.data(), bytes.size());
  return bytes;
}

/// In the order of given().
Contents contents_of(const Point& whole, const fixture::Operands& operands, const Part& part) {
  const oracle::Shape shape = shape_of(whole);
  const Dimension sequences{shape.batch, all_of(part.sequences)}, steps{shape.steps, all_of({0, part.steps})},
      key_heads{shape.key_heads, all_of(part.key_heads)}, heads{shape.value_heads, all_of(part.value_heads)},
      keys{shape.key_dim, all_of(part.keys)}, values{shape.value_dim, all_of(part.values)};
  const auto strided = [&](std::size_t stride) {
    Dimension dimension{stride, heads.left};
    for (std::size_t i = shape.value_heads; i < stride; ++i) dimension.left.push_back(i);
    return dimension;
  };
  Contents contents;
  contents.push_back(picked(operands.q, {sequences, steps, key_heads, keys}));
  contents.push_back(picked(operands.k, {sequences, steps, key_heads, keys}));
  contents.push_back(picked(operands.v, {sequences, steps, heads, values}));
  if (whole.contracts.gates == oracle::Gates::raw) {
    contents.push_back(picked(operands.a, {sequences, steps, strided(shape.a_stride)}));
    contents.push_back(picked(operands.b, {sequences, steps, strided(shape.b_stride)}));
    contents.push_back(picked(operands.a_log, {heads}));
    contents.push_back(picked(operands.dt_bias, {heads}));
  } else {
    contents.push_back(picked(operands.g, {sequences, steps, heads}));
    contents.push_back(picked(operands.beta, {sequences, steps, heads}));
  }
  contents.push_back(slots_of(operands.slots, part));
  const bool kv = whole.contracts.layout == oracle::Layout::kv;
  contents.push_back(
      picked(operands.state, {{shape.pool, part.slots}, heads, kv ? keys : values, kv ? values : keys}));
  return contents;
}

/// Where an element lies: all of it but the step of a state, and the key dimension of o.
struct Place {
  std::size_t sequence = 0, step = 0, head = 0, key = 0, value = 0;
  std::optional<std::size_t> slot;  ///< of a state
};

Place place_of(const Point& point, const std::vector<std::int32_t>& slots, std::size_t output,
               std::size_t element) {
  const oracle::Shape shape = shape_of(point);
  Place place;
  if (output == 0) {
    const std::size_t row = element / shape.value_dim, token = row / shape.value_heads;
    place = {token / shape.steps,       token % shape.steps, row % shape.value_heads, 0,
             element % shape.value_dim, std::nullopt};
    return place;
  }
  const bool kv = point.contracts.layout == oracle::Layout::kv;
  const std::size_t within = kv ? shape.value_dim : shape.key_dim;
  const std::size_t row = element / within, col = element % within;
  const std::size_t rows = kv ? shape.key_dim : shape.value_dim;
  place.step = shape.steps - 1;
  place.key = kv ? row % rows : col;
  place.value = kv ? col : row % rows;
  place.head = row / rows % shape.value_heads;
  place.slot = row / rows / shape.value_heads;
  const auto owner = std::find(slots.begin(), slots.end(), static_cast<std::int32_t>(*place.slot));
  place.sequence = owner == slots.end() ? 0 : static_cast<std::size_t>(owner - slots.begin());
  return place;
}

/// Where it is in the smaller case: as near as there is, where its own place was cut off.
std::size_t moved_element(const Point& point, const Part& part, const Place& place) {
  const auto within = [](std::size_t at, const Cut& cut) {
    return std::min(at < cut.begin ? 0 : at - cut.begin, cut.size() - 1);
  };
  const std::size_t heads = part.value_heads.size(), head = within(place.head, part.value_heads);
  const std::size_t value = within(place.value, part.values), key = within(place.key, part.keys);
  if (!place.slot) {
    const std::size_t token =
        within(place.sequence, part.sequences) * part.steps + std::min(place.step, part.steps - 1);
    return (token * heads + head) * part.values.size() + value;
  }
  const auto slot = std::find(part.slots.begin(), part.slots.end(), *place.slot) - part.slots.begin();
  const std::size_t matrix = static_cast<std::size_t>(slot) * heads + head;
  return point.contracts.layout == oracle::Layout::kv
             ? (matrix * part.keys.size() + key) * part.values.size() + value
             : (matrix * part.values.size() + value) * part.keys.size() + key;
}

/// The slots that the sequences have, and the element's; as many more as the sequences need.
Indices slots_for(const oracle::Shape& shape, const std::vector<std::int32_t>& slots, const Cut& sequences,
                  const Place& place) {
  std::set<std::size_t> needed;
  for (const std::size_t sequence : all_of(sequences)) {
    if (slots[sequence] >= 0) needed.insert(static_cast<std::size_t>(slots[sequence]));
  }
  if (place.slot) needed.insert(*place.slot);
  for (std::size_t slot = 0; needed.size() < sequences.size() && slot < shape.pool; ++slot)
    needed.insert(slot);
  return {needed.begin(), needed.end()};
}

struct Heads {
  Cut key, value;
};

/// Value heads of the element's key head, then key heads with all of theirs; the whole last.
std::vector<Heads> heads_around(const oracle::Shape& shape, std::size_t head) {
  const std::size_t group = shape.value_heads / shape.key_heads, key = head / group;
  std::vector<Heads> heads;
  for (const Cut& cut : cuts_around(head % group, group, 1))
    heads.push_back({{key, key + 1}, {key * group + cut.begin, key * group + cut.end}});
  for (const Cut& cut : cuts_around(key, shape.key_heads, 1)) {
    if (cut.size() > 1) heads.push_back({cut, {cut.begin * group, cut.end * group}});
  }
  return heads;
}

/// 64, 128, ... of a head's elements.
std::vector<Cut> parts_of_head(std::size_t at, std::size_t dim) {
  std::vector<Cut> parts = cuts_around(at, dim, std::min<std::size_t>(dim, 64));
  std::erase_if(parts, [&](const Cut& part) { return part.size() == dim; });
  return parts;
}

/// The same case without one of the things that are special about its buffers.
std::vector<Point> plainer(const Point& point) {
  Plainer<Point> plain(without_source(point));
  const Point defaults;
  plain.add([&](Point& other) { other.io_alignment = defaults.io_alignment; });
  plain.add([&](Point& other) { other.state_alignment = defaults.state_alignment; });
  plain.add([](Point& other) { other.shape.a_stride = 0; });
  plain.add([](Point& other) { other.shape.b_stride = 0; });
  return std::move(plain.points);
}

/// Contents without what lay between the tokens of a and b.
Contents tightened(const Point& whole, const Point& plain, Contents contents) {
  const oracle::Shape from = shape_of(whole), to = shape_of(plain);
  const auto cut = [&](std::vector<std::byte>& codes, std::size_t before, std::size_t after) {
    if (before == after) return;
    codes = picked(codes, {{from.tokens(), all_of({0, from.tokens()})}, {before, all_of({0, after})}});
  };
  if (whole.contracts.gates != oracle::Gates::raw) return contents;
  cut(contents[3], from.a_stride, to.a_stride);
  cut(contents[4], from.b_stride, to.b_stride);
  return contents;
}

}  // namespace

std::vector<Reduction> DeltaWorkload::reductions(std::size_t output, std::size_t element) const {
  const oracle::Shape shape = shape_of(point_);
  if (point_.slots == Slots::doubled || point_.slots == Slots::past ||
      shape.value_heads % shape.key_heads != 0)
    return {};  // every route refuses it
  const Place place = place_of(point_, operands_.slots, output, element);
  std::vector<std::pair<std::size_t, Reduction>> found;  // with its size
  const auto add = [&](const Part& part) {
    const Point point = point_of(point_, part);
    const oracle::Shape left = shape_of(point);
    found.push_back({left.out_elements() + left.state_elements(),
                     {print(point), [this, part] { return contents_of(point_, operands_, part); },
                      moved_element(point_, part, place)}});
  };
  const auto heads = heads_around(shape, place.head);
  const Cut keys{0, shape.key_dim}, values{0, shape.value_dim};
  Indices every_slot = all_of({0, shape.pool});
  std::vector<std::size_t> steps = {place.step + 1, shape.steps};
  for (std::size_t some = 1; some < shape.steps; some *= 2) steps.push_back(some);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());

  for (const Cut& sequences : cuts_around(place.sequence, shape.batch, 1)) {
    const Indices slots = slots_for(shape, operands_.slots, sequences, place);
    for (const Heads& some : heads) {
      for (const std::size_t first : steps) {
        const Part part{sequences, some.key, some.value, keys, values, first, slots};
        const bool whole = sequences.size() == shape.batch && some.value.size() == shape.value_heads &&
                           first == shape.steps && slots == every_slot;
        if (!whole) add(part);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const Part whole{{0, shape.batch}, {0, shape.key_heads}, {0, shape.value_heads}, keys, values, shape.steps,
                   every_slot};
  const auto add_changed = [&](auto&& change) {
    Part part = whole;
    change(part);
    add(part);
  };
  for (const Cut& some : parts_of_head(place.value, shape.value_dim))
    add_changed([&](Part& part) { part.values = some; });
  for (const Cut& some : parts_of_head(place.key, shape.key_dim))
    add_changed([&](Part& part) { part.keys = some; });

  std::vector<Reduction> reductions;
  for (auto& [size, reduction] : found) reductions.push_back(std::move(reduction));
  for (const Point& point : plainer(point_))
    reductions.push_back(
        {print(point),
         [this, point, whole] { return tightened(point_, point, contents_of(point_, operands_, whole)); },
         element});
  return reductions;
}

}  // namespace assay::properties::gated_delta
