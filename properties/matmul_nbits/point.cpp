#include "properties/matmul_nbits/point.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "properties/gate/token.hpp"

namespace assay::properties::matmul_nbits {
namespace {

using formats::Format;
using oracle::Schedule;

constexpr std::string_view family_name = "matmul_nbits";
constexpr std::array<std::string_view, 3> model_names = {"bf16", "fp16", "fp32"};
constexpr std::array<Format, 3> model_formats = {Format::bf16, Format::fp16, Format::fp32};
constexpr std::array<std::string_view, 5> schedule_names = {"split_k", "multicol", "natural", "tile", "mma"};
constexpr std::array<std::string_view, 2> split_names = {"2", "8"};
constexpr std::array<std::string_view, 2> core_names = {"hopper", "ampere"};
constexpr std::array<std::string_view, 3> bias_names = {"none", "once", "twice"};
constexpr std::array<std::string_view, 2> zero_point_names = {"none", "packed"};
constexpr std::array<std::string_view, 3> bit_names = {"2", "4", "8"};
constexpr std::array<std::string_view, 3> prefetch_names = {"0", "2", "4"};
constexpr std::array<std::string_view, 2> interleaved_names = {"0", "1"};
constexpr std::array<std::string_view, 2> judge_names = {"bits", "bound"};
constexpr std::uint64_t max_extent = std::uint64_t{1} << 24, most_elements = std::uint64_t{1} << 32;
constexpr int max_exponent = 64;

/// Reads the values of one token into a point.
struct Setter {
  const TokenReader& reader;
  Point& point;
  bool split_given = false, cores_given = false;

  template <class E>
  E one_of(std::string_view key, std::string_view value, std::span<const std::string_view> names) const {
    return E{static_cast<std::uint8_t>(reader.choice(key, value, names))};
  }
  std::size_t extent(std::string_view key, std::string_view value) const {
    return reader.number(key, value, 1, max_extent);
  }
  std::size_t power_of_two(std::string_view key, std::string_view value, std::size_t least,
                           std::size_t most) const {
    const std::size_t number = reader.number(key, value, least, most);
    if ((number & (number - 1)) != 0) reader.refuse(fmt::format("{}={} is no power of two", key, number));
    return number;
  }

  bool set_contracts(std::string_view key, std::string_view value) {
    if (key == "model") {
      point.contracts.model = model_formats[reader.choice(key, value, model_names)];
    } else if (key == "schedule") {
      point.contracts.schedule = one_of<Schedule>(key, value, schedule_names);
    } else if (key == "split") {
      point.contracts.k_split = reader.choice(key, value, split_names) == 0 ? 2 : 8;
      split_given = true;
    } else if (key == "cores") {
      point.contracts.tensor_cores = one_of<oracle::TensorCores>(key, value, core_names);
      cores_given = true;
    } else if (key == "bias") {
      const std::size_t choice = reader.choice(key, value, bias_names);
      point.bias = choice != 0;
      point.contracts.bias_round = choice == 2 ? oracle::BiasRound::twice : oracle::BiasRound::once;
    } else if (key == "zp") {
      point.zero_points = reader.choice(key, value, zero_point_names) == 1;
    } else if (key == "judge") {
      point.contracts.judge = one_of<oracle::Judge>(key, value, judge_names);
    } else {
      return false;
    }
    return true;
  }

  bool set_shape(std::string_view key, std::string_view value) {
    if (key == "bits") {
      point.shape.bits = std::size_t{2} << reader.choice(key, value, bit_names);
    } else if (key == "block") {
      point.shape.block = power_of_two(key, value, 8, 1024);
    } else if (key == "m") {
      point.shape.m = extent(key, value);
    } else if (key == "n") {
      point.shape.n = extent(key, value);
    } else if (key == "k") {
      point.shape.k = extent(key, value);
    } else {
      return false;
    }
    return true;
  }

  bool set_buffers(std::string_view key, std::string_view value) {
    if (key == "interleaved") {
      point.interleaved = reader.choice(key, value, interleaved_names) == 1;
    } else if (key == "prefetch") {
      point.prefetch = static_cast<unsigned>(2 * reader.choice(key, value, prefetch_names));
    } else if (key == "aalign") {
      point.a_alignment = power_of_two(key, value, 1, 256);
    } else if (key == "balign") {
      point.b_alignment = power_of_two(key, value, 1, 256);
    } else if (key == "salign") {
      point.scale_alignment = power_of_two(key, value, 1, 256);
    } else if (key == "yalign") {
      point.y_alignment = power_of_two(key, value, 1, 256);
    } else if (key == "pad") {
      point.padding = one_of<fixture::PaddingFill>(key, value, fixture::padding_fill_names());
    } else {
      return false;
    }
    return true;
  }

