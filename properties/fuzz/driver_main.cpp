// The entry point that libFuzzer calls; a program has one target.
#include <cstdint>

#include "properties/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  assay::fuzz::targets().front().run(std::as_bytes(std::span(data, size)));
  return 0;
}
