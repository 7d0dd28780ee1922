#include "properties/gate/buffers.hpp"

#include <cassert>
#include <cstdint>
#include <utility>

namespace assay::properties {
namespace {

void add(Buffers& buffers, std::unique_ptr<kernels::DeviceBuffer> buffer) {
  buffers.pointers.push_back(buffer->data());
  buffers.owned.push_back(std::move(buffer));
}

}  // namespace

std::size_t bytes_of(const OutputBuffer& output) {
  return output.elements * static_cast<std::size_t>(formats::storage_bytes(output.format));
}

Buffers allocate_inputs(const std::vector<InputBuffer>& inputs, kernels::Device& device) {
  Buffers buffers;
  for (const InputBuffer& input : inputs) {
    add(buffers, device.allocate(input.name, input.bytes.size(), input.alignment));
    buffers.owned.back()->upload(input.bytes);
  }
  return buffers;
}

Buffers allocate_outputs(const Workload& workload, kernels::Device& device) {
  Buffers buffers;
  for (const OutputBuffer& output : workload.outputs())
    add(buffers, device.allocate(output.name, bytes_of(output), output.alignment));
  for (const ScratchBuffer& scratch : workload.scratch())
    add(buffers, device.allocate(scratch.name, scratch.bytes, scratch.alignment));
  return buffers;
}

void collect_damage(const Buffers& buffers, std::vector<kernels::GuardDamage>& damage) {
  for (const auto& buffer : buffers.owned) {
    if (auto found = buffer->guard_damage()) damage.push_back(*found);
  }
}

std::byte poison(std::size_t index) {
  // Multiplicative hash; the high byte of the product moves with every index.
  return static_cast<std::byte>((static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15u + 0xA5A5A5A5u) >>
                                56);
}

std::vector<std::byte> poisoned(std::size_t bytes, bool complement) {
  std::vector<std::byte> contents(bytes);
  for (std::size_t i = 0; i < bytes; ++i) contents[i] = complement ? ~poison(i) : poison(i);
  return contents;
}

std::vector<std::byte> before_run(const OutputBuffer& output, bool complement) {
  if (output.initial.empty()) return poisoned(bytes_of(output), complement);
  assert(output.initial.size() == bytes_of(output) && "all of the buffer");
  return {output.initial.begin(), output.initial.end()};
}

std::optional<std::string> launch_and_wait(const Workload& workload, std::size_t route,
                                           kernels::Device& device, const Buffers& in, const Buffers& out,
                                           kernels::Witness& witness) {
  witness.device = to_string(device.kind());
  witness.device_name = device.name();
  witness.binary_hash = kernels::binary_hash();
  try {
    kernels::LaunchContext context{device, witness};
    workload.launch(route, context, in.pointers, out.pointers);
    device.synchronize();
  } catch (const executor::ExecutorError& fault) {
    return fault.what();
  } catch (const kernels::DeviceError& fault) {
    return fault.what();
  }
  return std::nullopt;
}

}  // namespace assay::properties