  bool set_source(std::string_view key, std::string_view value) {
    if (key == "pattern") {
      point.pattern = one_of<fixture::Pattern>(key, value, fixture::pattern_names());
    } else if (key == "row") {
      point.first_row = reader.number(key, value, 0, max_extent);
    } else if (key == "turn") {
      point.turn = reader.number(key, value, 0, max_extent);
    } else if (key == "exp") {
      point.exponent = reader.signed_number(key, value, max_exponent);
    } else if (key == "from") {
      point.from_bits = std::size_t{2} << reader.choice(key, value, bit_names);
    } else if (key == "seed") {
      point.seed = reader.number(key, value, 0, ~std::uint64_t{0});
    } else if (key == "reported") {
      point.source = Source::reported;
      point.reported = value;
    } else if (key == "on") {
      point.source = Source::file;
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
        "model", "schedule", "split",       "cores",    "bias",  "zp",     "bits",   "block",    "m",
        "n",     "k",        "interleaved", "prefetch", "judge", "aalign", "balign", "salign",   "yalign",
        "pad",   "pattern",  "row",         "turn",     "exp",   "from",   "seed",   "reported", "on"};
    reader.refuse_key(key, keys);
  }
};

void check(const Point& point, const Setter& setter) {
  const TokenReader& reader = setter.reader;
  const oracle::Shape& shape = point.shape;
  const auto refuse_unless = [&](bool holds, const std::string& reason) {
    if (!holds) reader.refuse(reason);
  };
  const std::size_t width = element_width(point);
  refuse_unless(!setter.split_given || point.contracts.schedule == Schedule::split_k,
                "split= is of schedule=split_k only");
  refuse_unless(!setter.cores_given || point.contracts.schedule == Schedule::mma,
                "cores= is of schedule=mma only");
  refuse_unless(!point.interleaved ||
                    (point.contracts.schedule == Schedule::natural && shape.bits == 4 && shape.block == 32),
                "interleaved=1 is of schedule=natural with bits=4 and block=32 only");
  refuse_unless(point.prefetch == 0 || point.contracts.schedule == Schedule::split_k,
                "prefetch= is of schedule=split_k only");
  refuse_unless(shape.m * shape.k <= most_elements, "A is over 2^32 elements");
  refuse_unless(shape.n * shape.k <= most_elements, "the weights are over 2^32 elements");
  refuse_unless(shape.m * shape.n <= most_elements, "Y is over 2^32 elements");
  refuse_unless(point.a_alignment >= width,
                fmt::format("aalign={} is less than an element", point.a_alignment));
  refuse_unless(point.scale_alignment == 0 || point.scale_alignment >= width,
                fmt::format("salign={} is less than an element", point.scale_alignment));
  refuse_unless(point.y_alignment == 0 || point.y_alignment >= width,
                fmt::format("yalign={} is less than an element", point.y_alignment));
  refuse_unless(point.from_bits <= shape.bits,
                fmt::format("from={} is more than bits={}", point.from_bits, shape.bits));
  refuse_unless(point.from_bits == 0 || point.zero_points, "from= needs zp=packed");
}

template <class Value, std::size_t n>
std::size_t index_in(const std::array<Value, n>& list, Value value) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

template <class E, std::size_t n>
std::string_view name_of(const std::array<std::string_view, n>& names, E value) {
  return names[static_cast<std::size_t>(value)];
}

std::string_view bias_name(const Point& point) {
  return bias_names[!point.bias ? 0 : point.contracts.bias_round == oracle::BiasRound::once ? 1 : 2];
}

std::string print_contracts(const Point& point) {
  const oracle::Contracts& contracts = point.contracts;
  const oracle::Shape& shape = point.shape;
  std::string text = fmt::format("{}:model={},schedule={}", family_name,
                                 model_names[index_in(model_formats, contracts.model)],
                                 name_of(schedule_names, contracts.schedule));
  if (contracts.schedule == Schedule::split_k) text += fmt::format(",split={}", contracts.k_split);
  if (contracts.schedule == Schedule::mma)
    text += fmt::format(",cores={}", name_of(core_names, contracts.tensor_cores));
  text += fmt::format(",bias={},zp={},bits={},block={},m={},n={},k={}", bias_name(point),
                      zero_point_names[point.zero_points ? 1 : 0], shape.bits, shape.block, shape.m, shape.n,
                      shape.k);
  if (point.interleaved) text += ",interleaved=1";
  if (point.prefetch != 0) text += fmt::format(",prefetch={}", point.prefetch);
  if (contracts.judge == oracle::Judge::bound) text += ",judge=bound";
  return text;
}

}  // namespace

std::size_t element_width(const Point& point) {
  return static_cast<std::size_t>(formats::storage_bytes(point.contracts.model));
}

std::string print(const Point& point) {
  std::string text = print_contracts(point);
  const Point defaults;
  if (point.a_alignment != defaults.a_alignment) text += fmt::format(",aalign={}", point.a_alignment);
  if (point.b_alignment != defaults.b_alignment) text += fmt::format(",balign={}", point.b_alignment);
  if (point.scale_alignment != 0) text += fmt::format(",salign={}", point.scale_alignment);
  if (point.y_alignment != 0) text += fmt::format(",yalign={}", point.y_alignment);
  if (point.source == Source::reported) return text + fmt::format(",reported={}", point.reported);
  text += fmt::format(",pad={},pattern={}", to_string(point.padding), to_string(point.pattern));
  if (point.first_row != 0) text += fmt::format(",row={}", point.first_row);
  if (point.turn != 0) text += fmt::format(",turn={}", point.turn);
  if (point.exponent != 0) text += fmt::format(",exp={}", point.exponent);
  if (point.from_bits != 0) text += fmt::format(",from={}", point.from_bits);
  text += fmt::format(",seed={}", point.seed);
  return point.source == Source::file ? text + fmt::format(",on={}", point.on) : text;
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

fixture::Request request_of(const Point& point) {
  const oracle::Shape& shape = point.shape;
  fixture::Request request;
  request.pattern = point.pattern;
  request.model = point.contracts.model;
  request.shape = {shape.m, shape.n, shape.k, shape.bits, shape.block};
  request.zero_points = point.zero_points;
  request.bias = point.bias;
  request.padding = point.padding;
  request.seed = point.seed;
  request.first_row = point.first_row;
  request.turn = point.turn;
  request.exponent = point.exponent;
  request.from_bits = point.from_bits;
  return request;
}

}  // namespace assay::properties::matmul_nbits
