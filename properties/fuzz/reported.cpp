// The files of reported faults, by each family's reader.
#include "fixtures/matmul_nbits/reported.hpp"

#include "fixtures/mxfp8_cast/reported.hpp"
#include "oracles/formats/format.hpp"
#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

constexpr std::string_view file_name = "B00.json";  // and so the seeds' id is B00

template <class Cases>
void check_ids(const Cases& cases) {
  claim(!cases.empty(), "a file without a case was accepted");
  std::set<std::string> ids;
  for (const auto& one : cases) claim(ids.insert(one.id).second, "two cases of one id");
}

void run(Bytes bytes) {
  accepted([&] {
    const auto cases = fixtures::mxfp8_cast::parse_reported(file_name, text_of(bytes));
    check_ids(cases);
    for (const auto& one : cases) {
      const auto width = static_cast<std::size_t>(formats::storage_bytes(one.input));
      claim(one.x.size() == one.rows * one.cols * width, "x is not of its shape");
    }
  });
  accepted([&] { check_ids(fixtures::matmul_nbits::parse_reported(file_name, text_of(bytes))); });
}

const Register registered({"reported", run});

}  // namespace
}  // namespace assay::fuzz
