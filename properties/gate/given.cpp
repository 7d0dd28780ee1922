#include <fmt/core.h>

#include "properties/gate/family.hpp"

namespace assay::properties {

std::vector<GivenBuffer> given(const Workload& workload) {
  std::vector<GivenBuffer> buffers;
  for (const InputBuffer& input : workload.inputs())
    buffers.push_back({input.name, input.format, input.bytes, input.structural, input.shape, input.dtype});
  for (const OutputBuffer& output : workload.outputs()) {
    if (output.initial.empty()) continue;
    buffers.push_back({fmt::format("{} before", output.name), output.format, output.initial, false,
                       output.shape, std::nullopt});
  }
  return buffers;
}

Contents contents_of(const std::vector<GivenBuffer>& buffers) {
  Contents contents;
  for (const GivenBuffer& buffer : buffers) contents.emplace_back(buffer.bytes.begin(), buffer.bytes.end());
  return contents;
}

}  // namespace assay::properties
