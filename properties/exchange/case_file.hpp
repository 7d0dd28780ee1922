// The case file: a tensor file (safetensors or HDF5) whose metadata has `assay.case`, the whole text of a
// case (case_text.hpp), and whose tensors are named like the case's buffers: those it begins with (inputs,
// "NAME before") and, where somebody ran it, outputs. A given buffer that is no tensor of the file is what
// the text generates. In safetensors the text stands in `__metadata__`, in HDF5 in an attribute of the root.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/tensor/tensor.hpp"
#include "properties/gate/case_text.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

inline constexpr std::string_view case_key = "assay.case";
/// For those who run a case: a JSON object of its outputs, {"y": {"dtype": "bf16", "shape": [4, 128]}}.
inline constexpr std::string_view outputs_key = "assay.outputs";

struct CaseFile {
  CaseText text;  ///< text.family empty: the file names no case
  std::map<std::string, fixtures::Tensor> tensors;
  std::filesystem::path path;
  std::map<std::string, std::filesystem::path> origins;  ///< of tensors that another file holds
};

/// Reads any tensor file; of .npy its one tensor, named after the file. Throws BadInput naming file, tensor
/// and reason: as fixtures::open_tensor_file and TensorFile::read, and for a text that is no case.
CaseFile read_case_file(const std::filesystem::path&);

/// The case of the file's text with the file's given tensors in place of the generated ones. Its token() is
/// the text where that gives these contents, else the whole text of the contents, which is long where they
/// are large. Throws BadInput naming the file, and the tensor and the reason where one is wrong: no case is
/// named, no buffer is called so (with the nearest), another dtype or shape, contents that no case can have.
std::unique_ptr<Workload> build(const CaseFile&);

/// The tensors of the file that are outputs of the case, in the order of outputs(); nothing for those that
/// are not there. Throws BadInput as build.
std::vector<std::optional<std::vector<std::byte>>> outputs_in(const CaseFile&, const Workload&);

enum class FileKind : std::uint8_t { safetensors, hdf5 };

/// "safetensors" or "hdf5". Throws BadInput naming the nearest.
FileKind file_kind_named(std::string_view name);
/// "safetensors", "h5".
std::string_view extension_of(FileKind);

/// The bytes of a case file: `text`, all buffers that the workload begins with and, unless it is null, its
/// outputs, in the order of outputs(). Equal cases are equal bytes. Throws BadInput for a text that such a
/// file cannot hold: not UTF-8, of more than 60,000 bytes in HDF5 or 16 MiB in safetensors.
std::vector<std::byte> case_file_bytes(FileKind, const Workload&, const std::string& text,
                                       const Contents* outputs);

/// Those bytes in a file, the old one or the new one whatever happens. Throws BadInput naming the file and
/// the reason.
void write_case_file(const std::filesystem::path&, FileKind, const Workload&, const std::string& text,
                     const Contents* outputs);

}  // namespace assay::properties
