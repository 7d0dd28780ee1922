// Time of one cast, launch and completion included: on the executor, and on cuda where there is such a
// device.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/mxfp8_cast/cast.hpp"
#include "kernels/mxfp8_cast/cast_test_input.hpp"

namespace assay::kernels::mxfp8_cast {
namespace {

void cast(benchmark::State& state, Device& on, const Route& route, Input input, std::int64_t rows,
          std::int64_t cols, unsigned workers) {
  Problem p;
  p.rows = p.rowwise.scale_rows = rows;
  p.cols = cols;
  p.rowwise.scale_stride = cols / 32;
  p.input = input;
  p.element = Element::e4m3;
  const auto bytes = static_cast<std::size_t>(rows * cols);
  const std::size_t element_bytes = format_of(input).bytes();
  const auto x = on.allocate("x", bytes * element_bytes, 256);
  const auto data = on.allocate("data", bytes, 256);
  const auto scales = on.allocate("scales", bytes / 32, 256);
  // Finite values, no special blocks: the case that matters for speed.
  std::vector<std::byte> codes(bytes * element_bytes);
  const InputFormat format = format_of(input);
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uint32_t random = hashed(static_cast<std::uint32_t>(i));
    const std::uint32_t code =
        format.code(random, format.top_exponent() / 2 - 3 + (random >> 1) % 8, random >> 8);
    std::memcpy(codes.data() + i * element_bytes, &code, element_bytes);
  }
  x->upload(codes);
  p.x = x->data();
  p.rowwise.data = static_cast<std::uint8_t*>(data->data());
  p.rowwise.scales = static_cast<std::uint8_t*>(scales->data());
  const auto options = on.executor_options;
  on.executor_options.workers = workers;
  for (auto _ : state) {
    Witness witness;
    LaunchContext context{on, witness};
    route.run(context, p);
    on.synchronize();
  }
  on.executor_options = options;
  const std::size_t moved = bytes * (element_bytes + 1) + bytes / 32;
  state.SetBytesProcessed(static_cast<std::int64_t>(moved) * state.iterations());
  state.SetItemsProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

/// One benchmark for each device of this machine, route and input; the cuda shape is far larger than its
/// caches.
const bool registered = [] {
  for (const Input input : {Input::bf16, Input::fp32}) {
    const std::string format = input == Input::bf16 ? "bf16" : "fp32";
    for (const Route& route : routes(DeviceKind::cpu)) {
      for (const unsigned workers : {1u, 2u}) {
        const std::string name = "cpu/" + std::string(route.info.name) + "/" + format + "/1024x1024/workers:";
        benchmark::RegisterBenchmark((name + std::to_string(workers)).c_str(),
                                     [&route, input, workers](benchmark::State& state) {
                                       cast(state, *device(DeviceKind::cpu), route, input, 1024, 1024,
                                            workers);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
    if (device(DeviceKind::cuda) == nullptr) continue;
    for (const Route& route : routes(DeviceKind::cuda)) {
      for (const std::int64_t rows : {1024, 16384}) {
        const std::string name =
            "cuda/" + std::string(route.info.name) + "/" + format + "/" + std::to_string(rows);
        benchmark::RegisterBenchmark((name + "x8192").c_str(),
                                     [&route, input, rows](benchmark::State& state) {
                                       cast(state, *device(DeviceKind::cuda), route, input, rows, 8192, 0);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace assay::kernels::mxfp8_cast
