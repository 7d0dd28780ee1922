#include "properties/gate/runner.hpp"

#include <algorithm>
#include <memory>

namespace assay::properties {
namespace {

void collect_modified(const std::vector<InputBuffer>& inputs, const Buffers& buffers,
                      std::vector<std::string>& modified) {
  std::vector<std::byte> now;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    now.resize(inputs[i].bytes.size());
    buffers.owned[i]->download(now);
    if (!std::equal(now.begin(), now.end(), inputs[i].bytes.begin())) modified.push_back(inputs[i].name);
  }
}

executor::Options order_of_run(bool second, const executor::Options& base) {
  executor::Options options = base;
  options.lanes = second ? executor::Order::seeded : executor::Order::forward;
  options.blocks = second ? executor::Order::reverse : executor::Order::forward;
  options.seed = 0x9E3779B97F4A7C15u;
  options.shared_poison = second ? 0x55 : 0xFF;
  return options;
}

}  // namespace

Execution execute(const Workload& workload, std::size_t route, kernels::Device& device) {
  Execution execution;
  const std::vector<InputBuffer> inputs = workload.inputs();
  const std::vector<OutputBuffer> outputs = workload.outputs();
  const Buffers in = allocate_inputs(inputs, device);
  const Buffers out = allocate_outputs(workload, device);
  const executor::Options base = device.executor_options;

  for (const bool second : {false, true}) {
    Contents& before = second ? execution.before_second : execution.before_first;
    Contents& after = second ? execution.second : execution.first;
    kernels::Witness& witness = second ? execution.second_witness : execution.witness;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      before.push_back(before_run(outputs[i], second));
      out.owned[i]->upload(before.back());
    }
    for (std::size_t i = outputs.size(); i < out.owned.size(); ++i)
      out.owned[i]->upload(poisoned(out.owned[i]->bytes(), second));
    device.executor_options = order_of_run(second, base);
    execution.kernel_fault = launch_and_wait(workload, route, device, in, out, witness);
    device.executor_options = base;
    if (execution.kernel_fault) return execution;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      after.emplace_back(before[i].size());
      out.owned[i]->download(after.back());
    }
  }
  collect_damage(in, execution.guard_damage);
  collect_damage(out, execution.guard_damage);
  collect_modified(inputs, in, execution.modified_inputs);
  return execution;
}

}  // namespace assay::properties
