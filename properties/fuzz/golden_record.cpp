// Golden records. A seal is no signature: anyone can put one on anything, and here it is put on every input,
// so that the fuzzer gets behind it.
#include "fixtures/files/hdf5_library.hpp"
#include "goldens/record/envelope.hpp"
#include "goldens/record/record.hpp"
#include "goldens/record/sample_record.hpp"
#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  accepted([&] { goldens::from_bytes(bytes); });
  if (bytes.size() <= goldens::envelope_bytes) return;
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  goldens::seal(sealed);
  accepted([&] {
    const goldens::Record record = goldens::from_bytes(sealed);
    // HDF5 has many files for one content, and the record has one.
    const auto written = goldens::to_bytes(record);
    const goldens::Record again = goldens::from_bytes(written);
    claim(goldens::same(again, record), "a record that was written is read as another");
    claim(goldens::to_bytes(again) == written, "a record has two files");
  });
}

const Register registered({"golden_record", run});

}  // namespace
}  // namespace assay::fuzz
