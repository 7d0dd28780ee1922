#include "properties/exchange/readings.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "fixtures/files/messages.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "fixtures/tensor/errors.hpp"
#include "properties/exchange/buffers_in_files.hpp"

namespace assay::properties {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// The pairs of "key=value,key=value".
std::vector<Pair> pairs_of(std::string_view text) {
  std::vector<Pair> pairs;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, std::min(text.find(','), text.size()));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == part.npos || equals == 0 || equals + 1 == part.size())
      throw BadInput(fmt::format("contract {}: it is not key=value", fixtures::in_quotes(part)));
    pairs.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return pairs;
}

std::vector<std::string> listed(std::initializer_list<std::string_view> names) {
  return {names.begin(), names.end()};
}

/// The values of a key in the readings, each once, in their order.
std::vector<std::string> values_in(const std::vector<std::string>& readings, std::string_view key) {
  std::vector<std::string> values;
  for (const std::string& reading : readings) {
    auto value = value_of(reading, key);
    if (value && std::find(values.begin(), values.end(), *value) == values.end())
      values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace

RefusedTensor::RefusedTensor(const std::string& of, std::string_view reason, std::size_t unknown)
    : BadInput(fmt::format("tensor {}: {}", fixtures::in_quotes(of), reason)),
      name(of),
      unknown_names(unknown) {}

Offer::Offer(std::string_view family, std::span<const OfferedTensor> tensors,
             std::initializer_list<std::string_view> names)
    : family_(family), tensors_(tensors) {
  const auto unknown = [&](const OfferedTensor& tensor) {
    return std::find(names.begin(), names.end(), tensor.name) == names.end();
  };
  for (const OfferedTensor& tensor : tensors) {
    if (unknown(tensor))
      throw RefusedTensor(tensor.name,
                          fmt::format("{} has no buffer of this name; the nearest is '{}'", family,
                                      fixtures::nearest(tensor.name, listed(names))),
                          static_cast<std::size_t>(std::count_if(tensors.begin(), tensors.end(), unknown)));
    if (find(tensor.name) != &tensor) refuse(tensor, "it is offered twice");
  }
}

const OfferedTensor* Offer::find(std::string_view name) const {
  for (const OfferedTensor& tensor : tensors_) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

const OfferedTensor& Offer::need(std::string_view name) const {
  if (const OfferedTensor* found = find(name)) return *found;
  throw BadInput(fmt::format("tensor '{}': it is an input of {} and is missing", name, family_));
}

void refuse(const OfferedTensor& tensor, const std::string& reason) {
  throw RefusedTensor(tensor.name, reason, 0);
}

std::vector<formats::Format> formats_of(const Offer& offer, std::initializer_list<std::string_view> names,
                                        std::initializer_list<formats::Format> wanted) {
  std::vector<formats::Format> left(wanted);
  for (const std::string_view name : names) {
    const OfferedTensor* tensor = offer.find(name);
    if (tensor == nullptr) continue;
    std::vector<std::string> possible;
    for (const formats::Format format : left) possible.emplace_back(formats::spec(format).name);
    std::erase_if(left, [&](formats::Format f) { return !holds_codes_of(tensor->dtype, file_dtype(f)); });
    if (left.empty())
      refuse(*tensor, fmt::format("its dtype is {}; here it has to hold {}", to_string(tensor->dtype),
                                  fmt::join(possible, " or ")));
  }
  return left;
}

void check_shape(const Offer& offer, std::string_view name, const std::vector<std::size_t>& shape) {
  const OfferedTensor* tensor = offer.find(name);
  if (tensor == nullptr || lies_like(tensor->shape, shape)) return;
  refuse(*tensor, fmt::format("its shape is {}; by the other tensors it has to be {}",
                              fixtures::shape_text(tensor->shape), fixtures::shape_text(shape)));
}

std::pair<std::size_t, std::size_t> matrix_of(const OfferedTensor& tensor) {
  if (tensor.shape.empty()) return {1, 1};
  const std::size_t cols = tensor.shape.back();
  const std::size_t elements = fixtures::element_count(tensor.shape).value_or(0);
  return {cols == 0 ? 0 : elements / cols, cols};
}

std::vector<std::string> parts(std::string_view key, std::initializer_list<std::string_view> values) {
  std::vector<std::string> result;
  for (const std::string_view value : values) result.push_back(fmt::format("{}={}", key, value));
  return result;
}

std::vector<std::string> parts(std::string_view key, const std::vector<formats::Format>& values) {
  std::vector<std::string> result;
  for (const formats::Format value : values)
    result.push_back(fmt::format("{}={}", key, formats::spec(value).name));
  return result;
}

std::vector<std::string> combinations(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all = {""};
  for (const std::vector<std::string>& list : lists) {
    std::vector<std::string> longer;
    for (const std::string& start : all)
      for (const std::string& part : list) longer.push_back(start.empty() ? part : start + "," + part);
    all = std::move(longer);
  }
  return all;
}

void check_contracts(std::string_view contracts) {
  std::set<std::string_view> seen;
  for (const auto& [key, value] : pairs_of(contracts))
    if (!seen.insert(key).second)
      throw BadInput(fmt::format("contract {}: it is given twice", fixtures::in_quotes(key)));
}

std::optional<std::string> value_of(std::string_view contracts, std::string_view key) {
  for (const auto& [name, value] : pairs_of(contracts)) {
    if (name == key) return std::string(value);
  }
  return std::nullopt;
}

std::vector<std::string> agreeing(const std::vector<std::string>& readings, std::string_view fixed,
                                  std::initializer_list<std::string_view> keys) {
  std::vector<std::string> left = readings;
  check_contracts(fixed);
  for (const Pair& pair : pairs_of(fixed)) {
    const std::string_view key = pair.first, value = pair.second;
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw BadInput(fmt::format("contract {}: there is no such key; the nearest is '{}'",
                                 fixtures::in_quotes(key), fixtures::nearest(key, listed(keys))));
    const std::vector<std::string> possible = values_in(left, key);
    std::erase_if(left, [&](const std::string& reading) { return value_of(reading, key) != value; });
    if (!left.empty()) continue;
    if (possible.empty())
      throw BadInput(fmt::format("contract {}={}: these tensors leave no choice that it is of", key,
                                 fixtures::in_quotes(value)));
    throw BadInput(fmt::format("contract {}={}: with these tensors it is {}", key, fixtures::in_quotes(value),
                               fmt::join(possible, " or ")));
  }
  return left;
}

}  // namespace assay::properties
