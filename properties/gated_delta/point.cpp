#include "properties/gated_delta/point.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>

#include "fixtures/gated_delta/elements.hpp"
#include "properties/gate/token.hpp"

namespace assay::properties::gated_delta {
namespace {

using formats::Format;
using oracle::Gates;

constexpr std::string_view family_name = "gated_delta";
constexpr std::array<std::string_view, 2> format_names = {"bf16", "fp32"};
constexpr std::array<Format, 2> both_formats = {Format::bf16, Format::fp32};
constexpr std::array<std::string_view, 2> layout_names = {"kv", "vk"};
constexpr std::array<std::string_view, 2> gate_names = {"precomputed", "raw"};
constexpr std::array<std::string_view, 2> norm_names = {"division", "rsqrt"};
constexpr std::array<std::string_view, 2> epsilon_names = {"1e-6", "1e-12"};
constexpr std::array<std::string_view, 3> softplus_names = {"once", "log1p", "log"};
constexpr std::array<std::string_view, 2> beta_names = {"fp32", "bf16"};
constexpr std::array<std::string_view, 2> judge_names = {"bits", "bound"};
constexpr std::array<std::string_view, 5> slot_names = {"in_order", "permuted", "holes", "doubled", "past"};
constexpr std::array<std::string_view, 3> tuning_names = {"by_size", "small", "large"};
constexpr std::array<std::string_view, 2> source_names = {"states", "keys"};
constexpr std::uint64_t max_stride = std::uint64_t{1} << 24, most_elements = std::uint64_t{1} << 32;
constexpr int max_exponent = 96;
constexpr std::uint32_t infinity = 0x7F800000;

/// Reads the values of one token into a point.
struct Setter {
  const TokenReader& reader;
  Point& point;
  bool softplus_given = false, source_given = false;

  template <class E>
  E one_of(std::string_view key, std::string_view value, std::span<const std::string_view> names) const {
    return E{static_cast<std::uint8_t>(reader.choice(key, value, names))};
  }
  std::size_t alignment(std::string_view key, std::string_view value) const {
    const std::size_t number = reader.number(key, value, 1, 256);
    if ((number & (number - 1)) != 0) reader.refuse(fmt::format("{}={} is no power of two", key, number));
    return number;
  }
  /// The code of a positive, finite fp32 as 0x and eight digits, the way it is printed.
  std::uint32_t fp32_code(std::string_view key, std::string_view value) const {
    std::uint32_t code = 0;
    const char* const end = value.data() + value.size();
    const bool hex = value.size() == 10 && value.starts_with("0x");
    if (!hex || std::from_chars(value.data() + 2, end, code, 16).ptr != end || code == 0 ||
        code >= infinity || fmt::format("0x{:08X}", code) != value)
      reader.refuse(
          fmt::format("{}='{}' is not auto or the code of a positive fp32, like 0x3F800000", key, value));
    return code;
  }

  bool set_contracts(std::string_view key, std::string_view value) {
    oracle::Contracts& contracts = point.contracts;
    if (key == "io") {
      contracts.io = both_formats[reader.choice(key, value, format_names)];
    } else if (key == "state") {
      contracts.state = both_formats[reader.choice(key, value, format_names)];
    } else if (key == "layout") {
      contracts.layout = one_of<oracle::Layout>(key, value, layout_names);
    } else if (key == "gates") {
      contracts.gates = one_of<Gates>(key, value, gate_names);
    } else if (key == "norm") {
      contracts.norm = one_of<oracle::Norm>(key, value, norm_names);
    } else if (key == "eps") {
      contracts.epsilon = one_of<oracle::Epsilon>(key, value, epsilon_names);
    } else if (key == "softplus") {
      contracts.softplus = one_of<oracle::Softplus>(key, value, softplus_names);
      softplus_given = true;
    } else if (key == "beta") {
      contracts.beta = one_of<oracle::Beta>(key, value, beta_names);
    } else if (key == "judge") {
      contracts.judge = one_of<oracle::Judge>(key, value, judge_names);
    } else {
      return false;
    }
    return true;
  }

  bool set_shape(std::string_view key, std::string_view value) {
    oracle::Shape& shape = point.shape;
    struct Extent {
      std::string_view key;
      std::size_t* to;
      std::size_t most;
    };
    const Extent extents[] = {
        {"batch", &shape.batch, fixture::most_sequences}, {"steps", &shape.steps, fixture::most_steps},
        {"pool", &shape.pool, fixture::most_sequences},   {"h", &shape.key_heads, fixture::most_heads},
        {"hv", &shape.value_heads, fixture::most_heads},  {"k", &shape.key_dim, fixture::most_dim},
        {"v", &shape.value_dim, fixture::most_dim},       {"astride", &shape.a_stride, max_stride},
        {"bstride", &shape.b_stride, max_stride}};
    for (const Extent& extent : extents) {
      if (extent.key != key) continue;
      *extent.to = reader.number(key, value, 1, extent.most);
      return true;
    }
    return false;
  }

