// The safetensors reader.
#include "fixtures/files/safetensors.hpp"

#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  const auto path = file_of(bytes);
  accepted([&] {
    const auto file = fixtures::open_safetensors(fixtures::MappedFile::open(path));
    check_tensors(*file, false);
    std::size_t all = 8;
    for (const fixtures::TensorInfo& info : file->tensors())
      if (info.unsupported.empty()) all += file->read(info.name).bytes.size();
    claim(all <= bytes.size(), "the tensors are more than the file");
  });
}

const Register registered({"safetensors", run});

}  // namespace
}  // namespace assay::fuzz
