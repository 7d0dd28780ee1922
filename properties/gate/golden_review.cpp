#include "properties/gate/golden_review.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

#include "fixtures/files/messages.hpp"
#include "fixtures/tensor/errors.hpp"
#include "oracles/formats/codec.hpp"
#include "properties/gate/describe.hpp"
#include "properties/gate/golden_oracle.hpp"

namespace assay::properties {
namespace {

using fixtures::in_quotes;
using fixtures::printable;
using goldens::CodeArray;
using goldens::Entry;
using goldens::Record;

/// Moved codes that are shown one by one; the histogram counts them all.
constexpr std::size_t most_shown = 8;

/// The distances of moved codes, in powers of two: bucket b counts those from 2^b to 2^(b+1) - 1.
struct Distances {
  std::map<int, std::uint64_t> buckets;
  std::uint64_t nans = 0;  ///< codes that became NaN, ceased to be one, or became another NaN
  std::uint64_t largest = 0;

  void add(formats::Format format, std::uint32_t from, std::uint32_t to) {
    if (formats::is_nan(format, from) || formats::is_nan(format, to)) {
      ++nans;
      return;
    }
    const std::uint64_t a = formats::ordered_key(format, from), b = formats::ordered_key(format, to);
    const std::uint64_t distance = a < b ? b - a : a - b;
    largest = std::max(largest, distance);
    ++buckets[static_cast<int>(std::bit_width(distance)) - 1];
  }

  std::string text() const {
    std::string parts;
    const auto add = [&](const std::string& part) { parts += (parts.empty() ? "" : ", ") + part; };
    for (const auto& [bucket, count] : buckets) {
      const std::uint64_t low = std::uint64_t{1} << bucket, high = 2 * low - 1;
      add(low == high ? fmt::format("{} by {}", grouped(count), low)
                      : fmt::format("{} by {} to {}", grouped(count), grouped(low), grouped(high)));
    }
    if (nans > 0) add(fmt::format("{} to or from NaN", grouped(nans)));
    if (largest > 0) add(fmt::format("the largest {}", grouped(largest)));
    return parts;
  }
};

std::string plain_place(const CodeArray& array, std::size_t index) {
  if (array.shape.size() != 2 || array.shape[1] == 0) return fmt::format("{}[{}]", array.name, index);
  return fmt::format("{}[{}, {}]", array.name, index / array.shape[1], index % array.shape[1]);
}

/// Names places as diagnostics do where the family still reads the token, else by row and column.
class Places {
 public:
  Places(const Record& record, const Entry& entry) {
    const Family* family = find_family(record.family);
    if (!family) return;
    try {
      workload_ = family->materialise(entry.token);
    } catch (const BadInput&) {
      return;  // a token of another time: rows and columns have to do
    }
    outputs_ = workload_->outputs();
  }

  std::string at(const CodeArray& array, std::size_t index) const {
    const auto output = std::ranges::find(outputs_, array.name, &OutputBuffer::name);
    if (output == outputs_.end() || output->elements <= index) return plain_place(array, index);
    return describe_place(*output, index);
  }

