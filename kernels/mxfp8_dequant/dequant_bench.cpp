// Time of one dequantisation on the executor, launch and completion included. On a GPU `assay bench` times
// the routes.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "kernels/mxfp8_dequant/dequant.hpp"

namespace assay::kernels::mxfp8_dequant {
namespace {

constexpr std::int64_t extent = 1024;

void dequantise(benchmark::State& state, const Route& route, Direction direction, unsigned workers) {
  Device& on = *device(DeviceKind::cpu);
  Problem p;
  p.rows = p.cols = extent;
  p.direction = direction;
  p.scale_rows = direction == Direction::rowwise ? extent : extent / 32;
  p.scale_stride = direction == Direction::rowwise ? extent / 32 : extent;
  p.output = Output::bf16;
  const auto elements = static_cast<std::size_t>(extent * extent);
  // Finite codes and scales around 1: the case that matters for speed.
  std::vector<std::byte> codes(elements), scale_codes(elements / 32);
  for (std::size_t i = 0; i < elements; ++i) codes[i] = static_cast<std::byte>(i * 37 % 0x7E);
  for (std::size_t i = 0; i < scale_codes.size(); ++i)
    scale_codes[i] = static_cast<std::byte>(100 + i * 7 % 41);
  const auto data = on.allocate("data", elements, 256);
  const auto scales = on.allocate("scales", elements / 32, 256);
  const auto y = on.allocate("y", 2 * elements, 256);
  data->upload(codes);
  scales->upload(scale_codes);
  p.data = static_cast<const std::uint8_t*>(data->data());
  p.scales = static_cast<const std::uint8_t*>(scales->data());
  p.y = y->data();
  const auto options = on.executor_options;
  on.executor_options.workers = workers;
  for (auto _ : state) {
    Witness witness;
    LaunchContext context{on, witness};
    route.run(context, p);
    on.synchronize();
  }
  on.executor_options = options;
  state.SetItemsProcessed(static_cast<std::int64_t>(elements) * state.iterations());
}

const bool registered = [] {
  for (const Route& route : routes(DeviceKind::cpu)) {
    for (const Direction direction : {Direction::rowwise, Direction::colwise}) {
      for (const unsigned workers : {1u, 2u}) {
        const std::string name = std::string(route.info.name) +
                                 (direction == Direction::rowwise ? "/rowwise" : "/colwise") +
                                 "/1024x1024/workers:" + std::to_string(workers);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [&route, direction, workers](benchmark::State& state) {
                                       dequantise(state, route, direction, workers);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace assay::kernels::mxfp8_dequant
