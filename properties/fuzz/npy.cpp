// The .npy reader.
#include "fixtures/files/npy.hpp"

#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  const auto path = file_of(bytes);
  accepted([&] {
    const auto file = fixtures::open_npy(fixtures::MappedFile::open(path));
    claim(file->tensors().size() == 1, "a .npy file is one tensor");
    check_tensors(*file, false);
  });
}

const Register registered({"npy", run});

}  // namespace
}  // namespace assay::fuzz
