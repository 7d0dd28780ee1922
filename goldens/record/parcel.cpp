#include "goldens/record/parcel.hpp"

#include <algorithm>
#include <cstring>

#include "fixtures/tensor/tensor.hpp"

namespace assay::goldens {

namespace {

class Writer {
 public:
  void number(std::uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    text_.append(bytes, sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    text_ += value;
  }
  void arrays(const std::vector<CodeArray>& list) {
    number(list.size());
    for (const CodeArray& array : list) {
      text(array.name);
      text(formats::spec(array.format).name);
      number(array.shape.size());
      for (const std::size_t dimension : array.shape) number(dimension);
      text({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return next(number()); }
  std::string word() { return std::string(text()); }
  std::vector<CodeArray> arrays() {
    std::vector<CodeArray> list;
    for (std::uint64_t count = number(); count != 0; --count) {
      CodeArray array;
      array.name = word();
      const auto format = formats::format_named(text());
      if (!format) fail();
      array.format = *format;
      for (std::uint64_t rank = number(); rank != 0; --rank) array.shape.push_back(number());
      const auto bytes = std::as_bytes(std::span(text()));
      const auto elements = fixtures::element_count(array.shape);
      const auto width = static_cast<std::size_t>(formats::storage_bytes(*format));
      if (!elements || bytes.size() % width != 0 || bytes.size() / width != *elements) fail();
      array.bytes.assign(bytes.begin(), bytes.end());
      list.push_back(std::move(array));
    }
    return list;
  }
  void end() const {
    if (!rest_.empty()) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw BadInput("is not a well-formed record: misread by the HDF5 library");
  }
  std::string_view next(std::uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
};

}  // namespace

std::string pack(const Record& record) {
  Writer out;
  out.text(record.family);
  out.number(record.provenance.size());
  for (const auto& [key, value] : record.provenance) {
    out.text(key);
    out.text(value);
  }
  out.number(record.entries.size());
  for (const Entry& entry : record.entries) {
    out.text(entry.token);
    out.arrays(entry.inputs);
    out.arrays(entry.outputs);
    out.text(entry.input_digest);
    out.text(entry.output_digest);
    out.text(entry.route);
  }
  return out.take();
}

Record unpack(std::string_view text) {
  Reader in(text);
  Record record;
  record.family = in.word();
  for (std::uint64_t count = in.number(); count != 0; --count) {
    const std::string key = in.word();
    record.provenance[key] = in.word();
  }
  for (std::uint64_t count = in.number(); count != 0; --count) {
    Entry entry;
    entry.token = in.word();
    entry.inputs = in.arrays();
    entry.outputs = in.arrays();
    entry.input_digest = in.word();
    entry.output_digest = in.word();
    entry.route = in.word();
    record.entries.push_back(std::move(entry));
  }
  in.end();
  return record;
}

}  // namespace assay::goldens
