// Opening a file by its content, and with it HDF5 as the program reads it: the library in a child process,
// whose crashes have to come out as refusals. The fuzzer sees nothing of the child; hdf5_scan is the target
// that does.
#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  const auto path = file_of(bytes);
  accepted([&] { check_tensors(*fixtures::open_tensor_file(path), true); });
}

const Register registered({"hdf5", run});

}  // namespace
}  // namespace assay::fuzz