 private:
  std::unique_ptr<Workload> workload_;  // the outputs may refer to it
  std::vector<OutputBuffer> outputs_;
};

std::string array_difference(const CodeArray& from, const CodeArray& to, const Places& places) {
  if (from.format != to.format || from.shape != to.shape)
    return fmt::format("    {}: {} {} became {} {}\n", to.name, formats::spec(from.format).name,
                       fixtures::shape_text(from.shape), formats::spec(to.format).name,
                       fixtures::shape_text(to.shape));
  const int width = formats::storage_bytes(to.format);
  const std::size_t elements = to.bytes.size() / static_cast<std::size_t>(width);
  Distances distances;
  std::size_t moved = 0;
  std::string shown;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint32_t a = arithmetic::load_code(from.bytes, width, i);
    const std::uint32_t b = arithmetic::load_code(to.bytes, width, i);
    if (a == b) continue;
    distances.add(to.format, a, b);
    if (++moved > most_shown) continue;
    shown += fmt::format("      {}: {} -> {}\n", places.at(to, i), describe_code(to.format, a),
                         describe_code(to.format, b));
  }
  if (moved == 0) return "";
  if (moved > most_shown) shown += fmt::format("      and {} more\n", grouped(moved - most_shown));
  return fmt::format("    {}: {} of {} codes moved: {}\n{}", to.name, grouped(moved), grouped(elements),
                     distances.text(), shown);
}

std::string arrays_difference(const std::vector<CodeArray>& from, const std::vector<CodeArray>& to,
                              const Places& places) {
  std::string text;
  for (const CodeArray& array : from) {
    if (std::ranges::find(to, array.name, &CodeArray::name) == to.end())
      text += fmt::format("    {}: no longer there\n", array.name);
  }
  for (const CodeArray& array : to) {
    const auto old = std::ranges::find(from, array.name, &CodeArray::name);
    text +=
        old == from.end() ? fmt::format("    {}: new\n", array.name) : array_difference(*old, array, places);
  }
  return text;
}

std::string named(const Entry& entry) {
  return entry.route.empty() ? printable(entry.token) : printable(entry.token + " by " + entry.route);
}

std::string entry_difference(const Record& record, const Entry& from, const Entry& to) {
  const Places places(record, to);
  std::string text = fmt::format("  changed {}\n", named(to));
  const bool inputs = from.input_digest != to.input_digest;
  const bool outputs = from.output_digest != to.output_digest;
  if (inputs) {
    text += outputs ? "    why: its inputs differ: the generator changed\n"
                    : "    why: its inputs differ, its outputs do not: the generator changed\n";
    text += arrays_difference(from.inputs, to.inputs, places);
  } else {
    text += "    why: its inputs are the same, its outputs differ: the oracle or a contract changed\n";
  }
  return text + arrays_difference(from.outputs, to.outputs, places);
}

const Entry* same_case(const Record& record, const Entry& entry) {
  const auto found = std::ranges::find_if(record.entries, [&](const Entry& other) {
    return other.token == entry.token && other.route == entry.route;
  });
  return found == record.entries.end() ? nullptr : &*found;
}

std::string provenance_difference(const Record& approved, const Record& pending) {
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const auto& [key, value] : approved.provenance) values[key].first = value;
  for (const auto& [key, value] : pending.provenance) values[key].second = value;
  std::string text;
  for (const auto& [key, value] : values) {
    if (value.first != value.second)
      text += fmt::format("  provenance {}: {} -> {}\n", printable(key), in_quotes(value.first),
                          in_quotes(value.second));
  }
  return text.empty() && !approved.provenance.empty() ? "  provenance: the same\n" : text;
}

}  // namespace

std::string describe_difference(const Record& approved, const Record& pending) {
  std::string text;
  std::size_t added = 0, removed = 0, changed = 0, equal = 0;
  for (const Entry& entry : approved.entries) {
    if (same_case(pending, entry)) continue;
    ++removed;
    text += fmt::format("  removed {}\n", named(entry));
  }
  for (const Entry& entry : pending.entries) {
    const Entry* old = same_case(approved, entry);
    if (!old) {
      ++added;
      text += fmt::format("  added   {}\n", named(entry));
    } else if (old->input_digest == entry.input_digest && old->output_digest == entry.output_digest) {
      ++equal;
    } else {
      ++changed;
      text += entry_difference(pending, *old, entry);
    }
  }
  if (added + removed + changed == 0 && goldens::content_digest(approved) != goldens::content_digest(pending))
    text += "  the entries stand in another order\n";
  return fmt::format("  entries: {} added, {} removed, {} changed, {} equal\n", added, removed, changed,
                     equal) +
         provenance_difference(approved, pending) + text;
}

std::string review_pending(const PendingGolden& pending) {
  const Record record = goldens::read(pending.pending);
  Record approved{record.family, {}, {}};
  std::string text = fmt::format("{}\n  content  {}\n", printable(pending.pending.string()),
                                 goldens::content_digest(record));
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(pending.approved, ignored))) {
    text += "  approved nothing yet\n";
  } else {
    try {
      approved = goldens::read(pending.approved);
      text += fmt::format("  approved {}\n", goldens::content_digest(approved));
    } catch (const BadInput& error) {
      text += fmt::format("  approved cannot be read: {}\n", printable(error.what()));
    }
  }
  return text + describe_difference(approved, record);
}

}  // namespace assay::properties
