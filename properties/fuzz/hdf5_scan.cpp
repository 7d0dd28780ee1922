// What stands around the HDF5 library, in this process, so that the fuzzer sees which branches a file takes.
// The library itself may crash or loop here, as it may in the child process in which the program runs this
// code: scripts/fuzz goes on after such an end and hands the file to the target hdf5.
#include "fixtures/files/hdf5_scan.hpp"

#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  const auto file = fixtures::MappedFile::open(file_of(bytes));
  accepted([&] {
    std::set<std::string> names;
    const auto content = fixtures::scan_hdf5(file->descriptor(), bytes.size());
    for (const auto& [key, text] : content.metadata)
      claim(fixtures::is_utf8(key) && fixtures::is_utf8(text), "metadata is not UTF-8");
    for (const auto& item : content.items) {
      claim(names.insert(item.info.name).second, "two tensors of one name");
      if (!item.info.unsupported.empty()) continue;
      claim(fixtures::byte_count(item.info.shape, item.dtype) == item.bytes, "a tensor is not whole");
      if (item.mapped) {
        claim(item.offset <= bytes.size() && item.bytes <= bytes.size() - item.offset,
              "a tensor lies outside the file");
      } else {
        std::vector<std::byte> out(item.bytes);
        accepted([&] { fixtures::decode_hdf5(file->descriptor(), bytes.size(), item.info.name, out); });
      }
    }
  });
}

const Register registered({"hdf5_scan", run, "hdf5", true});

}  // namespace
}  // namespace assay::fuzz