  bool set_buffers(std::string_view key, std::string_view value) {
    if (key == "slots") {
      point.slots = one_of<Slots>(key, value, slot_names);
    } else if (key == "tuning") {
      point.tuning = one_of<Tuning>(key, value, tuning_names);
    } else if (key == "scale") {
      if (value != "auto") point.scale = fp32_code(key, value);
    } else if (key == "ialign") {
      point.io_alignment = alignment(key, value);
    } else if (key == "salign") {
      point.state_alignment = alignment(key, value);
    } else {
      return false;
    }
    return true;
  }

  bool set_source(std::string_view key, std::string_view value) {
    if (key == "pattern") {
      point.pattern = one_of<fixture::Pattern>(key, value, fixture::pattern_names());
    } else if (key == "vexp") {
      point.v_exponent = reader.signed_number(key, value, max_exponent);
    } else if (key == "sequence") {
      point.first_sequence = reader.number(key, value, 0, fixture::most_sequences);
    } else if (key == "step") {
      point.first_step = reader.number(key, value, 0, fixture::most_steps);
    } else if (key == "seed") {
      point.seed = reader.number(key, value, 0, ~std::uint64_t{0});
    } else if (key == "as") {
      point.source = Source{static_cast<std::uint8_t>(1 + reader.choice(key, value, source_names))};
      source_given = true;
    } else if (key == "on") {
      point.on = value;
    } else {
      return false;
    }
    return true;
  }

