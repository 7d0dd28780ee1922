#include "properties/gate/golden_oracle.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>

#include "goldens/record/source_revision.hpp"

namespace assay::properties {
namespace {

using arithmetic::Acceptance;

goldens::CodeArray input_array(const std::string& name, formats::Format format,
                               std::span<const std::byte> bytes) {
  const auto width = static_cast<std::size_t>(formats::storage_bytes(format));
  return {name, format, {bytes.size() / width}, {bytes.begin(), bytes.end()}};
}

goldens::Entry oracle_entry(const Family& family, const std::string& token) {
  const auto workload = family.materialise(token);
  goldens::Entry entry;
  entry.token = token;
  entry.inputs = input_arrays(*workload);
  const auto outputs = workload->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Acceptance& acceptance = workload->acceptance()[i];
    assert(acceptance.exact() && "the oracle's records are of cases with one right answer");
    entry.outputs.push_back(output_array(outputs[i], acceptance, acceptance.lo));
  }
  entry.input_digest = goldens::digest(entry.inputs);
  entry.output_digest = goldens::digest(entry.outputs);
  return entry;
}

/// The keys of "FAMILY:key=value,...", over all tokens, each once, in the order in which they appear.
std::string keys_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> keys;
  for (const std::string& token : tokens) {
    for (std::size_t begin = token.find(':'); begin != token.npos; begin = token.find(',', begin + 1)) {
      const std::string key = token.substr(begin + 1, token.find('=', begin) - begin - 1);
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

const Family* find_family(std::string_view name) {
  const auto found = std::ranges::find(families(), name, &Family::name);
  return found == families().end() ? nullptr : *found;
}

std::vector<goldens::CodeArray> input_arrays(const Workload& workload) {
  std::vector<goldens::CodeArray> arrays;
  for (const InputBuffer& input : workload.inputs())
    arrays.push_back(input_array(input.name, input.format, input.bytes));
  for (const OutputBuffer& output : workload.outputs()) {
    if (!output.initial.empty())
      arrays.push_back(input_array(output.name + " before", output.format, output.initial));
  }
  return arrays;
}

goldens::CodeArray output_array(const OutputBuffer& output, const Acceptance& acceptance,
                                std::span<const std::byte> codes) {
  goldens::CodeArray array{output.name,
                           output.format,
                           {output.elements / output.stride, output.stride},
                           {codes.begin(), codes.end()}};
  const auto width = static_cast<std::size_t>(formats::storage_bytes(output.format));
  for (const auto& range : acceptance.untouched) {
    std::fill(array.bytes.begin() + static_cast<std::ptrdiff_t>(range.begin * width),
              array.bytes.begin() + static_cast<std::ptrdiff_t>(range.end * width), std::byte{0});
  }
  return array;
}

goldens::Record oracle_record(const Family& family, const std::string& name) {
  const auto cases = family.golden_cases();
  const auto tokens = cases.find(name);
  assert(tokens != cases.end());
  goldens::Record record;
  record.family = family.name();
  std::string digests;
  for (const std::string& token : tokens->second) {
    record.entries.push_back(oracle_entry(family, token));
    digests += record.entries.back().input_digest;
  }
  record.provenance = {
      {"oracle",
       fmt::format("oracles/{}: exact arithmetic, every rounding as its contracts name it", family.name())},
      {"contracts", keys_of(tokens->second)},
      {"generator", fmt::format("fixtures/{}: counter-based, from the token of each entry", family.name())},
      {"inputs", goldens::sha256(std::as_bytes(std::span(digests)))},
      {"source_revision", std::string(goldens::source_revision(family.name()))},
      {"untouched", "stored as zero"}};
  return record;
}

}  // namespace assay::properties
