#include "properties/exchange/case_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <mutex>
#include <nlohmann/json.hpp>

#include "fixtures/files/hdf5_writer.hpp"
#include "fixtures/files/messages.hpp"
#include "fixtures/files/safetensors_writer.hpp"
#include "fixtures/files/tensor_file.hpp"
#include "goldens/record/atomic_file.hpp"
#include "properties/exchange/buffers_in_files.hpp"
#include "properties/gate/delegating.hpp"

namespace assay::properties {

namespace {

constexpr std::size_t longest_text = std::size_t{16} << 20;

/// The text of a case without route and device: what Workload::token() is.
CaseText anywhere(CaseText text) {
  text.route.clear();
  text.device.clear();
  return text;
}

/// A case whose contents came from a file, called by a text that gives exactly these.
class WorkloadOfFile : public DelegatingWorkload {
 public:
  /// `generated`: what `text` gives, where that is known.
  WorkloadOfFile(std::unique_ptr<Workload> owned, CaseText text, const Contents* generated)
      : DelegatingWorkload(*owned), owned_(std::move(owned)), text_(std::move(text)) {
    if (generated != nullptr) set_token(*generated);
  }

  std::string token() const override {
    const std::lock_guard lock(mutex_);
    if (token_) return *token_;
    try {  // a text that names a file may be of another machine
      set_token(contents_of(given(*build(text_))));
    } catch (const BadInput&) {
      set_token({});
    }
    return *token_;
  }

 private:
  void set_token(const Contents& generated) const {
    const Contents contents = contents_of(given(*owned_));
    token_ = print(generated == contents ? text_ : text_of(family_of(text_), text_.token, contents));
  }

  std::unique_ptr<Workload> owned_;
  CaseText text_;
  mutable std::mutex mutex_;
  mutable std::optional<std::string> token_;
};

const std::filesystem::path& origin(const CaseFile& file, const std::string& tensor) {
  const auto other = file.origins.find(tensor);
  return other == file.origins.end() ? file.path : other->second;
}

/// Throws unless every tensor of the file is a buffer of the case and fits it.
void check_tensors(const CaseFile& file, const std::vector<BufferInFile>& buffers) {
  for (const auto& one : file.tensors) {
    const std::string& name = one.first;
    const fixtures::Tensor& tensor = one.second;
    const auto found = std::find_if(buffers.begin(), buffers.end(),
                                    [&](const BufferInFile& buffer) { return buffer.name == name; });
    if (found == buffers.end()) {
      std::vector<std::string> names;
      for (const BufferInFile& buffer : buffers) names.push_back(buffer.name);
      fixtures::bad_tensor(origin(file, name), name,
                           fmt::format("the case has no buffer of this name; the nearest is '{}'",
                                       fixtures::nearest(name, names)));
    }
    if (const std::string reason = misfit(tensor.dtype, tensor.shape, *found); !reason.empty())
      fixtures::bad_tensor(origin(file, name), name, reason);
  }
}

std::vector<std::byte> copied(const fixtures::Tensor& tensor) {
  return {tensor.bytes.begin(), tensor.bytes.end()};
}

std::unique_ptr<Workload> build_unnamed(const CaseFile& file) {
  const Family& family = family_of(file.text);
  const auto blank = family.blank(file.text.token);
  check_tensors(file, buffers_in_files(*blank));
  const std::vector<GivenBuffer> buffers = given(*blank);
  const auto there = [&](const GivenBuffer& buffer) { return file.tensors.contains(buffer.name); };
  const bool all = std::all_of(buffers.begin(), buffers.end(), there);
  const Contents generated = all ? Contents() : contents_of(given(*build(file.text)));
  Contents contents;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto found = file.tensors.find(buffers[i].name);
    contents.push_back(found == file.tensors.end() ? generated[i] : copied(found->second));
  }
  return std::make_unique<WorkloadOfFile>(family.with_contents(file.text.token, std::move(contents)),
                                          anywhere(file.text), all ? nullptr : &generated);
}

void check_text(FileKind kind, const std::string& text) {
  const std::size_t longest = kind == FileKind::hdf5 ? fixtures::longest_hdf5_text : longest_text;
  if (text.size() > longest)
    throw BadInput(fmt::format("case {}: its text has {} bytes, a file of this kind holds {}",
                               fixtures::in_quotes(text), text.size(), longest));
  if (!fixtures::is_utf8(text) || text.find('\0') != text.npos)
    throw BadInput(fmt::format("case {}: its text is not UTF-8", fixtures::in_quotes(text)));
}

}  // namespace

