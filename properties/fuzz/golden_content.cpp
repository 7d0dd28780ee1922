// What stands around the HDF5 library in the reader of golden records, in this process; see hdf5_scan.cpp.
// The whole reader is the target golden_record.
#include "goldens/record/content.hpp"
#include "goldens/record/parcel.hpp"
#include "goldens/record/sample_record.hpp"
#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  accepted([&] {
    const goldens::Record record = goldens::read_content(bytes);
    claim(goldens::same(goldens::unpack(goldens::pack(record)), record),
          "a record changes on its way to the parent");
  });
}

const Register registered({"golden_content", run, "golden_record", true});

}  // namespace
}  // namespace assay::fuzz
