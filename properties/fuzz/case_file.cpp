// Case files that somebody wrote or filled, as `repro FILE` and `judge FILE` read them. In safetensors: what
// HDF5 adds is the target hdf5.
#include "properties/exchange/case_file.hpp"

#include "properties/fuzz/cases.hpp"

namespace assay::fuzz {
namespace {

using namespace properties;

/// The outputs, where all of them are there.
std::optional<Contents> whole(const std::vector<std::optional<std::vector<std::byte>>>& outputs) {
  Contents all;
  for (const auto& one : outputs) {
    if (!one) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

/// What is written of the case is the same case, and has one file.
void check_written(const CaseFile& file, const Workload& workload, const std::optional<Contents>& outputs) {
  const std::string text = print(file.text);
  const auto write = [&](const Workload& of) {
    return case_file_bytes(FileKind::safetensors, of, text, outputs ? &*outputs : nullptr);
  };
  const auto bytes = write(workload);
  const CaseFile again = read_case_file(file_of(bytes));
  claim(print(again.text) == text, "a case that was written has another text");
  const auto built = build(again);
  claim_same_contents(*built, workload, "a case that was written");
  claim(whole(outputs_in(again, *built)) == outputs, "outputs that were written are others");
  claim(write(*built) == bytes, "a case has two files");
}

void check_tensors_of(const CaseFile& file, const Workload& workload) {
  std::size_t used = 0;
  for (const GivenBuffer& buffer : given(workload)) {
    const auto tensor = file.tensors.find(buffer.name);
    if (tensor == file.tensors.end()) continue;
    ++used;
    claim(std::equal(buffer.bytes.begin(), buffer.bytes.end(), tensor->second.bytes.begin(),
                     tensor->second.bytes.end()),
          "a buffer does not hold its tensor");
  }
  for (const OutputBuffer& output : workload.outputs()) used += file.tensors.count(output.name);
  claim(used == file.tensors.size(), "a tensor that is no buffer was accepted");
}

void run(Bytes bytes) {
  constexpr std::string_view hdf5 = "\x89HDF";
  if (text_of(bytes).starts_with(hdf5)) return;
  const auto path = file_of(bytes);
  accepted([&] {
    const CaseFile file = read_case_file(path);
    if (!is_cheap(file.text)) return;
    const auto workload = build(file);
    claim(!file.text.family.empty(), "a file that names no case has one");
    check_tensors_of(file, *workload);
    const auto outputs = whole(outputs_in(file, *workload));
    const std::string own = workload->token();
    claim(accepted([&] { claim_same_contents(*build_case(own), *workload, "the case of the own token"); }),
          "the text of a case is refused");
    claim(accepted([&] { check_written(file, *workload, outputs); }), "a case that was written is refused");
  });
}

const Register registered({"case_file", run});

}  // namespace
}  // namespace assay::fuzz
