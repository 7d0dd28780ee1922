// A record for tests: every format and every shape that is stored in its own way.
#pragma once

#include <algorithm>

#include "goldens/record/record.hpp"

namespace assay::goldens {

inline CodeArray codes(std::string name, formats::Format format, std::vector<std::size_t> shape) {
  std::size_t elements = 1;
  for (const std::size_t dimension : shape) elements *= dimension;
  CodeArray array{std::move(name), format, std::move(shape), {}};
  array.bytes.resize(elements * static_cast<std::size_t>(formats::storage_bytes(format)));
  for (std::size_t i = 0; i < array.bytes.size(); ++i) array.bytes[i] = static_cast<std::byte>(i * 37 + 11);
  return array;
}

/// Consistent digests for what the entry holds.
inline Entry sealed(Entry entry) {
  entry.input_digest = digest(entry.inputs);
  entry.output_digest = digest(entry.outputs);
  return entry;
}

inline Record sample_record() {
  using formats::Format;
  Record record;
  record.family = "sample";
  for (int i = 0; i < 12; ++i)
    record.provenance["key " + std::to_string(i)] = "value " + std::to_string(i * i);
  record.provenance["empty"] = "";
  record.provenance["utf8"] = "\xce\xb5";
  record.entries.push_back(
      sealed({"token=1",
              {},
              {codes("data", Format::e4m3, {4, 32}), codes("scales", Format::e8m0, {4, 1})},
              {},
              {}}));
  record.entries.push_back(sealed(
      {"token=2",
       {codes("x", Format::bf16, {2, 64}), codes("a", Format::fp32, {3})},
       {codes("z", Format::fp16, {2, 3, 5}), codes("b", Format::e5m2, {7}), codes("scalar", Format::fp32, {}),
        codes("none", Format::int4, {0, 8}), codes("n", Format::uint4, {9})},
       {},
       {}}));
  // More entries and outputs than fit a group's compact form.
  for (int i = 2; i < 20; ++i) {
    Entry entry{"token=" + std::to_string(i), {}, {}, {}, {}};
    for (int j = 0; j < (i == 5 ? 11 : 1); ++j)
      entry.outputs.push_back(codes("out " + std::to_string(10 - j), Format::e4m3, {std::size_t(i)}));
    record.entries.push_back(sealed(entry));
  }
  return record;
}

inline bool same(const CodeArray& a, const CodeArray& b) {
  return a.name == b.name && a.format == b.format && a.shape == b.shape && a.bytes == b.bytes;
}

inline bool same(const Record& a, const Record& b) {
  const auto arrays = [](const std::vector<CodeArray>& x, const std::vector<CodeArray>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const auto& p, const auto& q) { return same(p, q); });
  };
  return a.family == b.family && a.provenance == b.provenance &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [&](const Entry& x, const Entry& y) {
                      return x.token == y.token && x.input_digest == y.input_digest &&
                             x.output_digest == y.output_digest && x.route == y.route &&
                             arrays(x.inputs, y.inputs) && arrays(x.outputs, y.outputs);
                    });
}

}  // namespace assay::goldens