  void set(std::string_view key, std::string_view value) {
    if (set_contracts(key, value) || set_shape(key, value) || set_buffers(key, value) ||
        set_source(key, value))
      return;
    static constexpr std::string_view keys[] = {
        "io",    "state",  "layout", "gates",   "norm", "eps",      "softplus", "beta",    "judge", "batch",
        "steps", "pool",   "h",      "hv",      "k",    "v",        "astride",  "bstride", "slots", "tuning",
        "scale", "ialign", "salign", "pattern", "vexp", "sequence", "step",     "seed",    "as",    "on"};
    reader.refuse_key(key, keys);
  }
};

void check_extents(const Point& point, const TokenReader& reader) {
  const oracle::Shape shape = shape_of(point);
  const auto refuse_unless = [&](bool holds, const std::string& reason) {
    if (!holds) reader.refuse(reason);
  };
  // One factor at a time, each at most 2^24, so that no product wraps.
  const auto elements = [&](std::string_view what, std::initializer_list<std::size_t> factors) {
    std::size_t product = 1;
    for (const std::size_t factor : factors) {
      product *= factor;
      refuse_unless(product <= most_elements, fmt::format("{} is over 2^32 elements", what));
    }
  };
  elements("q", {shape.batch, shape.steps, shape.key_heads, shape.key_dim});
  elements("v", {shape.batch, shape.steps, shape.value_heads, shape.value_dim});
  elements("the state", {shape.pool, shape.value_heads, shape.key_dim, shape.value_dim});
  elements("a", {shape.batch, shape.steps, shape.a_stride});
  elements("b", {shape.batch, shape.steps, shape.b_stride});
  refuse_unless(shape.pool >= shape.batch,
                fmt::format("pool={} has no slot for each of batch={}", shape.pool, shape.batch));
  refuse_unless(point.first_sequence + shape.batch <= fixture::most_sequences,
                fmt::format("sequence= and batch= are over {} together", fixture::most_sequences));
  refuse_unless(point.first_step + shape.steps <= fixture::most_steps,
                fmt::format("step= and steps= are over {} together", fixture::most_steps));
  const bool raw = point.contracts.gates == Gates::raw;
  refuse_unless(raw || (point.shape.a_stride == 0 && point.shape.b_stride == 0),
                "astride= and bstride= are of gates=raw only");
  for (const auto& [name, stride] : {std::pair("astride", shape.a_stride), {"bstride", shape.b_stride}})
    refuse_unless(stride >= shape.value_heads,
                  fmt::format("{}={} is less than hv={}", name, stride, shape.value_heads));
}

void check(const Point& point, const Setter& setter) {
  const TokenReader& reader = setter.reader;
  check_extents(point, reader);
  const auto refuse_unless = [&](bool holds, const std::string& reason) {
    if (!holds) reader.refuse(reason);
  };
  const auto width = [](Format format) { return static_cast<std::size_t>(formats::storage_bytes(format)); };
  refuse_unless(!setter.softplus_given || point.contracts.gates == Gates::raw,
                "softplus= is of gates=raw only");
  refuse_unless(point.slots != Slots::doubled || point.shape.batch > 1, "slots=doubled needs two sequences");
  refuse_unless(point.io_alignment >= width(point.contracts.io),
                fmt::format("ialign={} is less than an element", point.io_alignment));
  refuse_unless(point.state_alignment >= width(point.contracts.state),
                fmt::format("salign={} is less than an element", point.state_alignment));
  refuse_unless(setter.source_given == !point.on.empty(), "as= and on= are given together");
}

template <class E, std::size_t n>
std::string_view name_of(const std::array<std::string_view, n>& names, E value) {
  return names[static_cast<std::size_t>(value)];
}
std::string_view format_name(Format format) { return format_names[format == Format::bf16 ? 0 : 1]; }

std::string print_contracts(const oracle::Contracts& contracts) {
  std::string text =
      fmt::format("{}:io={},state={},layout={},gates={},norm={},eps={}", family_name,
                  format_name(contracts.io), format_name(contracts.state),
                  name_of(layout_names, contracts.layout), name_of(gate_names, contracts.gates),
                  name_of(norm_names, contracts.norm), name_of(epsilon_names, contracts.epsilon));
  if (contracts.gates == Gates::raw)
    text += fmt::format(",softplus={}", name_of(softplus_names, contracts.softplus));
  text += fmt::format(",beta={}", name_of(beta_names, contracts.beta));
  if (contracts.judge == oracle::Judge::bound) text += ",judge=bound";
  return text;
}

std::string print_shape(const oracle::Shape& shape) {
  std::string text = fmt::format(",batch={},steps={}", shape.batch, shape.steps);
  if (shape.pool != 0) text += fmt::format(",pool={}", shape.pool);
  text += fmt::format(",h={},hv={},k={},v={}", shape.key_heads, shape.value_heads, shape.key_dim,
                      shape.value_dim);
  if (shape.a_stride != 0) text += fmt::format(",astride={}", shape.a_stride);
  if (shape.b_stride != 0) text += fmt::format(",bstride={}", shape.b_stride);
  return text;
}

}  // namespace

std::string print(const Point& point) {
  const Point defaults;
  std::string text = print_contracts(point.contracts) + print_shape(point.shape);
  text += fmt::format(",slots={}", name_of(slot_names, point.slots));
  if (point.tuning != Tuning::by_size) text += fmt::format(",tuning={}", name_of(tuning_names, point.tuning));
  if (point.scale) text += fmt::format(",scale=0x{:08X}", *point.scale);
  if (point.io_alignment != defaults.io_alignment) text += fmt::format(",ialign={}", point.io_alignment);
  if (point.state_alignment != defaults.state_alignment)
    text += fmt::format(",salign={}", point.state_alignment);
  text += fmt::format(",pattern={}", to_string(point.pattern));
  if (point.v_exponent != 0) text += fmt::format(",vexp={}", point.v_exponent);
  if (point.first_sequence != 0) text += fmt::format(",sequence={}", point.first_sequence);
  if (point.first_step != 0) text += fmt::format(",step={}", point.first_step);
  text += fmt::format(",seed={}", point.seed);
  if (point.source == Source::pattern) return text;
  const auto source = static_cast<std::size_t>(point.source) - 1;
  return text + fmt::format(",as={},on={}", source_names[source], point.on);
}

Point parse(std::string_view token) {
  const TokenReader reader(token);
  Point point;
  Setter setter{reader, point};
  reader.for_each_pair(family_name, "on",
                       [&](std::string_view key, std::string_view value) { setter.set(key, value); });
  check(point, setter);
  return point;
}

oracle::Shape shape_of(const Point& point) {
  oracle::Shape shape = point.shape;
  if (shape.pool == 0) shape.pool = shape.batch;
  if (shape.a_stride == 0) shape.a_stride = shape.value_heads;
  if (shape.b_stride == 0) shape.b_stride = shape.value_heads;
  return shape;
}

std::uint32_t scale_of(const Point& point) {
  if (point.scale) return *point.scale;
  // A power of two or sqrt(2) times one for the head sizes that are built, which the two double roundings
  // before the last leave far from a midpoint of fp32.
  return std::bit_cast<std::uint32_t>(
      static_cast<float>(1 / std::sqrt(static_cast<double>(point.shape.key_dim))));
}

fixture::Request request_of(const Point& point) {
  const oracle::Shape shape = shape_of(point);
  fixture::Request request;
  request.pattern = point.pattern;
  request.slots = point.slots == Slots::permuted ? fixture::Slots::permuted
                  : point.slots == Slots::holes  ? fixture::Slots::holes
                                                 : fixture::Slots::in_order;
  request.io = point.contracts.io;
  request.state = point.contracts.state;
  request.shape = {shape.batch,   shape.steps,     shape.pool,     shape.key_heads, shape.value_heads,
                   shape.key_dim, shape.value_dim, shape.a_stride, shape.b_stride};
  request.raw_gates = point.contracts.gates == Gates::raw;
  request.keys_fastest = point.contracts.layout == oracle::Layout::vk;
  request.seed = point.seed;
  request.v_exponent = point.v_exponent;
  request.first_sequence = point.first_sequence;
  request.first_step = point.first_step;
  return request;
}

}  // namespace assay::properties::gated_delta