CaseFile read_case_file(const std::filesystem::path& path) {
  const auto file = fixtures::open_tensor_file(path);
  CaseFile result;
  result.path = path;
  if (const auto text = file->metadata().find(std::string(case_key)); text != file->metadata().end()) {
    try {
      result.text = parse_case(text->second);
    } catch (const BadInput& reason) {
      fixtures::bad_file(path, reason.what());
    }
  }
  for (const fixtures::TensorInfo& info : file->tensors())
    result.tensors.emplace(info.name, file->read(info.name));
  return result;
}

std::unique_ptr<Workload> build(const CaseFile& file) {
  if (file.text.family.empty())
    fixtures::bad_file(file.path, fmt::format("it names no case: its metadata has no '{}'", case_key));
  try {
    return build_unnamed(file);
  } catch (const BadInput& reason) {
    const std::string_view said = reason.what();
    const auto names = [&](const std::filesystem::path& path) {
      return said.starts_with(fixtures::path_text(path) + ": ");
    };
    const bool named = std::any_of(file.origins.begin(), file.origins.end(),
                                   [&](const auto& one) { return names(one.second); });
    if (file.path.empty() || named || names(file.path)) throw;
    fixtures::bad_file(file.path, said);
  }
}

std::vector<std::optional<std::vector<std::byte>>> outputs_in(const CaseFile& file,
                                                              const Workload& workload) {
  check_tensors(file, buffers_in_files(workload));
  std::vector<std::optional<std::vector<std::byte>>> outputs;
  for (const OutputBuffer& output : workload.outputs()) {
    const auto found = file.tensors.find(output.name);
    outputs.emplace_back();
    if (found != file.tensors.end()) outputs.back() = copied(found->second);
  }
  return outputs;
}

FileKind file_kind_named(std::string_view name) {
  if (name == "safetensors") return FileKind::safetensors;
  if (name == "hdf5") return FileKind::hdf5;
  throw BadInput(fmt::format("unknown format {}; the nearest is '{}'", fixtures::in_quotes(name),
                             fixtures::nearest(name, {"safetensors", "hdf5"})));
}

std::string_view extension_of(FileKind kind) { return kind == FileKind::safetensors ? "safetensors" : "h5"; }

std::vector<std::byte> case_file_bytes(FileKind kind, const Workload& workload, const std::string& text,
                                       const Contents* outputs) {
  check_text(kind, text);
  const std::vector<GivenBuffer> givens = given(workload);
  std::vector<fixtures::Tensor> tensors;
  for (const BufferInFile& buffer : buffers_in_files(workload)) {
    const std::size_t i = tensors.size();
    if (!buffer.given && outputs == nullptr) break;
    const std::span<const std::byte> bytes =
        buffer.given ? givens[i].bytes : std::span<const std::byte>(outputs->at(i - givens.size()));
    assert(fixtures::byte_count(buffer.shape, buffer.dtype) == bytes.size());
    tensors.push_back({buffer.name, buffer.dtype, buffer.shape, bytes, nullptr});
  }
  nlohmann::ordered_json expected = nlohmann::ordered_json::object();
  for (const BufferInFile& buffer : buffers_in_files(workload))
    if (!buffer.given) expected[buffer.name] = {{"dtype", to_string(buffer.dtype)}, {"shape", buffer.shape}};
  const std::map<std::string, std::string> metadata = {{std::string(case_key), text},
                                                       {std::string(outputs_key), expected.dump()}};
  return kind == FileKind::hdf5 ? fixtures::hdf5_bytes(tensors, metadata)
                                : fixtures::safetensors_bytes(tensors, metadata);
}

void write_case_file(const std::filesystem::path& path, FileKind kind, const Workload& workload,
                     const std::string& text, const Contents* outputs) {
  goldens::replace_file(path, case_file_bytes(kind, workload, text, outputs));
}

}  // namespace assay::properties
